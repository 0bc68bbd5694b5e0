"""What kernels know of `Series`: three float64 in registers, and the rules of `series`."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.extending import (
    lower_builtin,
    lower_cast,
    make_attribute_wrapper,
    models,
    register_model,
    type_callable,
)

from hedgerow.kernels.formula import compiled_as
from hedgerow.losses.series import RULES, UNARY_RULES, Series, which

_FIELDS = ("value", "first", "second")
_NUMBERS = (types.Integer, types.Float, types.Boolean)


class SeriesType(types.Type):  # type: ignore[misc]  # numba is untyped
    """The type of a series in kernels. A number is a series where both meet: a constant."""

    def __init__(self) -> None:
        super().__init__(name="Series")

    def can_convert_from(self, _typing: Any, other: Any) -> Any:
        """Return how well a value of another type can be used as a series."""
        return Conversion.safe if isinstance(other, _NUMBERS) else None


series_type = SeriesType()


@register_model(SeriesType)
class _SeriesModel(models.StructModel):  # type: ignore[misc]  # numba is untyped
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [(name, types.float64) for name in _FIELDS])


for _name in _FIELDS:
    make_attribute_wrapper(SeriesType, _name, _name)


@type_callable(Series)  # type: ignore[untyped-decorator]
def _type_of_new(_context: Any) -> Any:
    return lambda value, first, second: series_type  # noqa: ARG005  Numba looks at the names


@lower_builtin(Series, types.Number, types.Number, types.Number)  # type: ignore[untyped-decorator]
def _new(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    series = cgutils.create_struct_proxy(series_type)(context, builder)
    for name, argument, kind in zip(_FIELDS, arguments, signature.args, strict=True):
        setattr(series, name, context.cast(builder, argument, kind, types.float64))
    return series._getvalue()


def _constant(context: Any, builder: Any, kind: Any, _series: Any, number: Any) -> Any:
    series = cgutils.create_struct_proxy(series_type)(context, builder)
    series.value = context.cast(builder, number, kind, types.float64)
    series.first = series.second = context.get_constant(types.float64, 0.0)
    return series._getvalue()


for _kind in _NUMBERS:
    lower_cast(_kind, SeriesType)(_constant)


def _rule_of(operation: Any) -> Any:
    """Return what chooses a rule from the types of two arguments, or None if none is a series."""

    def choice(a: Any, b: Any) -> Any:
        left, right = isinstance(a, SeriesType), isinstance(b, SeriesType)
        return RULES[operation][which(left, right)] if left or right else None

    return choice


def _unary_rule_of(operation: Any) -> Any:
    return lambda a: UNARY_RULES[operation] if isinstance(a, SeriesType) else None


for _operation in RULES:
    compiled_as(_operation, _rule_of(_operation), "a, b")
for _operation in UNARY_RULES:
    compiled_as(_operation, _unary_rule_of(_operation), "a")


def as_series(x: Any) -> Series:
    """Return a series as it is, and a number as a constant series; that of NaN has no slope."""
    return x if isinstance(x, Series) else _of_number(float(x))


def _of_number(x: Any) -> Series:
    return Series(x, 0.0 * x, 0.0 * x)


compiled_as(
    as_series,
    lambda x: (lambda x: x) if isinstance(x, SeriesType) else _of_number,
    "x",
)
