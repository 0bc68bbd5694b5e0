"""Numbers that carry two derivatives: a Taylor series of second order, in Python and in kernels.

    s = (value, first, second):  the value of an expression in f, ds/df and d2s/df2

Sums, products and quotients of such numbers follow the rules of calculus, so that a formula
evaluated at `Series(f, 1.0, 0.0)` gives its own derivatives, exact up to rounding (Griewank and
Walther, Evaluating Derivatives, 2008, chapter 13; hyper-dual numbers compute the same).

Each rule is written once. Python's operators and those of kernels (`compiled_series`) both
look it up in `RULES`, by which of the two arguments are series.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hedgerow.kernels.exponential import exp, log
from hedgerow.kernels.formula import formula


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """An expression's value and its first and second derivative.

    >>> f = Series(3.0, 1.0, 0.0)
    >>> f * f + 1 / f
    Series(value=9.333333333333334, first=5.888888888888889, second=2.074074074074074)
    """

    __hash__ = None  # type: ignore[assignment]  # equal values may have other derivatives

    value: float
    first: float
    second: float

    def __neg__(self) -> Any:
        return _negative(self)

    def __abs__(self) -> Any:
        return _absolute(self)

    def __add__(self, other: Any) -> Any:
        return _applied(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _applied(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _applied(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _applied(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _applied(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _applied(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _applied(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _applied(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Any:
        return _applied(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return _applied(operator.pow, other, self)

    def __eq__(self, other: Any) -> Any:
        return _applied(operator.eq, self, other)

    def __ne__(self, other: Any) -> Any:
        return _applied(operator.ne, self, other)

    def __lt__(self, other: Any) -> Any:
        return _applied(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return _applied(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return _applied(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return _applied(operator.ge, self, other)


@formula
def chain(x: Any, value: float, slope: float, bend: float) -> Any:
    """g(x), where g has this value, first and second derivative at x.value.

    (g o x)' = g' x'     (g o x)'' = g' x'' + g'' x'^2
    """
    return Series(value, slope * x.first, slope * x.second + bend * x.first * x.first)


def _negative(a: Any) -> Any:
    return Series(-a.value, -a.first, -a.second)


def _absolute(a: Any) -> Any:
    # At zero the slope of one side: their mean, zero, would take the bend from |x|^2.
    sign = -1.0 if a.value < 0.0 else 1.0
    return Series(abs(a.value), sign * a.first, sign * a.second)


def _sum(a: Any, b: Any) -> Any:
    return Series(a.value + b.value, a.first + b.first, a.second + b.second)


def _shifted(a: Any, b: Any) -> Any:
    return Series(a.value + b, a.first, a.second)


def _shifted_by_left(a: Any, b: Any) -> Any:
    return Series(a + b.value, b.first, b.second)


def _difference(a: Any, b: Any) -> Any:
    return Series(a.value - b.value, a.first - b.first, a.second - b.second)


def _lowered(a: Any, b: Any) -> Any:
    return Series(a.value - b, a.first, a.second)


def _taken_from(a: Any, b: Any) -> Any:
    return Series(a - b.value, -b.first, -b.second)


def _product(a: Any, b: Any) -> Any:
    return Series(
        a.value * b.value,
        a.first * b.value + a.value * b.first,
        a.second * b.value + 2.0 * a.first * b.first + a.value * b.second,
    )


def _scaled(a: Any, b: Any) -> Any:
    return Series(a.value * b, a.first * b, a.second * b)


def _scaled_by_left(a: Any, b: Any) -> Any:
    return Series(a * b.value, a * b.first, a * b.second)


def _quotient(a: Any, b: Any) -> Any:
    # From a = q b: a' = q' b + q b', and so on.
    value = a.value / b.value
    first = (a.first - value * b.first) / b.value
    return Series(value, first, (a.second - 2.0 * first * b.first - value * b.second) / b.value)


def _divided(a: Any, b: Any) -> Any:
    return Series(a.value / b, a.first / b, a.second / b)


def _divided_by_series(a: Any, b: Any) -> Any:
    inverse = 1.0 / b.value
    value = a * inverse
    return chain(b, a / b.value, -value * inverse, 2.0 * value * inverse * inverse)


@formula
def real_power(x: float, c: float) -> Any:
    """x^c: by products if c is a small whole number, as e^(c log x) otherwise."""
    n = int(abs(c)) if abs(c) <= 64.0 else 65
    if n != abs(c):
        if x == 0.0:
            return 0.0 if c > 0.0 else 1.0 / abs(x)
        return exp(c * log(x))
    power = 1.0
    for _ in range(n):
        power *= x
    return power if c >= 0.0 else 1.0 / power


def _power(a: Any, b: Any) -> Any:
    # A coefficient that is zero is not multiplied: the power next to it may be infinite.
    c = float(b)
    slope = c * real_power(a.value, c - 1.0) if c != 0.0 else 0.0
    bend = c * (c - 1.0) * real_power(a.value, c - 2.0) if c not in (0.0, 1.0) else 0.0
    return chain(a, real_power(a.value, c), slope, bend)


def _exponential(a: Any, b: Any) -> Any:
    log_a, value = log(float(a)), real_power(float(a), b.value)
    return chain(b, value, value * log_a, value * log_a * log_a)


def _power_of_series(a: Any, b: Any) -> Any:
    # a^b = e^(b log a)
    log_a, inverse = log(a.value), 1.0 / a.value
    first = a.first * inverse
    exponent = b * Series(log_a, first, a.second * inverse - first * first)
    value = real_power(a.value, b.value)
    return chain(exponent, value, value, value)


def _comparison(compare: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], ...]:
    return (
        lambda a, b: compare(a.value, b.value),
        lambda a, b: compare(a.value, b),
        lambda a, b: compare(a, b.value),
    )


# operator: the rule of two series, of a series and a number, of a number and a series
RULES: dict[Any, tuple[Callable[..., Any], ...]] = {
    operator.add: (_sum, _shifted, _shifted_by_left),
    operator.sub: (_difference, _lowered, _taken_from),
    operator.mul: (_product, _scaled, _scaled_by_left),
    operator.truediv: (_quotient, _divided, _divided_by_series),
    operator.pow: (_power_of_series, _power, _exponential),
    operator.lt: _comparison(operator.lt),
    operator.le: _comparison(operator.le),
    operator.gt: _comparison(operator.gt),
    operator.ge: _comparison(operator.ge),
    operator.eq: _comparison(operator.eq),
    operator.ne: _comparison(operator.ne),
    max: (lambda a, b: b if b > a else a,) * 3,
    min: (lambda a, b: b if b < a else a,) * 3,
}
# the functions of one argument that are not in `formulas`
UNARY_RULES: dict[Any, Callable[..., Any]] = {operator.neg: _negative, abs: _absolute}


def _applied(operation: Any, a: Any, b: Any) -> Any:
    return RULES[operation][which(isinstance(a, Series), isinstance(b, Series))](a, b)


def which(left: bool, right: bool) -> int:
    """Place of a rule: 0 for two series, 1 if only the left one is, 2 if only the right."""
    return 0 if left and right else 1 if left else 2
