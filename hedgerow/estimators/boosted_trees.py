"""Trees of an AdaBoost model as estimators of their own."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.ensembles.species import class_tree
from hedgerow.estimators.boosted_learners import criterion_of
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier


def member(model: Any, number: int) -> DecisionTreeClassifier:
    """Return the tree of a round as an estimator; its weights add up to 1."""
    forest, learner = model._model.forest, model.estimator_
    tree = DecisionTreeClassifier(**learner.get_params(deep=False) | {"n_jobs": model.n_jobs})
    for name in ("n_features_in_", "feature_names_in_", "_schema", "_has_missing"):
        if hasattr(model, name):
            setattr(tree, name, getattr(model, name))
    packed, unit = forest.tree(number), float(forest.units[number])
    tree._tree = class_tree(packed, unit, criterion_of(learner), forest.n_categories)
    tree.classes_, tree.n_classes_, tree.n_outputs_ = model.classes_, model.n_classes_, 1
    tree.max_features_ = learner._n_candidates(model.n_features_in_) or model.n_features_in_
    tree._cost, tree._factors = None, np.ones(model.n_classes_)
    return tree


class Members(Sequence[Any]):
    """Trees of an AdaBoost model, made estimators when they are asked for."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __len__(self) -> int:
        return int(self._model._model.n_trees)

    def __getitem__(self, number: Any) -> Any:
        places = range(len(self))[number]
        if isinstance(places, range):
            return [member(self._model, place) for place in places]
        return member(self._model, places)
