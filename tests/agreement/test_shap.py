"""Explanations are those of the shap package, which is given our trees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor

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


def explainer(model, **options):
    shap = pytest.importorskip("shap")
    described = {
        "trees": list(trees_of(model)),
        "base_offset": model._model.start,
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
