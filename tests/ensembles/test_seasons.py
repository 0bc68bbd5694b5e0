"""Seasons: rounds that are grown in one call are those that are grown one after another."""

import signal
import threading
import time

import numpy as np
import pytest
from numba import config

import hedgerow as h
from hedgerow.ensembles import boosting, season
from hedgerow.ensembles.curve import steady_sum, steady_sums
from hedgerow.kernels import team
from hedgerow.trees import grower
from tests.estimators.tables import census, message, numeric

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="notes are addresses of machine code")

ROUNDS = 12
WHOLE, HALVES = np.arange(600) % 3 + 1.0, np.arange(600) % 5 * 0.5 + 0.5
REGRESSORS = [
    {},
    {"loss": "poisson"},
    {"loss": "gamma"},
    {"loss": "tweedie"},
    {"l1": 0.1, "l2": 3.0, "gamma": 0.05},
    {"max_depth": 2},
    {"min_samples_leaf": 20},
    {"max_features": 0.5, "random_state": 3},
    {"max_features_level": 0.5, "random_state": 3},
    {"interaction_cst": "pairwise"},
    {"split_finding": "exact"},
]
CLASSIFIERS = [{}, {"class_weight": "balanced"}, {"loss": "exponential"}, {"min_child_weight": 0.0}]


@pytest.fixture(autouse=True, name="grown")
def _grown(monkeypatch):
    """Let small tables have threads that share all steps; list the rounds of seasons."""
    monkeypatch.setattr(team, "_BRIEF", 0)
    monkeypatch.setattr(team, "_FEW_NOTED", 100)
    rounds, grow = [], season.Seasons.grow

    def counted(self, *given):
        try:
            return grow(self, *given)
        finally:
            rounds.append(self.n_done)

    monkeypatch.setattr(season.Seasons, "grow", counted)
    return rounds


def one_by_one(model, *given, **more):
    """Fit as if somebody asked after each round."""
    return model.set_params(callbacks=[lambda _: True]).fit(*given, **more)


def two_classes(problem):
    return (problem.classes == "high").astype(int)


def assert_same(kind, given, X, y, grown, **more):
    given = {"n_estimators": ROUNDS, "early_stopping": False} | given
    for n_jobs in (1, 2, 3):
        model = kind(**given, n_jobs=n_jobs).fit(X, y, **more)
        assert grown == [ROUNDS - 1]
        grown.clear()
        other = one_by_one(kind(**given, n_jobs=n_jobs), X, y, **more)
        assert not grown
        assert model.fingerprint_ == other.fingerprint_
        np.testing.assert_array_equal(model._model.gradient, other._model.gradient)
        np.testing.assert_array_equal(model._model.gain, other._model.gain)


@pytest.mark.parametrize("weights", [None, WHOLE, HALVES], ids=["none", "whole", "real"])
@pytest.mark.parametrize("given", REGRESSORS, ids=repr)
def test_regressors_are_those_of_rounds_one_by_one(given, weights, grown):
    problem = census(600)
    y = problem.numbers - problem.numbers.min() + 1.0
    assert_same(h.GradientBoostingRegressor, given, problem.X, y, grown, sample_weight=weights)


@pytest.mark.parametrize("given", CLASSIFIERS, ids=repr)
def test_classifiers_are_those_of_rounds_one_by_one(given, grown):
    problem = census(600)
    y = two_classes(problem)
    assert_same(h.GradientBoostingClassifier, given, problem.X, y, grown)


def test_classifiers_of_several_classes_are_those_of_rounds_one_by_one(grown):
    problem = census(600)
    assert_same(h.GradientBoostingClassifier, {}, problem.X, problem.classes, grown)


def test_rows_so_many_that_steps_might_not_fit_make_no_difference(grown):
    X, _, y = numeric(40_000)
    assert_same(h.GradientBoostingRegressor, {"max_leaf_nodes": 5}, X, y, grown)


@pytest.mark.parametrize("kind", [h.GradientBoostingClassifier, h.GradientBoostingRegressor])
def test_categories_too_many_for_a_byte_are_grown_in_seasons(kind, grown):
    rng = np.random.default_rng(0)
    town = rng.integers(0, 700, 3000)
    worth = rng.normal(size=700)[town] + rng.normal(size=3000)
    X = np.column_stack([rng.permutation(700)[town], rng.integers(0, 9, 3000), rng.random(3000)])
    X[rng.random(3000) < 0.1, 0] = np.nan
    y = (worth > 0.0).astype(int) if "Classifier" in kind.__name__ else worth
    assert_same(kind, {"categorical_features": [0]}, X, y, grown)


def test_tables_so_large_that_a_tree_takes_long_are_not_grown_in_seasons(monkeypatch, grown):
    X, _, y = numeric(2000, 3, n_values=1500)
    for categorical, n_rounds in ([], 4), ([0, 1, 2], 0):
        monkeypatch.setattr(grower, "_MOMENT", 12 * 2000 * 3.0 * 5)
        model = h.GradientBoostingRegressor(
            n_estimators=5, early_stopping=False, categorical_features=categorical, n_jobs=1
        )
        model.fit(X, y)
        assert sum(grown) == n_rounds
        grown.clear()


