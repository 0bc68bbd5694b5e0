"""What the tree estimators share: parameters, tables, weights, prediction."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.growth import GROWTH_CONSTRAINTS, GrowsTrees
from hedgerow.estimators.notebook import ShowsItsTree
from hedgerow.estimators.shapley_values import SharesOutTree
from hedgerow.fitted.tree import OneTree
from hedgerow.kernels.team import hired
from hedgerow.trees.importance import impurity_importances
from hedgerow.trees.labels import TreeNames

if TYPE_CHECKING:
    from hedgerow.estimators.sklearn_tree import SklearnTree

CONSTRAINTS: dict[str, list[Any]] = GROWTH_CONSTRAINTS | {
    "splitter": [StrOptions({"best", "random"})],
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left"), StrOptions({"cv"})],
    "ccp_rule": [StrOptions({"best", "one_standard_error"})],
    "ccp_folds": [Interval(Integral, 2, None, closed="left")],
}


class BaseTree(OneTree, SharesOutTree, GrowsTrees, ShowsItsTree):
    """A single tree and its table: everything that does not depend on what is predicted."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS

    @property
    def _cuts_at_random(self) -> bool:
        return bool(self.splitter == "random")

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
    def tree_(self) -> "SklearnTree":
        """The tree as scikit-learn shows trees: read-only arrays of the same names."""
        check_is_fitted(self)
        from hedgerow.estimators.sklearn_tree import SklearnTree  # noqa: PLC0415  a plain fit needs none

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
