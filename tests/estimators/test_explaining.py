"""Looking into boosted models: values that add up, leaves, first rounds, importances."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss, make_scorer, mean_squared_error

from hedgerow import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
)
from tests.estimators.tables import census, message

FEW = {"n_estimators": 8, "min_child_weight": 1.0}
PROBLEM = census(400)
TWO = np.where(PROBLEM.classes == "high", "high", "other")
MODELS = {
    "numbers": (GradientBoostingRegressor(**FEW), PROBLEM.numbers),
    "means": (GradientBoostingRegressor(**FEW, loss="poisson"), np.exp(PROBLEM.numbers / 4)),
    "two classes": (GradientBoostingClassifier(**FEW), TWO),
    "three classes": (GradientBoostingClassifier(**FEW), PROBLEM.classes),
}
EXACT = {"rtol": 0, "atol": 1e-12}  # raw scores are about 1, and few trees are added


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, y = MODELS[request.param]
    return clone(model).fit(PROBLEM.X, y)


def raw(model, X=PROBLEM.X):
    scores = model._raw(X)
    return scores if scores.shape[1] > 1 else scores[:, 0]


# ------------------------------------------------------------------ Shapley values


def test_values_add_up_to_the_raw_score(fitted):
    phi = fitted.shap_values(PROBLEM.X)
    assert phi.shape == (400, 5, *raw(fitted).shape[1:])
    assert_allclose(fitted.expected_value() + phi.sum(axis=1), raw(fitted), **EXACT)


def test_values_against_a_background_add_up_to_the_raw_score(fitted):
    others = census(20, seed=3).X
    phi = fitted.shap_values(PROBLEM.X[:50], background=others)
    total = fitted.expected_value(background=others) + phi.sum(axis=1)
    assert_allclose(total, raw(fitted)[:50], **EXACT)
    assert_allclose(fitted.expected_value(others), raw(fitted, others).mean(axis=0), **EXACT)


def test_interactions_add_up_to_the_values_and_are_symmetric(fitted):
    pairs = fitted.shap_interaction_values(PROBLEM.X[:50])
    assert pairs.shape == (50, 5, 5, *raw(fitted).shape[1:])
    assert_allclose(pairs.sum(axis=2), fitted.shap_values(PROBLEM.X[:50]), **EXACT)
    assert_array_equal(pairs, np.swapaxes(pairs, 1, 2))


def test_threads_change_no_bit_of_an_explanation(fitted):
    one, three = (copy.copy(fitted).set_params(n_jobs=n) for n in (1, 3))
    for explain in (
        lambda model: model.shap_values(PROBLEM.X),
        lambda model: model.shap_values(PROBLEM.X, PROBLEM.X[:30]),
        lambda model: model.shap_interaction_values(PROBLEM.X),
    ):
        assert_array_equal(explain(one).view(np.int64), explain(three).view(np.int64))


def test_a_background_of_the_row_itself_explains_nothing():
    model = GradientBoostingRegressor(**FEW).fit(PROBLEM.X, PROBLEM.numbers)
    row = PROBLEM.X[:1]
    assert_array_equal(model.shap_values(row, background=row), 0.0)


def test_a_model_of_single_splits_has_no_interactions():
    model = GradientBoostingRegressor(**FEW, max_leaf_nodes=2).fit(PROBLEM.X, PROBLEM.numbers)
    pairs = model.shap_interaction_values(PROBLEM.X)
    pairs[:, np.arange(5), np.arange(5)] = 0.0
    assert_array_equal(pairs, 0.0)


def test_a_model_without_trees_has_its_start_to_show():
    model = GradientBoostingRegressor().fit([[0.0], [1.0]], [2.5, 2.5])
    assert model.expected_value() == 2.5
    assert_array_equal(model.shap_values([[7.0]]), [[0.0]])
    assert model.apply([[7.0]]).shape == (1, 0)


@pytest.mark.parametrize("name", ["shap_values", "shap_interaction_values", "apply"])
def test_only_a_fitted_model_is_explained(name):
    with pytest.raises(NotFittedError):
        getattr(GradientBoostingRegressor(), name)([[0.0]])
    with pytest.raises(NotFittedError):
        GradientBoostingRegressor().importances()
    with pytest.raises(NotFittedError):
        GradientBoostingRegressor().expected_value()


# ------------------------------------------------------------------ leaves and first rounds


def test_the_values_of_the_leaves_add_up_to_the_raw_score(fitted):
    model, leaves = fitted._model, fitted.apply(PROBLEM.X)
    assert leaves.shape == (400, len(model.grove.output))
    nodes = leaves + model.grove.offset[:-1]
    assert (model.grove.left[nodes] == -1).all()
    scores = np.tile(model.start, (400, 1))
    for tree, output in enumerate(model.grove.output):
        scores[:, output] += model.grove.value[nodes[:, tree]]
    assert_array_equal(scores, fitted._raw(PROBLEM.X))


def test_the_first_rounds_predict_what_their_stage_did(fitted):
    for n_trees, stage in enumerate(fitted.staged_predict(PROBLEM.X), start=1):
        assert_array_equal(fitted.predict(PROBLEM.X, n_trees=n_trees), stage)
    assert_array_equal(fitted.predict(PROBLEM.X, n_trees=None), fitted.predict(PROBLEM.X))


@pytest.mark.parametrize("name", ["two classes", "three classes"])
def test_probabilities_and_scores_of_the_first_rounds_belong_together(name):
    model, y = MODELS[name]
    short = clone(model).set_params(n_estimators=3).fit(PROBLEM.X, y)
    long = clone(model).fit(PROBLEM.X, y)
    for method in ("predict_proba", "decision_function"):
        first = getattr(long, method)(PROBLEM.X, n_trees=3)
        assert_array_equal(first, getattr(short, method)(PROBLEM.X))


def test_no_round_predicts_the_start():
    model = GradientBoostingRegressor(**FEW).fit(PROBLEM.X, PROBLEM.numbers)
    assert_array_equal(model.predict(PROBLEM.X[:3], n_trees=0), np.repeat(model._model.start, 3))


def test_rounds_that_are_not_there_are_refused():
    model = GradientBoostingRegressor(**FEW).fit(PROBLEM.X, PROBLEM.numbers)
    for n_trees in (-1, 9):
        assert f"n_trees={n_trees} is outside 0..8" in message(model.predict, PROBLEM.X, n_trees)
    for n_trees in (2.0, True, "all"):
        said = message(model.predict, PROBLEM.X, n_trees, error=TypeError)
        assert f"n_trees={n_trees!r} is no whole number" in said


# ------------------------------------------------------------------ importance of features


def test_gains_are_scaled_to_one_and_splits_are_counted(fitted):
    gains, splits = fitted.importances("gain"), fitted.importances("split")
    assert_allclose(fitted.feature_importances_, gains / gains.sum(), rtol=1e-15)
    assert splits.sum() == np.count_nonzero(fitted._model.grove.left >= 0)
    assert_array_equal(gains > 0, splits > 0)


def test_another_kind_of_importance_is_refused():
    model = GradientBoostingRegressor(**FEW).fit([[0.0], [1.0]], [0.0, 1.0])
    said = message(model.importances, "gains")
    assert said == "kind='gains' is not one of 'gain', 'split'. Did you mean 'gain'?"


def useful_and_useless():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, 2 * X[:, 0] + 0.5 * X[:, 1], np.ones((300, 1))


def test_what_is_useful_loses_most_when_shuffled():
    X, y, constant = useful_and_useless()
    model = GradientBoostingRegressor(min_child_weight=1).fit(np.hstack([X, constant]), y)
    found = model.permutation_importances(np.hstack([X, constant]), y, random_state=0)
    assert found.importances.shape == (4, 5)
    assert_array_equal(np.argsort(-found.importances_mean)[:2], [0, 1])
    assert_array_equal(found.importances[3], 0.0)
    assert_allclose(found.importances_std, found.importances.std(axis=1))


def test_the_loss_that_rises_is_that_of_the_model():
    X, y, _ = useful_and_useless()
    model = GradientBoostingRegressor(**FEW, random_state=1).fit(X, y)
    halves = make_scorer(lambda *a, **b: mean_squared_error(*a, **b) / 2, greater_is_better=False)
    found, scored = (model.permutation_importances(X, y, scoring=s) for s in ("loss", halves))
    assert_allclose(found.importances, scored.importances, rtol=1e-12, atol=1e-15)
    classes = np.digitize(y, [-1.0, 1.0])
    model = GradientBoostingClassifier(**FEW, random_state=1).fit(X, classes)
    found, scored = (
        model.permutation_importances(X, classes, scoring=s) for s in ("loss", "neg_log_loss")
    )
    assert_allclose(found.importances, scored.importances, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("scoring", ["loss", "r2", None])
def test_importances_do_not_depend_on_the_order_of_rows(scoring):
    model = GradientBoostingRegressor(**FEW, random_state=0).fit(PROBLEM.X, PROBLEM.numbers)
    weights = np.random.default_rng(1).integers(0, 3, 400)
    order = np.random.default_rng(2).permutation(400)
    shuffled = PROBLEM.rows(order)
    found = model.permutation_importances(
        PROBLEM.X, PROBLEM.numbers, scoring=scoring, sample_weight=weights
    )
    again = model.permutation_importances(
        shuffled.X, shuffled.numbers, scoring=scoring, sample_weight=weights[order]
    )
    assert_array_equal(found.importances, again.importances)
    other = model.permutation_importances(PROBLEM.X, PROBLEM.numbers, random_state=7)
    assert not np.array_equal(found.importances, other.importances)


def test_labels_and_their_scorers_are_understood():
    model = GradientBoostingClassifier(**FEW).fit(PROBLEM.X, PROBLEM.classes)
    found = model.permutation_importances(PROBLEM.X, PROBLEM.classes, scoring="accuracy")
    assert found.importances_mean[1] == found.importances_mean.max() > 0.1  # income


def test_strange_requests_for_importances_are_refused():
    model = GradientBoostingClassifier(**FEW).fit([[0.0], [1.0]], ["a", "b"])
    ask = model.permutation_importances
    assert "y[1] is np.str_('c'), which is not one of" in message(ask, [[0], [1]], ["a", "c"])
    assert "n_repeats=0" in message(ask, [[0], [1]], ["a", "b"], n_repeats=0)
    assert "X has 2 rows" in message(ask, [[0], [1]], ["a"])


def test_scikit_learns_own_permutation_importance_agrees_which_features_matter():
    X, y, _ = useful_and_useless()
    model = GradientBoostingRegressor(**FEW).fit(X, y)
    theirs = permutation_importance(model, X, y, n_repeats=20, random_state=0)
    ours = model.permutation_importances(X, y, scoring="r2", n_repeats=20, random_state=0)
    # Of n repeats a mean is off by deviation / sqrt(n): 4 of these for each side.
    room = 4 * (theirs.importances_std + ours.importances_std) / np.sqrt(20)
    assert (np.abs(theirs.importances_mean - ours.importances_mean) <= room).all()


def test_the_loss_of_classes_may_be_weighted():
    model = GradientBoostingClassifier(**FEW, random_state=0).fit(PROBLEM.X, PROBLEM.classes)
    weights = np.random.default_rng(1).uniform(size=400)
    found = model.permutation_importances(PROBLEM.X, PROBLEM.classes, sample_weight=weights)
    scorer = make_scorer(
        log_loss, greater_is_better=False, response_method="predict_proba", labels=model.classes_
    )
    scored = model.permutation_importances(
        PROBLEM.X, PROBLEM.classes, sample_weight=weights, scoring=scorer
    )
    assert_allclose(found.importances, scored.importances, rtol=1e-12, atol=1e-15)


def test_an_offset_is_part_of_a_rows_loss():
    X, y, _ = useful_and_useless()
    exposure = np.random.default_rng(3).uniform(1.0, 5.0, 300)
    model = GradientBoostingRegressor(**FEW, loss="poisson", random_state=0)
    model.fit(X, np.exp(y) * exposure, offset=np.log(exposure))
    ask = model.permutation_importances
    assert "fitted with an offset" in message(ask, X, np.exp(y) * exposure)
    found = ask(X, np.exp(y) * exposure, offset=np.log(exposure))
    assert found.importances_mean[0] == found.importances_mean.max() > 0
    order = np.random.default_rng(4).permutation(300)
    again = ask(X[order], (np.exp(y) * exposure)[order], offset=np.log(exposure)[order])
    assert_array_equal(found.importances, again.importances)
    other = ask(X, np.exp(y) * exposure, offset=0.0)
    assert not np.array_equal(found.importances, other.importances)


def test_losses_without_values_are_scored_instead():
    X, y, _ = useful_and_useless()
    model = GradientBoostingRegressor(**FEW, loss=lambda y, raw: (raw - y, np.ones(len(y))))
    model.fit(X, y)
    assert "Pass scoring=" in message(model.permutation_importances, X, y)
    assert model.permutation_importances(X, y, scoring="r2").importances_mean[0] > 0


def test_a_ranker_is_explained():
    X, y, _ = useful_and_useless()
    relevance = np.digitize(y, [-1.0, 1.0])
    model = GradientBoostingRanker(**FEW).fit(X, relevance, qid=np.arange(300) // 30)
    total = model.expected_value() + model.shap_values(X).sum(axis=1)
    assert_allclose(total, model.predict(X), **EXACT)
    assert_array_equal(model.predict(X, n_trees=3), list(model.staged_predict(X))[2])
