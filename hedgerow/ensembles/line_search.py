"""The step along a tree that minimises the loss."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.steps import sum_slopes
from hedgerow.kernels.team import Team

_SUM_BITS = 61


class Care(NamedTuple):
    """How exactly a step is searched for: shares of the step, and of the first slope."""

    precision: float = 2.0**-20
    flat: float = 2.0**-14  # what is left to win is less than its square
    most_trials: int = 60
    longest: float = 64.0  # Newton steps: where classes are parted without error none is the best


_ORDINARY = Care()
EXACT = Care(2.0**-50, 2.0**-44, 200, 2.0**200)


def line_search(stage: Stage, along: Floats, team: Team) -> float:
    """Return argmin_t sum w l(y, f + t d), t >= 0, for the directions d = along.

    along  float64 [n_outputs, n_rows]

    The derivatives of the stage are overwritten. Notes 0, part III.
    """
    return least_step(lambda step: _slope(stage, along, step, team))


def least_step(slope: Callable[[float], float], care: Care = _ORDINARY) -> float:
    """Return the step t >= 0 at which a slope that rises with t becomes zero.

    Bracketed by doubling, then by chords that halve the slope of the end that stays (the Illinois
    way). Returned is a step where the way is flat, else the end on the falling side: the loss never
    rises. Dowell and Jarratt (1971).

    >>> round(least_step(lambda t: 2.0 * (t - 3.0)), 6)
    3.0
    """
    low, at_low, high, at_high = 0.0, slope(0.0), 1.0, slope(1.0)
    if at_low >= 0.0:
        return 0.0
    flat = care.flat * -at_low
    while at_high < -flat and high < care.longest:
        low, at_low, high = high, at_high, 2.0 * high
        at_high = slope(high)
    if at_high <= flat:
        return high
    for trial in range(care.most_trials):
        if high - low <= care.precision * high:
            break
        by_chord = trial % 3 < 2  # where slopes differ by powers of ten halving is faster
        step = _chord(low, at_low, high, at_high) if by_chord else 0.5 * (low + high)
        found = slope(step)
        if abs(found) <= flat:
            return step
        if found < 0.0:
            low, at_low, at_high = step, found, 0.5 * at_high
        else:
            high, at_high, at_low = step, found, 0.5 * at_low
    return low


def _chord(low: float, at_low: float, high: float, at_high: float) -> float:
    """Return where the chord is zero, or the middle if that is at or beyond an end."""
    if math.isfinite(at_high):
        step = low - at_low * ((high - low) / (at_high - at_low))
        if low < step < high:
            return step
    return 0.5 * (low + high)


def _slope(stage: Stage, along: Floats, step: float, team: Team) -> float:
    """Return sum w g d at f + step d, inf if derivatives are not finite there."""
    here = stage.raw
    try:
        stage.raw = here + step * along
        stage.differentiate(team)
    finally:
        stage.raw = here
    g = stage.pairs[:, 0, stage.rows] if len(stage.rows) else stage.pairs[:, 0]
    peak = float(max(g.max(), -g.min())) * float(max(along.max(), -along.min()))
    if peak == 0.0:
        return 0.0
    if not math.isfinite(peak):
        return math.inf
    n_terms = float(stage.total_weight) * len(along)
    scale = math.ldexp(1.0, _SUM_BITS - math.frexp(n_terms)[1]) / peak
    totals = np.zeros(team.n_threads, np.int64)
    weights = stage.whole, stage.mask, stage.rows
    team.run(sum_slopes, stage.pairs, along, *weights, scale, totals)
    return float(totals.sum()) / scale
