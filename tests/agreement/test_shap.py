"""Explanations are those of the shap package, which is given our trees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hedgerow import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

pytestmark = pytest.mark.agreement
CLOSE = {"rtol": 1e-9, "atol": 1e-10}  # both sum float64, in different orders
SINGLE = {"rtol": 0, "atol": 1e-7}  # shap keeps the weights of interventional values in float32
FEW = {"n_estimators": 12, "min_child_weight": 1.0}


def table(n_rows):
    """Numbers, a tenth of them missing, and a score that needs interactions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    score = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.1 * rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, score


def fitted(kind):
    X, score = table(400)
    if kind == "numbers":
        return GradientBoostingRegressor(**FEW).fit(X, score), X
    classes = np.digitize(score, [0.5] if kind == "two classes" else [0.0, 1.0])
    return GradientBoostingClassifier(**FEW).fit(X, classes), X


def trees_of(model):
    """Return a model's trees as shap takes them."""
    grove, n_outputs = model._model.grove, model._model.n_outputs
    for tree, output in enumerate(grove.output):
        own = slice(grove.offset[tree], grove.offset[tree + 1])
        left, right = grove.left[own], grove.right[own]
        values = np.zeros((len(left), n_outputs))
        values[:, output] = grove.value[own]
        yield {
            "children_left": left,
            "children_right": right,
            "children_default": np.where(grove.missing_left[own], left, right),
            "features": grove.feature[own],
            "thresholds": np.nan_to_num(grove.threshold[own]),
            "values": values,
            "node_sample_weight": grove.weight[own],
        }


def fitted_forest(kind):
    X, score = table(400)
    if kind == "numbers":
        return RandomForestRegressor(12).fit(X, score), X
    classes = np.digitize(score, [0.5] if kind == "two classes" else [0.0, 1.0])
    return RandomForestClassifier(12).fit(X, classes), X


def trees_of_forest(forest):
    """Return a forest's trees as shap takes them; it writes on the weights."""
    for tree in (each._tree for each in forest.estimators_):
        yield {
            "children_left": tree.left,
            "children_right": tree.right,
            "children_default": np.where(tree.missing_left, tree.left, tree.right),
            "features": tree.feature,
            "thresholds": np.nan_to_num(tree.threshold),
            "values": tree.value / len(forest.estimators_),
            "node_sample_weight": tree.weight.copy(),
        }


def explainer(model, **options):
    shap = pytest.importorskip("shap")
    is_forest = hasattr(model, "estimators_")
    trees = list((trees_of_forest if is_forest else trees_of)(model))
    described = {
        "trees": trees,
        "base_offset": np.zeros(trees[0]["values"].shape[1]) if is_forest else model._model.start,
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }
    return shap.TreeExplainer(described, **options)


KINDS = pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])


@KINDS
def test_path_dependent_values_are_shaps(kind):
    model, X = fitted(kind)
    theirs = explainer(model, feature_perturbation="tree_path_dependent")
    assert_allclose(model.shap_values(X), theirs.shap_values(X), **CLOSE)


@KINDS
def test_interventional_values_are_shaps(kind):
    model, X = fitted(kind)
    background = X[:25]
    theirs = explainer(model, data=background, feature_perturbation="interventional")
    ours = model.shap_values(X, background=background)
    assert_allclose(ours, theirs.shap_values(X), **SINGLE)


@KINDS
def test_interaction_values_are_shaps(kind):
    model, X = fitted(kind)
    theirs = explainer(model, feature_perturbation="tree_path_dependent")
    ours = model.shap_interaction_values(X[:50])
    assert_allclose(ours, theirs.shap_interaction_values(X[:50]), **CLOSE)


@KINDS
def test_values_of_forests_are_shaps(kind):
    forest, X = fitted_forest(kind)
    theirs = explainer(forest, feature_perturbation="tree_path_dependent").shap_values(X[:50])
    ours = forest.shap_values(X[:50])
    assert_allclose(ours, theirs.reshape(ours.shape), **CLOSE)


@KINDS
def test_values_of_forests_against_a_background_are_shaps(kind):
    forest, X = fitted_forest(kind)
    theirs = explainer(forest, data=X[:25], feature_perturbation="interventional")
    ours = forest.shap_values(X[:50], background=X[:25])
    assert_allclose(ours, theirs.shap_values(X[:50]).reshape(ours.shape), **SINGLE)
