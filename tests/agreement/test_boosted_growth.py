"""Boosted trees that are pruned or constrained, against XGBoost and scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

from hedgerow import GradientBoostingRegressor

xgboost = pytest.importorskip("xgboost")
pytestmark = pytest.mark.agreement


def theirs(X, y, **parameters):
    shared = {"tree_method": "exact", "min_child_weight": 1.0, "n_jobs": 1}
    return xgboost.XGBRegressor(base_score=float(y.mean()), **shared, **parameters).fit(X, y)


def ours(X, y, **parameters):
    shared = {"max_leaf_nodes": None, "l2": 1.0, "early_stopping": False, "max_features": None}
    return GradientBoostingRegressor(**shared, **parameters).fit(X, y)


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[:, :5].astype(np.float32), y + 0.01 * np.arange(len(y))  # no two cuts gain the same


@pytest.mark.parametrize("gamma", [0.5, 5.0, 20.0, 80.0])
def test_an_exclusive_or_is_pruned_as_by_xgboost(gamma):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 40 + [[0, 0]] * 8, float)
    y = np.where(X[:, 0] != X[:, 1], 1.0, -1.0)
    shared = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 2}
    other = theirs(X, y, gamma=gamma, **shared)
    own = ours(X, y, gamma=gamma / 2, prune="post", **shared)  # their gain lacks the 1/2
    assert_allclose(own.predict(X), other.predict(X), atol=1e-6)
    n_leaves = other.get_booster().get_dump()[0].count("leaf")
    assert np.count_nonzero(own._model.grove.left < 0) == n_leaves >= 3


@pytest.mark.parametrize("gamma", [3e3, 2e4, 8e4])
def test_grown_trees_are_pruned_as_by_xgboost(gamma):
    X, y = diabetes()
    shared = {"n_estimators": 3, "learning_rate": 0.5, "max_depth": 5}
    other = theirs(X, y, gamma=gamma, **shared)
    own = ours(X, y, gamma=gamma / 2, prune="post", **shared)
    assert_allclose(own.predict(X), other.predict(X), rtol=1e-5)


@pytest.mark.parametrize("signs", [(1, 0, 0, 0, 0), (0, 0, 1, 1, 0), (-1, 1, 1, -1, 1)])
def test_monotone_trees_are_those_of_xgboost(signs):
    X, y = diabetes()
    shared = {"n_estimators": 4, "learning_rate": 0.5, "max_depth": 5}
    other = theirs(X, y, monotone_constraints=signs, **shared)
    own = ours(X, y, monotonic_cst=signs, **shared)
    assert_allclose(own.predict(X), other.predict(X), rtol=1e-5)


@pytest.mark.parametrize("groups", [[[0, 1], [2, 3, 4]], [[0, 2], [2, 3], [1, 4]]])
def test_trees_of_grouped_features_are_those_of_xgboost(groups):
    X, y = diabetes()
    shared = {"n_estimators": 4, "learning_rate": 0.5, "max_depth": 4}
    other = theirs(X, y, interaction_constraints=str(groups), **shared)
    own = ours(X, y, interaction_cst=groups, **shared)
    assert_allclose(own.predict(X), other.predict(X), rtol=1e-5)


@pytest.mark.parametrize("least", [7, 40])
def test_trees_of_counted_rows_are_those_of_scikit_learn(least):
    X, y = diabetes()
    shared = {"max_leaf_nodes": 12, "learning_rate": 0.3, "min_samples_leaf": least}
    other = HistGradientBoostingRegressor(
        **shared, max_iter=5, l2_regularization=1.0, early_stopping=False
    ).fit(X, y)
    rules = {"l2": 1.0, "min_child_weight": 0.0, "max_features": None}
    own = GradientBoostingRegressor(**shared, n_estimators=5, **rules).fit(X, y)
    assert_allclose(own.predict(X), other.predict(X), rtol=2e-6)
