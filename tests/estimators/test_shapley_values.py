"""Shapley values of trees, forests, bagging and AdaBoost: they add up to what is predicted."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from hedgerow import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
)
from tests.estimators.tables import census, message
from tests.groves import Node
from tests.oracle.shapley import expectation, shapley

PROBLEM = census(300)
ROWS, OTHERS = PROBLEM.X[:30], census(20, seed=3).X
TWO = np.where(PROBLEM.classes == "high", "high", "other")
SEVERAL = np.column_stack([PROBLEM.numbers, PROBLEM.numbers**2])
COST = [[0, 1, 1], [2, 0, 1], [3, 1, 0]]
EXACT = {"rtol": 0, "atol": 1e-11}  # scores are below 100, and sums have some 1000 terms
MODELS = {
    "tree of classes": (DecisionTreeClassifier(), PROBLEM.classes),
    "tree with costs": (DecisionTreeClassifier(misclassification_cost=COST), PROBLEM.classes),
    "tree of numbers": (DecisionTreeRegressor(), PROBLEM.numbers),
    "tree of medians": (DecisionTreeRegressor(criterion="absolute_error"), PROBLEM.numbers),
    "tree of outputs": (DecisionTreeRegressor(max_depth=5), SEVERAL),
    "forest of classes": (RandomForestClassifier(8), PROBLEM.classes),
    "forest of two": (RandomForestClassifier(8), TWO),
    "forest of votes": (RandomForestClassifier(8, voting="hard", max_depth=4), PROBLEM.classes),
    "forest of numbers": (RandomForestRegressor(8), PROBLEM.numbers),
    "forest of outputs": (RandomForestRegressor(4, max_depth=5), SEVERAL),
    "extra-trees of classes": (ExtraTreesClassifier(8), PROBLEM.classes),
    "extra-trees of numbers": (ExtraTreesRegressor(8), PROBLEM.numbers),
    "bagging of classes": (BaggingClassifier(n_estimators=5), PROBLEM.classes),
    "patches": (BaggingRegressor(n_estimators=5, max_samples=0.5, max_features=3), PROBLEM.numbers),
    "AdaBoost of two": (AdaBoostClassifier(n_estimators=10), TWO),
    "AdaBoost of classes": (AdaBoostClassifier(n_estimators=10), PROBLEM.classes),
    "real AdaBoost": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=5, algorithm="real"),
        PROBLEM.classes,
    ),
    "one class": (RandomForestClassifier(3), np.zeros(300)),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, y = MODELS[request.param]
    return clone(model).fit(PROBLEM.X, y)


def score(model, X):
    """Return what a model's values add up to."""
    for name in ("decision_function", "predict_proba", "predict"):
        if hasattr(model, name) and not (name == "decision_function" and hasattr(model, "voting")):
            return getattr(model, name)(X)
    raise AssertionError


def test_values_add_up_to_what_is_predicted(fitted):
    phi, said = fitted.shap_values(ROWS), score(fitted, ROWS)
    assert phi.shape == (30, 5, *said.shape[1:])
    assert_allclose(fitted.expected_value() + phi.sum(axis=1), said, **EXACT)


def test_values_against_a_background_add_up_too(fitted):
    said, start = score(fitted, ROWS), fitted.expected_value(background=OTHERS)
    phi = fitted.shap_values(ROWS, background=OTHERS)
    assert_allclose(start + phi.sum(axis=1), said, **EXACT)
    assert_allclose(start, score(fitted, OTHERS).mean(axis=0), **EXACT)


def test_pairs_add_up_to_values_and_are_symmetric(fitted):
    pairs = fitted.shap_interaction_values(ROWS)
    assert_allclose(pairs.sum(axis=2), fitted.shap_values(ROWS), **EXACT)
    assert_array_equal(pairs, np.swapaxes(pairs, 1, 2))


def test_threads_change_no_bit_of_a_value():
    model = RandomForestClassifier(8).fit(PROBLEM.X, PROBLEM.classes)
    one, three = (copy.copy(model).set_params(n_jobs=n) for n in (1, 3))
    for X in (ROWS, ROWS[:17]):
        for given in ((X,), (X, OTHERS)):
            found = [each.shap_values(*given).view(np.int64) for each in (one, three)]
            assert_array_equal(*found)


def test_values_of_a_forest_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2], [-0.5, 0.5])
    forest = RandomForestClassifier(3, max_depth=4).fit(X, y)
    found, expected = forest.shap_values(X[:4]), np.zeros((4, 4, 3))
    for each in forest.estimators_:
        tree = each._tree
        for k in range(3):
            nodes = [
                Node(*map(int, (tree.left[n], tree.right[n], tree.feature[n])), tree.threshold[n],
                     weight=tree.weight[n], value=tree.value[n, k])
                for n in range(tree.n_nodes)
            ]  # fmt: skip

            def goes_left(_, at, x):
                return x <= at.threshold

            for row in range(4):

                def v(S, nodes=nodes, row=row):
                    return expectation(nodes, goes_left, X[row], S)

                for feature, phi in shapley(v, range(4)).items():
                    expected[row, feature, k] += phi / 3
    assert_allclose(found, expected, **EXACT)


def test_rows_that_go_both_ways_have_no_values():
    X = np.array([["a"], ["b"], ["c"], ["a"]] * 10, object)
    model = RandomForestRegressor(3, unseen="average").fit(X, np.arange(40.0))
    assert model.shap_values(X[:2]).shape == (2, 1)
    strange = np.array([["z"]], object)
    assert "unseen='average'" in message(model.shap_values, strange)
    assert "unseen='average'" in message(model.shap_values, X[:1], strange)
    assert "unseen='average'" in message(model.expected_value, strange)


@pytest.mark.parametrize("name", ["shap_values", "shap_interaction_values", "expected_value"])
def test_ensembles_of_other_learners_say_that_they_have_none(name):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    for model in (
        BaggingClassifier(GaussianNB()),
        AdaBoostClassifier(GaussianNB(), n_estimators=3),
    ):
        model.fit(X, y)
        assert not hasattr(model, name)
        with pytest.raises(AttributeError) as caught:
            getattr(model, name)
        assert "Models of GaussianNB have no Shapley values" in str(caught.value.__cause__)
    assert not hasattr(AdaBoostRegressor(), name)


@pytest.mark.parametrize("name", ["shap_values", "shap_interaction_values", "expected_value"])
def test_only_what_is_fitted_has_values(name):
    for model in (
        DecisionTreeClassifier(),
        RandomForestRegressor(),
        BaggingRegressor(),
        AdaBoostClassifier(),
    ):
        with pytest.raises(NotFittedError):
            getattr(model, name)([[0.0]])


def test_a_saved_model_has_the_same_values(tmp_path):
    for number, (unfitted, y) in enumerate(MODELS.values()):
        model = clone(unfitted).fit(PROBLEM.X, y)
        model.save(tmp_path / f"{number}.hedgerow")
        again = load(tmp_path / f"{number}.hedgerow")
        assert_array_equal(again.shap_values(ROWS[:3]), model.shap_values(ROWS[:3]))
