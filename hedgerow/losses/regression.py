"""Losses of a numeric target; those of targets that are never negative are in `positive`.

Each loss is a value: its fields are its parameters. y is the target, f the raw score, and
l(y, f) the loss that is minimised, with its factor. Kernels and Python call the formulas
`loss`, `gradient` and `hessian` (for one row); the rest is numpy:

    start(y, w)          the constant that minimises sum w l(y, c)
    link(raw)            what users are shown: the mean, median or quantile that raw stands for
    check(y)             raises ValueError if these targets have no loss
    leaf(residual, w)    for losses whose second derivative says nothing: the constant that
                         minimises sum w l(residual, c), computed from the leaf's rows
    least_leaf           for losses of quantiles: the weight of the least leaf that tells one
"""

# The formulas stand in the classes' docstrings, and the interface fixes the arguments.
# ruff: noqa: ARG002, D102

import math
from typing import NamedTuple

import numpy as np

from hedgerow.losses.targets import Array, demand_finite, demand_within
from hedgerow.losses.weighted import (
    huber_centre,
    weighted_mean,
    weighted_median,
    weighted_quantile,
)

_BESIDE = 2.0  # rows that a leaf must be expected to have on the thinner side of its quantile


def least_leaf_for(level: float) -> float:
    """Return the weight of a leaf with two rows, as expected, on the thinner side of a quantile."""
    return round(_BESIDE / min(level, 1.0 - level), 6)  # 20 for 0.9, whose rest is not quite 0.1


class SquaredError(NamedTuple):
    """Squared error; its minimiser is the mean.

        l(y, f) = (y - f)^2 / 2
        dl/df   = f - y
        h       = 1

    Friedman (2001), section 4.1; notes 0, page 28; notes 4, table of losses.
    """

    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        return 0.5 * (y - f) * (y - f)

    def gradient(self, y: float, f: float) -> float:
        return f - y

    def hessian(self, y: float, f: float) -> float:
        return 1.0

    def start(self, y: Array, w: Array) -> float:
        return weighted_mean(y, w)

    def link(self, raw: Array) -> Array:
        return raw

    def check(self, y: Array) -> None:
        demand_finite(y, "SquaredError")


class AbsoluteError(NamedTuple):
    """Absolute error; its minimiser is the median.

        l(y, f) = |y - f|
        dl/df   = sign(f - y), 0 where they are equal
        h       = 1    (the second derivative is zero: trees are fitted to the gradient by
                        least squares, and `leaf` then sets each leaf to its exact median)

    Friedman (2001), section 4.2; notes 0, pages 28-30; notes 4, table of losses.
    """

    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        return abs(y - f)

    def gradient(self, y: float, f: float) -> float:
        return 1.0 if f > y else -1.0 if f < y else 0.0

    def hessian(self, y: float, f: float) -> float:
        return 1.0

    def start(self, y: Array, w: Array) -> float:
        return weighted_median(y, w)

    def leaf(self, residual: Array, w: Array) -> float:
        return weighted_median(residual, w)

    @property
    def least_leaf(self) -> float:
        return least_leaf_for(0.5)

    def link(self, raw: Array) -> Array:
        return raw

    def check(self, y: Array) -> None:
        demand_finite(y, "AbsoluteError")


class Quantile(NamedTuple):
    """Pinball loss; its minimiser is the quantile of this level, 0 < level < 1.

        l(y, f) = level (y - f)          if f <= y
                  (1 - level) (f - y)    otherwise
        dl/df   = -level if f < y, 1 - level if f > y, 0 where they are equal
        h       = 1    (the second derivative is zero: trees are fitted to the gradient by
                        least squares, and `leaf` then sets each leaf to its exact quantile)

    Koenker and Bassett (1978), equation 1.2. Level 1/2 is half of AbsoluteError.
    """

    level: float
    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        return max(self.level * (y - f), (1.0 - self.level) * (f - y))

    def gradient(self, y: float, f: float) -> float:
        return 1.0 - self.level if f > y else -self.level if f < y else 0.0

    def hessian(self, y: float, f: float) -> float:
        return 1.0

    def start(self, y: Array, w: Array) -> float:
        return weighted_quantile(y, w, self.level)

    def leaf(self, residual: Array, w: Array) -> float:
        return weighted_quantile(residual, w, self.level)

    @property
    def least_leaf(self) -> float:
        return least_leaf_for(self.level)

    def link(self, raw: Array) -> Array:
        return raw

    def check(self, y: Array) -> None:
        demand_within(self.level, "level", 0.0, 1.0, "Pass level=0.5 for the median.")
        demand_finite(y, "Quantile")


class Huber(NamedTuple):
    """Huber loss: a square near zero, an absolute value far from it.

        l(y, f) = r^2 / 2                   if |r| <= delta,     r = f - y
                  delta |r| - delta^2 / 2   otherwise
        dl/df   = clip(r, -delta, delta)
        h       = 1 if |r| <= delta, 0 otherwise

    h is the true second derivative. A leaf in which no row is near has none, so leaves are
    set by `leaf`: Friedman's one step from the median. Notes 0, page 24, has twice this loss;
    ours is that of its page 29.

    delta is that of the current round: `adapted` gives the next round's loss, whose delta is
    the alpha-quantile of |y - raw|, so that the share 1 - alpha of the rows counts as outliers.

    Huber (1964); Friedman (2001), section 4.4; notes 0, pages 24 and 29.
    """

    delta: float = 1.0
    alpha: float = 0.9
    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        r = abs(f - y)
        return 0.5 * r * r if r <= self.delta else self.delta * (r - 0.5 * self.delta)

    def gradient(self, y: float, f: float) -> float:
        return min(max(f - y, -self.delta), self.delta)

    def hessian(self, y: float, f: float) -> float:
        return 1.0 if abs(f - y) <= self.delta else 0.0

    def start(self, y: Array, w: Array) -> float:
        return huber_centre(y, w, self.delta)

    def leaf(self, residual: Array, w: Array) -> float:
        median = weighted_median(residual, w)
        return median + weighted_mean(np.clip(residual - median, -self.delta, self.delta), w)

    def adapted(self, y: Array, raw: Array, w: Array) -> "Huber":
        """Return this loss with delta = the alpha-quantile of |y - raw|.

        If that is zero (most rows are fitted exactly) it is the smallest distance above zero;
        if there is none, delta stays.
        """
        distance = np.abs(y - raw)
        delta = weighted_quantile(distance, w, self.alpha)
        if delta == 0.0:
            delta = float(np.min(distance, where=distance > 0.0, initial=math.inf))
        return self._replace(delta=delta if math.isfinite(delta) else self.delta)

    def link(self, raw: Array) -> Array:
        return raw

    def check(self, y: Array) -> None:
        demand_within(self.delta, "delta", 0.0, math.inf, "Pass the distance of an outlier.")
        demand_within(self.alpha, "alpha", 0.0, 1.0, "Pass alpha=0.9 for a tenth of outliers.")
        demand_finite(y, "Huber")
