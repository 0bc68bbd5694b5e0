"""Outlines of bagging and AdaBoost whose trees were fitted one by one."""

from typing import Any

import numpy as np

from hedgerow.ensembles.adaboost import Real, Told
from hedgerow.estimators.adaboost_classifier import AdaBoostClassifier
from hedgerow.estimators.adaboost_regressor import AdaBoostRegressor
from hedgerow.estimators.bagged_learners import BaggedLearners
from hedgerow.estimators.bagging import BaseBagging
from hedgerow.estimators.boosted_learners import Panel
from hedgerow.estimators.boosted_means import MeanPanel
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.export.members import Member, demand_no_errors, together
from hedgerow.export.outline import Floats, Outline, Speech

_TREES = DecisionTreeClassifier, DecisionTreeRegressor


def trees_fitted_apart(model: Any) -> list[Any] | None:
    """Return the trees of a model that has only such, fitted one by one; None of others."""
    models: list[Any] = []
    if isinstance(model, BaseBagging) and isinstance(model._ensemble, BaggedLearners):
        models = list(model._ensemble._model.models)
    elif isinstance(model, AdaBoostClassifier) and isinstance(model._model, Panel):
        models = [each.model for each in model._model.rounds]
    elif isinstance(model, AdaBoostRegressor) and isinstance(model._model, MeanPanel):
        models = list(model._model.models)
    return models if models and all(isinstance(each, _TREES) for each in models) else None


def outline_of_trees(model: Any, trees: list[Any]) -> Outline:
    """Return the outline of a model of these trees."""
    if isinstance(model, BaseBagging):
        own = [_own_columns(model, number) for number in range(len(trees))]
        said = [_averaged(model, tree) for tree in trees]
        speech = Speech(float(len(trees)))
    else:
        own = [None] * len(trees)
        said, speech = _boosted(model, trees)
    members = [Member(*each) for each in zip(trees, own, said, strict=True)]
    names = getattr(model, "feature_names_in_", None)
    features, joined = together(
        members, None if names is None else list(names), model.n_features_in_
    )
    classes = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else None
    start, unseen = np.zeros(joined.values.shape[1]), model.estimator_.unseen
    outline = Outline(type(model).__name__, features, joined, start, speech, classes, unseen)
    demand_no_errors(outline)
    return outline


def _own_columns(model: Any, number: int) -> Any:
    return model._ensemble._own_features(number)


def _averaged(model: Any, tree: Any) -> Floats:
    """Return what the leaves of a bagged tree say."""
    value = tree._tree.value[tree._tree.is_leaf]
    if not hasattr(model, "classes_"):
        return np.asarray(value)
    if model.voting == "soft":
        return _shares(model, tree)
    return np.asarray(np.eye(model.n_classes_)[_labels(model, tree)])


def _shares(model: Any, tree: Any) -> Floats:
    """Return the proportions of all classes in the leaves of a tree, which may know fewer."""
    shown = tree._tree.value[tree._tree.is_leaf] / tree._factors
    shares = np.zeros((len(shown), len(model.classes_)))
    places = np.searchsorted(model.classes_, tree.classes_)
    shares[:, places] = shown / shown.sum(axis=1, keepdims=True)
    return shares


def _labels(model: Any, tree: Any) -> Any:
    """Return the class that each leaf of a tree names."""
    named = tree._labels_of(tree._tree.value[tree._tree.is_leaf])
    return np.searchsorted(model.classes_, tree.classes_)[named]


def _boosted(model: Any, trees: list[Any]) -> tuple[list[Floats], Speech]:
    """Return what the leaves of AdaBoost's trees say, and what is made of it."""
    if isinstance(model, AdaBoostRegressor):
        said = [np.asarray(each._tree.value[each._tree.is_leaf]) for each in trees]
        return said, Speech(link="median", weights=np.asarray(model.estimator_weights_))
    panel, said = model._model, []
    for each in panel.rounds:
        shares = _shares(model, each.model) if isinstance(panel.algorithm, Real) else None
        votes = _labels(model, each.model) if shares is None else np.argmax(shares, axis=1)
        told = Told(np.zeros(0, np.int32), np.zeros((0, 0), int), votes, shares, None)
        scores = panel.algorithm.scores(told, each.alpha)
        said.append(np.ascontiguousarray(scores[:, -panel.n_outputs :]))
    return said, Speech.of_votes(len(model.classes_))
