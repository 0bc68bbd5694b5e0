"""Species: what the trees of a forest predict, and how they are judged, packed and unpacked."""

from mmap import mmap
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.kernels.finished import class_values, join_means
from hedgerow.kernels.packed import (
    PACKED,
    Thicket,
    n_mixed,
    pack,
    pack_classes,
    pack_grown,
    pack_means,
    unpack,
    unpack_classes,
    unpack_means,
)
from hedgerow.kernels.predict import Paths
from hedgerow.kernels.workspace import N_NODES, N_WORDS, Nodes
from hedgerow.trees.classification import CRITERIA, class_columns, class_judge, finished_tree
from hedgerow.trees.grower import Judge
from hedgerow.trees.grown import Grown, in_preorder, words_of_sets
from hedgerow.trees.pruning import pruned
from hedgerow.trees.quantise import Steps, grouped_weights
from hedgerow.trees.regression import mean_columns, target_judge, total_squares
from hedgerow.trees.tree import Tree

_LARGE = 1 << 16  # bytes

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Species(Protocol):
    """What a forest's trees are made from.

    n_values: numbers that a tree gives a row.
    """

    @property
    def asks_for_leaves(self) -> bool:
        """Whether it must be known which leaf each row is in, to pack a tree."""

    @property
    def n_values(self) -> int:
        """Number of classes or outputs."""

    def monotone(self, signs: NDArray[np.int64] | None) -> "Species":
        """Return the species whose predictions are in order: see kernels.monotone."""

    def judge(self, weights: Steps, repeats: Counts | None) -> Judge:
        """Return what a tree is grown by, from rows that count so often."""

    def packed(self, table: BinnedTable, nodes: Nodes, judge: Judge, alpha: float) -> Thicket:
        """Prune a tree that was grown, by the cost of a leaf, and pack it."""


class ClassTrees(NamedTuple):
    """Trees of classes.

    labels    int64 [n_rows]
    criterion "gini", "entropy" or "misclassification"
    balanced  whether the classes of each tree's rows are given the same total weight
    signs     int64 [n_features] or None: see kernels.monotone
    """

    labels: NDArray[np.int64]
    n_values: int
    criterion: str
    balanced: bool = False
    signs: NDArray[np.int64] | None = None

    @property
    def asks_for_leaves(self) -> bool:
        """Sums of classes are those that the tree was grown by."""
        return False

    def monotone(self, signs: NDArray[np.int64] | None) -> "ClassTrees":
        """Return the species whose predictions are in order."""
        return self._replace(signs=signs)

    def judge(self, weights: Steps, repeats: Counts | None) -> Judge:
        """Return what a tree is grown by."""
        if self.balanced:
            weights, repeats = self._balanced(weights, repeats)
        judge = class_judge(self.labels, self.n_values, weights, self.criterion, repeats=repeats)
        return judge.held_monotone(self.signs)

    def _balanced(self, weights: Steps, repeats: Counts | None) -> tuple[Steps, Counts]:
        """Multiply weights so that all classes of a tree's rows have the same total."""
        counts = weights.counts if repeats is None else weights.counts * repeats
        rows = np.flatnonzero(counts)
        own = np.asarray(counts[rows] * weights.unit, np.float64)
        labels = self.labels[rows]
        totals = np.bincount(labels, own, self.n_values)
        seen = totals > 0
        factors = np.ones(self.n_values)
        factors[seen] = totals.sum() / (np.count_nonzero(seen) * totals[seen])
        steps = grouped_weights(own, factors, labels)
        spread = np.zeros(len(counts), np.int64)
        spread[rows] = steps.counts
        return steps._replace(counts=spread), (spread > 0).astype(np.int64)

    def packed(self, table: BinnedTable, nodes: Nodes, judge: Judge, alpha: float) -> Thicket:
        """Prune and pack a tree."""
        if alpha > 0:
            return self._pruned(table, in_preorder(nodes, words_of_sets(table.codes)), judge, alpha)
        n_nodes, n_words = int(nodes.counters[N_NODES]), int(nodes.counters[N_WORDS])
        grown, sums = nodes.table[:n_nodes], nodes.sums[:n_nodes]
        extra = np.empty((n_mixed(grown, sums, self.n_values), self.n_values), np.int64)
        room = room_for(n_nodes, PACKED).view(np.recarray), np.empty(n_words, np.uint64)
        thicket, stack = _thicket(*room, extra), np.empty((2, n_nodes + 1), np.int64)
        pack_grown(grown, sums, nodes.words, words_of_sets(table.codes), thicket, stack)
        return thicket

    def _pruned(self, table: BinnedTable, grown: Grown, judge: Judge, alpha: float) -> Thicket:
        _, impurity, weight = class_columns(grown.sums, judge)
        # The sums take the place of proportions, which pruning does not look at.
        exact: Any = np.ascontiguousarray(grown.sums[:, : self.n_values])
        shape = pruned(finished_tree(table, grown, exact, impurity, weight), alpha)
        sums: Any = shape.value
        nodes = _packed_shape(shape)
        is_mixed = (np.count_nonzero(sums, axis=1) > 1) & (nodes.feature < 0)
        extra = np.empty((np.count_nonzero(is_mixed), self.n_values), np.int64)
        pack_classes(sums, nodes, extra)
        return _thicket(nodes, shape.category_words, extra)


