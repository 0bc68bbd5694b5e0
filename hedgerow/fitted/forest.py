"""Fitted forests: the mean of what their trees say, of all of them or of the first ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import Table
from hedgerow.ensembles.forest import Forest
from hedgerow.ensembles.species import class_tree, mean_tree
from hedgerow.fitted.model import Floats, ReadsNumbers
from hedgerow.fitted.tree import paths_of
from hedgerow.kernels.ballots import Means, Proportions, Votes
from hedgerow.kernels.meanwhile import Little
from hedgerow.kernels.predict import average_unseen
from hedgerow.kernels.team import hired
from hedgerow.kernels.walks import add_leaves
from hedgerow.trees.tree import Tree


class AveragesTrees(ReadsNumbers):
    """Trees that are averaged: everything that does not depend on what is predicted.

    Trees are numbered, and what a tree draws is a function of its number: the first m trees are
    the forest that a fit of m trees gives, to the bit.
    """

    _model: Forest

    @property
    def _n_values(self) -> int:
        """Numbers that a tree says of a row."""
        raise NotImplementedError

    def _ballot(self) -> Any:
        """Return how what trees say is added."""
        raise NotImplementedError

    def _shown(self, value: Floats) -> Floats:
        """Return what a tree says, given the values of its leaves."""
        raise NotImplementedError

    def _tree(self, number: int) -> Tree:
        """Return one tree."""
        raise NotImplementedError

    def _trees(self) -> Iterator[Tree]:
        """Yield the trees."""
        return (self._tree(number) for number in range(self._model.n_trees))

    def _mean_ballot(self, X: Any) -> Floats:
        """Return the mean of what trees say of each row, float64 [n_rows, n_values]."""
        return self._mean_of(self._values(X))

    def _mean_of(self, values: Floats) -> Floats:
        forest = self._model
        out = np.zeros((len(values), self._n_values))
        work = float(len(values)) * forest.n_trees
        with hired(self.n_jobs, 10.0 * work, Little(1e-4 * work, add_leaves)) as team:
            forest.add(values, np.arange(len(values)), self._ballot(), team, out)
        self._average_unseen(values, out)
        return out / forest.n_trees

    def _average_unseen(self, values: Floats, out: Floats) -> None:
        """Set the sums of rows with unseen categories by both branches, if that was asked for."""
        rows = self._averaged_rows(values, self._model.n_categories)
        if not len(rows):
            return
        out[rows] = 0.0
        for tree in self._trees():
            self._add_unseen(values, rows, tree, out)

    def _staged_means(self, values: Floats) -> Iterator[Floats]:
        """Yield the mean of what the first 1, 2, ... trees say, float64 [n_rows, n_values]."""
        forest, out = self._model, np.zeros((len(values), self._n_values))
        rows, unseen = np.arange(len(values)), self._averaged_rows(values, self._model.n_categories)
        averaged = np.zeros((len(values) if len(unseen) else 0, self._n_values))
        for number in range(forest.n_trees):
            one = Forest(
                (forest.tree(number),), forest.units[number : number + 1], forest.n_categories
            )
            with hired(self.n_jobs, float(len(values)) * 10) as team:
                one.add(values, rows, self._ballot(), team, out)
            shown = out / (number + 1)
            if len(unseen):
                self._add_unseen(values, unseen, self._tree(number), averaged)
                shown[unseen] = averaged[unseen] / (number + 1)
            yield shown

    def _add_unseen(self, values: Floats, rows: NDArray[np.int64], tree: Tree, out: Floats) -> None:
        """Add what a tree says of rows with unseen categories: the mean of both branches."""
        stack, shares = np.empty(tree.n_nodes + 1, np.int64), np.empty(tree.n_nodes + 1)
        each, value = np.zeros_like(out), self._shown(tree.value)
        average_unseen(values, paths_of(tree), rows, value, stack, shares, each)
        out[rows] += each[rows]


class ClassForest(AveragesTrees):
    """A forest of classes."""

    classes_: NDArray[Any]
    n_classes_: int
    criterion: str
    voting: str

    @property
    def _impurity(self) -> str:
        return "entropy" if self.criterion == "log_loss" else str(self.criterion)

    @property
    def _n_values(self) -> int:
        return int(self.n_classes_)

    def _ballot(self) -> Any:
        return (Votes if self.voting == "hard" else Proportions)(self.n_classes_)

    def _shown(self, value: Floats) -> Floats:
        if self.voting == "soft":
            return value
        return np.asarray(np.eye(value.shape[1])[np.argmax(value, axis=1)])

    def _tree(self, number: int) -> Tree:
        forest = self._model
        unit = float(forest.units[number])
        return class_tree(forest.tree(number), unit, self._impurity, forest.n_categories)

    def predict_proba(self, X: Any) -> Floats:
        """Return the mean class proportions of the trees' leaves, or the share of their votes."""
        return self._mean_ballot(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probabilities; -inf where they are 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; of equals the first of `classes_`."""
        chosen = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[chosen])

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities by the first 1, 2, ... trees."""
        yield from self._staged_means(self._values(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the classes by the first 1, 2, ... trees."""
        for shares in self.staged_predict_proba(X):
            yield self.classes_[np.argmax(shares, axis=1)]


class MeanForest(AveragesTrees):
    """A forest of numbers."""

    n_outputs_: int

    @property
    def _n_values(self) -> int:
        return int(self.n_outputs_)

    def _ballot(self) -> Any:
        return Means(self.n_outputs_)

    def _shown(self, value: Floats) -> Floats:
        return value

    def _tree(self, number: int) -> Tree:
        return mean_tree(self._model.tree(number), self._model.n_categories)

    def predict(self, X: Any) -> Floats:
        """Return the mean of what the trees predict for each row."""
        means = self._mean_ballot(X)
        return np.ascontiguousarray(means[:, 0]) if self.n_outputs_ == 1 else means

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the predictions by the first 1, 2, ... trees."""
        for means in self._staged_means(self._values(X)):
            yield np.ascontiguousarray(means[:, 0]) if self.n_outputs_ == 1 else means


class BagOfTrees(AveragesTrees):
    """The trees of a bagging, which has read the table."""

    def means(self, X: Any, table: Table) -> Floats:  # noqa: ARG002  the table is enough
        """Return the mean of what trees say of each row."""
        return self._mean_of(self._schema.matrix(table, self.unseen))

    def staged_means(self, X: Any, table: Table) -> Iterator[Floats]:  # noqa: ARG002  the table is enough
        """Yield the mean of what the first 1, 2, ... trees say."""
        return self._staged_means(self._schema.matrix(table, self.unseen))


class BagOfClassTrees(BagOfTrees, ClassForest):
    """Bagged trees of classes."""


class BagOfMeanTrees(BagOfTrees, MeanForest):
    """Bagged trees of numbers."""
