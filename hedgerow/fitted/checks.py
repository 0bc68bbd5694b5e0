"""What must be true of all attributes of a fitted model together."""

from typing import Any

import numpy as np

from hedgerow.ensembles.committee import Committee
from hedgerow.ensembles.forest import Forest
from hedgerow.ensembles.mean_committee import MeanCommittee
from hedgerow.losses import LambdaRank, Multinomial, Pairwise
from hedgerow.storage.numbers import demand, demand_array, demand_finite
from hedgerow.storage.parts import (
    check_additive,
    check_bags,
    check_settlement,
    n_categories_of,
)
from hedgerow.storage.trees import check_class_leaves, check_mean_leaves

OF_PAIRS = (LambdaRank, Pairwise)


def check_table(estimator: Any) -> None:
    """Raise unless an estimator knows one table."""
    schema, n_features = estimator._schema, estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None)
    demand(len(schema.categories) == n_features, "columns are not as many as features")
    demand(len(estimator._has_missing) == n_features, "columns are not as many as features")
    known = None if names is None else tuple(names.tolist())
    demand(known == schema.names, "columns have two names")


def check_classes(estimator: Any) -> None:
    """Raise unless classes are as many as they should be."""
    demand(len(estimator.classes_) == estimator.n_classes_, "classes are not as many")


def check_class_tree(estimator: Any) -> None:
    """Check a classification tree."""
    check_table(estimator)
    check_classes(estimator)
    tree, n_classes = estimator._tree, estimator.n_classes_
    _demand_same_columns(estimator, tree.n_categories)
    demand(tree.value.shape[1] == n_classes and estimator.n_outputs_ == 1, "classes differ")
    demand(bool((tree.value >= 0).all()), "a class has less than no share")
    demand(bool((tree.value.sum(axis=1) > 0).all()), "a node has no class")
    factors, cost = estimator._factors, estimator._cost
    demand(len(factors) == n_classes and bool((factors > 0).all()), "classes differ")
    demand(cost is None or cost.shape == (n_classes, n_classes), "costs are not of the classes")


def check_mean_tree(estimator: Any) -> None:
    """Check a regression tree."""
    check_table(estimator)
    _demand_same_columns(estimator, estimator._tree.n_categories)
    demand(estimator._tree.value.shape[1] == estimator.n_outputs_, "outputs are not as many")


def _demand_same_columns(estimator: Any, n_categories: Any) -> None:
    same = np.array_equal(n_categories, n_categories_of(estimator._schema))
    demand(same, "trees are of other columns")


def check_rows(estimator: Any) -> int:
    """Check the rows of a forest; return how many of them count."""
    rows, n_rows = estimator._rows, estimator._n_rows
    if rows is not None:
        demand(len(rows) > 0 and bool((np.diff(rows) > 0).all()), "rows are not in order")
        demand(rows[0] >= 0 and rows[-1] < n_rows, "a row is not there")
    n_own = n_rows if rows is None else len(rows)
    if estimator._bags is not None:
        check_bags(estimator._bags, n_own)
    n_drawn = getattr(estimator, "_tree_features", None)
    most = n_drawn is None or n_drawn <= max(estimator.n_features_in_, 1)
    demand(most, "a tree has more features than there are")
    return int(n_own)


def check_class_forest(estimator: Any) -> None:
    """Check a forest of classes."""
    check_table(estimator)
    check_classes(estimator)
    check_rows(estimator)
    _demand_trees(estimator, estimator._model)
    for thicket in estimator._model.thickets:
        check_class_leaves(thicket, estimator.n_classes_)


def check_mean_forest(estimator: Any) -> None:
    """Check a forest of numbers."""
    check_table(estimator)
    n_rows, n_outputs = check_rows(estimator), estimator.n_outputs_
    _demand_trees(estimator, estimator._model)
    for thicket in estimator._model.thickets:
        check_mean_leaves(thicket, 1 + 2 * n_outputs, weighs=True)
    if getattr(estimator, "_settlement", None) is not None:
        check_settlement(estimator._settlement, estimator._model, n_rows, n_outputs)


def _demand_trees(estimator: Any, forest: Any) -> None:
    demand(type(forest) is Forest, "there are no trees")
    _demand_same_columns(estimator, forest.n_categories)


def check_bagging(estimator: Any) -> None:
    """Check a bagging estimator: what it shows is what its models know."""
    ensemble = estimator._ensemble
    demand(isinstance(ensemble, estimator._ways), "models are of another kind")
    for name in ("n_features_in_", "n_outputs_", "n_classes_"):
        demand(getattr(estimator, name, 0) == getattr(ensemble, name, 0), f"{name} differs")
    for name in ("classes_", "feature_names_in_"):
        shown, known = (getattr(each, name, np.zeros(0)) for each in (estimator, ensemble))
        demand(np.array_equal(shown, known), f"{name} differs")


def check_boosting(estimator: Any) -> None:
    """Check gradient boosting."""
    check_table(estimator)
    model, loss = estimator._model, estimator._loss
    check_additive(model, n_categories_of(estimator._schema))
    n_outputs = loss.n_outputs if type(loss) not in OF_PAIRS else 1
    is_ranker = not hasattr(estimator, "classes_") and not hasattr(estimator, "n_outputs_")
    demand((type(loss) in OF_PAIRS) == is_ranker, "the loss is of another task")
    if hasattr(estimator, "classes_"):
        check_classes(estimator)
        n_classes = estimator.n_classes_
        many = type(loss) is Multinomial and n_outputs == n_classes > 2
        demand(many or (n_classes <= 2 and n_outputs == 1), "the loss is of other classes")
    n_outputs *= getattr(estimator, "n_outputs_", 1)
    demand(model.n_outputs == n_outputs, "trees are of other outputs")
    demand(estimator.n_estimators_ == estimator.n_iter_ == model.n_rounds, "rounds differ")


def check_alphas(estimator: Any) -> None:
    """Raise unless there is a weight for each round."""
    alphas, errors = estimator.estimator_weights_, estimator.estimator_errors_
    demand_array(alphas, "f8", 1)
    demand_finite(alphas, "a round's weight")
    demand(len(alphas) == len(errors) == estimator.n_estimators_ > 0, "rounds differ")


def _demand_tree_learner(estimator: Any) -> None:
    known = getattr(estimator.estimator_, "unseen", None) in ("missing", "error")
    demand(known, "trees do not know what to do with unseen categories")


def check_adaboost(estimator: Any) -> None:
    """Check AdaBoost."""
    check_table(estimator)
    check_classes(estimator)
    n_classes = estimator.n_classes_
    model = estimator._model
    check_alphas(estimator)
    demand(type(model) is Committee, "there are no trees")
    _demand_trees(estimator, model.forest)
    demand(model.n_trees == estimator.n_estimators_, "rounds differ")
    for thicket in model.forest.thickets:
        check_class_leaves(thicket, n_classes)
    check_mean_leaves(model.voices, 2 if n_classes <= 2 else 1 + n_classes, weighs=False)
    _demand_tree_learner(estimator)


def check_adaboost_r2(estimator: Any) -> None:
    """Check AdaBoost of numbers."""
    check_table(estimator)
    check_alphas(estimator)
    model = estimator._model
    demand(type(model) is MeanCommittee, "there are no trees")
    _demand_trees(estimator, model.forest)
    demand(len(model.forest.thickets) == 1, "trees are not together")
    demand(model.forest.n_trees == estimator.n_estimators_, "rounds differ")
    check_mean_leaves(model.forest.thickets[0], 3, weighs=True)
    _demand_tree_learner(estimator)
