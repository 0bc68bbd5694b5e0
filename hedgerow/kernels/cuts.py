"""Cuts: the best place to part a list of codes in two, judged from the sums of both sides.

The codes that occur in a node are listed in the order of the cuts, and their sums are known.
A criterion's `best_cut` is the one below, or a faster way to the same cut: see `squares`.
"""

from typing import NamedTuple

import numpy as np

from hedgerow.kernels.jit import part


class Cut(NamedTuple):
    """A cut after `position` of the ordered codes, its gain and margin, and the mass left of it."""

    gain: float
    margin: float
    position: np.int64
    mass_left: np.int64


@part
def margin_of(codes, feature, order, position, n_codes):
    """Return the share of the feature's bins that lie across a cut of values; 0 for others."""
    about = codes.features[feature]
    if about.n_categories > 0 or position + 1 >= n_codes or order[position + 1] == about.missing:
        return 0.0
    return (order[position + 1] - order[position]) / about.n_bins


@part
def margin_between(codes, feature, left, right):
    """Return the same of a cut between two codes of values, or before missing ones."""
    about = codes.features[feature]
    return 0.0 if right == about.missing else (np.int64(right) - np.int64(left)) / about.n_bins


@part
def best_along(problem, feature, n, first, node, scratch):
    """Return the best cut of the n rows of scratch.line, gain -inf if none is allowed.

    first: how many rows are left of every cut. A cut parts different codes.
    """
    moments, rules, criterion = problem.moments, problem.rules, problem.criterion
    codes, records, cell = scratch.line.codes[1], scratch.line.records[1], scratch.running[0]
    below, above, sum_width = scratch.sides[0], scratch.sides[1], moments.sum_width()
    for k in range(moments.width()):
        cell[k] = 0
    best, margin, position, mass_left = -np.inf, -1.0, np.int64(0), np.int64(0)
    for i in range(n - max(rules.min_rows, 1)):
        moments.put(moments.load(records[i]), cell, np.int64(0))
        if codes[i] == codes[i + 1] or i + 1 < max(first, rules.min_rows):
            continue
        for k in range(sum_width):
            below[k] = 0
        moments.read(cell, np.int64(0), below)
        for k in range(sum_width):
            above[k] = node.total[k] - below[k]
        left = criterion.mass(below)
        if min(left, criterion.mass(above)) >= rules.min_weight:
            both = criterion.both(below, above)
            if both >= best and both > -np.inf:
                wider = margin_between(problem.codes, feature, codes[i], codes[i + 1])
                if both > best or wider > margin:
                    best, margin, position, mass_left = both, wider, np.int64(i), left
    return Cut(best - criterion.score(node.total), margin, position, mass_left)


@part
def best_cut(problem, feature, n_codes, begin, end, start, node, scratch):
    """Return the best cut after one of the positions begin..end-1, gain -inf if none is allowed.

    start: a code (missing) that is on the left of every cut, or -1.
    """
    moments, rules, criterion = problem.moments, problem.rules, problem.criterion
    width, sum_width = moments.width(), moments.sum_width()
    below, above = scratch.sides[0], scratch.sides[1]
    cells, order = scratch.cells, scratch.order
    # If the criterion scores rows, keys[i] is the score of cut i and keys[n_codes] the node's own.
    scored = criterion.scores_rows(problem.codes, feature, n_codes, start, node, width, scratch)
    # Keys are of categories then: none of equal means, as those of rare ones, are parted.
    pooled = moments.rare() > 0 and problem.codes.features[feature].n_categories > 0
    for k in range(sum_width):
        below[k] = 0
    if start >= 0:
        moments.read(cells, start * width, below)
    best, margin, position, mass_left = -np.inf, -1.0, np.int64(0), np.int64(0)
    for i in range(end):
        moments.read(cells, order[i] * width, below)
        for k in range(sum_width):
            above[k] = node.total[k] - below[k]
        if i < begin or min(moments.count(below), moments.count(above)) < rules.min_rows:
            continue
        if pooled and i + 1 < n_codes and scratch.keys[i] == scratch.keys[i + 1]:
            continue
        left, right = criterion.mass(below), criterion.mass(above)
        if min(left, right) >= rules.min_weight:
            both = scratch.keys[i] if scored else criterion.both(below, above)
            if both >= best and both > -np.inf:
                wider = margin_of(problem.codes, feature, order, i, n_codes)
                if both > best or wider > margin:
                    best, margin, position, mass_left = both, wider, np.int64(i), left
    parent = scratch.keys[n_codes] if scored else criterion.score(node.total)
    return Cut(best - parent, margin, position, mass_left)
