"""Newton's criterion: how far a loss falls in a leaf, by its second-order expansion.

An interface as that of `criteria`. `turned(dial)`: see `dials`; `ceiling`: see `partings`.
"""

from typing import NamedTuple

import numpy as np

from hedgerow.kernels.bounds import without_bounds
from hedgerow.kernels.cuts import best_cut
from hedgerow.kernels.partings import best_parting, ceiling_of_pairs, score_of_pair
from hedgerow.kernels.screens import screen_pairs


@without_bounds
class Newton(NamedTuple):
    """Second-order fall of a loss in a leaf, from packed sums of GradientPairs.

        score = T(G)^2 / (2 (H + l2)),     T(G) = sign(G) max(|G| - l1, 0)

    g_unit, h_unit: what one whole step is worth. Chen and Guestrin (2016), equation 6;
    notes 3, XGBoost; the notes' gain has the 1/2 too.
    """

    g_unit: float
    h_unit: float
    l1: float
    l2: float

    def turned(self, dial):
        return Newton(dial.g_unit, dial.h_unit, self.l1, self.l2)

    def at(self, moments, sums):
        return self

    def mass(self, sums, first=0):
        return sums[first] & 0x7FFFFFFF

    def pair(self, sums, first=0):
        G = np.int32(sums[first] >> 32) * self.g_unit
        return G, np.int32(sums[first] & 0x7FFFFFFF) * self.h_unit

    def score(self, sums, first=0):
        return score_of_pair(self, sums[first])

    def ceiling(self, problem, n_codes, total, scratch):
        return ceiling_of_pairs(self, problem, n_codes, total, scratch)

    def best_cut(self, problem, feature, n_codes, begin, end, start, node, scratch):
        if problem.codes.features[feature].n_categories > 0:
            return best_parting(problem, n_codes, begin, end, node, scratch)
        return best_cut(problem, feature, n_codes, begin, end, start, node, scratch)

    def screen(self, moments, rules, total, n_cuts, width, scratch):
        return screen_pairs(self, rules.min_weight, total[0], n_cuts, scratch)

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False
