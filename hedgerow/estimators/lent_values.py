"""Shapley values of ensembles of any learner: they have some if the learners are our trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hedgerow.ensembles.committee import Committee
from hedgerow.ensembles.shapley import Shapley
from hedgerow.ensembles.terms import terms_of_trees
from hedgerow.estimators.boosted_learners import criterion_of
from hedgerow.estimators.shapley_values import SharesOut
from hedgerow.kernels.team import hired

Floats = NDArray[np.float64]


def _has_trees(ensemble: Any) -> bool:
    """Tell whether an ensemble is of the library's own trees, or may become one."""
    if not hasattr(ensemble, "estimator_") or ensemble._sharing() is not None:
        return True
    raise AttributeError(
        f"Models of {type(ensemble.estimator_).__name__} have no Shapley values here: only the "
        "library's own trees do, with the parameters that forests know. The shap package has "
        "explainers of any model."
    )


class SharesOutIfTrees:
    """An ensemble with `_sharing()`: what shares its score out, or None if nothing does."""

    @available_if(_has_trees)  # type: ignore[untyped-decorator]
    def shap_values(self: Any, X: Any, background: Any = None) -> Floats:
        """Share each row's score out among its features: exact Shapley values.

        The score of bagging is what `predict` or `predict_proba` says, of AdaBoost it is f, the
        `decision_function`. Parameters and result are those of forests' and boosting's
        `shap_values`. Only if the learners are trees of the library.
        """
        return np.asarray(self._lent().shap_values(X, background))

    @available_if(_has_trees)  # type: ignore[untyped-decorator]
    def shap_interaction_values(self: Any, X: Any) -> Floats:
        """Share each row's values out among pairs: phi_ij = phi_ji, phi_ii is i's own effect."""
        return np.asarray(self._lent().shap_interaction_values(X))

    @available_if(_has_trees)  # type: ignore[untyped-decorator]
    def expected_value(self: Any, background: Any = None) -> Any:
        """Return the score if no feature is known: what `shap_values` starts from."""
        return self._lent().expected_value(background)

    def _lent(self: Any) -> Any:
        check_is_fitted(self)
        return self._sharing()


class SharesOutRounds(SharesOut):
    """The rounds of an AdaBoostClassifier of trees: f is a sum of what leaves say."""

    def __init__(self, model: Any) -> None:
        self._boosted, self._committee = model, model._model
        self.n_jobs, self.n_features_in_ = model.n_jobs, model.n_features_in_

    @property
    def _n_explained(self) -> int:
        return int(self._committee.forest.n_nodes)

    def _demand_fitted(self) -> None:
        """Do nothing: it is made of rounds that are there."""

    def _values(self, X: Any) -> Floats:
        return np.asarray(self._boosted._given(X))

    def _explainer(self) -> Shapley:
        committee: Committee = self._committee
        trees = committee.trees(criterion_of(self._boosted.estimator_))
        return Shapley(terms_of_trees(trees, committee.n_outputs), np.zeros(committee.n_outputs))

    def _scores(self, values: Floats) -> Floats:
        committee = self._committee
        out = np.zeros((len(values), committee.n_outputs))
        with hired(self.n_jobs, float(len(out)) * committee.n_trees) as team:
            committee.add(values, team, (0, committee.n_trees), out)
        return out
