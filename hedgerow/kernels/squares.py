"""Squares: the best cut by Gini impurity, from exact sums of squares.

    score = sum_k L_k^2 / L - L + sum_k R_k^2 / R - R

Where a node weighs less than 2^26 steps, squares are whole numbers that a float64 holds
exactly. Integers then give the bits of `Gini.score` in any order, and from one cut to the
next only what has moved from right to left need be squared.
"""

import numpy as np

from hedgerow.kernels.cuts import Cut, best_cut, margin_of
from hedgerow.kernels.jit import inlined_part, part

_EXACT = 1 << 26


@part
def best_of_squares(problem, feature, n_codes, begin, end, start, node, scratch):
    """Return the cut of `cuts.best_cut` by Gini impurity, sooner. scratch.keys are overwritten."""
    n_classes, order, keys = problem.moments.n_classes, scratch.order, scratch.keys
    if problem.criterion.mass(node.total) >= _EXACT or n_classes < 2:
        return best_cut(problem, feature, n_codes, begin, end, start, node, scratch)
    if n_classes == 2:
        _score_two(problem, end, start, node.total, scratch)
    else:
        _score_many(problem, end, start, node.total, scratch)
    best, margin, position = -np.inf, -1.0, np.int64(0)
    for i in range(begin, end):
        if keys[i] >= best and keys[i] > -np.inf:
            wider = margin_of(problem.codes, feature, order, i, n_codes)
            if keys[i] > best or wider > margin:
                best, margin, position = keys[i], wider, np.int64(i)
    mass_left = _mass_left(problem.moments, position, start, scratch) if begin < end else 0
    return Cut(best - problem.criterion.score(node.total), margin, position, np.int64(mass_left))


@inlined_part
def _both(squares_left, left, squares_right, right):
    L, R = np.float64(left), np.float64(right)
    return (np.float64(squares_left) / L - L) + (np.float64(squares_right) / R - R)


@part
def _score_two(problem, end, start, total, scratch):
    """Set keys[i] to the score of the cut after position i, -inf if a side is too small."""
    moments, rules, cells = problem.moments, problem.rules, scratch.cells
    width, keys = moments.width(), scratch.keys
    W, n_rows = total[0] + total[1], moments.count(total)
    one, two, n_left = np.int64(0), np.int64(0), np.int64(0)
    for i in range(-1 if start >= 0 else 0, end):
        first = (start if i < 0 else scratch.order[i]) * width
        more, n_one = moments.of_class(cells, first, 0)
        one, n_left = one + more, n_left + n_one
        more, n_two = moments.of_class(cells, first, 1)
        two, n_left = two + more, n_left + n_two
        left, far_one, far_two = one + two, total[0] - one, total[1] - two
        enough = min(left, W - left) >= rules.min_weight
        if i >= 0:
            keys[i] = -np.inf
            if enough and min(n_left, n_rows - n_left) >= rules.min_rows:
                squares = one * one + two * two
                keys[i] = _both(squares, left, far_one * far_one + far_two * far_two, W - left)


@part
def _score_many(problem, end, start, total, scratch):
    """The same of any number of classes. scratch.sides[0] holds the classes on the left."""
    moments, rules, cells = problem.moments, problem.rules, scratch.cells
    width, keys, below = moments.width(), scratch.keys, scratch.sides[0]
    W, n_rows, squares_right = np.int64(0), moments.count(total), np.int64(0)
    for k in range(moments.n_classes):
        below[k] = 0
        W += total[k]
        squares_right += total[k] * total[k]
    left, n_left, squares = np.int64(0), np.int64(0), np.int64(0)
    for i in range(-1 if start >= 0 else 0, end):
        first = (start if i < 0 else scratch.order[i]) * width
        for k in range(moments.n_classes):
            more, n_more = moments.of_class(cells, first, k)
            squares += more * (2 * below[k] + more)
            squares_right -= more * (2 * (total[k] - below[k]) - more)
            below[k] += more
            left, n_left = left + more, n_left + n_more
        enough = min(left, W - left) >= rules.min_weight
        if i >= 0:
            keys[i] = -np.inf
            if enough and min(n_left, n_rows - n_left) >= rules.min_rows:
                keys[i] = _both(squares, left, squares_right, W - left)


@part
def _mass_left(moments, position, start, scratch):
    """Return the weight of the codes up to a position, and of `start`, if there is one."""
    total = np.int64(0)
    for i in range(-1 if start >= 0 else 0, position + 1):
        first = (start if i < 0 else scratch.order[i]) * moments.width()
        for k in range(moments.n_classes):
            total += moments.of_class(scratch.cells, first, k)[0]
    return total
