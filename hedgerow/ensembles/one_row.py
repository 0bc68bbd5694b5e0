"""One row at a time: a call that is written down once, with a row's place in it.

Most of the time of a prediction of one row is Python's, to hire a team and to unpack all arrays
of a model for the kernel.
"""

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.errands import Errand
from hedgerow.kernels.grove import Scorer, scratch_for
from hedgerow.kernels.scorer import add_trees
from hedgerow.kernels.team import Team

Floats = NDArray[np.float64]


class OneRow:
    """Adds all trees of a model to the scores of one row; of several threads, for one at a time."""

    def __init__(self, scorer: Scorer, n_outputs: int) -> None:
        n_read = int(scorer.paths.feature.max(initial=0)) + 1
        self._row, self._out = np.empty((1, n_read)), np.empty((1, n_outputs))
        scratch, n_trees = scratch_for(scorer, 1, 1, n_outputs), len(scorer.chapters.trees)
        self._given = self._row, scorer, scratch, 0, n_trees, self._out
        self._team, self._errand, self._lock = Team(1), Errand(add_trees), Lock()

    def add(self, row: Floats, out: Floats) -> bool:
        """Add to the scores of a row; False, and nothing was done, if a thread does it now."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._row[:], self._out[:] = row[:, : self._row.shape[1]], out
            self._team.repeat(0.0, self._errand, *self._given)
            out[:] = self._out
        finally:
            self._lock.release()
        return True
