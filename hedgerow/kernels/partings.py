"""Partings: sets of categories, judged from gradient pairs.

The categories of a node are ordered by their means, and the best cut of that order is the best of
all partings. Most nodes have a better split elsewhere: what no parting exceeds costs less to know.
"""

import numpy as np

from hedgerow.kernels.cuts import Cut
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.screens import SLACK

_MANY = 32  # categories whose order by chance is worth a cut


@part
def least_mass(moments, n_codes):
    """Return the mass below which one of n_codes categories is judged together with others."""
    return moments.rare() * min(n_codes, _MANY) // _MANY


@part
def ceiling_of_pairs(newton, problem, n_codes, total, scratch):
    """Return a gain that no parting of the codes in scratch.order exceeds: each a side of its own.

        T(G_L)^2 / (H_L + l2) <= H / (H + l2) * sum over codes of G_c^2 / H_c,     H >= H_L

    by Cauchy's inequality. Rare categories, which are not parted, are one. It costs a division a
    code; SLACK is far above what rounding may do.
    """
    moments, apart, pool_G, pool_H = problem.moments, 0.0, 0.0, 0.0
    least = np.int64(0) if problem.rules.random_cut else least_mass(moments, n_codes)
    for i in range(n_codes):
        first = scratch.order[i] * moments.width()
        G, H = newton.pair(scratch.cells, first)
        if newton.mass(scratch.cells, first) < least:
            pool_G, pool_H = pool_G + G, pool_H + H
        else:
            apart += G * G / H
    if pool_H > 0.0:
        apart += pool_G * pool_G / pool_H
    H = newton.pair(total)[1]
    both = 0.5 * apart * (H / (H + newton.l2))
    return both * (1.0 + SLACK) - newton.score(total)


@inlined_part
def score_of_pair(newton, packed):
    """Return Newton's score of a sum of GradientPairs."""
    G = np.int32(packed >> 32) * newton.g_unit
    H = np.int32(packed & 0x7FFFFFFF) * newton.h_unit
    T = max(abs(G) - newton.l1, 0.0)
    return T * T / (2.0 * (H + newton.l2))


@part
def best_parting(problem, n_codes, begin, end, node, scratch):
    """Return the cut of `cuts.best_cut` of categories by Newton's score of packed pairs, sooner."""
    newton, cells, order, keys = problem.criterion, scratch.cells, scratch.order, scratch.keys
    total, below, is_pooled = node.total[0], np.int64(0), problem.moments.rare() > 0
    best, margin, position, mass_left = -np.inf, -1.0, np.int64(0), np.int64(0)
    for i in range(end):
        below += cells[order[i]]
        if i < begin or (is_pooled and i + 1 < n_codes and keys[i] == keys[i + 1]):
            continue
        above = total - below
        if min(below & 0x7FFFFFFF, above & 0x7FFFFFFF) >= problem.rules.min_weight:
            both = score_of_pair(newton, below) + score_of_pair(newton, above)
            if both > best:
                best, margin, position, mass_left = both, 0.0, np.int64(i), below & 0x7FFFFFFF
    return Cut(best - newton.score(node.total), margin, position, mass_left)
