"""Out-of-bag rows: what a round did for the rows that its trees were not grown from."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.curve import losses_of
from hedgerow.ensembles.sampling import Drawn
from hedgerow.ensembles.stage import Stage, floats
from hedgerow.kernels.team import Team

_SUM_BITS = 61


class OutOfBag:
    """The rows that were not drawn in a round, with their losses before it.

    Of a row of weight 3 that was drawn once, two thirds are out of the bag.
    """

    def __init__(self, stage: Stage, drawn: Drawn, before: Floats, team: Team) -> None:
        """Take the rows not drawn; before: scores before the round, as in the stage."""
        left = np.zeros(len(stage.y), np.int64)
        own = stage.rows if len(stage.rows) else slice(None)
        left[own] = stage.whole[own] if stage.mask else 1
        left[drawn.rows] -= drawn.weights[drawn.rows & drawn.mask]
        self._rows = np.flatnonzero(left)
        self._counts, self._stage, self._team = left[self._rows], stage, team
        self._before = self._losses(before)

    def _losses(self, raw: Floats) -> Floats:
        stage, rows = self._stage, self._rows
        return losses_of(stage.loss, floats(stage.y[rows]), raw[:, rows], self._team)

    def improvement(self) -> float:
        """Return by how much the mean loss has fallen since; NaN if every row was drawn."""
        if not len(self._rows):
            return np.nan
        stage = self._stage
        after = self._losses(stage.raw)
        fall, factors = self._before - after, stage.real
        factors = factors if len(factors) == 1 else factors[self._rows]
        ones = np.ones(len(fall))
        return _whole_sum(fall * factors, self._counts) / _whole_sum(ones * factors, self._counts)


def _whole_sum(numbers: Floats, counts: NDArray[np.int64]) -> float:
    """Return the sum of counts * numbers, in whole steps: the same in any order of the rows."""
    peak = float(np.abs(numbers).max())
    if peak == 0.0 or not np.isfinite(peak):
        return peak
    scale = np.ldexp(1.0, _SUM_BITS - int(np.frexp(float(counts.sum()))[1])) / peak
    steps = np.rint(numbers * scale).astype(np.int64)
    return float(np.sum(counts * steps)) / float(scale)
