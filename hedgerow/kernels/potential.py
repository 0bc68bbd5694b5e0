"""The criterion of Real AdaBoost: the exponential loss that is left by half log-odds."""

import math
from typing import NamedTuple

import numpy as np

from hedgerow.kernels.bounds import without_bounds
from hedgerow.kernels.jit import part


@part
def _total(sums, first, n_classes):
    W = np.int64(0)
    for k in range(n_classes):
        W += sums[first + k]
    return W


@without_bounds
class Exponential(NamedTuple):
    """Twice the geometric mean of a class and the others, 2 sqrt(p (1 - p)) of two classes.

        score = -sum_k sqrt(W_k (W - W_k)),     W = sum_k W_k

    Of two classes it is minus the weight Z = 2 sqrt(W+ W-) that the rows of a leaf have after a
    round of Real AdaBoost, whose leaf is log(W+ / W-) / 2: notes 0, page 11a; Schapire and Singer
    (1999), section 4.2, also for the sum over several classes. Kearns and Mansour (1996): of all
    criteria it has the best bound for trees grown from the top.
    """

    n_classes: int | np.int64

    def at(self, moments, sums):
        return Exponential(moments.n_classes)

    def mass(self, sums, first=0):
        return _total(sums, first, self.n_classes)

    def mean(self, sums, first=0):
        return sums[first + 1] / _total(sums, first, self.n_classes)

    def score(self, sums, first=0):
        W, score = float(_total(sums, first, self.n_classes)), 0.0
        for k in range(self.n_classes):
            score -= math.sqrt(float(sums[first + k]) * (W - float(sums[first + k])))
        return score

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False
