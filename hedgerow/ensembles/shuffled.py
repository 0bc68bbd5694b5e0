"""How much worse each tree does on the rows it has not seen when a feature is shuffled there.

    importance of feature j in tree b = error of b on its rows out of bag, feature j shuffled
                                        among them, less its error on them as they are

Error is the share of rows called by a wrong class, or the mean squared error. Breiman (2001),
section 10.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.bags import Bags
from hedgerow.ensembles.curve import steady_sum
from hedgerow.ensembles.forest import Forest
from hedgerow.kernels.packed import MAX_FEATURES, Thicket
from hedgerow.kernels.team import Team
from hedgerow.kernels.walks import add_leaves, walkers_of

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Judge(Protocol):
    """Says how wrong predictions are, row by row."""

    def __call__(self, rows: Counts, spoken: Floats) -> Floats:
        """Return the loss of each of some rows, given what a tree says of them."""


class Shuffle(NamedTuple):
    """What is shuffled, and how it is judged.

    values     float64 [n_rows, n_features]   the training rows
    weights    float64 [n_rows]
    loss       (rows, what a tree says of them) -> float64 [n]
    way        what a leaf says
    n_values   numbers that a tree gives a row
    n_repeats  shuffles of each feature, whose results are averaged
    seed       a shuffle is a function of seed, feature, repeat and tree
    """

    values: Floats
    weights: Floats
    loss: Judge
    way: Any
    n_values: int
    n_repeats: int
    seed: int

    def importances(self, forest: Forest, bags: Bags, team: Team) -> Floats:
        """Return the importance of each feature in each tree, float64 [n_features, n_trees].

        NaN for a tree that has seen all rows that count; 0 for features that it does not use.
        Rows are shuffled in an order that depends on their content only.
        """
        found = np.zeros((self.values.shape[1], forest.n_trees))

        def judge(member: Any, number: int) -> None:
            rows = bags.urn.order[bags.counts(number)[bags.urn.order] == 0]
            rows = rows[self.weights[rows] > 0]
            found[:, number] = self._of_tree(forest.tree(number), rows, number, member)

        team.run_each(judge, range(forest.n_trees))
        return found

    def _of_tree(self, tree: Thicket, rows: Counts, number: int, member: Any) -> Floats:
        """Return the importance of each feature in one tree."""
        found = np.zeros(self.values.shape[1])
        if not len(rows):
            return np.full_like(found, np.nan)
        values = self.values[rows]
        before = self._error(tree, rows, values, member)
        for feature in used_features(tree):
            kept = values[:, feature].copy()
            for repeat in range(self.n_repeats):
                named = [self.seed, int(feature), repeat, number]
                values[:, feature] = kept[np.random.default_rng(named).permutation(len(rows))]
                found[feature] += self._error(tree, rows, values, member) - before
            values[:, feature] = kept
        return found / self.n_repeats

    def _error(self, tree: Thicket, rows: Counts, values: Floats, member: Any) -> float:
        """Return the mean loss of a tree over rows with some values, by weight."""
        spoken, walkers = np.zeros((len(rows), self.n_values)), walkers_of(1)
        add_leaves(member, values, np.arange(len(rows)), tree, self.way, walkers, spoken)
        weights = self.weights[rows]
        return steady_sum(self.loss(rows, spoken) * weights) / steady_sum(weights)


def used_features(tree: Thicket) -> NDArray[np.int32]:
    """Return the features that a tree splits by, ascending."""
    feature = tree.nodes.feature
    return np.unique(feature[feature >= 0] & (MAX_FEATURES - 1))
