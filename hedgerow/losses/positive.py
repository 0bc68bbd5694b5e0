"""Losses of a target that is never negative; f is the logarithm of its mean.

The interface is that of `regression`.
"""

# The formulas stand in the classes' docstrings, and the interface fixes the arguments.
# ruff: noqa: ARG002, D102

from typing import NamedTuple

from hedgerow.losses.formulas import exp, log
from hedgerow.losses.targets import (
    Array,
    demand_above_zero,
    demand_not_below_zero,
    demand_within,
)
from hedgerow.losses.weighted import weighted_mean

_SMALLEST = 2.2250738585072014e-308  # of the normal numbers


class Poisson(NamedTuple):
    """Poisson loss of counts, half the deviance; the mean is e^f.

        l(y, f) = e^f - y f          (y log y - y, which does not depend on f, is left out)
        dl/df   = e^f - y
        h       = e^f

    McCullagh and Nelder (1989), chapter 6.
    """

    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        return exp(f) - y * f

    def gradient(self, y: float, f: float) -> float:
        return exp(f) - y

    def hessian(self, y: float, f: float) -> float:
        return exp(f)

    def start(self, y: Array, w: Array) -> float:
        return _log_mean(y, w)

    def link(self, raw: Array) -> Array:
        return exp(raw)

    def check(self, y: Array) -> None:
        demand_not_below_zero(y, "Poisson", "Use a loss such as SquaredError for signed targets.")


class Gamma(NamedTuple):
    """Gamma loss of positive targets, half the deviance; the mean is e^f.

        l(y, f) = y e^-f + f         (-log y - 1, which does not depend on f, is left out)
        dl/df   = 1 - y e^-f
        h       = y e^-f

    McCullagh and Nelder (1989), chapter 8.
    """

    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        return y * exp(-f) + f

    def gradient(self, y: float, f: float) -> float:
        return 1.0 - y * exp(-f)

    def hessian(self, y: float, f: float) -> float:
        return y * exp(-f)

    def start(self, y: Array, w: Array) -> float:
        return _log_mean(y, w)

    def link(self, raw: Array) -> Array:
        return exp(raw)

    def check(self, y: Array) -> None:
        demand_above_zero(y, "Gamma", "Use Tweedie if some targets are exactly zero.")


class Tweedie(NamedTuple):
    """Tweedie loss of targets with a mass at zero, half the deviance; the mean is e^f.

        l(y, f) = e^((2 - p) f) / (2 - p) + y e^((1 - p) f) / (p - 1),     1 < p = power < 2
        dl/df   = e^((2 - p) f) - y e^((1 - p) f)
        h       = (2 - p) e^((2 - p) f) + (p - 1) y e^((1 - p) f)

    The variance is the mean to the power p: towards 1 it is Poisson, towards 2 Gamma. The term
    -y^(2 - p) / ((p - 1) (2 - p)), which does not depend on f, is left out. Jorgensen (1987).
    """

    power: float = 1.5
    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        p = self.power
        return exp((2.0 - p) * f) / (2.0 - p) + y * exp((1.0 - p) * f) / (p - 1.0)

    def gradient(self, y: float, f: float) -> float:
        return exp((2.0 - self.power) * f) - y * exp((1.0 - self.power) * f)

    def hessian(self, y: float, f: float) -> float:
        p = self.power
        return (2.0 - p) * exp((2.0 - p) * f) + (p - 1.0) * y * exp((1.0 - p) * f)

    def start(self, y: Array, w: Array) -> float:
        return _log_mean(y, w)

    def link(self, raw: Array) -> Array:
        return exp(raw)

    def check(self, y: Array) -> None:
        demand_within(self.power, "power", 1.0, 2.0, "Use Poisson for 1 and Gamma for 2.")
        demand_not_below_zero(y, "Tweedie", "Use a loss such as SquaredError for signed targets.")


def _log_mean(y: Array, w: Array) -> float:
    """Return log of the mean; a mean of zero counts as the smallest number that has one."""
    return log(max(weighted_mean(y, w), _SMALLEST))
