"""One fitted tree: the leaves of rows, and what they say."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.fitted.model import Floats, ReadsNumbers
from hedgerow.kernels.lone import find_leaves_of_one, lay_one, room_for_one
from hedgerow.kernels.meanwhile import Little
from hedgerow.kernels.predict import Paths, average_unseen, leaf_indices
from hedgerow.kernels.team import Team, hired
from hedgerow.trees.tree import Tree

_FEW_ROWS = 256  # for which no tree is laid
_PER_ROW = 4  # nodes for each row; if there are more, to lay the tree takes longer


class OneTree(ReadsNumbers):
    """A single tree and its table: everything that does not depend on what is predicted."""

    _tree: Tree

    def _leaves(self, values: Floats, team: Team) -> NDArray[np.int64]:
        leaves, tree = np.empty(len(values), np.int64), self._tree
        is_many = len(values) >= max(_FEW_ROWS, tree.n_nodes // _PER_ROW)
        if len(tree.category_words) or not is_many:
            team.run(leaf_indices, values, paths_of(tree), leaves)
        else:
            lone = room_for_one(tree.n_nodes)
            lay_one(paths_of(tree), np.empty(tree.n_nodes, np.int64), lone)
            team.run(find_leaves_of_one, values, lone, leaves)
        return leaves

    def _answered(self, X: Any, spoken: Callable[[Floats], Floats]) -> Floats:
        """Return what is spoken of each row, given the value of its leaf.

        An unseen category may ask for the average of several leaves. If there is none, and more
        rows than nodes, what is spoken of nodes is found first.
        """
        values, tree = self._values(X), self._tree
        with hired(
            self.n_jobs, 10.0 * len(values), Little(1e-4 * len(values), leaf_indices)
        ) as team:
            leaves = self._leaves(values, team)
        rows = self._averaged_rows(values, tree.n_categories)
        if not len(rows) and len(values) > tree.n_nodes:
            return np.take(spoken(tree.value), leaves, axis=0)
        out = np.take(tree.value, leaves, axis=0)
        if len(rows):
            stack, shares = np.empty(tree.n_nodes + 1, np.int64), np.empty(tree.n_nodes + 1)
            average_unseen(values, paths_of(tree), rows, tree.value, stack, shares, out)
        return spoken(out)


class ClassTree(OneTree):
    """A tree of classes."""

    classes_: NDArray[Any]
    _cost: Floats | None
    _factors: Floats

    def _labels_of(self, value: Floats) -> NDArray[np.int64]:
        """Return the class of each row of proportions: the most frequent, or the cheapest."""
        proportions = value / self._factors
        price = -proportions if self._cost is None else proportions @ self._cost
        return np.asarray(np.argmin(price, axis=1))

    def predict_proba(self, X: Any) -> Floats:
        """Return the class proportions of the leaf of each row, in the order of `classes_`."""
        return self._answered(X, self._spoken)

    def _spoken(self, value: Floats) -> Floats:
        """Return the class proportions of rows, given those of the rows that the tree counted."""
        proportions = value / self._factors
        return np.asarray(proportions / proportions.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the class proportions; -inf for classes not in the leaf."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: the most frequent, or the cheapest if costs were given."""
        return self._answered(X, lambda value: self.classes_[self._labels_of(value)])


class MeanTree(OneTree):
    """A tree of numbers."""

    n_outputs_: int

    def predict(self, X: Any) -> Floats:
        """Return the value of the leaf of each row."""
        return self._answered(X, lambda value: value[:, 0] if self.n_outputs_ == 1 else value)


def paths_of(tree: Tree) -> Paths:
    """Return what prediction reads of a tree."""
    return Paths(*(getattr(tree, name) for name in Paths._fields))
