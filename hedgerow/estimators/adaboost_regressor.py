"""AdaBoost of regressors with scikit-learn's names."""

import copy
import time
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.table import read_table
from hedgerow.ensembles.adaboost import CHANCE, PERFECT
from hedgerow.ensembles.adaboost_r2 import LOSSES, AdaBoostR2, Deviations
from hedgerow.ensembles.mean_committee import MeanCommittee
from hedgerow.ensembles.row_weights import RowWeights
from hedgerow.ensembles.species import mean_tree
from hedgerow.estimators.adaboost import ADABOOST_CONSTRAINTS, BaseAdaBoost
from hedgerow.estimators.boosted_means import (
    Exercise,
    MeanLearnerWay,
    MeanPanel,
    MeanTreeWay,
    is_plain_regression_tree,
)
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_parameters, check_targets, check_weights
from hedgerow.estimators.control import Control
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.lessons import indexable
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.fitted.adaboost import MeanRounds
from hedgerow.kernels.team import hired
from hedgerow.trees.importance import impurity_importances

Floats = NDArray[np.float64]

_LONG = 1e12  # cell updates: nobody knows how long a learner takes


class AdaBoostRegressor(RegressorMixin, MeanRounds, BaseAdaBoost):
    """AdaBoost.R2: weak regressors, each of rows drawn more often the further they were missed.

        L_i  = |y_i - h_m(x_i)| / (largest of them), its square, or 1 - exp(-it)
        e_m  = sum of w_i L_i / sum of w_i
        alpha_m = learning_rate log((1 - e_m) / e_m)
        w_i  = w_i exp(-alpha_m (1 - L_i))
        f(x) = median of h_1(x), ..., h_M(x), weighted by alpha

    Drucker (1997). It stops at a regressor whose e_m is 1/2 or more. Weights are kept as those
    of AdaBoostClassifier: the model does not depend on the order of rows or on threads.

    Parameters
    ----------
    estimator : regressor or None
        None is DecisionTreeRegressor(max_depth=3). The library's own trees share one binned table,
        unless they have criterion="absolute_error", ccp_alpha or unseen="average".
    n_estimators : int
        Rounds at most.
    learning_rate : float
    loss : {"linear", "square", "exponential"}
    resample : bool
        Fit learners to samples drawn in proportion to the weights, as Drucker does, or to all
        rows with their weights, which trees round to 2^-30 of the heaviest row.
    random_state : int, RandomState or None
        Of samples and of learners that draw; None is 0: the same model each time.
    n_jobs : int or None
        Threads; None: all cores that the process may use.
    time_limit : float or None
        Seconds after which no round is begun.
    verbose : bool
        Show progress on a terminal if the fit takes longer than a second.

    Attributes
    ----------
    n_features_in_, feature_names_in_
    estimator_ : the learner
    estimators_ : list of fitted learners
    estimator_errors_, estimator_weights_ : float64 [n_rounds]
        e_m and alpha_m.
    n_estimators_ : int
    stopped_ : str
        Why there are fewer rounds than asked for.
    feature_importances_ : float64 [n_features]

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(AdaBoostRegressor(n_estimators=30).fit(X[:300], y[:300]).score(X[300:], y[300:]), 2)
    0.42
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = ADABOOST_CONSTRAINTS | {
        "loss": [StrOptions(set(LOSSES))],
    }
    _model: MeanCommittee | MeanPanel

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        resample: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool = True,
    ) -> None:
        keep_parameters(self, locals())

    def _default_tree(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(max_depth=3)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the rounds to a table and one number for each row.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
        y : array [n_rows]
        sample_weight : array [n_rows] or None
            What rows weigh before the first round. A row of weight 0 is as if it were not there.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before. An interrupt (Ctrl-C)
        keeps the rounds that are done; before the first, nothing changes.
        """
        check_parameters(self)
        begun, learner = time.monotonic(), clone(self._checked_learner())
        if isinstance(learner, DecisionTreeRegressor):
            check_parameters(learner)
        table, fitted = read_table(X), copy.copy(self)
        targets = check_targets(self, y, table.n_rows)
        weights = check_weights(sample_weight, table.n_rows)
        sample = Sample(targets, weights)
        exercise = Exercise(X, table, sample, self._seed_of(), bool(self.resample))
        fitted._boost(learner, exercise, weights[exercise.rows], begun)
        self.__dict__ = fitted.__dict__
        return self

    def _boost(self, learner: Any, exercise: Exercise, weights: Floats, begun: float) -> None:
        """Fit the rounds, and keep them."""
        y = np.ascontiguousarray(exercise.sample.targets[:, 0])
        is_fast = is_plain_regression_tree(learner)
        work = float(len(y)) * exercise.table.n_features * self.n_estimators
        with hired(self.n_jobs, work if is_fast else _LONG) as team:
            make = MeanTreeWay if is_fast else MeanLearnerWay
            way: MeanTreeWay | MeanLearnerWay = make(learner, exercise, team)
            # Classes are of no account: the weight is e^-margin, as of two of them.
            rows = RowWeights(np.zeros(len(y), np.int64), weights, 2, team)
            deviations, rate = Deviations(str(self.loss)), float(self.learning_rate)
            boosting = AdaBoostR2(deviations, rate, y, rows, lambda number: way.teach(number, rows))
            with Control(self, self.n_estimators, begun, "boosting") as control:
                boosting.run(
                    self.n_estimators,
                    lambda: control(len(boosting.rounds), dict, lambda: None),
                )
        rounds = boosting.rounds
        self._model, self.estimator_, self.n_estimators_ = way.model(rounds), learner, len(rounds)
        self.estimator_errors_ = np.array([each.error for each in rounds])
        self.estimator_weights_ = np.array([each.alpha for each in rounds])
        self._remember(exercise.table, way.schema)
        self._has_missing = tuple(way.binned.has_missing.tolist())
        self.stopped_ = self._why(boosting)

    def _why(self, boosting: AdaBoostR2) -> str:
        """Say why there are no more rounds, and warn if that is for the user to change."""
        if boosting.stopped == PERFECT:
            return f"Round {len(boosting.rounds)} misses no row: no round can add to it."
        if boosting.stopped != CHANCE:
            return ""
        number = len(boosting.rounds) + int(boosting.rounds[-1].error < 0.5)
        said = (
            f"{type(self).__name__} stopped at round {number} of {self.n_estimators}: the weak "
            "learner's mean loss is not below 1/2 of its largest."
        )
        warnings.warn(
            said + " Use deeper trees or another estimator, or fewer rounds.",
            UserWarning,
            stacklevel=4,
        )
        return said

    def _said(self, X: Any) -> Iterator[Floats]:
        if not isinstance(self._model, MeanPanel):
            yield from super()._said(X)
            return
        self._read(X)
        with hired(self.n_jobs, _LONG) as team:
            yield self._model.says(indexable(X), team)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield R2 after each round."""
        from sklearn.metrics import r2_score  # noqa: PLC0415  a plain fit needs none

        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))

    @property
    def estimators_(self) -> list[Any]:
        """The learners; trees are made estimators."""
        check_is_fitted(self)
        if isinstance(self._model, MeanPanel):
            return list(self._model.models)
        return [self._member(number) for number in range(self.n_estimators_)]

    def _member(self, number: int) -> DecisionTreeRegressor:
        assert isinstance(self._model, MeanCommittee)
        forest, parameters = self._model.forest, self.estimator_.get_params(deep=False)
        tree = DecisionTreeRegressor(**parameters | {"n_jobs": self.n_jobs})
        for name in ("n_features_in_", "feature_names_in_", "_schema", "_has_missing"):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree._tree, tree.n_outputs_ = mean_tree(forest.tree(number), forest.n_categories), 1
        n_tried = self.estimator_._n_candidates(self.n_features_in_)
        tree.max_features_ = n_tried or self.n_features_in_
        return tree

    @property
    def feature_importances_(self) -> Floats:
        """Mean of the learners' importances, weighted by `estimator_weights_`."""
        each = [_importances(learner, self.n_features_in_) for learner in self.estimators_]
        return np.asarray(self.estimator_weights_ @ np.array(each) / self.estimator_weights_.sum())

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the model: equal for the same weighted rows in any order, on any threads."""
        check_is_fitted(self)
        if isinstance(self._model, MeanPanel):
            raise AttributeError(
                f"Models of {type(self.estimator_).__name__} have no fingerprint_: only the "
                "library's own trees do."
            )
        return self._model.forest.fingerprint()


def _importances(learner: Any, n_features: int) -> Floats:
    if isinstance(learner, DecisionTreeRegressor):
        return impurity_importances(learner._tree, n_features)
    return np.asarray(learner.feature_importances_)