def test_offsets_and_rounds_from_before_make_no_difference(grown):
    problem = census(600)
    X, y, offset = problem.X, problem.numbers, np.arange(600) / 600
    model = h.GradientBoostingRegressor(n_estimators=5, warm_start=True, early_stopping=False)
    for n_rounds in (5, ROUNDS):
        model.set_params(n_estimators=n_rounds).fit(X, y, offset=offset)
    assert grown == [4, 6]
    whole = h.GradientBoostingRegressor(n_estimators=ROUNDS, early_stopping=False)
    assert one_by_one(whole, X, y, offset=offset).fingerprint_ == model.fingerprint_


def test_a_loss_of_the_users_own_is_grown_in_seasons(grown):
    problem = census(600)

    class Lifted(h.losses.SquaredError):
        def loss(self, y, f):
            return 2.0 * (y - f) * (y - f)

        def gradient(self, y, f):
            return 4.0 * (f - y)

        def hessian(self, y, f):  # noqa: ARG002
            return 4.0

    given = {"loss": Lifted()}
    assert_same(h.GradientBoostingRegressor, given, problem.X, problem.numbers, grown)


@pytest.mark.parametrize(
    "given",
    [
        {"loss": "huber"},
        {"loss": "absolute_error"},
        {"loss": "quantile", "alpha": [0.3]},
        {"method": "gradient"},
        {"learning_rate": "line_search"},
        {"subsample": 0.5},
        {"sampling": "goss"},
        {"dropout": 0.5},
        {"prune": "post"},
        {"monotonic_cst": [1, 0, 0, 0, 0]},
        {"max_features_tree": 0.5},
        {"early_stopping": True},
        {"time_limit": 1000.0},
        {"max_leaf_nodes": None, "max_depth": 4},
    ],
    ids=repr,
)
def test_rounds_that_are_not_plain_are_grown_one_by_one(given, grown):
    problem = census(300)
    given = {"n_estimators": 3, "early_stopping": False, "random_state": 0} | given
    h.GradientBoostingRegressor(**given).fit(problem.X, problem.numbers)
    assert not grown


def test_a_season_ends_where_there_is_nothing_to_learn(grown):
    X, y = np.arange(40.0)[:, None], np.zeros(40)
    y[20:] = 8.0
    model = h.GradientBoostingRegressor(
        n_estimators=500, learning_rate=1.0, l2=0.0, early_stopping=False, min_child_weight=0.0
    )
    model.fit(X, y)
    assert model.n_estimators_ < 5
    assert one_by_one(model, X, y).n_estimators_ == model.n_estimators_
    assert grown


def test_an_error_names_the_round_in_which_a_loss_fails(grown):
    class Fails(h.losses.SquaredError):
        def gradient(self, y, f):
            return np.nan if abs(f) > 2.0 else f - y

    X, y = np.arange(50.0)[:, None], np.repeat([-4.0, 4.0], 25)
    given = {"loss": Fails(), "n_estimators": 60, "early_stopping": False, "min_child_weight": 1.0}
    model = h.GradientBoostingRegressor(**given)
    said = message(model.fit, X, y, error=FloatingPointError)
    assert grown
    assert grown[0] > 1
    assert f"round {grown[0] + 2} " in said
    model = h.GradientBoostingRegressor(**given)
    assert message(one_by_one, model, X, y, error=FloatingPointError) == said


def test_an_interrupt_keeps_the_rounds_of_seasons_that_are_done(grown):
    X, _, y = numeric(30_000, 8)
    main = threading.main_thread().ident

    def interrupt():
        while not grown:
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt).start()
    model = h.GradientBoostingRegressor(n_estimators=100_000, early_stopping=False).fit(X, y)
    signal.signal(signal.SIGINT, handler)
    n_rounds = model.n_estimators_
    assert grown[0] < n_rounds < 100_000
    assert n_rounds <= sum(grown) + 1
    grown.clear()
    model.set_params(n_estimators=20, n_jobs=1).fit(X, y)
    shorter = h.GradientBoostingRegressor(n_estimators=20, early_stopping=False)
    assert one_by_one(shorter, X, y).fingerprint_ == model.fingerprint_


@pytest.mark.parametrize("kind", [h.GradientBoostingRegressor, h.GradientBoostingClassifier])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_are_measured_as_they_are_round_by_round(kind, n_jobs, grown, monkeypatch):
    problem = census(600)
    given = {"n_estimators": "cv", "max_estimators": 20, "n_iter_no_change": 20, "n_jobs": n_jobs}
    y = problem.target(kind())
    model = kind(**given).fit(problem.X, y)
    assert grown
    monkeypatch.setattr(boosting, "is_plain", lambda *_: False)
    other = kind(**given).fit(problem.X, y)
    assert model.fingerprint_ == other.fingerprint_
    np.testing.assert_array_equal(
        model.cv_results_["fold_losses"], other.cv_results_["fold_losses"]
    )
    np.testing.assert_array_equal(model.oof_predictions_, other.oof_predictions_)


def test_steady_sums_are_those_of_each_row():
    table = np.random.default_rng(0).normal(size=(7, 50)) * 10.0 ** np.arange(-3, 4)[:, None]
    table[2] = 0.0
    sums = steady_sums(table)
    assert sums.tolist() == [steady_sum(row) for row in table]
    np.testing.assert_allclose(sums, table.sum(axis=1), rtol=1e-12, atol=1e-12)
    assert steady_sum(np.array([1.0, np.inf])) == np.inf
