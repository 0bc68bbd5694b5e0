"""Laws of AdaBoost: what a round does to the weights, and the bound of the training error."""

import warnings
from contextlib import suppress

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import AdaBoostClassifier, DecisionTreeClassifier
from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.ensembles.adaboost import CHANCE, PERFECT, AdaBoost, Discrete, Real, Told
from hedgerow.ensembles.committee import Nursery, Plan
from hedgerow.ensembles.row_weights import RowWeights
from hedgerow.kernels.team import hired
from hedgerow.trees.rules import GrowthRules

STEP = 2.0**-40  # far more than the rounding of at most 60 rows to steps of 2^-51


@st.composite
def problems(draw, n_classes=2):
    """Return a small table with ties, classes, weights that are whole or not, and a depth."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_rows = draw(st.integers(8, 60))
    X = rng.integers(0, draw(st.sampled_from([3, 10, 1000])), (n_rows, 3)).astype(float)
    y = (rng.integers(0, n_classes, n_rows) + (X[:, 0] > X[:, 0].mean())) % n_classes
    y[:n_classes] = np.arange(n_classes)
    weights = draw(
        st.sampled_from([np.ones(n_rows), rng.integers(1, 5, n_rows), rng.random(n_rows)])
    )
    return X, y, np.maximum(weights, 0.01).astype(float), draw(st.integers(1, 3))


def boosting_of(problem, algorithm, team):
    X, y, weights, depth = problem
    table = bin_table(read_table(X), Recipe(None), team)
    rules = GrowthRules(max_depth=depth, max_leaves=1 << depth, min_gain=-np.inf)
    plan = Plan("misclassification", lambda *_: rules, None)
    rows = RowWeights(y, weights, algorithm.n_classes, team)
    nursery = Nursery(table, y, algorithm.n_classes, plan, team)
    return AdaBoost(algorithm, rows, lambda number: nursery.grow(number, rows), [])


@given(problem=problems())
def test_after_a_round_its_learner_is_as_good_as_chance(problem):
    with hired(1, 0.0) as team:
        boosting = boosting_of(problem, Discrete(2, 1.0), team)
        for _ in range(6):
            if not boosting.next_round():
                break
            told, _ = boosting.last
            wrong = told.votes[told.places] != problem[1]
            assert abs(boosting.weights.shares[wrong].sum() - 0.5) < STEP


@given(problem=problems(3))
def test_of_k_classes_the_last_learner_is_wrong_about_all_but_one_kth(problem):
    with hired(1, 0.0) as team:
        boosting = boosting_of(problem, Discrete(3, 1.0), team)
        for _ in range(6):
            if not boosting.next_round():
                break
            told, _ = boosting.last
            wrong = told.votes[told.places] != problem[1]
            assert abs(boosting.weights.shares[wrong].sum() - 2 / 3) < STEP


@given(problem=problems())
def test_weights_are_the_exponential_loss(problem):
    with hired(1, 0.0) as team:
        boosting = boosting_of(problem, Discrete(2, 0.7), team)
        f, y = np.zeros(len(problem[1])), 2 * problem[1] - 1
        for _ in range(5):
            if not boosting.next_round():
                break
            told, scores = boosting.last
            f += scores[told.places, 1]
            loss = problem[2] * np.exp(-y * f)
            assert_allclose(boosting.weights.shares, loss / loss.sum(), atol=STEP)


@given(problem=problems())
def test_the_loss_of_real_adaboost_falls(problem):
    with hired(1, 0.0) as team:
        boosting = boosting_of(problem, Real(2, 1.0, 10**9), team)  # hardly smoothed
        before = problem[2].sum()
        for _ in range(4):
            if not boosting.next_round():
                break
            after = (problem[2] * np.exp(-boosting.weights.margins)).sum()
            assert after < before
            before = after


def fitted(model, problem):
    """Return a model of a problem that its first learner is better at than chance."""
    X, y, weights, _ = problem
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, y, sample_weight=weights)
    assume(hasattr(model, "stopped_"))
    return model


@given(problem=problems())
def test_the_training_error_is_below_its_bound_after_every_round(problem):
    X, y, weights, depth = problem
    tree = DecisionTreeClassifier(max_depth=depth)
    model = fitted(AdaBoostClassifier(tree, n_estimators=8), problem)
    e = model.estimator_errors_
    bounds = np.cumprod(2 * np.sqrt(e * (1 - e)))
    for f, bound in zip(model.staged_decision_function(X), bounds, strict=True):
        wrong = (2 * y - 1) * f < 0
        assert weights[wrong].sum() / weights.sum() <= bound * (1 + 1e-9) + 1e-12


@given(problem=problems())
def test_samme_of_two_classes_is_discrete_adaboost(problem):
    tree = DecisionTreeClassifier(max_depth=problem[3], criterion="misclassification")
    ways = AdaBoostClassifier(tree), AdaBoostClassifier(tree, algorithm="discrete")
    models = [fitted(model.set_params(n_estimators=5), problem) for model in ways]
    assert models[0].fingerprint_ == models[1].fingerprint_
    e, alpha = models[0].estimator_errors_, models[0].estimator_weights_
    imperfect = e > 0
    odds = (1 - e[imperfect]) / e[imperfect]
    assert_allclose(alpha[imperfect], np.log(odds), rtol=1e-9)


# ------------------------------------------------------------------ ends


def told_by_votes(votes, y, steps, n_classes=2):
    sums = np.zeros((n_classes, n_classes), np.int64)
    np.add.at(sums, (votes, y), steps)
    return Told(votes.astype(np.int32), sums, np.arange(n_classes), None, None)


def test_a_perfect_learner_outvotes_all_before_it():
    y = np.array([0, 0, 1, 1])
    wrong = np.array([1, 0, 1, 1])
    with hired(1, 0.0) as team:
        rows = RowWeights(y, np.ones(4), 2, team)
        said = [wrong, wrong[::-1] * 0 + np.array([0, 0, 0, 1]), y]
        boosting = AdaBoost(
            Discrete(2, 1.0), rows, lambda m: told_by_votes(said[m], y, rows.steps), []
        )
        boosting.run(10, lambda _: True)
    assert boosting.stopped == PERFECT
    assert len(boosting.rounds) == 3
    assert boosting.rounds[2].error == 0.0
    assert boosting.rounds[2].alpha > sum(each.alpha for each in boosting.rounds[:2])
    assert (boosting.weights.margins > 0).all()


def test_a_learner_that_is_wrong_about_rows_below_a_step_is_not_perfect():
    y = np.array([0, 0, 1])
    with hired(1, 0.0) as team:
        rows = RowWeights(y, np.array([1.0, 1.0, 1e-30]), 2, team)
        assert rows.steps.tolist() == [2**rows.bits, 2**rows.bits, 1]
        boosting = AdaBoost(
            Discrete(2, 1.0), rows, lambda _: told_by_votes(0 * y, y, rows.steps), []
        )
        boosting.run(9, lambda _: True)
    assert boosting.stopped == CHANCE
    assert len(boosting.rounds) == 2  # then the row is the heaviest
    assert_allclose(boosting.rounds[0].alpha, np.log(2 * 2.0**rows.bits), rtol=1e-12)


def test_a_learner_at_chance_is_left_out():
    y = np.array([0, 1])
    with hired(1, 0.0) as team:
        rows = RowWeights(y, np.ones(2), 2, team)
        boosting = AdaBoost(
            Discrete(2, 1.0), rows, lambda _: told_by_votes(0 * y, y, rows.steps), []
        )
        boosting.run(5, lambda _: True)
    assert boosting.stopped == CHANCE
    assert boosting.rounds == []


def test_weights_are_whole_multiples_where_rows_are_repeated():
    y = np.array([0, 1, 1])
    with hired(1, 0.0) as team:
        rows = RowWeights(y, np.array([3.0, 1.0, 2.0]), 2, team)
        told = Told(np.zeros(3, np.int32), np.zeros((1, 2), int), np.zeros(1, int), None, None)
        rows.add(told.places, np.array([[0.3, -0.7]]))
    each = rows.steps // [3, 1, 2]
    assert_array_equal(each * [3, 1, 2], rows.steps)
    assert each[1] == each[2] == 2**rows.bits
