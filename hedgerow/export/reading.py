"""Reading fitted estimators: the outline of each kind of model."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow.ensembles.committee import Committee
from hedgerow.ensembles.forest import Forest
from hedgerow.ensembles.mean_committee import MeanCommittee
from hedgerow.estimators.adaboost_classifier import AdaBoostClassifier
from hedgerow.estimators.adaboost_regressor import AdaBoostRegressor
from hedgerow.estimators.bagged_trees import BaggedTrees
from hedgerow.estimators.bagging import BaseBagging
from hedgerow.estimators.base import BaseTree
from hedgerow.estimators.forest import BaseForest
from hedgerow.estimators.gradient_boosting import BaseGradientBoosting
from hedgerow.estimators.l1_boost import L1BoostClassifier
from hedgerow.estimators.saving import Saves
from hedgerow.estimators.stagewise import BaseStagewise
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.export.boosted import boosted_outline
from hedgerow.export.descents import stagewise_outline, stumps_outline
from hedgerow.export.fitted_apart import outline_of_trees, trees_fitted_apart
from hedgerow.export.outline import Outline, Speech
from hedgerow.export.packed_trees import (
    features_of,
    joined,
    means,
    proportions,
    singles,
    trees_of_packed,
    trees_of_tree,
    votes,
)

_KNOWN = (
    "DecisionTree*, RandomForest*, ExtraTrees*, GradientBoosting*, and Bagging*, AdaBoost* and "
    "Stagewise* of the library's own trees, and L1BoostClassifier of stumps"
)


def outline_of(model: Any) -> Outline:
    """Return the outline of a fitted estimator, or raise if it has none."""
    if not isinstance(model, Saves):
        raise TypeError(
            f"{model!r} is a {type(model).__name__}, and a fitted estimator of hedgerow is "
            f"needed: {_KNOWN}."
        )
    check_is_fitted(model)
    outline = _read(model)
    if outline.unseen == "average" and outline.has_categories:
        raise ValueError(
            f"This {type(model).__name__} has unseen='average', which asks both branches of a "
            "tree; exported trees go one way. Set unseen='missing' and export again: categories "
            "that were not there at fit then go the way of missing values."
        )
    return outline


def _read(model: Any) -> Outline:
    """Return the outline of a model by what it holds."""
    held = getattr(model, "_ensemble", None) or getattr(model, "_model", None)
    for kind, content, read in _READERS:
        if isinstance(model, kind) and isinstance(held, content):
            return read(model)
    apart = trees_fitted_apart(model)
    if apart is not None:
        return outline_of_trees(model, apart)
    learner = getattr(model, "estimator_", None)
    of = "" if learner is None else f" of {type(learner).__name__}"
    raise TypeError(
        f"{type(model).__name__}{of} cannot be exported: it is more than trees whose leaves are "
        f"added up. These can: {_KNOWN}. `model.save` keeps any model of the library."
    )


def _tree_outline(model: Any) -> Outline:
    """Return the outline of one tree; that of a classifier says its class by itself."""
    tree, kind, features = model._tree, type(model).__name__, features_of(model._schema)
    value = tree.value[tree.is_leaf]
    if isinstance(model, DecisionTreeRegressor):
        trees, start = trees_of_tree(tree, value), np.zeros(value.shape[1])
        return Outline(kind, features, trees, start, Speech(), None, model.unseen)
    shown = value / model._factors
    shown = shown / shown.sum(axis=1, keepdims=True)
    said = np.column_stack([shown, model._labels_of(value)])
    classes = tuple(model.classes_.tolist())
    trees, start = trees_of_tree(tree, said), np.zeros(len(classes) + 1)
    return Outline(kind, features, trees, start, Speech(label="leaf"), classes, model.unseen)


def _forest_outline(model: Any) -> Outline:
    """Return the outline of trees that are averaged."""
    forest, classes = model._model, None
    packed = list(singles(forest.thickets))
    if hasattr(model, "classes_"):
        classes = tuple(model.classes_.tolist())
        say = votes if model.voting == "hard" else proportions
        said = [say(each) for each in packed]
    else:
        said = [means(each, model.n_outputs_) for each in packed]
    trees = joined(map(trees_of_packed, packed, said))
    start, speech = np.zeros(trees.values.shape[1]), Speech(float(forest.n_trees))
    features = features_of(model._schema)
    return Outline(type(model).__name__, features, trees, start, speech, classes, model.unseen)


def _bagged_outline(model: Any) -> Outline:
    """Return the outline of bagged trees, which are a forest inside."""
    return _forest_outline(model._ensemble)._replace(kind=type(model).__name__)


def _committee_outline(model: Any) -> Outline:
    """Return the outline of AdaBoost of classes."""
    n_outputs, classes = model._model.n_outputs, tuple(model.classes_.tolist())
    packed = list(singles([model._model.voices]))
    trees = joined(trees_of_packed(each, means(each, n_outputs)) for each in packed)
    features, start = features_of(model._schema), np.zeros(n_outputs)
    speech, unseen = Speech.of_votes(len(classes)), model.estimator_.unseen
    return Outline(type(model).__name__, features, trees, start, speech, classes, unseen)


def _median_outline(model: Any) -> Outline:
    """Return the outline of AdaBoost of numbers."""
    packed = list(singles(model._model.forest.thickets))
    trees = joined(trees_of_packed(each, means(each, 1)) for each in packed)
    speech = Speech(link="median", weights=np.asarray(model.estimator_weights_))
    features, unseen = features_of(model._schema), model.estimator_.unseen
    return Outline(type(model).__name__, features, trees, np.zeros(1), speech, None, unseen)


# Estimators, what they hold, and what reads them.
_READERS: tuple[tuple[type, type, Callable[[Any], Outline]], ...] = (
    (BaseTree, object, _tree_outline),
    (BaseGradientBoosting, object, boosted_outline),
    (BaseBagging, BaggedTrees, _bagged_outline),
    (BaseForest, Forest, _forest_outline),
    (AdaBoostClassifier, Committee, _committee_outline),
    (AdaBoostRegressor, MeanCommittee, _median_outline),
    (BaseStagewise, object, stagewise_outline),
    (L1BoostClassifier, object, stumps_outline),
)
