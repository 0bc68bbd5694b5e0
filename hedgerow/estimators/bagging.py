"""What both bagging estimators share: parameters, the choice of the way, fitted attributes."""

import inspect
import time
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.table import Table, read_table
from hedgerow.estimators.bagged import Bagged
from hedgerow.estimators.bagged_trees import BaggedTrees, is_plain_tree
from hedgerow.estimators.checks import check_parameters
from hedgerow.estimators.forest import FOREST_CONSTRAINTS, Floats
from hedgerow.estimators.learners import checked_learner
from hedgerow.estimators.lent_values import SharesOutIfTrees
from hedgerow.estimators.saving import Saves
from hedgerow.fitted.bagging import AveragesModels

_SHARED = (
    "n_estimators",
    "max_samples",
    "bootstrap",
    "warm_start",
    "n_jobs",
    "random_state",
    "verbose",
    "time_limit",
)
BAGGING_CONSTRAINTS: dict[str, list[Any]] = {name: FOREST_CONSTRAINTS[name] for name in _SHARED} | {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "bootstrap_features": ["boolean"],
    "oob_score": ["boolean"],
    "time_limit": [Interval(Real, 0.0, None, closed="neither"), None],
}
_FITTED = (
    "n_features_in_",
    "feature_names_in_",
    "n_outputs_",
    "classes_",
    "n_classes_",
    "oob_score_",
    "oob_curve_",
    "oob_decision_function_",
    "oob_prediction_",
)


class BaseBagging(AveragesModels, SharesOutIfTrees, MetaEstimatorMixin, Saves):
    """Models of one learner, each of rows and features drawn for it."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BAGGING_CONSTRAINTS
    _ensemble: Bagged

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the models to a table and one target for each row.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
            The learner is given rows and columns of the same kind of table.
        y : array [n_rows], or [n_rows, n_outputs] if the learner takes several outputs
        sample_weight : array [n_rows] or None
            With bootstrap=True rows are drawn in proportion to their weights; or else rows
            count by them. A row of weight 0 is as if it were not there.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before. An interrupt (Ctrl-C)
        keeps the models that are fitted; before the first, nothing changes.
        """
        check_parameters(self)
        begun, learner = time.monotonic(), clone(checked_learner(self, self._learner(), "bags"))
        table, is_tree = read_table(X), is_plain_tree(learner)
        if is_tree:
            check_parameters(learner)
        ensemble = self._ways[0 if is_tree else 1]()
        ensemble.take(self, learner, table.n_features)
        before = self._ensemble if self.warm_start and hasattr(self, "_ensemble") else None
        if before is not None:
            self._check_same(before, ensemble, table)
        ensemble.learn(X, table, y, sample_weight, (before, begun, None))
        self._ensemble, self.estimator_ = ensemble, learner
        for name in _FITTED:
            self.__dict__.pop(name, None)
            if hasattr(ensemble, name):
                setattr(self, name, getattr(ensemble, name))
        return self

    def _learner(self) -> Any:
        """Return the learner that was given, or a full-depth tree."""
        return self._default_tree() if self.estimator is None else self.estimator

    def _sharing(self) -> BaggedTrees | None:
        """Return what shares predictions out among features, if the learners are trees."""
        return self._ensemble if isinstance(self._ensemble, BaggedTrees) else None

    def _check_same(self, before: Bagged, ensemble: Bagged, table: Table) -> None:
        """Raise if models cannot go on from those that are there."""
        if type(before) is not type(ensemble) or before._tree_features != ensemble._tree_features:
            raise ValueError(
                "warm_start=True goes on from models of another kind: estimator or max_features "
                "was changed. Pass what the first fit had, or warm_start=False to begin anew."
            )
        if before.n_features_in_ != table.n_features:
            raise ValueError(
                f"X has {table.n_features} features, but warm_start=True goes on from models of "
                f"{before.n_features_in_}. Pass the same columns, or warm_start=False."
            )

    def standard_errors(self, X: Any, *, method: str = "infinitesimal") -> Floats:
        """Return the standard error of each prediction: its deviation over training sets.

        As that of a random forest, for the library's own trees. Without replacement, m of n rows,

            V = n (n - 1) / (n - m)^2 (sum over rows i of Cov_b(N_bi, t_b(x))^2
                                       - m (n - m) / n s^2(x) / B)

        which is the jackknife too: all methods say the same, and rather too much if m is not
        much less than n. Wager and Athey (2018).

        Parameters
        ----------
        X : table
        method : {"infinitesimal", "jackknife", "mean"}

        Returns
        -------
        float64 [n_rows], or [n_rows, n_outputs] if there are several; of a classifier
        [n_rows, n_classes], for what `predict_proba` returns.

        Examples
        --------
        >>> import numpy as np
        >>> from hedgerow import BaggingRegressor
        >>> X = np.arange(200.0)[:, None]
        >>> y = np.where(X[:, 0] < 100, 0.0, 1.0) + np.random.default_rng(0).normal(size=200)
        >>> pasted = BaggingRegressor(n_estimators=800, bootstrap=False, max_samples=0.1)
        >>> pasted.fit(X, y).standard_errors([[50.0], [150.0]]).round(1)
        array([0.3, 0.2])
        """
        check_is_fitted(self)
        if not isinstance(self._ensemble, BaggedTrees):
            raise TypeError(
                f"Models of {type(self.estimator_).__name__} have no standard errors here: only "
                "the library's own trees do. Leave estimator out, or pass a DecisionTreeRegressor "
                "or DecisionTreeClassifier."
            )
        return self._ensemble.standard_errors(X, method=method)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = getattr(self._learner(), "__sklearn_tags__", None)
        if own is not None and not inspect.isclass(self.estimator):
            for name in ("sparse", "allow_nan", "string", "categorical", "positive_only"):
                setattr(tags.input_tags, name, getattr(own().input_tags, name))
        return tags

    @property
    def estimators_(self) -> Sequence[Any]:
        """The models; each takes its own features only, those of `estimators_features_`."""
        check_is_fitted(self)
        return self._ensemble.models

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows that each model was made from; one that was drawn twice is there twice."""
        check_is_fitted(self)
        return self._ensemble.estimators_samples_

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """The features of each model; one that was drawn twice is there twice."""
        check_is_fitted(self)
        return self._ensemble.features

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the trees: equal for the same weighted rows in any order, on any threads."""
        check_is_fitted(self)
        if not isinstance(self._ensemble, BaggedTrees):
            raise AttributeError(
                f"Models of {type(self.estimator_).__name__} have no fingerprint_: only the "
                "library's own trees do."
            )
        return self._ensemble.fingerprint_