class MeanTrees(NamedTuple):
    """Trees of numbers, float64 [n_rows, n_outputs], judged by squared error; signs: as above."""

    y: Floats
    signs: NDArray[np.int64] | None = None

    @property
    def n_values(self) -> int:
        """Number of outputs."""
        return int(self.y.shape[1])

    @property
    def asks_for_leaves(self) -> bool:
        """Means are of the targets themselves, which a tree is grown from in whole steps."""
        return True

    def monotone(self, signs: NDArray[np.int64] | None) -> "MeanTrees":
        """Return the species whose predictions are in order."""
        return self._replace(signs=signs)

    def judge(self, weights: Steps, repeats: Counts | None) -> Judge:
        """Return what a tree is grown by."""
        return target_judge(self.y, weights, repeats).held_monotone(self.signs)

    def packed(self, table: BinnedTable, nodes: Nodes, judge: Judge, alpha: float) -> Thicket:
        """Prune and pack a tree."""
        grown = in_preorder(nodes, words_of_sets(table.codes))
        columns = mean_columns(grown, judge, self.y)
        shape: Any = _Shape(grown, np.ascontiguousarray(columns[:, 0]))
        if alpha > 0:
            impurity = total_squares(columns) / (shape.weight * self.n_values)
            shape = pruned(finished_tree(table, grown, columns, impurity, shape.weight), alpha)
            columns = shape.value
        packed = _packed_shape(shape)
        n_leaves, n_columns = np.count_nonzero(packed.feature < 0), columns.shape[1]
        extra = room_for(n_leaves * n_columns, np.dtype(np.float64)).reshape(n_leaves, n_columns)
        pack_means(columns, packed, extra)
        return _thicket(packed, shape.category_words, extra)


class _Shape:
    """A tree as it was grown, with the weights of its nodes: what packing reads."""

    def __init__(self, grown: Grown, weight: Floats) -> None:
        self.__dict__.update(grown._asdict(), weight=weight)


def _packed_shape(tree: Any) -> Any:
    paths = Paths(*(getattr(tree, name) for name in Paths._fields))
    nodes = room_for(len(tree.left), PACKED).view(np.recarray)
    nodes.view(np.uint8)[:] = 0
    pack(paths, tree.n_rows, nodes)
    return nodes


def room_for(n_items: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return room for a tree that is put together with others soon.

    If it is large it has pages of its own, which go back to the system with it: memory that
    was freed by another thread would stay with the process.
    """
    n_bytes = int(n_items) * kind.itemsize
    if n_bytes < _LARGE:
        return np.empty(n_items, kind)
    return np.frombuffer(mmap(-1, n_bytes), kind)


def _thicket(nodes: Any, words: NDArray[np.uint64], extra: NDArray[Any]) -> Thicket:
    first = np.array([[0, 0, 0], [len(nodes), len(words), len(extra)]])
    return Thicket(nodes, words, extra, first)


def class_tree(thicket: Thicket, unit: float, criterion: str, n_categories: NDArray[Any]) -> Tree:
    """Return a packed tree of classes as it was; unit: what one step of its weights is worth."""
    n_nodes, n_classes = len(thicket.nodes), thicket.extra.shape[1]
    sums = np.empty((n_nodes, n_classes), np.int64)
    unpack_classes(thicket.nodes, thicket.extra, sums)
    value, impurity = np.empty((n_nodes, n_classes)), np.empty(n_nodes)
    class_values(CRITERIA[criterion](n_classes), sums, value, impurity)
    return _unpacked(thicket, n_categories, value, impurity, sums.sum(axis=1) * unit)


def mean_tree(thicket: Thicket, n_categories: NDArray[Any]) -> Tree:
    """Return a packed tree of numbers as it was."""
    n_nodes, n_columns = len(thicket.nodes), thicket.extra.shape[1]
    columns, n_outputs = np.empty((n_columns, n_nodes)), n_columns // 2
    unpack_means(thicket.nodes, thicket.extra, columns)
    weight, means, squares = columns[0], columns[1 : 1 + n_outputs], columns[1 + n_outputs :]
    is_leaf, right = thicket.nodes.feature < 0, np.ascontiguousarray(thicket.nodes.link)
    left = np.where(is_leaf, -1, np.arange(1, n_nodes + 1)).astype(np.int32)
    for output in range(n_outputs):
        join_means(left, right, weight, means[output], squares[output])
    impurity = total_squares(columns.T) / (weight * n_outputs)
    return _unpacked(thicket, n_categories, np.ascontiguousarray(means.T), impurity, weight.copy())


def _unpacked(
    thicket: Thicket, n_categories: NDArray[Any], value: Floats, impurity: Floats, weight: Floats
) -> Tree:
    """Return a tree with the shape of a packed one."""
    n_nodes = len(thicket.nodes)
    shape: dict[str, Any] = {
        "left": np.empty(n_nodes, np.int32),
        "right": np.empty(n_nodes, np.int32),
        "feature": np.empty(n_nodes, np.int32),
        "threshold": np.empty(n_nodes),
        "missing_left": np.empty(n_nodes, np.bool_),
        "category_start": np.empty(n_nodes, np.int64),
        "category_words": np.asarray(thicket.words).copy(),
        "weight": weight,
    }
    n_rows = np.empty(n_nodes, np.int64)
    unpack(thicket.nodes, Paths(**shape), n_rows)
    return Tree(n_categories=n_categories, value=value, impurity=impurity, n_rows=n_rows, **shape)
