"""AdaBoost of the notes: the example of three rounds, the ways of writing it, K classes."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import AdaBoostClassifier, DecisionTreeClassifier

STUMP = DecisionTreeClassifier(max_depth=1, criterion="misclassification")

# Notes 3, the example of three rounds, on the classic ten points: two + on the left, three above,
# three - in the middle below, two on the right, of which one is above.
POINTS = np.array(
    [[1, 5], [2, 3], [4, 9], [6, 8.5], [7.5, 8], [3, 5.5], [5, 4], [7, 2], [9, 9.5], [9.5, 1]]
)
SIGNS = np.array([1, 1, 1, 1, 1, -1, -1, -1, -1, -1])


def test_the_example_of_three_rounds():  # notes 3, AdaBoost example; FIELD.md T02
    model = AdaBoostClassifier(STUMP, n_estimators=3, algorithm="discrete").fit(POINTS, SIGNS)
    assert_allclose(model.estimator_errors_, [3 / 10, 3 / 14, 3 / 22], rtol=1e-12)
    assert model.estimator_errors_.round(2).tolist() == [0.30, 0.21, 0.14]
    assert (model.estimator_weights_ / 2).round(2).tolist() == [0.42, 0.65, 0.92]
    assert [tree.tree_.feature[0] for tree in model.estimators_] == [0, 0, 1]
    assert_array_equal(model.predict(POINTS), SIGNS)


def test_the_weights_of_the_first_round_are_those_of_the_example():  # FIELD.md T02
    model = AdaBoostClassifier(STUMP, n_estimators=1).fit(POINTS, SIGNS)
    wrong = model.predict(POINTS) != SIGNS
    weights = np.exp(-SIGNS * model.decision_function(POINTS))
    assert wrong.sum() == 3
    assert_allclose((weights / weights.sum())[wrong], 1 / 6)
    assert_allclose((weights / weights.sum())[~wrong], 1 / 14)


# ------------------------------------------------------------------ the ways of writing it


def with_half(y, h, weights):  # notes 0, page 13, remark; notes 1: alpha with 1/2, weights sum to 1
    error = weights[h != y].sum()
    beta = 0.5 * math.log((1 - error) / error)
    weights = weights * np.exp(-beta * y * h)
    return beta, weights / weights.sum()


def without_half(y, h, weights):  # notes 0, page 13: alpha without 1/2, weights not renormalised
    error = weights[h != y].sum() / weights.sum()
    alpha = math.log((1 - error) / error)
    return alpha, weights * np.exp(alpha * (h != y))


def without_half_renormalised(y, h, weights):  # notes 3, (14.15) to (14.17), with weights of sum 1
    alpha, weights = without_half(y, h, weights)
    return alpha, weights / weights.sum()


def with_half_from_one(y, h, weights):  # notes 2: weights begin with 1 and are not renormalised
    error = weights[h != y].sum() / weights.sum()
    alpha = 0.5 * math.log((1 - error) / error)
    return alpha, weights * np.exp(-alpha * y * h)


WAYS = {
    "with 1/2, renormalised": (with_half, 0.1, 2.0),
    "without 1/2, not renormalised": (without_half, 0.1, 1.0),
    "without 1/2, renormalised": (without_half_renormalised, 0.1, 1.0),
    "with 1/2, from 1, not renormalised": (with_half_from_one, 1.0, 2.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_of_the_notes_give_the_same_classifier(way):
    update, start, factor = WAYS[way]
    model = AdaBoostClassifier(STUMP, n_estimators=3).fit(POINTS, SIGNS)
    weights, total = np.full(10, start), np.zeros(10)
    for tree, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        fitted = DecisionTreeClassifier(**STUMP.get_params())
        h = fitted.fit(POINTS, SIGNS, sample_weight=weights).predict(POINTS)
        assert_array_equal(h, tree.predict(POINTS))
        own, weights = update(SIGNS, h, weights)
        assert_allclose(factor * own, alpha, rtol=1e-12)
        total += own * h
    assert_allclose(factor * total, 2 * model.decision_function(POINTS), rtol=1e-12)
    assert_array_equal(np.sign(total), model.predict(POINTS))


# ------------------------------------------------------------------ K classes


def three_classes():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 90)
    return rng.normal(size=(90, 4)) + 1.2 * np.eye(4)[y], y


def test_the_alpha_of_three_classes():  # notes 0, pages 22-23; FIELD.md T07
    X, y = np.repeat(np.arange(2.0), 5)[:, None], np.array([0, 0, 0, 1, 2, 1, 1, 1, 0, 2])
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)  # a stump is right about 6 of 10
    assert_allclose(model.estimator_errors_, [0.4])
    assert_allclose(model.estimator_weights_, [math.log(3)])
    beta = 4 / 3 * math.log(3)
    assert_allclose(model.decision_function(X)[0], beta * np.array([1, -0.5, -0.5]))


@pytest.mark.parametrize("algorithm", ["samme", "real"])
def test_scores_add_up_to_zero_and_posteriors_are_their_softmax(algorithm):  # notes 0, 17 to 19
    X, y = three_classes()
    model = AdaBoostClassifier(n_estimators=15, algorithm=algorithm).fit(X, y)
    f, p = model.decision_function(X), model.predict_proba(X)
    assert_allclose(f.sum(axis=1), 0.0, atol=1e-12)
    odds = np.exp(f / 2)
    assert_allclose(p, odds / odds.sum(axis=1, keepdims=True), rtol=1e-12)
    log_p = np.log(p)  # the population minimiser, page 17, gives f back
    assert_allclose(f, 2 * (log_p - log_p.mean(axis=1, keepdims=True)), atol=1e-10)
    assert_array_equal(model.predict(X), np.argmax(p, axis=1))


def test_the_posterior_of_two_classes_is_the_logistic_function_of_2f():  # notes 0, page 19, K = 2
    model = AdaBoostClassifier(STUMP, n_estimators=3).fit(POINTS, SIGNS)
    f = model.decision_function(POINTS)
    assert_allclose(model.predict_proba(POINTS)[:, 1], 1 / (1 + np.exp(-2 * f)), rtol=1e-14)


# ------------------------------------------------------------------ real


def test_leaves_of_real_adaboost_are_half_log_odds():  # notes 0, page 11a
    X, y = np.repeat(np.arange(2.0), 10)[:, None], np.repeat([0, 1, 0, 1], [8, 2, 3, 7])
    model = AdaBoostClassifier(n_estimators=1, algorithm="real").fit(X, y)
    smooth = 1 / 4  # half a row, divided among two classes
    odds = np.array([(2 + smooth) / (8 + smooth), (7 + smooth) / (3 + smooth)])
    assert_allclose(model.decision_function([[0.0], [1.0]]), 0.5 * np.log(odds), rtol=1e-12)


def test_the_stump_of_real_adaboost_leaves_the_least_exponential_loss():  # Z = 2 sum sqrt(W+ W-)
    X, y = three_classes()
    y = y > 0
    tree = AdaBoostClassifier(n_estimators=1, algorithm="real").fit(X, y).estimators_[0].tree_

    def left_over(rows):
        return 2 * math.sqrt(y[rows].sum() * (~y[rows]).sum())

    cuts = [(j, cut) for j in range(4) for cut in np.sort(X[:, j])[:-1]]
    losses = [left_over(X[:, j] <= cut) + left_over(X[:, j] > cut) for j, cut in cuts]
    chosen = X[:, tree.feature[0]] <= tree.threshold[0]
    assert_allclose(left_over(chosen) + left_over(~chosen), min(losses), rtol=1e-12)
