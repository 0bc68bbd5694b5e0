"""Several quantiles in one model: they never cross, and are as good as models of one level."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import d2_pinball_score, r2_score
from sklearn.model_selection import cross_val_score

from hedgerow import GradientBoostingRegressor
from tests.estimators.tables import census

LEVELS = [0.05, 0.3, 0.5, 0.7, 0.95]
MODEL = GradientBoostingRegressor(
    loss="quantile",
    alpha=LEVELS,
    n_estimators=15,
    min_child_weight=1.0,
    learning_rate=0.5,
    max_features=None,
)


def fitted(problem, weights=None, **parameters):
    return clone(MODEL).set_params(**parameters).fit(problem.X, problem.numbers, weights)


def test_quantiles_do_not_cross_whatever_the_row():
    problem, other = census(300), census(500, seed=9)
    model = fitted(problem)
    raw, shown = model._raw(other.X), model.predict(other.X)
    assert (np.diff(raw, axis=1) < 0).any()  # the trees alone would
    assert shown.shape == (500, 5)
    assert (np.diff(shown, axis=1) >= 0).all()
    for stage in model.staged_predict(other.X):
        assert (np.diff(stage, axis=1) >= 0).all()
    assert_array_equal(stage, shown)


def test_each_score_is_that_of_a_model_of_its_level():
    problem = census(300)
    raw = fitted(problem)._raw(problem.X)
    for k, level in enumerate(LEVELS):
        assert_array_equal(raw[:, k], fitted(problem, alpha=level).predict(problem.X))


def test_order_threads_and_repeats_make_no_difference():
    problem = census(300, seed=4)
    weights = np.random.default_rng(5).integers(0, 5, 300)
    repeated = problem.rows(np.random.default_rng(6).permutation(np.repeat(range(300), weights)))
    prints = {fitted(problem, weights, n_jobs=n).fingerprint_ for n in (1, 3)}
    assert prints == {fitted(repeated).fingerprint_}


@pytest.mark.parametrize(
    ("parameters", "least"),
    [
        ({"alpha": 0.1}, 20.0),
        ({"alpha": 0.95}, 40.0),
        ({"alpha": [0.1, 0.5]}, 20.0),
        ({"loss": "absolute_error", "alpha": 0.9}, 4.0),
        ({"loss": "squared_error", "alpha": 0.9}, 1.0),
    ],
)
def test_a_leaf_is_large_enough_for_its_quantile(parameters, least):
    problem = census(300, seed=2)
    own = fitted(problem, min_child_weight="auto", **parameters)
    told = fitted(problem, min_child_weight=least, **parameters)
    other = fitted(problem, min_child_weight=1.05 * least, **parameters)
    assert own.fingerprint_ == told.fingerprint_ != other.fingerprint_


def test_early_stopping_watches_the_mean_loss_of_the_levels():
    problem = census(500)
    model = fitted(problem, early_stopping=True, n_estimators=100, n_iter_no_change=3)
    losses = model.validation_losses_
    assert model.n_estimators_ == int(np.argmin(losses)) < len(losses) - 1
    assert np.isfinite(losses).all()
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(problem.X), model.predict(problem.X))


def test_rounds_are_chosen_by_cross_validation_and_by_given_rows():
    problem, other = census(300), census(200, seed=9)
    chosen = fitted(problem, n_estimators="cv", max_estimators=10, cv=3)
    assert chosen.oof_predictions_.shape == (300, 5)
    assert (np.diff(chosen.oof_predictions_, axis=1) >= 0).all()
    model = clone(MODEL).fit(problem.X, problem.numbers, eval_set=(other.X, other.numbers))
    above = other.numbers[:, None] - model.predict(other.X)
    pinball = np.maximum(np.array(LEVELS) * above, (np.array(LEVELS) - 1.0) * above).mean()
    (history,) = model.evals_result_.values()
    assert_allclose(history["loss"][model.n_estimators_], pinball, rtol=1e-9)


def test_an_offset_moves_each_score():
    problem = census(300)
    offset = np.linspace(-1.0, 1.0, 300)[:, None] * np.ones(5)
    model = clone(MODEL).fit(problem.X, problem.numbers, offset=offset)
    residuals = problem.numbers[:, None] - offset
    below = (residuals <= model._model.start + 1e-9).mean(axis=0)
    assert (np.abs(below - LEVELS) < 1 / 150).all()


def test_importance_is_measured_by_the_mean_loss_of_the_levels():
    problem = census(300)
    found = fitted(problem).permutation_importances(problem.X, problem.numbers, n_repeats=1)
    assert found.importances_mean.max() > 0


def test_one_level_in_a_list_is_one_column():
    problem = census(100)
    one = fitted(problem, alpha=[0.3]).predict(problem.X)
    assert_array_equal(one[:, 0], fitted(problem, alpha=0.3).predict(problem.X))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_score_of_several_levels_is_the_mean_of_d2_pinball_scores(weighted):
    problem, other = census(300), census(200, seed=9)
    weights = np.random.default_rng(0).uniform(0.0, 2.0, 200) if weighted else None
    model = fitted(problem)
    shown, y = model.predict(other.X), other.numbers
    given = {"sample_weight": weights}
    expected = [d2_pinball_score(y, shown[:, k], alpha=LEVELS[k], **given) for k in range(5)]
    assert model.score(other.X, y, **given) == np.mean(expected)


def test_the_start_scores_zero_and_a_perfect_prediction_one():
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    model = clone(MODEL).set_params(alpha=[0.3, 0.6], l2=0.0, learning_rate=1.0, n_estimators=8)
    assert model.fit(X, y).score(X, y) == 1.0
    same = np.zeros((8, 1))
    assert_allclose(model.fit(same, y).score(same, y), 0.0)


@pytest.mark.parametrize("alpha", [0.3, [0.3]])
def test_the_score_of_one_level_is_r2(alpha):
    problem, other = census(300), census(200, seed=9)
    model, weights = fitted(problem, alpha=alpha), np.arange(200.0)
    expected = r2_score(other.numbers, model.predict(other.X), sample_weight=weights)
    assert model.score(other.X, other.numbers, weights) == expected


def test_scikit_learn_validates_models_of_several_levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    scores = cross_val_score(MODEL, X, X[:, 0] + 0.1 * rng.normal(size=200), cv=3)
    assert scores.shape == (3,)
    assert (scores > 0.0).all()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"loss": "huber"}, "only loss='quantile' has; the loss is 'huber'"),
        ({"alpha": [0.9, 0.1]}, "levels that increase"),
        ({"alpha": [0.1, 1.5]}, "alpha=1.5"),
    ],
)
def test_levels_that_make_no_sense_are_refused(parameters, said):
    with pytest.raises(ValueError, match=said):
        fitted(census(50), **parameters)
