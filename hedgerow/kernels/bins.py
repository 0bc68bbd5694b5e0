"""Bins: the best cut of a large node in one numeric feature, from the sums of its codes.

The same split as `split.search_feature` finds from a list of the codes that occur, and by
the same rules on ties. Here every bin is looked at, whether it has rows or not, in loops
without branches: a compiler makes them work on several bins at once.
"""

import numpy as np

from hedgerow.kernels.codes import threshold_between
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.running import run_up
from hedgerow.kernels.screens import SLACK
from hedgerow.kernels.split import beats, standing

_SOME = 32  # bins whose estimates are compared at once


@inlined_part
def search_bins(problem, feature, cells, node, scratch, found):
    """Set `found` to the node's best split in a narrow numeric feature, if it beats it.

    cells  int64 [256 * width]   read   the sums of the feature's codes

    Returns 1 if the feature is constant in the node. Cost: a pass over the bins, two if the
    node has missing values.
    """
    about, moments = problem.codes.features[feature], problem.moments
    has_missing = np.int64(moments.occurs(cells, about.missing * moments.width()))
    parent, is_constant = problem.criterion.score(node.total), np.int64(1)
    for missing_left in range(1 + has_missing):
        n_cuts = about.n_bins - 1 + has_missing * (1 - missing_left)
        _run(moments, cells, about.missing, missing_left, n_cuts, scratch.running[0])
        largest, unit = problem.criterion.screen(
            moments, problem.rules, node.total, n_cuts, moments.sum_width(), scratch
        )
        if largest == -np.inf:
            continue
        slack, is_constant = SLACK * abs(largest), np.int64(0)
        if (largest + slack) * unit - parent < found.gain:
            continue
        bar = np.float32(largest - slack)
        best, margin, bin = _widest_best(problem, feature, cells, node.total, n_cuts, bar, scratch)
        margin = standing(problem.rules, node.bits, feature, best - parent, margin, found)
        if beats(best - parent, margin, feature, found):
            found.gain, found.margin, found.feature = best - parent, margin, feature
            found.order, found.cut, found.missing_left = 0, bin, missing_left
            left = problem.criterion.mass(scratch.running[0], bin * moments.sum_width())
            found.heavier_left = np.int64(2 * left >= problem.criterion.mass(node.total))
            if not has_missing:
                found.missing_left = found.heavier_left
            found.threshold = _threshold(moments, problem.codes.bins, about, bin, cells)
    # Of a feature that varies all cuts may be forbidden.
    return is_constant and np.int64(_has_one(moments, cells, about.n_bins, has_missing))


@inlined_part
def has_two(about):
    """Tell whether a FEATURE that shares a column has two codes, neither of them missing."""
    return about.n_bins == 2 and (about.flag > 0 or about.n_codes == 2)


@inlined_part
def is_light(problem, cells, scratch):
    """Tell whether one of a feature's two codes weighs too little to be parted from the other.

    So it is with most flags in most nodes. Nothing else need be known of them.
    """
    own, moments = scratch.sides[0], problem.moments
    for code in range(2):
        for k in range(moments.sum_width()):
            own[k] = 0
        moments.read(cells, code * moments.width(), own)
        if problem.criterion.mass(own) < problem.rules.min_weight:
            return True
    return False


@inlined_part
def has_one_of_two(moments, cells):
    """Return 1 if only one of two codes has rows."""
    both = moments.occurs(cells, 0) and moments.occurs(cells, moments.width())
    return np.int64(not both)


@inlined_part
def _has_one(moments, cells, n_bins, has_missing):
    """Tell whether all rows are in one bin, missing or not."""
    first, last, width = np.int64(0), n_bins - 1, moments.width()
    while first <= last and not moments.occurs(cells, first * width):
        first += 1
    while last > first and not moments.occurs(cells, last * width):
        last -= 1
    return first > last or (first == last and not has_missing)


@inlined_part
def _run(moments, cells, missing, missing_left, n_cuts, below):
    """Set `below` to the sums of bins 0..b, and of missing if left, for each cut b.

    Before the first bin with rows there is nothing: missing values alone are tried on the right.
    """
    first, width = np.int64(0), moments.width()
    if missing_left:
        first = next_bin(moments, cells, np.int64(-1), n_cuts)
        for i in range(first * width):
            below[i] = 0
    own, sums = cells[first * width : n_cuts * width], below[first * width : n_cuts * width]
    if width == 1:
        run_up(own, missing_left * cells[missing], sums)
    else:
        for k in range(width):
            left = missing_left * cells[missing * width + k]
            for i in range(n_cuts - first):  # places counted from 0 need no check for a sign
                left += own[i * width + k]
                sums[i * width + k] = left
    moments.widen(below, n_cuts)


@inlined_part
def _widest_best(problem, feature, cells, total, n_cuts, bar, scratch):
    """Return the best score of the cuts that reach the bar, with its widest margin and bin.

    Empty bins after a cut have its sums again: the cut stands after the last bin with rows,
    and its margin is the share of bins up to the next one.
    """
    moments, n_bins = problem.moments, problem.codes.features[feature].n_bins
    width, sum_width = moments.width(), moments.sum_width()
    best, margin, place = -np.inf, -1.0, np.int64(0)
    for first in range(0, n_cuts, _SOME):
        last = min(first + _SOME, n_cuts)
        if not _any_reaches(scratch.rough[first:last], bar):
            continue
        for bin in range(first, last):
            if scratch.rough[bin] >= bar and moments.occurs(cells, bin * width):
                both = _score(problem.criterion, total, bin * sum_width, sum_width, scratch)
                end = next_bin(moments, cells, bin, n_bins)
                wider = (end - bin) / n_bins if end < n_bins else 0.0
                if both > best or (both == best and wider > margin):
                    best, margin, place = both, wider, np.int64(bin)
    return best, margin, place


@inlined_part
def _any_reaches(rough, bar):
    """Tell whether one of some estimates reaches the bar, looking at all of them at once."""
    n_reach = np.int32(0)
    for i in range(rough.shape[0]):
        n_reach += np.int32(rough[i] >= bar)
    return n_reach > 0


@inlined_part
def _score(criterion, total, at, sum_width, scratch):
    """Return the score of both sides of a cut."""
    below, above = scratch.sides[0], scratch.sides[1]
    for k in range(sum_width):
        below[k] = scratch.running[0, at + k]
        above[k] = total[k] - below[k]
    return criterion.both(below, above)


@part
def next_bin(moments, cells, bin, n_bins):
    """Return the next bin with rows, or n_bins."""
    end = bin + 1
    while end < n_bins and not moments.occurs(cells, end * moments.width()):
        end += 1
    return end


@part
def _threshold(moments, bins, about, bin, cells):
    """Return the value half-way to the next bin with rows; inf if there is none."""
    end = next_bin(moments, cells, bin, about.n_bins)
    if end == about.n_bins:
        return np.inf
    return threshold_between(bins[about.first + bin].high, bins[about.first + end].low)
