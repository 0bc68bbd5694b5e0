"""Splits: the best cut of a node in one feature, judged from the sums of its codes.

A cut parts an ordered list of codes. Numeric codes are ordered as their values, with
missing values tried on both sides; categories, missing among them, are ordered by a mean
of the target, which for two classes and for squared error makes the best of all subsets
a cut of that order (Fisher 1958; Breiman et al. 1984, section 4.2.2). For K classes the
K orders by the share of each class are tried.

Ties have a total order: higher gain, wider margin (the share of the feature's bins that
the cut leaves empty in the node), lower feature, lower order, missing values right before
left, earlier cut. Between features, rules may let lots decide instead of margins: see `standing`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.category_order import sort_categories
from hedgerow.kernels.codes import high_of, low_of, threshold_between
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.lines import missing_at_end, move_to_front
from hedgerow.kernels.random import mixed, uniform
from hedgerow.kernels.tally import Rows

# cut: last code on the left; of a category split: number of codes on the left in its order.
# heavier_left: whether the left child has at least half of the weight.
SPLIT = np.dtype(
    [("gain", "f8"), ("margin", "f8"), ("threshold", "f8")]
    + [(name, "i8") for name in ("feature", "cut", "order", "missing_left", "heavier_left")],
    align=True,
)


# Names of a feature's draws in a node: its lot, its cut; then the side of missing values, or,
# of a category, 2 + code (`category_order`).
_LOT, _CUT, _SIDE = 0, 1, 2


class Node(NamedTuple):
    """What a search knows of a node: its sums, int64 [sum_width], its random bits and its rows."""

    total: NDArray[np.int64]
    bits: int
    rows: Rows


@part
def search_feature(problem, feature, n_codes, node, scratch, found):
    """Set `found` to the node's best split in `feature`, if it beats what was found before.

    scratch.order lists the n_codes >= 2 codes of the node's rows, ascending, scratch.cells
    their sums. The problem's criterion is as seen from the node.
    """
    if problem.codes.features[feature].n_categories > 0:
        _search_categories(problem, feature, n_codes, node, scratch, found)
    else:
        _search_values(problem, feature, n_codes, node, scratch, found)


@part
def _search_categories(problem, feature, n_codes, node, scratch, found):
    criterion, missing = problem.criterion, problem.codes.features[feature].missing
    begin, end = np.int64(0), n_codes - 1
    if problem.rules.random_cut:
        begin = np.int64(uniform(mixed(mixed(node.bits, feature), _CUT)) * end)
        end = begin + 1
    if criterion.ceiling(problem, n_codes, node.total, scratch) < found.gain:
        return
    n_orders = np.int64(1) if problem.rules.random_cut else np.int64(problem.moments.n_orders())
    for by in range(n_orders):
        sort_categories(problem, feature, n_codes, node, by, scratch)
        cut = criterion.best_cut(problem, feature, n_codes, begin, end, np.int64(-1), node, scratch)
        margin = standing(problem.rules, node.bits, feature, cut.gain, cut.margin, found)
        if beats(cut.gain, margin, feature, found):
            found.gain, found.margin, found.feature = cut.gain, margin, feature
            found.order, found.cut, found.threshold = by, cut.position + 1, np.nan
            found.heavier_left = np.int64(2 * cut.mass_left >= criterion.mass(node.total))
            found.missing_left = found.heavier_left
            for i in range(n_codes):
                if scratch.order[i] == missing:
                    found.missing_left = np.int64(i <= cut.position)


@part
def _search_values(problem, feature, n_codes, node, scratch, found):
    order, codes, about = scratch.order, problem.codes, problem.codes.features[feature]
    n_missing = np.int64(order[n_codes - 1] == about.missing)
    n_values = n_codes - n_missing
    drawn, begin, end = np.nan, np.int64(0), n_codes - 1
    if problem.rules.random_cut and n_values > 1:
        u = uniform(mixed(mixed(node.bits, feature), _CUT))
        lowest, highest = low_of(codes, about, order[0]), high_of(codes, about, order[n_values - 1])
        drawn = drawn_between(u, lowest, highest)
        if np.isnan(drawn):
            drawn = high_of(codes, about, order[np.int64(u * (n_values - 1))])
        begin = _position_of(drawn, codes, about, n_values, order)
        end = begin + 1
    judge_values(problem, feature, n_codes, drawn, begin, end, node, scratch, found)


@part
def judge_values(problem, feature, n_codes, drawn, begin, end, node, scratch, found):
    """Set `found` to the best cut of values after positions begin..end-1, if it beats it.

    drawn: the threshold, if it was drawn at random, else nan. With it the side of missing
    values is drawn: to try both would favour the features that have some.
    """
    order, criterion = scratch.order, problem.criterion
    about = problem.codes.features[feature]
    n_missing = np.int64(order[n_codes - 1] == about.missing)
    n_values = n_codes - n_missing
    first_side, n_sides = np.int64(0), 1 + n_missing
    if n_missing and not np.isnan(drawn):
        first_side = np.int64(2.0 * uniform(mixed(mixed(node.bits, feature), _SIDE)))
        n_sides = first_side + 1
    for missing_left in range(first_side, n_sides):
        last = min(end, n_values - 1) if missing_left else end
        start = about.missing if missing_left else np.int64(-1)
        cut = criterion.best_cut(problem, feature, n_codes, begin, last, start, node, scratch)
        margin = standing(problem.rules, node.bits, feature, cut.gain, cut.margin, found)
        if beats(cut.gain, margin, feature, found):
            found.gain, found.margin, found.feature = cut.gain, margin, feature
            found.order, found.cut = 0, order[cut.position]
            found.heavier_left = np.int64(2 * cut.mass_left >= criterion.mass(node.total))
            found.missing_left = missing_left if n_missing else found.heavier_left
            found.threshold = _threshold(problem.codes, about, n_values, cut.position, drawn, order)


@inlined_part
def judge_line(problem, feature, n, node, scratch, found):
    """Set `found` to the best cut of the n rows of scratch.line, if it beats it."""
    about, criterion, line = problem.codes.features[feature], problem.criterion, scratch.line
    n_missing, codes = missing_at_end(line, n), problem.codes
    for missing_left in range(1 + np.int64(n_missing > 0)):
        if missing_left:
            move_to_front(line, n, n_missing)
        first = n_missing + 1 if missing_left else np.int64(1)
        cut = criterion.best_along(problem, feature, n, first, node, scratch)
        margin = standing(problem.rules, node.bits, feature, cut.gain, cut.margin, found)
        if beats(cut.gain, margin, feature, found):
            left, right = np.int64(line.codes[1, cut.position]), line.codes[1, cut.position + 1]
            found.gain, found.margin, found.feature = cut.gain, margin, feature
            found.order, found.cut = 0, left
            found.heavier_left = np.int64(2 * cut.mass_left >= criterion.mass(node.total))
            found.missing_left = missing_left if n_missing else found.heavier_left
            found.threshold = np.inf
            if right != about.missing:
                low, high = high_of(codes, about, left), low_of(codes, about, np.int64(right))
                found.threshold = threshold_between(low, high)


@part
def standing(rules, bits, feature, gain, margin, found):
    """Return what a split has against others of its gain: its margin, or its feature's lot.

    bits: the node's. Of a split that gains less than what was found it does not matter; one
    that is not allowed keeps its margin, which is less than any lot.
    """
    if not rules.by_lot or gain < found.gain or gain == -np.inf:
        return margin
    return uniform(mixed(mixed(bits, feature), _LOT))


@part
def beats(gain, margin, feature, found):
    """Tell whether a split comes before the one found so far: gain, margin, lower feature."""
    if gain != found.gain:
        return gain > found.gain
    return margin > found.margin or (margin == found.margin and feature < found.feature)


@part
def _threshold(codes, about, n_values, position, drawn, order):
    """Return the threshold of a cut: drawn at random, or half-way to the next value."""
    if position == n_values - 1:
        return np.inf  # all values are left; missing is right
    left = high_of(codes, about, order[position])
    right = low_of(codes, about, order[position + 1])
    return drawn if left <= drawn < right else threshold_between(left, right)


@part
def drawn_between(u, low, high):
    """Return a threshold, low <= t < high, uniform if u is; nan if there is none, or no end."""
    if low > -np.inf and high < np.inf:
        drawn = (1.0 - u) * low + u * high  # no overflow between huge values
        if low <= drawn < high:
            return drawn
    return np.nan


@part
def _position_of(drawn, codes, about, n_values, order):
    """Return the last code whose values are all at most `drawn`, or 0; never the last of all."""
    low, top = np.int64(0), n_values - 2
    while low < top:
        middle = (low + top + 1) >> 1
        if high_of(codes, about, order[middle]) <= drawn:
            low = middle
        else:
            top = middle - 1
    return low
