"""Stagewise boosting of classes, in any space of functions."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.utils._param_validation import StrOptions

from hedgerow.data.table import Table
from hedgerow.ensembles.additive import Floats
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.certifying import boosted_certificate
from hedgerow.estimators.checks import check_classes
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.stagewise import STAGEWISE_CONSTRAINTS, BaseStagewise
from hedgerow.kernels.team import Team
from hedgerow.losses import Bernoulli, Exponential, Multinomial, custom_loss
from hedgerow.losses.classification import logistic_of_array
from hedgerow.theory.certificate import Certificate


class StagewiseClassifier(ClassifierMixin, BaseStagewise):
    """Boosting of classes as descent along functional gradients, in any space of functions.

    `StagewiseRegressor` explains the method and the parameters that are not listed here. Two
    classes have one score. K > 2 classes, with "log_loss" only, have K scores and a function for
    each in every round, as in notes 0, page 32; one step is searched for all of them.

    With loss="exponential", a classifier as learner, init="zero", learning_rate=1.0 and
    step="exact" this is discrete AdaBoost: h_t is the classifier of least weighted error, rho_t
    is log((1 - error) / error) / 2, and the weights are w e^(-y f). Notes 1, "Application
    to the exponential loss"; notes 2, "Gradient boosting and AdaBoost".

    Parameters
    ----------
    estimator : regressor, classifier or None
        A classifier, for two classes, is fitted to the signs of the negative gradient r, with the
        weights w |r|, and says -1 or 1.
    loss : {"log_loss", "exponential"}
        "exponential" is for two classes. Or a loss of your own of two classes, as
        `GradientBoostingClassifier` takes it.

    Attributes
    ----------
    classes_ : array [n_classes]
    n_classes_ : int
    estimators_ : list of fitted learners, one a round, or of lists with one for each class
    estimator_weights_ : float64 [n_estimators_], or [n_estimators_, n_classes] for more than two
    estimator_errors_ : float64 [n_estimators_], weighted errors of functions of -1 and 1, or NaN

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hedgerow import StagewiseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> ada = StagewiseClassifier(
    ...     stump, loss="exponential", init="zero", step="exact", learning_rate=1.0, n_estimators=3
    ... )
    >>> ada.fit(X, y).estimator_errors_.round(3).tolist()
    [0.077, 0.119, 0.156]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = STAGEWISE_CONSTRAINTS | {
        "loss": [StrOptions({"log_loss", "exponential"}), tuple, callable],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's way
        self,
        estimator: Any = None,
        *,
        dictionary: Any = None,
        loss: Any = "log_loss",
        n_estimators: int = 100,
        direction: str = "collinear",
        step: str = "line_search",
        learning_rate: float = 0.1,
        init: str = "constant",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def _learn(self, X: Any, table: Table, given: Any, team: Team) -> None:
        classes, codes, weights = check_classes(self, given[0], given[1], table.n_rows)
        self.classes_, self.n_classes_ = classes, len(classes)
        rows = self._rows_of(X, table, Sample(codes, weights), team)
        own = codes[rows.places].astype(np.float64), weights[rows.places]
        self._descend(rows, *own, self._loss_value(), team)

    def _loss_value(self) -> Any:
        """Return the loss that the parameters name, or are."""
        if self.n_classes_ > 2 and self.loss != "log_loss":
            raise ValueError(
                f"loss={self.loss!r} is for two classes, but y has {self.n_classes_}. Use "
                "loss='log_loss', or AdaBoostClassifier for the exponential loss of more."
            )
        if not isinstance(self.loss, str):
            return custom_loss(self.loss, logistic_of_array)
        if self.loss == "exponential":
            return Exponential()
        return Bernoulli() if self.n_classes_ <= 2 else Multinomial(self.n_classes_)

    def _checked_learner(self) -> Any:
        learner = super()._checked_learner()
        if is_classifier(learner) and self.n_classes_ > 2:
            raise ValueError(
                f"estimator={learner!r} is a classifier, which says -1 or 1, but y has "
                f"{self.n_classes_} classes. Pass a regressor, or use AdaBoostClassifier."
            )
        return learner

    def _has_rounds(self, y: Floats) -> bool:
        """Tell whether there is more than one class to tell apart."""
        return bool(self.n_classes_ > 1 and (y != y[0]).any())

    def _shown(self, raw: Floats) -> NDArray[np.float64]:
        """Return the probabilities that scores stand for."""
        if self.n_classes_ > 2:
            return np.asarray(self._loss.link(raw.T))
        if self.n_classes_ == 1:
            return np.ones((raw.shape[1], 1))
        second = np.asarray(self._loss.link(raw[0]))
        return np.column_stack([1.0 - second, second])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores: [n_rows], of the second of two classes, or [n_rows, n_classes]."""
        return self._scores(self._raw(X))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the scores after each round."""
        for raw in self._staged_rounds(X):
            yield self._scores(raw)

    def _scores(self, raw: Floats) -> NDArray[np.float64]:
        return np.ascontiguousarray(raw.T) if self.n_classes_ > 2 else raw[0]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of `classes_`."""
        return self._shown(self._raw(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probabilities; -inf where they are 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; of equals the first of `classes_`."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[best])

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities after each round."""
        for raw in self._staged_rounds(X):
            yield self._shown(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round."""
        for probabilities in self.staged_predict_proba(X):
            yield self.classes_[np.argmax(probabilities, axis=1)]

    def certificate(
        self, X: Any, y: Any, sample_weight: Any = None, delta: float = 0.05
    ) -> Certificate:
        """Return what theorems guarantee, of two classes, with their names and pages.

        The bounds of the training error are there if rounds are AdaBoost's: loss="exponential",
        init="zero", and functions of -1 and 1. The bound of the true error is there for a
        dictionary of functions in [-1, 1], and for stumps if rounds are AdaBoost's; it is of f
        divided by the sum of its coefficients.

        Parameters
        ----------
        X, y, sample_weight : those of `fit`
        delta : float
            Chance that the bound of the true error may fail with.

        Examples
        --------
        >>> import numpy as np
        >>> from hedgerow import StagewiseClassifier
        >>> x, y = np.arange(10.0)[:, None], [1, 1, 1, 0, 0, 0, 1, 1, 1, 0]
        >>> cuts = lambda X: np.sign(X - np.arange(9) - 0.5)
        >>> model = StagewiseClassifier(
        ...     dictionary=cuts, loss="exponential", init="zero", step="exact", learning_rate=1.0,
        ...     n_estimators=3
        ... )
        >>> print(model.fit(x, y).certificate(x, y).guarantees[0])
        training error <= 0.5802  (observed 0)
            if nothing: it is a product of what was measured
            Freund and Schapire (1997), theorem 6; notes 0, pages 13-15
        """
        return boosted_certificate(self, X, y, sample_weight, delta)
