"""Boosting from samples of rows, and with line searches, as users see it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor
from tests.estimators.tables import census

FEW = {"n_estimators": 8, "min_child_weight": 1.0, "random_state": 0}


def problem(n=2000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=n)


# ------------------------------------------------------------------ sampling


def test_a_sample_of_all_rows_is_all_rows():
    data = census(500)
    plain = GradientBoostingRegressor(**FEW).fit(data.X, data.numbers)
    whole = GradientBoostingRegressor(**FEW, subsample=1.0).fit(data.X, data.numbers)
    every = GradientBoostingRegressor(**FEW, sampling="goss", top_rate=0.5, other_rate=0.5)
    assert whole.fingerprint_ == plain.fingerprint_
    assert every.fit(data.X, data.numbers).fingerprint_ == plain.fingerprint_
    assert not hasattr(plain, "oob_improvement_")


def test_leaves_are_those_of_the_rows_that_were_drawn():
    """One round at full rate without penalty: a leaf is the mean of its share of the sample."""
    X, y = problem(400)
    model = GradientBoostingRegressor(
        n_estimators=1, learning_rate=1.0, l2=0.0, max_leaf_nodes=2, subsample=0.5, random_state=3
    ).fit(X, y)
    grove = model._model.grove
    assert_allclose(model._model.gradient[1:].sum(), model._model.gradient[0])
    assert 150 < grove.weight[0] < 250  # Hessians are 1: rows drawn
    assert_allclose(grove.value[1:], -model._model.gradient[1:] / grove.weight[1:], rtol=1e-12)


@pytest.mark.parametrize("sampling", [{"subsample": 0.3}, {"sampling": "goss"}])
def test_samples_learn_nearly_as_much(sampling):
    X, y = problem()
    held_out = np.arange(2000) % 4 == 0
    errors = []
    for extra in ({}, sampling):
        model = GradientBoostingRegressor(n_estimators=60, random_state=0, **extra)
        model.fit(X[~held_out], y[~held_out])
        errors.append(np.mean((y - model.predict(X))[held_out] ** 2))
    assert errors[1] < 1.25 * errors[0] < 0.5 * np.var(y)


def test_rows_out_of_the_bag_tell_when_a_round_is_of_no_more_use():
    X, y = problem()
    noise = np.random.default_rng(1).permutation(y)
    model = GradientBoostingRegressor(
        n_estimators=30, subsample=0.5, random_state=0, oob_improvement=True
    )
    assert (model.fit(X, y).oob_improvement_[:10] > 0).all()
    assert model.fit(X, noise).oob_improvement_.sum() < 0
    assert len(model.oob_improvement_) == model.n_estimators_
    assert not hasattr(model.set_params(subsample=1.0).fit(X, y), "oob_improvement_")


def test_going_on_keeps_what_was_measured_out_of_the_bag():
    X, y = problem(300)
    model = GradientBoostingRegressor(**FEW, subsample=0.5, oob_improvement=True, warm_start=True)
    whole = model.fit(X, y).oob_improvement_
    model = GradientBoostingRegressor(**model.get_params() | {"n_estimators": 3}).fit(X, y)
    assert_array_equal(model.oob_improvement_, whole[:3])
    assert_array_equal(model.set_params(n_estimators=8).fit(X, y).oob_improvement_, whole)
    assert_array_equal(model.fit(X, y).oob_improvement_, whole)


def test_a_loss_without_values_has_no_rows_out_of_the_bag():
    def squares(y, raw):
        return raw - y, np.ones(len(y))

    model = GradientBoostingRegressor(**FEW, loss=squares, subsample=0.5, oob_improvement=True)
    with pytest.raises(ValueError, match="oob_improvement=False"):
        model.fit(*problem(50))


@pytest.mark.parametrize("sampling", [{"subsample": 0.5}, {"sampling": "goss"}])
def test_equal_rows_with_other_offsets_are_drawn_in_any_order(sampling):
    X, y = np.repeat(np.arange(40.0), 10)[:, None], np.repeat(np.arange(40.0) % 7, 10)
    offset, order = np.tile(np.arange(10.0), 40), np.random.default_rng(0).permutation(400)
    model = GradientBoostingRegressor(**FEW, **sampling)
    one = model.fit(X, y, offset=offset).fingerprint_
    assert model.fit(X[order], y[order], offset=offset[order]).fingerprint_ == one


@pytest.mark.parametrize("rule", [{"min_samples_leaf": 5}, {"monotonic_cst": [1, 0, 0, 0]}])
@pytest.mark.parametrize("sampling", [{"subsample": 0.5}, {"sampling": "goss"}])
def test_rules_of_growth_are_kept_in_samples(rule, sampling):
    X, y = problem(300)
    model = GradientBoostingRegressor(**FEW, **rule, **sampling).fit(X, y)
    grove = model._model.grove
    if "min_samples_leaf" in rule:
        assert (grove.weight[grove.left < 0] >= 5 - 1e-9).all()  # a Hessian is 1, or more
    else:
        rows = np.tile(X[:1], (50, 1))
        rows[:, 0] = np.linspace(-3.0, 3.0, 50)
        assert (np.diff(model.predict(rows)) >= 0).all()


def test_a_round_without_rows_adds_nothing():
    for loss, start in (("squared_error", 2.0), ("absolute_error", 1.0)):
        model = GradientBoostingRegressor(n_estimators=4, subsample=1e-9, random_state=0, loss=loss)
        model.fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0])
        assert_array_equal(model.predict([[0.0], [2.0]]), [start, start])


def test_two_ways_to_sample_at_once_are_refused():
    X, y = problem(50)
    with pytest.raises(ValueError, match=r"Leave subsample at 1\.0"):
        GradientBoostingRegressor(sampling="goss", subsample=0.5).fit(X, y)
    with pytest.raises(ValueError, match="add up to more than 1"):
        GradientBoostingRegressor(sampling="goss", top_rate=0.8, other_rate=0.3).fit(X, y)


@pytest.mark.parametrize(
    "bad", [{"subsample": 0.0}, {"subsample": 1.1}, {"top_rate": 1.0}, {"other_rate": 0.0}]
)
def test_shares_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        GradientBoostingRegressor(**bad).fit([[0.0], [1.0]], [0.0, 1.0])


# ------------------------------------------------------------------ line search


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "quantile", "poisson", "gamma", "tweedie"]
)
@pytest.mark.parametrize("method", ["newton", "gradient"])
def test_a_line_search_never_raises_the_loss(loss, method):
    X, y = problem(400)
    y = np.exp(y)
    model = GradientBoostingRegressor(
        loss=loss, method=method, n_estimators=15, learning_rate="line_search", max_leaf_nodes=5
    ).fit(X, y)
    start = model._loss.loss(y, model._model.start[0]) if loss == "squared_error" else None
    values = [
        np.mean([model._loss.loss(a, b) for a, b in zip(y, raw[:, 0], strict=True)])
        for raw in model._staged_raw(X)
    ]
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[-1] < 0.95 * values[0]
    if start is not None:
        assert values[0] < np.mean(start)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_line_search_of_classes_takes_one_step_for_all_trees_of_a_round(n_classes):
    X, y = problem(400)
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    shared = {"n_estimators": 1, "max_leaf_nodes": 4, "l2": 0.0}
    searched = GradientBoostingClassifier(**shared, learning_rate="line_search").fit(X, labels)
    plain = GradientBoostingClassifier(**shared, learning_rate=1.0).fit(X, labels)
    leaves = plain._model.grove.left < 0
    ratio = searched._model.grove.value[leaves] / plain._model.grove.value[leaves]
    assert_allclose(ratio, ratio[0], rtol=1e-12)
    assert 0.5 < ratio[0] < 4.0
    assert ratio[0] != 1.0


def test_leaves_that_are_means_need_no_other_step():
    X, y = problem(400)
    shared = {"n_estimators": 5, "l2": 0.0, "max_leaf_nodes": 6}
    searched = GradientBoostingRegressor(**shared, learning_rate="line_search").fit(X, y)
    plain = GradientBoostingRegressor(**shared, learning_rate=1.0).fit(X, y)
    assert_allclose(searched.predict(X), plain.predict(X), rtol=1e-4, atol=1e-6)


def test_other_words_than_line_search_are_refused():
    with pytest.raises(ValueError, match="line_search"):
        GradientBoostingRegressor(learning_rate="fast").fit([[0.0], [1.0]], [0.0, 1.0])
