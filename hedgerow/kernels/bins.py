"""Bins: the best cut of a large node in one numeric feature, from its part of a histogram.

The same split as `split.search_feature` finds from a list of the codes that occur, and by
the same rules on ties. Here every bin is looked at, whether it has rows or not, in loops
without branches: a compiler makes them work on several bins at once.
"""

import numpy as np

from hedgerow.kernels.codes import threshold_between
from hedgerow.kernels.jit import part
from hedgerow.kernels.split import beats


@part
def search_bins(problem, feature, cells, node, scratch, found):
    """Set `found` to the node's best split in a narrow numeric feature, if it beats it.

    cells  int64 [256 * width]   read   the feature's part of the node's histogram

    Returns 1 if the feature is constant in the node. Cost: a pass over the bins, two if the
    node has missing values.
    """
    about, width = problem.codes.features[feature], problem.moments.width()
    has_missing = np.int64(cells[about.missing * width + width - 1] != 0)
    if _has_one(cells, about.n_bins, width, has_missing):
        return np.int64(1)
    parent = problem.criterion.score(node.total)
    for missing_left in range(1 + has_missing):
        n_cuts = about.n_bins - 1 + has_missing * (1 - missing_left)
        _run(cells, about.missing, missing_left, node.total, n_cuts, width, scratch.running)
        _judge(problem, n_cuts, width, scratch)
        if missing_left:
            _leave_values_left(cells, width, scratch.keys)
        best, margin, bin = _widest_best(cells, n_cuts, about.n_bins, width, scratch.keys)
        if beats(best - parent, margin, feature, found):
            found.gain, found.margin, found.feature = best - parent, margin, feature
            found.order, found.cut, found.missing_left = 0, bin, missing_left
            left = problem.criterion.mass(scratch.running[0], bin * width)
            found.heavier_left = np.int64(2 * left >= problem.criterion.mass(node.total))
            if not has_missing:
                found.missing_left = found.heavier_left
            found.threshold = _threshold(problem.codes.bins, about, bin, cells, width)
    return np.int64(0)


@part
def _has_one(cells, n_bins, width, has_missing):
    """Tell whether all rows are in one bin, missing or not."""
    first, last = np.int64(0), n_bins - 1
    while first <= last and cells[first * width + width - 1] == 0:
        first += 1
    while last > first and cells[last * width + width - 1] == 0:
        last -= 1
    return first > last or (first == last and not has_missing)


@part
def _run(cells, missing, missing_left, total, n_cuts, width, running):
    """Set running[0] to the sums of bins 0..b (and of missing, if left), running[1] to the rest."""
    below, above = running[0], running[1]
    for k in range(width):
        left = missing_left * cells[missing * width + k]
        for bin in range(n_cuts):
            left += cells[bin * width + k]
            below[bin * width + k] = left
            above[bin * width + k] = total[k] - left


@part
def _judge(problem, n_cuts, width, scratch):
    """Set keys[b] to the score of both sides of the cut after bin b, -inf if one is too small."""
    moments, criterion, rules = problem.moments, problem.criterion, problem.rules
    below, above, keys = scratch.running[0], scratch.running[1], scratch.keys
    for bin in range(n_cuts):
        at = bin * width
        enough = min(criterion.mass(below, at), criterion.mass(above, at)) >= rules.min_weight
        enough &= min(moments.count(below, at), moments.count(above, at)) >= rules.min_rows
        keys[bin] = criterion.both(below, above, at) if enough else -np.inf


@part
def _leave_values_left(cells, width, keys):
    """Take out the cuts that have missing values alone on the left: they are tried on the right."""
    bin = np.int64(0)
    while cells[bin * width + width - 1] == 0:
        keys[bin] = -np.inf
        bin += 1


@part
def _widest_best(cells, n_cuts, n_bins, width, keys):
    """Return the largest of keys, and the margin and bin of the widest cut that has it.

    Empty bins after a cut have its key again: the cut stands after the last bin with rows,
    and its margin is the share of bins up to the next one.
    """
    largest, place, n_equal = -np.inf, np.int64(0), np.int64(0)
    for bin in range(n_cuts):
        if keys[bin] > largest:
            largest, place = keys[bin], np.int64(bin)
    if largest == -np.inf:
        return largest, -1.0, place
    for bin in range(n_cuts):
        n_equal += np.int64(keys[bin] == largest)
    margin, last = -1.0, n_cuts if n_equal > 1 else place + 1
    for bin in range(place, last):
        if keys[bin] == largest and cells[bin * width + width - 1] != 0:
            end = next_bin(cells, bin, n_bins, width)
            wider = (end - bin) / n_bins if end < n_bins else 0.0
            if wider > margin:
                margin, place = wider, np.int64(bin)
    return largest, margin, place


@part
def next_bin(cells, bin, n_bins, width):
    """Return the next bin with rows, or n_bins."""
    end = bin + 1
    while end < n_bins and cells[end * width + width - 1] == 0:
        end += 1
    return end


@part
def _threshold(bins, about, bin, cells, width):
    """Return the value half-way to the next bin with rows; inf if there is none."""
    end = next_bin(cells, bin, about.n_bins, width)
    if end == about.n_bins:
        return np.inf
    return threshold_between(bins[about.first + bin].high, bins[about.first + end].low)


@part
def sum_left(cells, missing, split, width, sums):
    """Add the sums of a feature's bins left of a cut."""
    for k in range(width):
        sums[k] += split.missing_left * cells[missing * width + k]
        for bin in range(split.cut + 1):
            sums[k] += cells[bin * width + k]
