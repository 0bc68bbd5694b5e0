"""Monotone constraints of trees and forests: predictions are in order."""

import numpy as np
import pytest

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.estimators.tables import message

MODELS = [
    DecisionTreeRegressor(),
    DecisionTreeRegressor(max_leaf_nodes=40, split_finding="histogram", ccp_alpha=1e-4),
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=30, split_finding="histogram"),
    RandomForestRegressor(n_estimators=5),
    RandomForestClassifier(n_estimators=5, max_features=2),
    RandomForestClassifier(n_estimators=5, voting="hard"),
    ExtraTreesRegressor(n_estimators=5),
]


def waves():
    """Return numbers that rise in column 0, fall in column 1 and wave in both, with gaps."""
    rng = np.random.default_rng(0)
    X = rng.random((500, 3))
    y = X[:, 0] - X[:, 1] + 0.5 * np.sin(12 * X[:, 0]) + np.cos(9 * X[:, 1]) * X[:, 2]
    y += 0.3 * rng.normal(size=500)
    X[rng.random(500) < 0.05, 2] = np.nan
    return X, y


def steps(model, feature):
    """Return how much predictions rise from one value of a feature to the next, for many rows."""
    rng = np.random.default_rng(1)
    X = np.repeat(rng.random((60, 3)), 50, axis=0)
    X[:, feature] = np.tile(np.linspace(-0.1, 1.1, 50), 60)
    is_class = hasattr(model, "predict_proba")
    shown = model.predict_proba(X)[:, 1] if is_class else model.predict(X)
    return np.diff(shown.reshape(60, 50), axis=1)


def fitted(model, signs):
    X, y = waves()
    target = (y > 0.4).astype(int) if hasattr(model, "predict_proba") else y
    return model.set_params(monotonic_cst=signs).fit(X, target)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_predictions_never_fall_where_they_must_not(model):
    free = fitted(model, None)
    assert steps(free, 0).min() < -1e-3
    assert steps(free, 1).max() > 1e-3
    held = fitted(model, [1, -1, 0])
    assert steps(held, 0).min() >= -1e-12  # sums over trees are rounded
    assert steps(held, 1).max() <= 1e-12
    assert steps(held, 0).max() > 1e-3


def test_a_held_tree_is_the_same_for_any_threads_and_order_of_rows():
    X, y = waves()
    order = np.random.default_rng(2).permutation(500)
    model = DecisionTreeRegressor(monotonic_cst=[1, -1, 0])
    expected = model.fit(X, y).fingerprint_
    assert model.set_params(n_jobs=3).fit(X[order], y[order]).fingerprint_ == expected
    forest = RandomForestRegressor(
        n_estimators=1, bootstrap=False, split_finding="exact", monotonic_cst=[1, -1, 0]
    )
    model.set_params(split_finding="exact").fit(X, y)
    assert forest.fit(X, y).estimators_[0].fingerprint_ == model.fingerprint_


def test_what_cannot_be_held_in_order_is_said():
    X, y = waves()
    three = np.digitize(y, [0.0, 0.5])
    tree = DecisionTreeClassifier(monotonic_cst=[1, 0, 0])
    assert "y has 3 classes" in message(tree.fit, X, three)
    forest = RandomForestRegressor(n_estimators=2, monotonic_cst=[1, 0, 0])
    assert "y has 2 columns" in message(forest.fit, X, np.column_stack([y, y]))
    tree = DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[1, 0, 0])
    assert "does not go with criterion='absolute_error'" in message(tree.fit, X, y)
    tree = DecisionTreeClassifier(misclassification_cost=[[0, 1], [5, 0]], monotonic_cst=[1, 0, 0])
    assert "does not go with misclassification_cost" in message(tree.fit, X, y > 0)
    tree = DecisionTreeRegressor(monotonic_cst=[2, 0, 0])
    assert "takes 1 (increasing), -1 (decreasing) or 0" in message(tree.fit, X, y)
