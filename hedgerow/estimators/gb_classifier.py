"""Gradient boosting for classes."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from hedgerow.data.table import Table
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_class_weight, check_classes
from hedgerow.estimators.gradient_boosting import BOOSTING_CONSTRAINTS, BaseGradientBoosting
from hedgerow.losses import Bernoulli, Exponential, Multinomial


class GradientBoostingClassifier(ClassifierMixin, BaseGradientBoosting):
    """Trees added one after another, each fitted to the derivatives of a loss of classes.

    Two classes have one score, the log-odds of the second; K > 2 classes have K scores and a
    tree for each in every round (with `multi_output="vector"` one tree for all).
    `GradientBoostingRegressor` explains the method and the parameters that are not listed here.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}
        "exponential", for two classes, is AdaBoost as gradient boosting.
    min_child_weight : float
        Least sum of Hessians of a leaf, p (1 - p) a row.
    class_weight : dict, "balanced" or None

    Attributes
    ----------
    classes_ : array [n_classes]
    n_classes_ : int

    Examples
    --------
    >>> from hedgerow import GradientBoostingClassifier
    >>> X = [[4.0, "red"], [2.0, "blue"], [None, "blue"], [1.0, "red"]] * 10
    >>> model = GradientBoostingClassifier().fit(X, ["yes", "no", "no", "yes"] * 10)
    >>> model.predict([[3.0, "red"], [1.0, "blue"]])
    array(['yes', 'no'], dtype='<U3')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BOOSTING_CONSTRAINTS | {
        "loss": [StrOptions({"log_loss", "exponential"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        *,
        loss: str = "log_loss",
        method: str = "newton",
        n_estimators: int = 100,
        learning_rate: Any = 0.1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_child_weight: float = 1.0,
        l1: float = 0.0,
        l2: float = 1.0,
        gamma: float = 0.0,
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
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.method = method
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.l1 = l1
        self.l2 = l2
        self.gamma = gamma
        self.max_bins = max_bins
        self.subsample = subsample
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.oob_improvement = oob_improvement
        self.dropout = dropout
        self.max_dropped = max_dropped
        self.skip_dropout = skip_dropout
        self.multi_output = multi_output
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, table: Table, y: Any, sample_weight: Any) -> None:
        classes, codes, weights = check_classes(self, y, sample_weight, table.n_rows)
        factors = check_class_weight(self.class_weight, classes, codes, weights)
        sample = Sample(codes, weights, factors=factors)
        self.classes_, self.n_classes_ = classes, len(classes)
        self._keep(table, sample, self._loss_value())

    def _loss_value(self) -> Any:
        """Return the loss that the parameters name."""
        if self.loss == "exponential":
            if self.n_classes_ > 2:
                raise ValueError(
                    f"loss='exponential' is for two classes, but y has {self.n_classes_}. Use "
                    "loss='log_loss'."
                )
            return Exponential()
        return Bernoulli() if self.n_classes_ <= 2 else Multinomial(self.n_classes_)

    def _probabilities(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.n_classes_ > 2:
            return np.asarray(self._loss.link(raw))
        if self.n_classes_ == 1:
            return np.ones((len(raw), 1))
        second = np.asarray(self._loss.link(raw[:, 0]))
        return np.column_stack([1.0 - second, second])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores: [n_rows] log-odds of two classes, or [n_rows, n_classes]."""
        raw = self._raw(X)
        return raw if self.n_classes_ > 2 else raw[:, 0]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of `classes_`."""
        raw = self._raw(X)
        return self._probabilities(raw)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[best])

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities after each round."""
        for raw in self._staged_raw(X):
            yield self._probabilities(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round."""
        for probabilities in self.staged_predict_proba(X):
            yield self.classes_[np.argmax(probabilities, axis=1)]
