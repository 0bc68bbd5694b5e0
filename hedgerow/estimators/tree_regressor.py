"""Regression trees with scikit-learn's names."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.tree import DecisionTreeRegressor as _SklearnRegressor
from sklearn.utils._param_validation import StrOptions

from hedgerow.data.binned import BinnedTable
from hedgerow.data.table import Table
from hedgerow.estimators.base import CONSTRAINTS
from hedgerow.estimators.cart import CartTree, Sample
from hedgerow.estimators.checks import check_targets, check_weights
from hedgerow.fitted.tree import MeanTree
from hedgerow.kernels.team import Team
from hedgerow.trees.medians import median_judge, median_tree
from hedgerow.trees.regression import regression_tree, target_judge
from hedgerow.trees.tree import Tree


class DecisionTreeRegressor(MultiOutputMixin, RegressorMixin, MeanTree, CartTree):
    """A regression tree.

    Grown greedily by the split (j, s) that most reduces the squared (or absolute) error
    around the means (medians) of the two sides, and pruned by cost-complexity if asked.
    Notes 1, decision trees; notes 4; Breiman, Friedman, Olshen and Stone (1984), chapter 8.

    The model is a function of the multiset of weighted rows and of the parameters; see
    `DecisionTreeClassifier`, which also explains the parameters.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error"}
        Leaves predict the mean, or the median.

    Where values are binned and means are predicted, nodes of at most 512 rows cut between
    pieces of bins, as many as `max_bins` of each feature.

    Examples
    --------
    >>> from hedgerow import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3], [4]], [1.0, 1.0, 3.0, 5.0])
    >>> tree.predict([[0], [10]])
    array([1., 4.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS | {
        "criterion": [StrOptions({"squared_error", "absolute_error"})],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: Any = 0.0,
        ccp_rule: str = "best",
        ccp_folds: int = 5,
        monotonic_cst: Any = None,
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.ccp_rule = ccp_rule
        self.ccp_folds = ccp_folds
        self.monotonic_cst = monotonic_cst
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _learn(self, table: Table, y: Any, sample_weight: Any) -> None:
        targets = check_targets(self, y, table.n_rows)
        weights = check_weights(sample_weight, table.n_rows)
        if self._is_absolute and targets.shape[1] > 1:
            raise ValueError(
                f"y has {targets.shape[1]} columns, but criterion='absolute_error' takes one. Fit "
                "one tree for each column, or use criterion='squared_error'."
            )
        # Medians multiply weights by targets, so both must share 61 bits with the row count.
        n_rows = np.count_nonzero(weights)
        bits = max(16, 31 - int(np.log2(n_rows))) if self._is_absolute else 30
        self._keep(table, Sample(targets, weights, bits))
        self.n_outputs_ = targets.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = not self._is_absolute
        return tags

    @property
    def _keeps_means(self) -> bool:
        return not self._is_absolute

    @property
    def _keeps_levels(self) -> bool:  # type: ignore[override]  # a property of a plain attribute
        return not self._is_absolute

    @property
    def _is_absolute(self) -> bool:
        return self.criterion == "absolute_error"

    def _grow(
        self, table: BinnedTable, sample: Sample, places: NDArray[np.int64] | None, team: Team
    ) -> Tree:
        judge = (median_judge if self._is_absolute else target_judge)(
            sample.targets, sample.weights
        )
        judge, rules = self._limits(table, judge, sample, places)
        plant = median_tree if self._is_absolute else regression_tree
        tree, _ = plant(table, judge, sample.targets, rules, team)
        return tree

    def _fold_losses(
        self, value: NDArray[np.float64], targets: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the squared (absolute) error of each row, summed over outputs."""
        errors = np.abs(value - targets)
        return np.asarray(np.sum(errors if self._is_absolute else errors**2, axis=1))

    def _shape_of_values(self) -> tuple[int, int]:
        return self.n_outputs_, 1

    def _class_names(self) -> None:
        return None


# scikit-learn's own tools (export_text, plot_tree, partial dependence) ask for its class.
_SklearnRegressor.register(DecisionTreeRegressor)
