"""What arrays must be before a kernel may walk on them: kernels do not look where they step.

Nodes of a tree are in preorder. With +1 for a split and -1 for a leaf, S_i the sum up to node i,

    S_i >= 0 but for the last node, where it is -1          there is one tree
    left of i is i + 1; (right of i) - 1 is a leaf          a left subtree ends with a leaf,
    S there is S_i - 1                                      at the level above
    no node is the right child of two

say all: at each level splits and the leaves that end their left subtrees take turns, so that only
one way of giving each split an end behind it is left.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.packed import BY_CATEGORY, FEATURE, PACKED, Thicket
from hedgerow.storage.numbers import demand, demand_array, demand_finite

_FEW_NODES = 1 << 12  # that are looked at together
_MOST_STEPS = 2.0**62


def check_shape(first: NDArray[Any], left: Any, right: Any) -> None:
    """Raise unless nodes first[t] .. first[t + 1] are a tree in preorder, for each t.

    first  int64 [n_trees + 1]
    left   whether each node is a split, bool [n_nodes]; its left child follows it
    right  [n_nodes]   the right child of a split, counted from the tree's first node
    """
    check_bounds(first, len(left), "trees")
    demand(bool((np.diff(first) > 0).all()), "a tree has no node")
    begin = 0
    while begin < len(first) - 1:
        end = int(np.searchsorted(first, first[begin] + _FEW_NODES, "right")) - 1
        end = max(end, begin + 1)
        own = slice(int(first[begin]), int(first[end]))
        _check_some(np.diff(first[begin : end + 1]), left[own], right[own])
        begin = end


def _check_some(sizes: NDArray[np.int64], is_split: Any, right: Any) -> None:
    n_nodes, ends = len(is_split), np.cumsum(sizes) - 1
    level = np.cumsum(np.where(is_split, np.int8(1), np.int8(-1)), dtype=np.int32)
    is_end = np.zeros(n_nodes, bool)
    is_end[ends] = True
    for number, end in enumerate(ends[:-1].tolist(), 1):  # each tree leaves the next one level down
        level[end + 1 : int(ends[number]) + 1] += number
    demand(bool(((level == -1) == is_end).all() and level.min() == -1), "nodes are no tree")
    splits = np.flatnonzero(is_split).astype(np.int32)
    tree = np.searchsorted(ends, splits).astype(np.int32)
    child = np.asarray(right)[splits]
    is_within = (child > 0) & (child < sizes[tree])
    demand(bool(is_within.all()), "a child is not in its tree")
    child += (ends + 1 - sizes).astype(np.int32)[tree]
    demand(bool((child > splits + 1).all()), "a child is not in its tree")
    is_placed = ~is_split[child - 1] & (level[child - 1] == level[splits] - 1)
    demand(bool(is_placed.all()), "a child is in the wrong place")
    is_right = np.zeros(n_nodes, bool)
    is_right[child] = True
    demand(np.count_nonzero(is_right) == len(splits), "a node has two parents")


def check_bounds(first: NDArray[Any], end: int, what: str) -> None:
    """Raise unless numbers rise from 0 to `end`."""
    demand_array(first, "i8", 1)
    is_whole = len(first) > 0 and first[0] == 0 and first[-1] == end
    demand(is_whole and bool((first[1:] >= first[:-1]).all()), f"{what} have no such bounds")


def check_splits(
    feature: Any, threshold: Any, start: Any, n_words: Any, n_categories: NDArray[Any]
) -> None:
    """Raise unless splits can be answered by a row of the table.

    feature    of each split
    threshold  of each split; looked at if its feature is a number
    start      of each split, first word of its set of categories; -1 if its feature is a number
    n_words    of the sets of its tree, an array or a number
    n_categories  int32 [n_features]
    """
    is_known = bool(((feature >= 0) & (feature < len(n_categories))).all())
    demand(is_known, "a split is on a feature that is not there")
    own = n_categories[feature].astype(np.int64)
    by_set = start >= 0
    demand(bool((by_set == (own > 0)).all()), "a split is on a feature of another kind")
    demand(not np.isnan(threshold[~by_set]).any(), "a threshold is not a number")
    is_there = start <= n_words - (own // 64 + 1)  # the other way round it might overflow
    demand(bool(is_there[by_set].all()), "a set of categories is not there")


def check_paths(first: NDArray[Any], paths: Any, n_categories: NDArray[Any]) -> None:
    """Raise unless these are trees that prediction may walk on: see kernels.predict.Paths.

    Children are counted from the tree's first node; words from the first of all.
    """
    n_nodes = len(paths.left)
    for name, kind in zip(
        paths._fields, ("i4", "i4", "i4", "f8", "?", "i8", "u8", "f8"), strict=True
    ):
        demand_array(getattr(paths, name), kind, 1)
        is_fit = name == "category_words" or len(getattr(paths, name)) == n_nodes
        demand(is_fit, f"{name} is not of all nodes")
    is_split = paths.left >= 0
    check_shape(first, is_split, paths.right)
    place = np.arange(n_nodes) - np.repeat(first[:-1], np.diff(first))
    demand(bool((paths.left[is_split] == place[is_split] + 1).all()), "a left child is elsewhere")
    for name in ("left", "right", "feature", "category_start"):
        demand(bool((getattr(paths, name)[~is_split] == -1).all()), f"a leaf has a {name}")
    feature, threshold = paths.feature[is_split], paths.threshold[is_split]
    start, n_words = paths.category_start[is_split], len(paths.category_words)
    check_splits(feature, threshold, start, n_words, n_categories)
    demand_finite(paths.weight, "weight")
    demand(bool((paths.weight >= 0).all()), "a weight is below 0")


def check_thicket(thicket: Any, n_categories: NDArray[Any]) -> None:
    """Raise unless these are packed trees that rows may walk down."""
    demand(type(thicket) is Thicket, "there are no packed trees")
    nodes, words, extra, first = thicket
    demand(nodes.dtype == PACKED and nodes.ndim == 1, "nodes are not packed")
    demand_array(words, "u8", 1)
    demand_array(first, "i8", 2)
    demand(first.shape[1] == 3 and extra.ndim == 2, "there are no bounds of trees")
    demand(len(first) > 1, "there is no tree")
    for column, (array, what) in enumerate(((nodes, "nodes"), (words, "sets"), (extra, "leaves"))):
        check_bounds(np.ascontiguousarray(first[:, column]), len(array), what)
    is_split = nodes["feature"] >= 0
    check_shape(np.ascontiguousarray(first[:, 0]), is_split, nodes["link"])
    n_words = np.diff(first[:, 1])
    for some, tree in _stretches(thicket):
        splits = some["feature"] >= 0
        feature, steps = some["feature"][splits], some["steps"][splits]
        by_set = (feature & BY_CATEGORY) != 0
        demand(bool((steps[by_set] >= 0).all()), "a set of categories is not there")
        start, number = np.where(by_set, steps, -1), some["number"][splits]
        check_splits(feature & FEATURE, number, start, n_words[tree[splits]], n_categories)


def _stretches(thicket: Thicket) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """Yield some nodes after others, with their trees: little room is needed to look at them."""
    first = np.ascontiguousarray(thicket.first[:, 0])
    for begin in range(0, len(thicket.nodes), _FEW_NODES):
        some = thicket.nodes[begin : begin + _FEW_NODES]
        yield some, np.searchsorted(first, np.arange(begin, begin + len(some)), "right") - 1


def check_class_leaves(thicket: Any, n_classes: int) -> None:
    """Raise unless leaves of classes hold what `kernels.ballots` may read."""
    extra, first = thicket.extra, thicket.first
    demand_array(extra, "i8", 2)
    demand(extra.shape[1] == n_classes, "leaves are of other classes")
    demand(bool((extra >= 0).all()), "a class weighs less than nothing")
    total = np.zeros(len(first) - 1)
    for some, trees in _stretches(thicket):
        leaves = some["feature"] < 0
        link, steps = some["link"][leaves].astype(np.int64), some["steps"][leaves]
        tree, row, mixed = trees[leaves], -1 - link, link < 0
        demand(bool((link < n_classes).all()), "a leaf is of a class that is not there")
        is_there = row[mixed] < (first[tree[mixed] + 1, 2] - first[tree[mixed], 2])
        demand(bool(is_there.all()), "a leaf's classes are not there")
        demand(bool((steps > 0).all()), "a leaf weighs nothing")
        total += np.bincount(tree, steps.astype(np.float64), len(total))
        own = extra[first[tree[mixed], 2] + row[mixed]]
        rough = own.astype(np.float64).sum(axis=1)  # before whole numbers might run over
        demand(bool((rough < _MOST_STEPS).all()), "leaves weigh too much")
        demand(bool((own.sum(axis=1) == steps[mixed]).all()), "a leaf's classes do not add up")
    demand(bool((total < _MOST_STEPS).all()), "leaves weigh too much")


def check_mean_leaves(thicket: Any, n_columns: int, weighs: bool) -> None:
    """Raise unless leaves of numbers have rows of `extra`; weighs: the first column is a weight."""
    extra, n_rows = thicket.extra, np.diff(thicket.first[:, 2])
    demand_array(extra, "f8", 2)
    demand(extra.shape[1] == n_columns, "leaves have other outputs")
    demand_finite(extra, "a leaf")
    demand(not weighs or bool((extra[:, 0] > 0).all()), "a leaf weighs nothing")
    for some, trees in _stretches(thicket):
        leaves = some["feature"] < 0
        link = some["link"][leaves]
        is_there = (link >= 0) & (link < n_rows[trees[leaves]])
        demand(bool(is_there.all()), "a leaf's numbers are not there")
        demand_finite(some["number"][leaves], "a leaf")


def check_forest(forest: Any) -> None:
    """Raise unless a forest's trees may be walked; what leaves hold is for its owner to check."""
    demand_array(forest.n_categories, "i4", 1)
    demand(bool((forest.n_categories >= 0).all()), "a feature has less than no categories")
    demand_array(forest.units, "f8", 1)
    demand_finite(forest.units, "a unit of weight")
    demand(bool((forest.units > 0).all()), "a unit of weight is 0")
    demand(type(forest.thickets) is tuple and len(forest.thickets) > 0, "there are no trees")
    for thicket in forest.thickets:
        check_thicket(thicket, forest.n_categories)
    n_trees = sum(len(each.first) - 1 for each in forest.thickets)
    demand(n_trees == len(forest.units), "trees and their units are not as many")
