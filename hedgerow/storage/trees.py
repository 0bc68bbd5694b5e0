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

from hedgerow.ensembles.forest import some_trees
from hedgerow.kernels.packed import BY_CATEGORY, FEATURE, PACKED, Thicket
from hedgerow.storage.numbers import demand, demand_array, demand_finite

_FEW_NODES = 1 << 16  # that are looked at together
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
    n_nodes, n_trees = len(is_split), len(sizes)
    level = np.cumsum(np.where(is_split, np.int32(1), np.int32(-1)), dtype=np.int32)
    level += np.repeat(np.arange(n_trees, dtype=np.int32), sizes)
    ends = np.cumsum(sizes) - 1
    is_end = np.zeros(n_nodes, bool)
    is_end[ends] = True
    demand(bool(((level == -1) == is_end).all() and level.min() == -1), "nodes are no tree")
    splits = np.flatnonzero(is_split)
    root = np.repeat(ends + 1 - sizes, sizes)[splits]
    last = np.repeat(ends, sizes)[splits]
    child = np.asarray(right)[splits].astype(np.int64) + root
    demand(bool(((child > splits + 1) & (child <= last)).all()), "a child is not in its tree")
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
    for some in _blocks(thicket):
        _check_packed(some, n_categories)


def _blocks(thicket: Thicket) -> Iterator[Thicket]:
    """Yield some trees after others, so that little room is needed to look at them."""
    first, begin = thicket.first[:, 0], 0
    while begin < len(first) - 1:
        end = int(np.searchsorted(first, first[begin] + _FEW_NODES, "right")) - 1
        end = max(end, begin + 1)
        yield some_trees(thicket, begin, end)
        begin = end


def _check_packed(thicket: Thicket, n_categories: NDArray[Any]) -> None:
    feature, sizes = thicket.nodes["feature"], np.diff(thicket.first, axis=0)
    is_split = feature >= 0
    check_shape(np.ascontiguousarray(thicket.first[:, 0]), is_split, thicket.nodes["link"])
    splits = np.flatnonzero(is_split)
    n_words = np.repeat(sizes[:, 1], sizes[:, 0])[splits]
    by_set = (feature[splits] & BY_CATEGORY) != 0
    steps, number = thicket.nodes["steps"][splits], thicket.nodes["number"][splits]
    demand(bool((steps[by_set] >= 0).all()), "a set of categories is not there")
    start = np.where(by_set, steps, -1)
    check_splits(feature[splits] & FEATURE, number, start, n_words, n_categories)


def check_class_leaves(thicket: Any, n_classes: int) -> None:
    """Raise unless leaves of classes hold what `kernels.ballots` may read."""
    demand_array(thicket.extra, "i8", 2)
    demand(thicket.extra.shape[1] == n_classes, "leaves are of other classes")
    for some in _blocks(thicket):
        _check_steps(some, n_classes)


def _check_steps(thicket: Thicket, n_classes: int) -> None:
    nodes, extra, first = thicket.nodes, thicket.extra, thicket.first
    leaves, sizes = np.flatnonzero(nodes["feature"] < 0), np.diff(first, axis=0)
    link, steps = nodes["link"][leaves].astype(np.int64), nodes["steps"][leaves]
    tree = np.repeat(np.arange(len(sizes)), sizes[:, 0])[leaves]
    demand(bool((link < n_classes).all()), "a leaf is of a class that is not there")
    row, mixed = -1 - link, link < 0
    demand(bool((row[mixed] < sizes[tree[mixed], 2]).all()), "a leaf's classes are not there")
    demand(bool((steps > 0).all()), "a leaf weighs nothing")
    demand(bool((extra >= 0).all()), "a class weighs less than nothing")
    total = np.bincount(tree, steps.astype(np.float64), len(sizes))
    demand(bool((total < _MOST_STEPS).all()), "leaves weigh too much")
    own = extra[first[tree[mixed], 2] + row[mixed]]
    rough = own.astype(np.float64).sum(axis=1)  # before whole numbers might run over
    demand(bool((rough < _MOST_STEPS).all()), "leaves weigh too much")
    demand(bool((own.sum(axis=1) == steps[mixed]).all()), "a leaf's classes do not add up")


def check_mean_leaves(thicket: Any, n_columns: int, weighs: bool) -> None:
    """Raise unless leaves of numbers have rows of `extra`; weighs: the first column is a weight."""
    demand_array(thicket.extra, "f8", 2)
    demand(thicket.extra.shape[1] == n_columns, "leaves have other outputs")
    for some in _blocks(thicket):
        nodes, sizes = some.nodes, np.diff(some.first, axis=0)
        leaves = np.flatnonzero(nodes["feature"] < 0)
        link, n_own = nodes["link"][leaves], np.repeat(sizes[:, 2], sizes[:, 0])[leaves]
        demand(bool(((link >= 0) & (link < n_own)).all()), "a leaf's numbers are not there")
        demand_finite(some.extra, "a leaf")
        demand_finite(nodes["number"][leaves], "a leaf")
        demand(not weighs or bool((some.extra[:, 0] > 0).all()), "a leaf weighs nothing")


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
