"""Start values of losses that do not say theirs: the constant with the smallest loss."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.kernels.derivatives import derive
from hedgerow.kernels.steps import row_losses
from hedgerow.kernels.team import hired
from hedgerow.losses.targets import Array
from hedgerow.losses.weighted import exact_sum, weighted_mean, weighted_median

_MOST_STEPS = 200
_NARROW = 2.0**-36  # of the start value


def least_loss(loss: Any, y: Array, w: Array) -> float:
    """Return the constant c that minimises sum w l(y, c), whatever the order of the rows.

    From the best of zero, the mean and the median of y it goes downhill to where the slope is
    zero; a loss with several valleys is left in that one.
    """
    pairs, losses = np.empty((1, 2, len(y)), np.float32), np.empty(len(y))
    out = pairs, pairs.view(np.uint32), np.empty((1, 1, 2), np.uint32)

    def slopes(c: float) -> Array:
        with hired(1, 0.0) as team:
            team.run(derive, loss, y, np.ones(1), np.full((1, len(y)), c), *out)
        return np.asarray(pairs[0, 0], np.float64)

    def height(c: float) -> float:
        with hired(1, 0.0) as team:
            team.run(row_losses, loss, y, np.full((1, len(y)), c), losses)
        return _sum(losses, w)

    return level_point(slopes, y, w, height)


def level_point(
    slopes: Callable[[float], Array],
    y: Array,
    w: Array,
    height: Callable[[float], float] | None = None,
) -> float:
    """Return where the weighted sum of slopes(c) changes its sign.

    slopes(c) has the derivative of each row's loss at c; height(c), if it is known, is the sum
    of losses, and chooses where to begin. Cost: some ten evaluations of all rows, more at a kink.
    """

    def slope(c: float) -> float:
        return _sum(slopes(c), w)

    likely = weighted_median(y, w), weighted_mean(y, w), 0.0
    heights = {c: height(c) if height else abs(slope(c)) for c in likely}
    begin = [c for c in likely if math.isfinite(heights[c]) and math.isfinite(slope(c))]
    if not begin:
        raise ValueError(
            "The loss has no start value: it or its gradient is not finite at the median and the "
            "mean of y, and at zero. Give it a method `start(self, y, w)`: the first raw score."
        )
    low, high = _bracket(slope, min(begin, key=heights.__getitem__))
    return _zero_between(slope, low, high)


def _sum(values: Array, w: Array) -> float:
    return exact_sum(values, w) if np.isfinite(values).all() else math.nan


def _bracket(slope: Callable[[float], float], c: float) -> tuple[float, float]:
    """Go downhill from c in growing steps; return the last two places, the lower one first."""
    here, step = slope(c), max(abs(c), 1.0) / 16.0
    while here != 0.0 and step > _NARROW * abs(c):
        beyond = c - math.copysign(step, here)
        if not math.isfinite(2.0 * beyond):
            raise ValueError(
                f"The loss has no start value: it falls without end towards {beyond:g}. Give it "
                "a method `start(self, y, w)`, the raw score to begin with."
            )
        there = slope(beyond)
        if math.isnan(there):  # outside of what the loss is defined for
            step *= 0.25
        elif there * here <= 0.0:
            return min(c, beyond), max(c, beyond)
        else:
            c, here, step = beyond, there, 2.0 * step
    return c, c


def _zero_between(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero between two places, by false position (Illinois) and by halving."""
    below, above, side = slope(low), slope(high), 0
    for number in range(_MOST_STEPS):
        if below == 0.0 or above == 0.0 or high - low <= _NARROW * max(abs(low), abs(high)):
            break
        c = high - above * ((high - low) / (above - below))
        if number % 3 == 2 or not low < c < high:  # at a kink a chord is of no use
            c = 0.5 * low + 0.5 * high
        there = slope(c)
        if there <= 0.0:
            low, below, above = c, there, 0.5 * above if side < 0 else above
        else:
            high, above, below = c, there, 0.5 * below if side > 0 else below
        side = -1 if there <= 0.0 else 1
    return high if above == 0.0 else low
