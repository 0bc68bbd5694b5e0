"""What both decision trees do: bin, grow, prune, keep."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from hedgerow.data.binned import BinnedTable
from hedgerow.data.table import Schema, Table, read_table
from hedgerow.estimators.base import BaseTree
from hedgerow.estimators.checks import check_parameters
from hedgerow.estimators.first_fits import first_tree
from hedgerow.estimators.pruning_cv import pruned_by_cv
from hedgerow.estimators.tables import bin_for
from hedgerow.kernels.team import hired
from hedgerow.trees.grower import Judge
from hedgerow.trees.pruning import pruned, pruning_path
from hedgerow.trees.quantise import grouped_weights, quantised_weights
from hedgerow.trees.rules import GrowthRules
from hedgerow.trees.tree import Tree


class Sample:
    """Rows that count, with their targets and weights in whole steps.

    rows     int [n] or None     their numbers in the table; None: all of them
    targets  [n, ...]
    weights  Steps               what a row counts in the growing of a tree
    plain    Steps               its weight without the factor of its class
    factors  float64 [n] or [1]  the factor of its class
    n_rows   int                 how many rows these stand for: one of weight 3 is three
    """

    def __init__(
        self,
        targets: NDArray[Any],
        weights: NDArray[np.float64],
        max_bits: int = 30,
        factors: NDArray[np.float64] | None = None,
    ) -> None:
        """Keep the rows of positive weight; factors: of each class, if targets are classes."""
        has_factors = factors is not None and bool((factors != 1.0).any())
        if factors is not None and has_factors:
            counts_at_all = weights * factors[targets] > 0
        else:
            counts_at_all = weights > 0
        self.rows: NDArray[np.signedinteger[Any]] | None = None
        self.targets = targets
        if not counts_at_all.all():
            self.rows = np.flatnonzero(counts_at_all)
            self.targets, weights = targets[self.rows], weights[self.rows]
        self.plain = self.weights = quantised_weights(weights, max_bits)
        self.factors = np.ones(1)
        if factors is not None and has_factors:
            self.factors = factors[self.targets]
        if factors is not None and (has_factors or not self.plain.exact):
            self.weights = grouped_weights(weights, factors, self.targets)
        counts = self.plain.counts
        self.n_rows = int(counts.sum()) if self.plain.unit == 1.0 else len(counts)

    def some(self, places: NDArray[np.int64]) -> "Sample":
        """Return some of these rows, in any order."""
        some = copy.copy(self)
        some.rows = places if self.rows is None else self.rows[places]
        some.targets = self.targets[places]
        some.plain = self.plain.some(places)
        some.weights = some.plain if self.weights is self.plain else self.weights.some(places)
        some.factors = self.factors if len(self.factors) == 1 else self.factors[places]
        return some

    def move(self, order: NDArray[np.int64]) -> None:
        """Put the rows into another order; nothing is kept of the one before."""
        self.__dict__ = self.some(order).__dict__
        assert self.rows is not None
        self.rows = self.rows.astype(np.int32)  # a tree takes fewer rows than 2^31

    def thin(self) -> None:
        """Keep weights that are all the same as one number, for those who only look at them."""
        counts = self.plain.counts
        if self.weights is self.plain and counts.min() == counts.max():
            alike = np.broadcast_to(counts[:1].copy(), counts.shape)
            self.plain = self.weights = self.plain._replace(counts=alike)


class CartTree(BaseTree):
    """Growing, pruning and keeping one tree."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree from a table and one target for each row.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
        y : array [n_rows], or [n_rows, n_outputs] for a regression of several outputs
        sample_weight : array [n_rows] or None
            A row of weight 0 is as if it were not there.

        Returns
        -------
        The estimator itself. If fitting fails or is interrupted it is as it was before.
        """
        check_parameters(self)
        fresh = copy.copy(self)
        fresh._learn(read_table(X), y, sample_weight)
        self.__dict__ = fresh.__dict__
        return self

    def _keep(self, table: Table, sample: Sample) -> None:
        """Grow, prune and keep a tree."""
        work = float(len(sample.targets)) * table.n_features
        first = None if self.ccp_alpha == "cv" else first_tree(self.criterion, work)
        with hired(self.n_jobs, work, first) as team:
            binned = bin_for(self, table, sample, team)
            self._held = self._checked_signs(table, binned, sample)

            def grown(places: NDArray[np.int64] | None) -> Tree:
                tree: Tree = self._grow(binned, sample, places, team)
                return tree

            if self.ccp_alpha == "cv":
                values = Schema.of(table.names, binned.categories).matrix(table, "missing")
                values = values if sample.rows is None else values[sample.rows]
                tree, path = pruned_by_cv(self, values, sample, grown, team)
            else:
                tree, path = pruned(grown(None), float(self.ccp_alpha)), None
        if path is not None:
            self.ccp_path_ = path
        elif hasattr(self, "ccp_path_"):
            del self.ccp_path_
        self._remember(table, binned)
        self.max_features_ = self._n_candidates(table.n_features) or table.n_features
        self._tree = tree

    def _checked_signs(
        self, table: Table, binned: BinnedTable, sample: Sample
    ) -> NDArray[np.int64] | None:
        """Return how predictions may change in each feature."""
        is_class = sample.targets.ndim == 1
        n_values = len(np.unique(sample.targets)) if is_class else sample.targets.shape[1]
        signs = self._signs(table, binned, n_values, is_class)
        other = "misclassification_cost" if is_class else "criterion='absolute_error'"
        if signs is not None and not self._keeps_means:
            raise ValueError(f"monotonic_cst does not go with {other}. Leave one of them out.")
        return signs

    def _limits(
        self, table: BinnedTable, judge: Judge, sample: Sample, places: NDArray[np.int64] | None
    ) -> tuple[Judge, GrowthRules]:
        """Restrict a judge to some rows, and set the rules for that many."""
        counts = sample.weights.counts if places is None else sample.weights.counts[places]
        if places is not None:
            judge = judge._replace(records=judge.records[places])
        judge = judge.held_monotone(self._held)
        total = float(counts.sum()) * sample.weights.unit
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return judge, self._growth_rules(len(counts), len(table.codes.features), total, seed)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the steps of weakest-link pruning: `ccp_alphas` and total leaf `impurities`."""
        whole = type(self)(**{**self.get_params(), "ccp_alpha": 0.0})
        path = pruning_path(whole.fit(X, y, sample_weight=sample_weight)._tree)
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities, n_leaves=path.n_leaves)
