"""What must be true of estimators whose members are learners, or stumps."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils._param_validation import StrOptions

from hedgerow.ensembles import adaboost, stagewise
from hedgerow.estimators.bagged_learners import Crowd
from hedgerow.estimators.boosted_learners import Panel
from hedgerow.estimators.boosted_means import MeanPanel
from hedgerow.estimators.saving import Saves
from hedgerow.fitted import checks
from hedgerow.fitted.checks import OF_PAIRS, check_alphas, check_classes, check_rows, check_table
from hedgerow.losses import Multinomial
from hedgerow.storage.numbers import demand, demand_finite, demand_number

VOTING = StrOptions({"soft", "hard"})


def _demand_learner(owner: Any, model: Any, n_features: int | None = None) -> None:
    """Raise unless a model is a fitted one that its owner can ask."""
    demand(isinstance(model, Saves), "a learner is none")
    wanted = owner.n_features_in_ if n_features is None else n_features
    demand(getattr(model, "n_features_in_", -1) == wanted, "a learner is of other features")


def check_crowd(estimator: Any) -> None:
    """Check bagged models of any of the library's estimators."""
    check_table(estimator)
    check_rows(estimator)
    demand(type(estimator._model) is Crowd, "there are no models")
    models = estimator._model.models
    demand(type(models) is tuple and len(models) > 0, "there are no models")
    for model in models:
        _demand_learner(estimator, model, estimator._tree_features)
        demand(is_classifier(model) == hasattr(estimator, "classes_"), "models differ in kind")
        if hasattr(estimator, "classes_"):
            known = np.isin(model.classes_, estimator.classes_).all()
            demand(bool(known), "a model is of other classes")
    if hasattr(estimator, "classes_"):
        check_classes(estimator)


def check_adaboost(estimator: Any) -> None:
    """Check AdaBoost, of trees or of any of the library's estimators."""
    model = estimator._model
    if type(model) is not Panel:
        checks.check_adaboost(estimator)
        return
    check_table(estimator)
    check_classes(estimator)
    check_alphas(estimator)
    algorithm: Any = model.algorithm
    demand(type(algorithm) in (adaboost.Discrete, adaboost.Real), "there is no way")
    demand(algorithm.n_classes == estimator.n_classes_, "learners are of other classes")
    demand(np.array_equal(model.classes, estimator.classes_), "learners are of other classes")
    _check_rounds(estimator, model.rounds)


def check_adaboost_r2(estimator: Any) -> None:
    """Check AdaBoost of numbers, of trees or of any of the library's estimators."""
    model = estimator._model
    if type(model) is not MeanPanel:
        checks.check_adaboost_r2(estimator)
        return
    check_table(estimator)
    check_alphas(estimator)
    demand(type(model.models) is tuple, "there are no learners")
    demand(len(model.models) == estimator.n_estimators_, "rounds differ")
    for each in model.models:
        _demand_learner(estimator, each)


def _check_rounds(estimator: Any, rounds: Any) -> None:
    demand(type(rounds) is tuple and len(rounds) == estimator.n_estimators_, "rounds differ")
    for each in rounds:
        demand(type(each) is adaboost.Round, "a round is none")
        _demand_learner(estimator, each.model)
        demand_number(each.alpha, "a round's weight")
        demand_finite(each.alpha, "a round's weight")
        known = np.isin(each.model.classes_, estimator.classes_).all()
        demand(bool(known), "a learner is of other classes")


def check_descent(estimator: Any) -> None:
    """Check a stagewise model of learners."""
    start, loss, rounds = estimator._start, estimator._loss, estimator._rounds
    demand(type(loss) not in OF_PAIRS and len(start) == loss.n_outputs, "scores differ")
    if hasattr(estimator, "classes_"):
        check_classes(estimator)
        n_classes = estimator.n_classes_
        demand(n_classes <= 2 or type(loss) is Multinomial, "the loss is of other classes")
        demand(len(start) == (n_classes if n_classes > 2 else 1), "scores differ")
    demand(estimator.n_estimators_ == estimator.n_iter_ == len(rounds), "rounds differ")
    for each in rounds:
        demand(type(each) is stagewise.Round, "a round is none")
        demand(len(each.elements) == len(start), "scores differ")
        for model in each.elements:
            _demand_learner(estimator, model)


def check_l1_boost(estimator: Any) -> None:
    """Check a combination of stumps."""
    check_table(estimator)
    feature = estimator.dictionary_.feature
    demand(len(estimator.classes_) <= 2, "there are more than two classes")
    demand(len(feature) == len(estimator.coef_), "coefficients are not as many as stumps")
    is_there = bool((feature >= -1).all() and (feature < estimator.n_features_in_).all())
    demand(is_there, "a stump is on a feature that is not there")
