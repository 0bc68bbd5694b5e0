"""Growing ahead: threads that divide leaves each by itself grow the tree that one thread grows."""

import numpy as np
import pytest
from numba import config

import hedgerow as h
from hedgerow.kernels import team
from hedgerow.trees import grower
from tests.estimators.tables import census

FEW = 2 if config.DISABLE_JIT else 12  # rounds
N_ROWS = 200 if config.DISABLE_JIT else 4000


@pytest.fixture(scope="module", name="problem")
def _problem():
    return census(N_ROWS)


@pytest.fixture(autouse=True)
def small_teams(monkeypatch):
    """Let small tables have threads; count the trees' outlooks."""
    monkeypatch.setattr(team, "_BRIEF", 0)
    made, outlook = [], grower.outlook

    def seen(n_threads, size):
        made.extend([n_threads] if n_threads else [])
        return outlook(n_threads, size)

    monkeypatch.setattr(grower, "outlook", seen)
    return made


def boosted(**parameters):
    loss = parameters.get("loss", "log_loss")
    kind = h.GradientBoostingClassifier if loss == "log_loss" else h.GradientBoostingRegressor
    return kind(n_estimators=FEW, early_stopping=False, **parameters)


MODELS = {
    "as they are": boosted(),
    "few leaves": boosted(max_leaf_nodes=3),
    "two leaves": boosted(max_leaf_nodes=2),
    "many leaves": boosted(max_leaf_nodes=300, min_child_weight=0.0),
    "level by level": boosted(max_depth=5),
    "all features": boosted(max_features=None, categorical_features=[2, 4]),
    "few features": boosted(max_features=1),
    "fewer rows": boosted(subsample=0.5),
    "trimmed": boosted(gamma=3.0, prune="post"),
    "small gains": boosted(gamma=3.0),
    "vector leaves": boosted(multi_output="vector"),
    "least squares": boosted(method="gradient"),
    "numbers": boosted(loss="squared_error", monotonic_cst=[1, 0, 0, 0, 0]),
    "exact leaves": boosted(loss="absolute_error", interaction_cst=[[0, 1], [1, 2, 3, 4]]),
    "a tree of classes": h.DecisionTreeClassifier(max_leaf_nodes=40),
    "a tree of numbers": h.DecisionTreeRegressor(max_leaf_nodes=40),
    "a tree of medians": h.DecisionTreeRegressor(max_leaf_nodes=12, criterion="absolute_error"),
}


@pytest.mark.parametrize("name", MODELS)
def test_any_number_of_threads_grow_the_tree_of_one(problem, small_teams, name):
    model = MODELS[name]
    X, y = problem.X, problem.target(model)
    expected = model.set_params(n_jobs=1).fit(X, y).fingerprint_
    assert not small_teams
    for n_jobs in (2, 3):
        assert model.set_params(n_jobs=n_jobs).fit(X, y).fingerprint_ == expected
    assert small_teams


def test_what_is_divided_in_vain_is_given_back(problem, monkeypatch):
    """With slots for hundreds of leaves too many, threads go far ahead."""
    model = boosted(max_leaf_nodes=8)
    expected = model.set_params(n_jobs=1).fit(problem.X, problem.classes).fingerprint_
    for spare in (1, 300):
        monkeypatch.setattr(grower, "SPARE", spare)
        again = model.set_params(n_jobs=3).fit(problem.X, problem.classes)
        assert again.fingerprint_ == expected


def test_sets_of_categories_that_do_not_fit_are_grown_again(problem, monkeypatch):
    model = boosted(max_features=None)
    expected = model.set_params(n_jobs=1).fit(problem.X, problem.classes).fingerprint_
    monkeypatch.setattr(grower, "_N_WORDS", 3)
    assert model.set_params(n_jobs=2).fit(problem.X, problem.classes).fingerprint_ == expected


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="in plain Python all members are asked")
def test_nobody_waits_for_a_helper_that_does_not_come(problem, monkeypatch):
    """In a round by itself, that is: a season needs all whom it was written down for."""
    model = boosted(gamma=3.0, prune="post")
    expected = model.set_params(n_jobs=1).fit(problem.X, problem.classes).fingerprint_
    monkeypatch.setattr(team.Team, "_expect", lambda *_: None)
    assert model.set_params(n_jobs=3).fit(problem.X, problem.classes).fingerprint_ == expected


def test_large_tables_are_grown_by_threads_that_share_each_leaf(small_teams, monkeypatch):
    monkeypatch.setattr(grower, "_AHEAD", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    boosted(n_jobs=2).fit(X, X[:, 0] > 0)
    assert not small_teams
    boosted(n_jobs=2).fit(X[1:], X[1:, 0] > 0)
    assert small_teams
