"""Criteria: how good a leaf is. gain = score(left) + score(right) - score(parent).

A score is minus the leaf's weight times its impurity, so impurity = -score / weight, in
integer steps of the weight. `at(moments, sums)` is the criterion as seen from the node
with these sums: the same gains, written so that they cost less or lose no digits. `screen`
estimates the scores of all cuts of a histogram (see `screens`).

A search first offers each feature's cuts to `scores_rows`. These criteria decline: their
scores are functions of sums. `absolute.AbsoluteError`, whose score is not, judges the cuts
from the node's rows then and there.

`both(left, right)` is the score of two sides. With `within`, `toward` and `halved` it is where
monotone constraints come in: see `bounds`, and `monotone`, which asks for a side's `mean`, of
two classes the share of the second one.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.bounds import without_bounds
from hedgerow.kernels.jit import part
from hedgerow.kernels.logarithm import log2
from hedgerow.kernels.seedlings import grow_seedlings
from hedgerow.kernels.squares import best_of_squares, best_squares_along


@part
def _total(sums, first, n_classes):
    W = np.int64(0)
    for k in range(n_classes):
        W += sums[first + k]
    return W


@without_bounds
class Gini(NamedTuple):
    """Gini impurity, sum_k p_k (1 - p_k).

        score = sum_k W_k^2 / W - W,     W = sum_k W_k

    Breiman, Friedman, Olshen and Stone (1984), section 4.3; notes 0, page 10.
    """

    n_classes: int | np.int64

    def at(self, moments, sums):
        return Gini(moments.n_classes)

    def mass(self, sums, first=0):
        return _total(sums, first, self.n_classes)

    def mean(self, sums, first=0):
        return sums[first + 1] / _total(sums, first, self.n_classes)

    def score(self, sums, first=0):
        W, squares = 0.0, 0.0
        for k in range(self.n_classes):
            W += sums[first + k]
            squares += float(sums[first + k]) * float(sums[first + k])
        return squares / W - W

    def best_cut(self, problem, feature, n_codes, begin, end, start, node, scratch):
        return best_of_squares(problem, feature, n_codes, begin, end, start, node, scratch)

    def best_along(self, problem, feature, n, first, node, scratch):
        return best_squares_along(problem, feature, n, first, node, scratch)

    def grow_few(self, team, problem, space, desk, nodes, origin, top):
        return grow_seedlings(team, problem, space, desk, nodes, origin, top)

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False


@without_bounds
class Entropy(NamedTuple):
    """Entropy in bits, -sum_k p_k log2 p_k (the notes' natural logarithm, times 1 / ln 2).

        score = sum_k W_k log2(W_k / W)

    Breiman, Friedman, Olshen and Stone (1984), section 4.3; notes 0, page 10.
    """

    n_classes: int | np.int64

    def at(self, moments, sums):
        return Entropy(moments.n_classes)

    def mass(self, sums, first=0):
        return _total(sums, first, self.n_classes)

    def mean(self, sums, first=0):
        return sums[first + 1] / _total(sums, first, self.n_classes)

    def score(self, sums, first=0):
        W, score = float(_total(sums, first, self.n_classes)), 0.0
        for k in range(self.n_classes):
            if sums[first + k] > 0:
                score += sums[first + k] * log2(sums[first + k] / W)
        return score

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False


@without_bounds
class Misclassification(NamedTuple):
    """Share of rows outside the majority class, 1 - max_k p_k.

        score = max_k W_k - W

    The notes' AdaBoost splits by it: notes 0, pages 9-10; notes 1, classification trees.
    """

    n_classes: int | np.int64

    def at(self, moments, sums):
        return Misclassification(moments.n_classes)

    def mass(self, sums, first=0):
        return _total(sums, first, self.n_classes)

    def mean(self, sums, first=0):
        return sums[first + 1] / _total(sums, first, self.n_classes)

    def score(self, sums, first=0):
        largest = sums[first]
        for k in range(1, self.n_classes):
            largest = max(largest, sums[first + k])
        return float(largest - _total(sums, first, self.n_classes))

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False


@without_bounds
class Cost(NamedTuple):
    """Cost of the cheapest label, when calling class k by the name j costs cost[k, j].

        score = -min_j sum_k W_k cost[k, j]

    With cost 1 off the diagonal this is Misclassification. Breiman et al. (1984), section 4.4.
    """

    n_classes: int | np.int64
    cost: NDArray[np.float64]

    def at(self, moments, sums):
        return self

    def mass(self, sums, first=0):
        return _total(sums, first, self.n_classes)

    def score(self, sums, first=0):
        cheapest = math.inf
        for j in range(self.n_classes):
            price = 0.0
            for k in range(self.n_classes):
                price += sums[first + k] * self.cost[k, j]
            cheapest = min(cheapest, price)
        return -cheapest

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False


@without_bounds
class SquaredError(NamedTuple):
    """Squared error around the mean; a constant of the node is left out.

        score = S^2 / W,     S = sum w (y - centre),     W = sum w

    With the centre at the node's mean (rounded to a whole step, so that S stays an exact
    integer) S is small and gains keep their digits. Notes 1, regression trees.
    """

    centre: int | np.int64

    def at(self, moments, sums):
        return SquaredError(np.int64(np.rint(sums[0] / sums[1])))

    def mass(self, sums, first=0):
        return sums[first + 1]

    def mean(self, sums, first=0):
        return sums[first] / sums[first + 1]

    def score(self, sums, first=0):
        S = float(sums[first] - self.centre * sums[first + 1])
        return S * S / sums[first + 1]

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False


@without_bounds
class SquaredErrors(NamedTuple):
    """Squared error summed over several outputs, each around its mean.

        score = sum_j S_j^2 / W

    Without the node's centre: targets are measured from the middle of each output's range.
    """

    n_outputs: int

    def at(self, moments, sums):
        return self

    def mass(self, sums, first=0):
        return sums[first + self.n_outputs]

    def score(self, sums, first=0):
        squares = 0.0
        for j in range(self.n_outputs):
            squares += float(sums[first + j]) * float(sums[first + j])
        return squares / sums[first + self.n_outputs]

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False
