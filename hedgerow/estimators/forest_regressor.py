"""Forests of regression trees with scikit-learn's names."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from hedgerow.data.table import Table
from hedgerow.ensembles.curve import steady_sum
from hedgerow.ensembles.left_out import LeftOut
from hedgerow.ensembles.species import MeanTrees
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_targets, check_weights
from hedgerow.estimators.forest import FOREST_CONSTRAINTS, BaseForest
from hedgerow.estimators.forest_neighbours import PredictsQuantiles
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.fitted.forest import MeanForest


class ForestRegressor(RegressorMixin, MeanForest, PredictsQuantiles, BaseForest):
    """What random forests and extra-trees of numbers share."""

    _keeps_levels = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = FOREST_CONSTRAINTS | {
        "criterion": [StrOptions({"squared_error"})],
        "keep_rows": ["boolean"],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _learn(self, table: Table, y: Any, sample_weight: Any, asked: Any) -> None:
        targets = check_targets(self, y, table.n_rows)
        weights = check_weights(sample_weight, table.n_rows)
        before = asked[0]
        if before is not None and before.n_outputs_ != targets.shape[1]:
            raise ValueError(
                f"y has {targets.shape[1]} columns, but warm_start=True goes on from a forest of "
                f"{before.n_outputs_}. Pass as many, or warm_start=False."
            )
        sample = Sample(targets, weights)
        self.n_outputs_ = targets.shape[1]
        self._keep(table, sample, MeanTrees(sample.targets), asked)
        self._settle(table, sample)

    def _score_out_of_bag(self, judged: LeftOut, sample: Sample) -> float:
        """Return R^2, by weight, averaged over outputs."""
        known = judged.n_trees > 0
        y, weights = sample.targets[known], sample.plain.weights[known]
        if not len(y):
            return float("nan")
        predicted, total = judged.means()[known], steady_sum(weights)
        if callable(self.oob_score):
            pair = (y[:, 0], predicted[:, 0]) if y.shape[1] == 1 else (y, predicted)
            return float(self.oob_score(*pair))
        scores = []
        for output in range(y.shape[1]):
            mean = steady_sum(weights * y[:, output]) / total
            spread = steady_sum(weights * (y[:, output] - mean) ** 2)
            error = steady_sum(weights * (y[:, output] - predicted[:, output]) ** 2)
            scores.append(1.0 - error / spread if spread > 0 else float(error == 0))
        return float(np.mean(scores))

    def _keep_out_of_bag(self, judged: LeftOut, sample: Sample, n_rows: int) -> None:
        shown = np.full((n_rows, self.n_outputs_), np.nan)
        shown[slice(None) if sample.rows is None else sample.rows] = judged.means()
        self.oob_prediction_ = shown[:, 0] if self.n_outputs_ == 1 else shown

    def _estimator(self, number: int) -> DecisionTreeRegressor:
        """Return one tree as an estimator."""
        tree = DecisionTreeRegressor(
            criterion=self.criterion, n_jobs=self.n_jobs, unseen=self.unseen
        )
        self._lend(tree, number)
        return tree


class RandomForestRegressor(ForestRegressor):
    """A random forest of regression trees.

    For each tree n rows are drawn with replacement; the tree is grown to full depth, and each
    node takes the best split of `max_features` features drawn for it. Predictions are averaged.
    Notes 1, algorithm 1; Breiman (2001).

    Parameters
    ----------
    criterion : {"squared_error"}
    max_features : int, float, "sqrt", "log2" or None
        Features tried at each node; 1.0 is all of them.
    keep_rows : bool
        Keep the targets, and which rows are in which leaf: `predict_quantiles` needs them. About
        8 bytes for each row and tree.

    The other parameters are those of RandomForestClassifier. Where values are binned, nodes of at
    most 512 rows cut between pieces of bins.

    Attributes
    ----------
    n_features_in_, feature_names_in_, n_outputs_, max_features_
    estimators_ : sequence of DecisionTreeRegressor, unpacked when they are asked for
    estimators_samples_ : the rows of each tree
    feature_importances_ : float64 [n_features]
    fingerprint_ : str
    oob_score_, oob_prediction_, oob_curve_ : only with oob_score

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(n_estimators=50, oob_score=True).fit(X, y)
    >>> 0.3 < forest.oob_score_ < 0.5
    True
    """

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = True,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        time_limit: float | None = None,
        keep_rows: bool = False,
    ) -> None:
        keep_parameters(self, locals())


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised regression trees: one random cut for each feature that a node tries.

    Parameters and attributes are those of RandomForestRegressor; bootstrap is False. Notes 1,
    algorithm 2; Geurts, Ernst and Wehenkel (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ExtraTreesRegressor(n_estimators=20).fit(X, y).score(X, y)
    1.0
    """

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = True,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        time_limit: float | None = None,
        keep_rows: bool = False,
    ) -> None:
        keep_parameters(self, locals())

    @property
    def _cuts_at_random(self) -> bool:
        return True
