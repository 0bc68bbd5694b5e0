"""The functions that a loss is written with: of numbers and of series, in kernels and in Python.

A user's loss imports them from here instead of from `math`:

    from hedgerow.losses.formulas import exp, log

    class LogCosh(NamedTuple):
        scale: float = 1.0

        def loss(self, y, f):
            return log(exp((f - y) / self.scale) + exp((y - f) / self.scale))

Python's operators + - * / ** < <= > >= == != and `abs`, `max`, `min` (of two arguments) need no
import. All but `sin` and `cos`, which are the C library's, give the same bits on every machine.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from hedgerow.kernels import exponential
from hedgerow.kernels.formula import compiled_as, formula
from hedgerow.losses.compiled_series import SeriesType
from hedgerow.losses.series import Series, chain

Number = TypeVar("Number")  # float, Series, or in `exp` an array


class Formula(Protocol):
    """A function of one number that returns a number of the same kind."""

    def __call__(self, x: Number) -> Number:
        """Value at x."""
        ...


def _formula_of(
    of_number: Callable[[Any], Any], of_series: Callable[[Any], Any], promise: str
) -> Formula:
    """Return a function that is one of two texts, chosen by the type of its argument."""

    def function(x: Any) -> Any:
        return of_series(x) if isinstance(x, Series) else of_number(x)

    def choice(x: Any) -> Any:
        return of_series if isinstance(x, SeriesType) else of_number

    compiled_as(function, choice, "x")
    function.__doc__ = promise
    return function


def _exp_of_series(x: Any) -> Any:
    value = exponential.exp(x.value)
    return chain(x, value, value, value)


exp = _formula_of(
    exponential.exp, _exp_of_series, "e^x, for x within [-708, 709] and for the nearer end outside."
)


def _expm1_of_series(x: Any) -> Any:
    slope = exponential.exp(x.value)
    return chain(x, exponential.expm1(x.value), slope, slope)


expm1 = _formula_of(exponential.expm1, _expm1_of_series, "e^x - 1, exact near zero.")


def _log_of_series(x: Any) -> Any:
    inverse = 1.0 / x.value
    return chain(x, exponential.log(x.value), inverse, -inverse * inverse)


log = _formula_of(exponential.log, _log_of_series, "Natural logarithm.")


def _log1p_of_series(x: Any) -> Any:
    inverse = 1.0 / (1.0 + x.value)
    return chain(x, exponential.log1p(x.value), inverse, -inverse * inverse)


log1p = _formula_of(exponential.log1p, _log1p_of_series, "log(1 + x), exact near zero.")


def _logistic_of_series(x: Any) -> Any:
    p, rest = exponential.logistic(x.value), exponential.logistic(-x.value)
    return chain(x, p, p * rest, p * rest * (rest - p))


logistic = _formula_of(exponential.logistic, _logistic_of_series, "1 / (1 + e^-x).")


def _log1p_exp_of_series(x: Any) -> Any:
    p, rest = exponential.logistic(x.value), exponential.logistic(-x.value)
    return chain(x, exponential.log1p_exp(x.value), p, p * rest)


log1p_exp = _formula_of(
    exponential.log1p_exp, _log1p_exp_of_series, "log(1 + e^x), without overflow."
)


def _square_root(x: float) -> float:
    return math.sqrt(x)


def _sqrt_of_series(x: Any) -> Any:
    root = math.sqrt(x.value)
    slope = 0.5 / root
    return chain(x, root, slope, -0.5 * slope / x.value)


sqrt = _formula_of(_square_root, _sqrt_of_series, "Square root.")


@formula
def _tanh(x: float) -> Any:
    t = exponential.expm1(-2.0 * abs(x))
    tanh_of_size = -t / (2.0 + t)
    return tanh_of_size if x >= 0.0 else -tanh_of_size


def _tanh_of_series(x: Any) -> Any:
    value = _tanh(x.value)
    # 1 - tanh^2 = 4 p (1 - p), p = logistic(2 x): exact where tanh is almost 1.
    slope = 4.0 * exponential.logistic(2.0 * x.value) * exponential.logistic(-2.0 * x.value)
    return chain(x, value, slope, -2.0 * value * slope)


tanh = _formula_of(_tanh, _tanh_of_series, "Hyperbolic tangent.")


def _sine(x: float) -> float:
    return math.sin(x)


def _sin_of_series(x: Any) -> Any:
    value = math.sin(x.value)
    return chain(x, value, math.cos(x.value), -value)


sin = _formula_of(_sine, _sin_of_series, "Sine, of the C library.")


def _cosine(x: float) -> float:
    return math.cos(x)


def _cos_of_series(x: Any) -> Any:
    value = math.cos(x.value)
    return chain(x, value, -math.sin(x.value), -value)


cos = _formula_of(_cosine, _cos_of_series, "Cosine, of the C library.")
