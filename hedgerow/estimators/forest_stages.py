"""What the first trees of a forest say: predictions of every size, from one forest."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.forest import Forest
from hedgerow.estimators.base import paths_of
from hedgerow.kernels.predict import average_unseen
from hedgerow.kernels.team import hired

Floats = NDArray[np.float64]


class GrowsInSizes:
    """A fitted forest whose first 1, 2, ... trees are forests of their own.

    Trees are numbered, and what a tree draws is a function of its number: the first m trees are
    the forest that a fit of m trees gives, to the bit.
    """

    _model: Forest

    def _staged_means(self: Any, values: Floats) -> Iterator[Floats]:
        """Yield the mean of what the first 1, 2, ... trees say, float64 [n_rows, n_values]."""
        forest, out = self._model, np.zeros((len(values), self._n_values))
        rows, unseen = np.arange(len(values)), self._unseen_rows(values)
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

    def _unseen_rows(self: Any, values: Floats) -> NDArray[np.int64]:
        """Return rows with unseen categories that are predicted by both branches."""
        categorical = np.flatnonzero(self._model.n_categories > 0)
        if self.unseen != "average" or not len(categorical):
            return np.zeros(0, np.int64)
        return np.flatnonzero((values[:, categorical] < 0).any(axis=1))

    def _add_unseen(
        self: Any, values: Floats, rows: NDArray[np.int64], tree: Any, out: Floats
    ) -> None:
        """Add what a tree says of rows with unseen categories: the mean of both branches."""
        stack, shares = np.empty(tree.n_nodes + 1, np.int64), np.empty(tree.n_nodes + 1)
        each, value = np.zeros_like(out), self._shown(tree.value)
        average_unseen(values, paths_of(tree), rows, value, stack, shares, each)
        out[rows] += each[rows]
