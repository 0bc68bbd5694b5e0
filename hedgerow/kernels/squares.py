"""Squares: the best cut by Gini impurity, from exact sums of squares.

    score = sum_k L_k^2 / L - L + sum_k R_k^2 / R - R

Where a node weighs less than 2^26 steps, squares are whole numbers that a float64 holds
exactly. They then give the bits of `Gini.score` in any order, and from one cut to the next only
what has moved from right to left need be squared. All cuts are estimated, without a branch, and
those that may be the best are judged:

    (squares_left R + squares_right L) / (L R) = score + W

scratch.line has, of the cut after position i, squares[0, i] and squares[1, i] of both sides, the
weight left[i], and rough[i]: below 0 if the cut is not allowed, then its estimate.
"""

import numpy as np

from hedgerow.kernels.cuts import Cut, best_along, best_cut, margin_between
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.lines import MOST
from hedgerow.kernels.machine import double_of_bits

_EXACT = 1 << 26
_NEARLY = 1.0 - 2.0**-40  # estimates are off by less


@part
def best_of_squares(problem, feature, n_codes, begin, end, start, node, scratch):
    """Return the cut of `cuts.best_cut` by Gini impurity, sooner."""
    W = problem.criterion.mass(node.total)
    if W >= _EXACT or problem.moments.n_classes < 2 or end > MOST:
        return best_cut(problem, feature, n_codes, begin, end, start, node, scratch)
    _walk_codes(problem, end, start, node.total, scratch)
    bar = _estimate(problem.rules.min_weight, W, begin, end, scratch.line) * _NEARLY
    best, margin, position = -np.inf, -1.0, np.int64(0)
    for i in range(begin, end):
        if scratch.line.rough[i] >= bar:
            both, wider = _both(scratch.line, W, i), 0.0
            if i + 1 < n_codes and problem.codes.features[feature].n_categories == 0:
                right = scratch.order[i + 1]
                wider = margin_between(problem.codes, feature, scratch.order[i], right)
            if both > best or (both == best and wider > margin):
                best, margin, position = both, wider, np.int64(i)
    gain = best - problem.criterion.score(node.total)
    return Cut(gain, margin, position, np.int64(scratch.line.left[position]))


@inlined_part
def best_squares_along(problem, feature, n, first, node, scratch):
    """Return the cut of `cuts.best_along` by Gini impurity, sooner."""
    W, line, codes = problem.criterion.mass(node.total), scratch.line, scratch.line.codes[1]
    if W >= _EXACT:
        return best_along(problem, feature, n, first, node, scratch)
    least = max(problem.rules.min_rows, 1)
    begin, end = max(first, least) - 1, n - least
    if problem.moments.n_classes == 2:
        _walk_two(problem.moments, np.uint64(max(end, 0)), node.total, line)
    else:
        _walk_many(problem.moments, np.uint64(max(end, 0)), node.total, line, scratch.sides[0])
    bar = _estimate(problem.rules.min_weight, W, begin, end, line) * _NEARLY
    best, margin, position = -np.inf, -1.0, np.int64(0)
    for i in range(begin, end):
        if line.rough[i] >= bar:
            both = _both(line, W, i)
            wider = margin_between(problem.codes, feature, codes[i], codes[i + 1])
            if both > best or (both == best and wider > margin):
                best, margin, position = both, wider, np.int64(i)
    gain = best - problem.criterion.score(node.total)
    return Cut(gain, margin, position, np.int64(line.left[position]))


@inlined_part
def _both(line, W, i):
    """Return the score of the cut after position i, to the last bit."""
    L = line.left[i]
    R = W - L
    return (line.squares[0, i] / L - L) + (line.squares[1, i] / R - R)


@inlined_part
def _estimate(min_weight, W, begin, end, line):
    """Estimate the cuts that are allowed; return the largest estimate, below 0 if none is."""
    rough, bits, left, squares = line.rough, line.rough_bits, line.left, line.squares
    least, whole = np.float64(min_weight), np.float64(W)
    first, last = np.uint64(max(begin, 0)), np.uint64(max(end, begin, 0))
    for i in range(first, last):
        L = left[i]
        R = whole - L
        both = (squares[0, i] * R + squares[1, i] * L) / (L * R)
        rough[i] = both if (min(L, R) >= least) & (rough[i] >= 0.0) else -1.0
    largest = np.int64(-1)
    for i in range(first, last):  # numbers that are not negative are ordered as their bits
        largest = max(largest, bits[i])
    return double_of_bits(largest) if largest >= 0 else -1.0


@inlined_part
def _walk_two(moments, end, total, line):
    """Go along a line of two classes: the weight of a row is added to the second one, or not."""
    codes, records, left, squares = line.codes[1], line.records[1], line.left, line.squares
    two, both, one = np.int64(0), np.int64(0), np.uint64(1)
    for i in range(end):
        k, more = moments.weighed(records[i])
        two += more * np.int64(k)
        both += more
        left[i], squares[0, i] = np.float64(both), np.float64(two)
    T, W = np.float64(total[1]), np.float64(total[0] + total[1])
    for i in range(end):
        b, L = squares[0, i], left[i]
        a, far = L - b, T - b
        other = W - L - far
        squares[0, i], squares[1, i] = a * a + b * b, far * far + other * other
        line.rough[i] = 0.0 if codes[i] != codes[i + one] else -1.0


@inlined_part
def _walk_many(moments, end, total, line, below):
    """Go along a line of any number of classes."""
    codes, records, one = line.codes[1], line.records[1], np.uint64(1)
    squares, squares_right, left = np.int64(0), np.int64(0), np.int64(0)
    for k in range(moments.n_classes):
        below[k] = 0
        squares_right += total[k] * total[k]
    for i in range(end):
        k, more = moments.weighed(records[i])
        place = np.uint64(k)
        before = below[place]
        squares += more * (2 * before + more)
        squares_right -= more * (2 * (total[place] - before) - more)
        below[place] = before + more
        left += more
        line.squares[0, i], line.squares[1, i] = np.float64(squares), np.float64(squares_right)
        line.left[i] = np.float64(left)
        line.rough[i] = 0.0 if codes[i] != codes[i + one] else -1.0


@part
def _walk_codes(problem, end, start, total, scratch):
    """Go along the codes of a tally; `start` is on the left of every cut, or -1."""
    moments, line, below = problem.moments, scratch.line, scratch.sides[0]
    width, n_rows, least = moments.width(), moments.count(total), problem.rules.min_rows
    squares, squares_right, left = np.int64(0), np.int64(0), np.int64(0)
    n_left = np.int64(0)
    for k in range(moments.n_classes):
        below[k] = 0
        squares_right += total[k] * total[k]
    for i in range(-1 if start >= 0 else 0, end):
        first = (start if i < 0 else scratch.order[i]) * width
        for k in range(moments.n_classes):
            more, n_more = moments.of_class(scratch.cells, first, k)
            squares += more * (2 * below[k] + more)
            squares_right -= more * (2 * (total[k] - below[k]) - more)
            below[k] += more
            left, n_left = left + more, n_left + n_more
        if i >= 0:
            line.squares[0, i], line.squares[1, i] = np.float64(squares), np.float64(squares_right)
            line.left[i] = np.float64(left)
            line.rough[i] = 0.0 if min(n_left, n_rows - n_left) >= least else -1.0
