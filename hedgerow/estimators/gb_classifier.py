"""Gradient boosting for classes."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from hedgerow.data.table import Table
from hedgerow.ensembles.stage import CLASSES
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import (
    check_class_weight,
    check_classes,
    check_labels,
    check_length,
)
from hedgerow.estimators.gradient_boosting import (
    BOOSTING_CONSTRAINTS,
    BaseGradientBoosting,
    keep_parameters,
)
from hedgerow.estimators.request import Request
from hedgerow.fitted.boosting import ClassBoosting
from hedgerow.losses import Bernoulli, Exponential, Multinomial, custom_loss
from hedgerow.losses.classification import logistic_of_array

_IN_A_BYTE = 256  # classes


class GradientBoostingClassifier(ClassifierMixin, ClassBoosting, BaseGradientBoosting):
    """Trees added one after another, each fitted to the derivatives of a loss of classes.

    Two classes have one score, the log-odds of the second; K > 2 classes have K scores and a
    tree for each in every round (with `multi_output="vector"` one tree for all).
    `GradientBoostingRegressor` explains the method and the parameters that are not listed here.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}
        "exponential", for two classes, is AdaBoost as gradient boosting. Or a loss of your own
        of two classes, as `GradientBoostingRegressor` explains it: y is 0 for the first class
        and 1 for the second, and `link`, which turns raw scores into the probability of the
        second, is the logistic function if it is not given: raw scores are log-odds.
    min_child_weight : float
        Least sum of Hessians of a leaf, p (1 - p) a row.
    class_weight : dict, "balanced" or None

    Attributes
    ----------
    classes_ : array [n_classes]
    n_classes_ : int
    oof_predictions_ : float64 [n_rows, n_classes], only with n_estimators="cv"
        Probabilities.

    Examples
    --------
    >>> from hedgerow import GradientBoostingClassifier
    >>> X = [[4.0, "red"], [2.0, "blue"], [None, "blue"], [1.0, "red"]] * 10
    >>> model = GradientBoostingClassifier().fit(X, ["yes", "no", "no", "yes"] * 10)
    >>> model.predict([[3.0, "red"], [1.0, "blue"]])
    array(['yes', 'no'], dtype='<U3')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BOOSTING_CONSTRAINTS | {
        "loss": [StrOptions({"log_loss", "exponential"}), tuple, callable],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        *,
        loss: Any = "log_loss",
        method: str = "newton",
        n_estimators: Any = "auto",
        max_estimators: int = 1000,
        cv: Any = 5,
        one_se: bool = False,
        learning_rate: Any = "auto",
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_child_weight: float = 0.1,
        l1: float = 0.0,
        l2: float = 5.0,
        gamma: float = 0.0,
        prune: str = "pre",
        max_features: Any = "auto",
        max_features_level: Any = None,
        max_features_tree: Any = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        split_finding: str = "histogram",
        max_bins: int = 255,
        subsample: float = 1.0,
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        oob_improvement: bool = False,
        dropout: float = 0.0,
        max_dropped: int = 50,
        skip_dropout: float = 0.0,
        multi_output: str = "trees",
        class_weight: Any = None,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        eval_metric: Any = None,
        time_limit: float | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        verbose: bool = True,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def _learn(self, table: Table, y: Any, sample_weight: Any, request: Request) -> None:
        classes, codes, weights = check_classes(self, y, sample_weight, table.n_rows)
        factors = check_class_weight(self.class_weight, classes, codes, weights)
        sample = Sample(codes, weights, factors=factors)
        del codes, weights  # large, and of no more use
        sample.targets = sample.targets.astype(CLASSES[len(classes) > _IN_A_BYTE])
        self.classes_, self.n_classes_ = classes, len(classes)
        if self.monotonic_cst is not None and len(classes) > 2:
            raise ValueError(
                f"monotonic_cst is for two classes, but y has {len(classes)}: the probabilities of "
                "more cannot all rise. Use monotonic_cst=None."
            )
        self._keep(table, sample, self._loss_value(), request)

    def _loss_value(self) -> Any:
        """Return the loss that the parameters name, or are."""
        if not isinstance(self.loss, str):
            return self._given_loss()
        if self.loss == "exponential":
            if self.n_classes_ > 2:
                raise ValueError(
                    f"loss='exponential' is for two classes, but y has {self.n_classes_}. Use "
                    "loss='log_loss'."
                )
            return Exponential()
        return Bernoulli() if self.n_classes_ <= 2 else Multinomial(self.n_classes_)

    def _given_loss(self) -> Any:
        """Return the user's loss of classes 0 and 1."""
        if self.n_classes_ > 2:
            raise ValueError(
                f"loss={self.loss!r} is for two classes, but y has {self.n_classes_}. Use "
                "loss='log_loss', or a model of one class against the rest."
            )
        return custom_loss(self.loss, logistic_of_array)

    def _watched_targets(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        """Return the classes of rows that are watched, by their numbers."""
        labels = check_labels(self, y)
        check_length("y", labels, n_rows)
        unknown = np.flatnonzero(~np.isin(labels, self.classes_))
        if len(unknown):
            raise ValueError(
                f"y[{unknown[0]}] of eval_set is {labels[unknown[0]]!r}, which is not a class of "
                f"fit ({list(self.classes_)[:8]}). Leave such rows out."
            )
        return np.searchsorted(self.classes_, labels).astype(np.float64)


def says_log_odds(model: Any) -> bool:
    """Tell whether a model's `decision_function` is the log-odds of its second class."""
    return type(model) is GradientBoostingClassifier and isinstance(model._loss, Bernoulli)
