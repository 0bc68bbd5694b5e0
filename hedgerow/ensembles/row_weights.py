"""Row weights of AdaBoost: kept as margins, so that none underflows, and used as whole steps."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.reweighting import Standing, reweigh, take_logs
from hedgerow.kernels.team import Team
from hedgerow.trees.quantise import quantised_weights

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_BITS, _MOST_BITS = 61, 51  # of the sum of all steps; of the largest weight
_NOTHING = np.zeros(0, np.int32)


def logs_of(numbers: Floats) -> Floats:
    """Return natural logarithms, the same bits on every machine."""
    flat = np.array(numbers, np.float64).ravel()
    take_logs(flat)
    return flat.reshape(np.shape(numbers))


class RowWeights:
    """The weights of rows after each round.

        w_i = v_i exp(-f_y(x_i) / (K - 1)),     f = sum of the rounds' scores

    which is the notes' w = v exp(-Y'f / K), as the scores of all classes add up to 0 (notes 0,
    pages 12 and 22). Steps are round(2^bits w_i / max w), times the number of rows that a row
    stands for: a row of weight 3 is three rows. bits is 51, or 61 less those of the number of
    rows, if that is less. A row below one step, 2^-bits of the heaviest one, counts as one. v are
    the weights before the first round.
    """

    def __init__(self, labels: Counts, weights: Floats, n_classes: int, team: Team) -> None:
        """Take rows of these classes, 0..n_classes - 1, that weigh so much, above 0."""
        n_rows, self._team, given = len(labels), team, quantised_weights(weights)
        counts, logs = np.ones(1, np.int64), np.zeros(1)
        if not given.exact:
            logs = logs_of(weights)
        elif given.counts.max() > 1:
            counts = given.counts
        total = int(counts.sum()) if len(counts) > 1 else n_rows * int(counts[0])
        self.bits = min(_MOST_BITS, _BITS - total.bit_length())
        slope = -1.0 / max(n_classes - 1, 1)
        scale = float(np.ldexp(1.0, self.bits))
        self._rows = Standing(labels.astype(np.int32), counts, logs, slope, scale)
        self._marks = np.zeros(team.n_threads, np.int64)
        self.margins, self.steps = np.zeros(n_rows), np.zeros(n_rows, np.int64)
        self._reweigh(_NOTHING, np.zeros((1, 1)))

    @property
    def total(self) -> int:
        """What all rows weigh, in steps."""
        return int(self.steps.sum())

    @property
    def shares(self) -> Floats:
        """The weights, so that they add up to 1."""
        return np.asarray(self.steps / float(self.total))

    def add(self, places: NDArray[np.int32], scores: Floats) -> None:
        """Take note of what a round said: scores[place, class] of the rows at each place."""
        self._reweigh(places, np.ascontiguousarray(scores))

    def resume(self, margins: Floats) -> None:
        """Go on from the margins that earlier rounds gave the rows."""
        self.margins[:] = margins
        self._reweigh(_NOTHING, np.zeros((1, 1)))

    def _reweigh(self, places: NDArray[np.int32], scores: Floats) -> None:
        n_rows = len(self.steps)
        arrays = places, scores, self.margins, self._marks, self.steps
        self._team.sweep(8 * n_rows, reweigh, self._rows, *arrays)
