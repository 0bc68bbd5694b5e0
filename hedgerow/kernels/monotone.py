"""Monotone: a criterion whose splits keep the means of leaves in order.

Where a split of a constrained feature parts two children, the middle of their means is handed
down as a bound: no node on the one side may have a mean above it, none on the other below.
Two rows that differ in that feature only part at such a split, so their predictions are in
order whatever is grown further down. Means are never changed: splits that break the order
are not made. scikit-learn's trees do the same; for boosting see `bounds`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.bounds import halves
from hedgerow.kernels.cuts import best_along, best_cut
from hedgerow.kernels.screens import screen_sums


class Monotone(NamedTuple):
    """The score of a criterion; -inf for a cut whose means are out of order or of bounds.

    criterion  one of criteria.py that has `mean`
    signs      int64 [n_features]   1: the mean must not fall as the feature rises, -1: it
               must not rise, 0: it may do both
    """

    criterion: Any
    signs: NDArray[np.int64]
    sign: int = 0
    low: float = -np.inf
    high: float = np.inf

    def at(self, moments, sums):
        seen = self.criterion.at(moments, sums)
        return Monotone(seen, self.signs, self.sign, self.low, self.high)

    def mass(self, sums, first=0):
        return self.criterion.mass(sums, first)

    def score(self, sums, first=0):
        return self.criterion.score(sums, first)

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False

    def screen(self, moments, rules, total, n_cuts, width, scratch):
        return screen_sums(self, moments, rules, total, n_cuts, width, scratch)

    def ceiling(self, problem, n_codes, total, scratch):
        return np.inf

    def best_cut(self, problem, feature, n_codes, begin, end, start, node, scratch):
        return best_cut(problem, feature, n_codes, begin, end, start, node, scratch)

    def best_along(self, problem, feature, n, first, node, scratch):
        return best_along(problem, feature, n, first, node, scratch)

    def grow_few(self, team, problem, space, desk, nodes, origin, top):
        return np.int64(1)  # the leaf is left as it is, see `seedlings`

    def within(self, low, high):
        return Monotone(self.criterion, self.signs, self.sign, low, high)

    def toward(self, feature):
        return Monotone(self.criterion, self.signs, self.signs[feature], self.low, self.high)

    def both(self, left, right, first=0):
        below, above = self.criterion.mean(left, first), self.criterion.mean(right, first)
        if self.sign * (above - below) < 0.0 or min(below, above) < self.low:
            return -np.inf
        if max(below, above) > self.high:
            return -np.inf
        return self.criterion.score(left, first) + self.criterion.score(right, first)

    def halved(self, left, right):
        middle = 0.5 * self.criterion.mean(left) + 0.5 * self.criterion.mean(right)
        return halves(self.sign, self.low, middle, self.high)
