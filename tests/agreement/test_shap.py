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
from tests.agreement.explainers import explainer

pytest.importorskip("shap")
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


def fitted_forest(kind):
    X, score = table(400)
    if kind == "numbers":
        return RandomForestRegressor(12).fit(X, score), X
    classes = np.digitize(score, [0.5] if kind == "two classes" else [0.0, 1.0])
    return RandomForestClassifier(12).fit(X, classes), X


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
