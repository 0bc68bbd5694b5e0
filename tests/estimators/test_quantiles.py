"""Several quantiles in one model: they never cross, and are as good as models of one level."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from hedgerow import GradientBoostingRegressor
from tests.estimators.tables import census

LEVELS = [0.05, 0.3, 0.5, 0.7, 0.95]
MODEL = GradientBoostingRegressor(
    loss="quantile", alpha=LEVELS, n_estimators=15, min_child_weight=1.0, learning_rate=0.5
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


def test_early_stopping_watches_the_mean_loss_of_the_levels():
    problem = census(500)
    model = fitted(problem, early_stopping=True, n_estimators=100, n_iter_no_change=3)
    losses = model.validation_losses_
    assert model.n_estimators_ == int(np.argmin(losses)) < len(losses) - 1
    assert np.isfinite(losses).all()
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(problem.X), model.predict(problem.X))


def test_one_level_in_a_list_is_one_column():
    problem = census(100)
    one = fitted(problem, alpha=[0.3]).predict(problem.X)
    assert_array_equal(one[:, 0], fitted(problem, alpha=0.3).predict(problem.X))


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
