"""What the tree estimators share: parameters, tables, weights, prediction."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import (
    Interval,
    RealNotInt,
    StrOptions,
)
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.binned import MAX_BINS, Recipe
from hedgerow.data.table import Table
from hedgerow.estimators.constraints import n_drawn
from hedgerow.estimators.notebook import ShowsItsTree
from hedgerow.estimators.sklearn_tree import SklearnTree
from hedgerow.estimators.tables import ReadsTables, categorical_columns
from hedgerow.kernels.predict import Paths, average_unseen, leaf_indices
from hedgerow.kernels.team import Team, hired
from hedgerow.trees.importance import impurity_importances
from hedgerow.trees.labels import TreeNames
from hedgerow.trees.rules import GrowthRules
from hedgerow.trees.tree import Tree

_EXACT_ROWS = 100_000  # up to here `split_finding="auto"` looks at every distinct value

CONSTRAINTS: dict[str, list[Any]] = {
    "splitter": [StrOptions({"best", "random"})],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "random_state": ["random_state"],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left"), StrOptions({"cv"})],
    "ccp_rule": [StrOptions({"best", "one_standard_error"})],
    "ccp_folds": [Interval(Integral, 2, None, closed="left")],
    "split_finding": [StrOptions({"auto", "exact", "histogram"})],
    "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    "categorical_features": ["array-like", StrOptions({"auto"})],
    "unseen": [StrOptions({"missing", "error", "average"})],
    "n_jobs": [Integral, None],
}


class BaseTree(ReadsTables, ShowsItsTree):
    """A single tree and its table: everything that does not depend on what is predicted."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS

    def _growth_rules(self, n_rows: int, n_features: int, total_weight: float) -> GrowthRules:
        """Translate scikit-learn's parameters into the rules of the grower."""
        fraction = self.min_samples_leaf
        min_leaf = fraction if isinstance(fraction, Integral) else int(np.ceil(fraction * n_rows))
        fraction = self.min_samples_split
        min_split = fraction if isinstance(fraction, Integral) else int(np.ceil(fraction * n_rows))
        return GrowthRules(
            max_leaves=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_split_rows=max(int(min_split), 2 * int(min_leaf)),
            min_leaf_rows=int(min_leaf),
            min_leaf_weight=float(self.min_weight_fraction_leaf) * total_weight,
            min_gain=self._least_gain(total_weight),
            n_candidates=self._n_candidates(n_features),
            random_cut=self.splitter == "random",
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )

    def _least_gain(self, total_weight: float) -> float:
        """Return the gain a split needs. Gains are never negative, but rounding may make them."""
        least = float(self.min_impurity_decrease) * total_weight
        return least * (1 - 1e-12) if least > 0 else -np.inf

    def _n_candidates(self, n_features: int) -> int | None:
        """Return the number of features tried per node, None for all."""
        return n_drawn(self.max_features, n_features)

    def _recipe(self, table: Table, n_rows: int) -> Recipe:
        """Decide how the table is binned."""
        exact = self.split_finding == "exact" or (
            self.split_finding == "auto" and n_rows <= _EXACT_ROWS
        )
        return Recipe(
            None if exact else int(self.max_bins),
            categorical_columns(self.categorical_features, table),
        )

    def _leaves(self, values: NDArray[np.float64], team: Team) -> NDArray[np.int64]:
        leaves = np.empty(len(values), np.int64)
        team.run(leaf_indices, values, paths_of(self._tree), leaves)
        return leaves

    def _leaf_values(self, X: Any) -> NDArray[np.float64]:
        """Return the value of each row's leaf; of several, averaged, for unseen categories."""
        values, tree = self._values(X), self._tree
        with hired(self.n_jobs, values.shape[0] * 10.0) as team:
            out = np.ascontiguousarray(tree.value[self._leaves(values, team)])
        categorical = np.flatnonzero(tree.n_categories > 0)
        if self.unseen == "average" and len(categorical):
            rows = np.flatnonzero((values[:, categorical] < 0).any(axis=1))
            stack, shares = np.empty(tree.n_nodes + 1, np.int64), np.empty(tree.n_nodes + 1)
            average_unseen(values, paths_of(tree), rows, tree.value, stack, shares, out)
        return out

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the node number of the leaf that each row reaches."""
        values = self._values(X)
        with hired(self.n_jobs, values.shape[0] * 10.0) as team:
            return self._leaves(values, team)

    def decision_path(self, X: Any) -> Any:
        """Return the nodes on each row's way, a sparse matrix [n_rows, n_nodes] of ones."""
        return self.tree_.paths_to(self.apply(X))

    def get_depth(self) -> int:
        """Return the largest number of splits between the root and a leaf."""
        check_is_fitted(self)
        return self._tree.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self._tree.n_leaves

    @property
    def tree_(self) -> SklearnTree:
        """The tree as scikit-learn shows trees: read-only arrays of the same names."""
        check_is_fitted(self)
        return SklearnTree.of(self._tree, self._shape_of_values())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the impurity decrease that each feature brought; they add up to 1."""
        check_is_fitted(self)
        return impurity_importances(self._tree, self.n_features_in_)

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the model: equal for the same weighted rows in any order, on any threads."""
        check_is_fitted(self)
        return self._tree.fingerprint()

    def _names(self) -> TreeNames:
        """Return what features, categories and classes are called."""
        check_is_fitted(self)
        default = [f"x{feature}" for feature in range(self.n_features_in_)]
        return TreeNames(
            features=tuple(getattr(self, "feature_names_in_", default)),
            categories=self._schema.categories,
            classes=self._class_names(),
            has_missing=self._has_missing,
        )

    def _compute_partial_dependence_recursion(
        self, grid: NDArray[Any], target_features: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the mean prediction at each point of a grid [n_points, n_targets].

        scikit-learn's partial_dependence asks for it. In a split on another feature both
        branches count, by their training weights.
        """
        tree, targets = self._tree, np.asarray(target_features).tolist()
        if tree.n_categories[targets].any():
            raise ValueError(
                "partial_dependence with method='recursion' takes numeric features only. Pass "
                "method='brute' for categories."
            )
        points, mean = np.asarray(grid, np.float64), np.zeros((len(grid), tree.value.shape[1]))
        waiting = [(0, np.ones(len(grid)))]
        while waiting:
            node, share = waiting.pop()
            left, right, feature = tree.left[node], tree.right[node], tree.feature[node]
            if left < 0:
                mean += share[:, None] * tree.value[node]
                continue
            to_left: Any = tree.weight[left] / tree.weight[node]
            if feature in targets:
                x = points[:, targets.index(feature)]
                to_left = np.where(np.isnan(x), tree.missing_left[node], x <= tree.threshold[node])
            waiting += [(left, share * to_left), (right, share * (1 - to_left))]
        return mean.T

    _tree: Tree


def paths_of(tree: Tree) -> Paths:
    """Return what prediction reads of a tree."""
    return Paths(*(getattr(tree, name) for name in Paths._fields))
