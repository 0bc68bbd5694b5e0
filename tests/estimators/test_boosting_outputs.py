"""Boosting of several outputs, and with dropout, as users see it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor
from tests.estimators.tables import census, message

pytestmark = pytest.mark.usefixtures("many_hands")

FEW = {"n_estimators": 8, "min_child_weight": 1.0, "max_features": None}


def columns(problem):
    y = problem.numbers
    return np.column_stack([y, np.sin(2 * y), 3.0 - y])


# ------------------------------------------------------------------ several outputs


@pytest.mark.parametrize("n_classes", [256, 300])
def test_each_of_many_classes_is_learnt(n_classes):
    y = np.repeat(np.arange(n_classes), 3)
    model = GradientBoostingClassifier(n_estimators=1, max_leaf_nodes=3, min_child_weight=0.0)
    own = model.fit(y[:, None], y).predict_proba(y[:, None])[np.arange(len(y)), y]
    assert own.min() > 1.01 / n_classes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_share_the_probabilities_of_many_rows(n_classes):
    x = np.linspace(0.0, 1.0, 20_000)[:, None]
    y = np.arange(20_000) * 7 % 19 % n_classes
    model = GradientBoostingClassifier(**FEW).fit(x, y)
    together, few = model.predict_proba(x), range(0, 20_000, 4_000)
    assert_array_equal(together, np.vstack([model.predict_proba(x[i : i + 4_000]) for i in few]))
    assert_array_equal(together, model.set_params(n_jobs=1).predict_proba(x))
    assert_allclose(together.sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_trees_of_an_output_are_those_of_a_model_of_its_own(loss):
    problem = census(400)
    model = GradientBoostingRegressor(**FEW, loss=loss).fit(problem.X, columns(problem))
    together = model.predict(problem.X)
    assert together.shape == (400, 3)
    assert model.n_outputs_ == 3
    for k, y in enumerate(columns(problem).T):
        alone = GradientBoostingRegressor(**FEW, loss=loss).fit(problem.X, y)
        assert_array_equal(together[:, k], alone.predict(problem.X))


@pytest.mark.parametrize("method", ["newton", "gradient"])
@pytest.mark.parametrize("more", [{}, {"subsample": 0.6, "random_state": 0}])
def test_outputs_that_are_copies_have_the_tree_of_one(method, more):
    problem = census(500)
    model = GradientBoostingRegressor(**FEW, **more, method=method, multi_output="vector")
    alone = GradientBoostingRegressor(**FEW, **more, method=method)
    if more:  # a row is drawn by what it is, targets included
        y = problem.numbers[:, None]
        assert model.fit(problem.X, y).fingerprint_ == alone.fit(problem.X, y[:, 0]).fingerprint_
        return
    copies = model.fit(problem.X, np.tile(problem.numbers[:, None], 3)).predict(problem.X)
    for column in copies.T:
        assert_array_equal(column, alone.fit(problem.X, problem.numbers).predict(problem.X))


@pytest.mark.parametrize("kind", ["columns", "classes"])
def test_the_trees_of_a_round_share_their_splits_and_each_output_has_its_values(kind):
    problem = census(600)
    if kind == "columns":
        model = GradientBoostingRegressor(**FEW, multi_output="vector")
        model.fit(problem.X, columns(problem))
    else:
        classes = np.digitize(problem.numbers, np.quantile(problem.numbers, [0.3, 0.6]))
        model = GradientBoostingClassifier(**FEW, multi_output="vector").fit(problem.X, classes)
    grove, bounds = model._model.grove, model._model.grove.offset
    assert model.n_estimators_ == 8
    for first in range(0, 24, 3):
        trees = [slice(bounds[first + k], bounds[first + k + 1]) for k in range(3)]
        for name in ("left", "feature", "threshold", "missing_left"):
            shared = getattr(grove, name)
            assert_array_equal(shared[trees[0]], shared[trees[1]])
            assert_array_equal(shared[trees[0]], shared[trees[2]])
        assert (grove.left[trees[0]] >= 0).any()
        assert not np.array_equal(grove.value[trees[0]], grove.value[trees[1]])


def test_a_vector_leaf_is_the_mean_of_its_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2))
    y[:, 1] += 5.0 * (X[:, 0] > 0.1)
    model = GradientBoostingRegressor(
        n_estimators=1, learning_rate=1.0, l2=0.0, max_leaf_nodes=2, multi_output="vector"
    ).fit(X, y)
    right = X[:, 0] > model._model.grove.threshold[0]
    assert 0 < np.count_nonzero(right) < 300
    assert_allclose(model.predict(X[right][:1])[0], y[right].mean(axis=0), rtol=1e-6)
    assert_allclose(model.predict(X[~right][:1])[0], y[~right].mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("ways", ["trees", "vector"])
@pytest.mark.parametrize("more", [{}, {"subsample": 0.5}, {"sampling": "goss"}, {"dropout": 0.4}])
def test_several_outputs_are_a_function_of_the_weighted_rows(ways, more):
    problem = census(400)
    model = GradientBoostingRegressor(**FEW, multi_output=ways, random_state=0, **more)
    order = np.random.default_rng(1).permutation(400)
    shuffled, weights = problem.rows(order), np.random.default_rng(2).integers(0, 4, 400)
    repeated = problem.rows(np.repeat(np.arange(400), weights))
    one = model.fit(problem.X, columns(problem)).fingerprint_
    model.set_params(n_jobs=3)
    assert model.fit(shuffled.X, columns(shuffled)).fingerprint_ == one
    weighted = model.fit(problem.X, columns(problem), weights).fingerprint_
    assert model.fit(repeated.X, columns(repeated)).fingerprint_ == weighted != one


def test_several_outputs_stop_early_by_their_summed_loss():
    problem = census(1500)
    model = GradientBoostingRegressor(
        n_estimators=200, learning_rate=0.4, early_stopping=True, n_iter_no_change=4
    ).fit(problem.X, columns(problem))
    assert 0 < model.n_estimators_ < 200
    assert model.n_estimators_ == int(np.argmin(model.validation_losses_))


def test_vector_leaves_of_classes_learn_as_much():
    problem = census(2000, seed=3)
    classes = np.digitize(problem.numbers, np.quantile(problem.numbers, [0.3, 0.6]))
    test = np.arange(2000) % 4 == 0
    shares = []
    for ways in ("trees", "vector"):
        model = GradientBoostingClassifier(n_estimators=40, multi_output=ways)
        model.fit(problem.X[~test], classes[~test])
        assert_allclose(model.predict_proba(problem.X[:5]).sum(axis=1), 1.0)
        shares.append(model.score(problem.X[test], classes[test]))
    assert shares[1] > shares[0] - 0.05
    assert shares[1] > 0.5


def test_a_loss_that_sets_itself_by_the_target_takes_one():
    with pytest.raises(ValueError, match="y has 2 columns, but loss='huber'"):
        GradientBoostingRegressor(loss="huber").fit([[0.0], [1.0]], [[0.0, 1.0], [1.0, 2.0]])


def test_gains_of_a_vector_tree_are_shared_by_its_outputs():
    problem = census(500)
    copies = np.tile(problem.numbers[:, None], 3)
    vectors = GradientBoostingRegressor(**FEW, multi_output="vector").fit(problem.X, copies)
    trees = GradientBoostingRegressor(**FEW).fit(problem.X, copies)
    assert_allclose(vectors.importances("gain"), trees.importances("gain"), rtol=1e-9)


@pytest.mark.parametrize("rule", [{"min_samples_leaf": 3}, {"monotonic_cst": [1]}])
def test_rules_that_vector_leaves_do_not_know_are_refused(rule):
    X, y = np.arange(8.0)[:, None], np.arange(16.0).reshape(8, 2)
    model = GradientBoostingRegressor(**FEW, **rule, multi_output="vector")
    assert "multi_output='trees'" in message(model.fit, X, y)
    assert model.fit(X, y[:, 0]).n_outputs_ == 1  # one output has leaves of one number


def test_each_output_may_be_monotone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 1)), rng.normal(size=(300, 2))
    model = GradientBoostingRegressor(**FEW, monotonic_cst=[1]).fit(X, y)
    assert (np.diff(model.predict(np.sort(X, axis=0)), axis=0) >= 0).all()


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_several_outputs_are_watched_go_on_and_have_offsets(loss):
    problem, rng = census(300), np.random.default_rng(0)
    y, offset = columns(problem), rng.normal(size=(300, 3))
    given = {"offset": offset, "eval_set": (problem.X, y, None, offset)}
    model = GradientBoostingRegressor(**FEW, loss=loss, warm_start=True).fit(problem.X, y, **given)
    error = y - model.predict(problem.X, offset=offset)
    each = 0.5 * error**2 if loss == "squared_error" else np.abs(error)
    assert_allclose(model.evals_result_["eval_0"]["loss"][-1], each.sum(axis=1).mean(), rtol=1e-9)
    half = GradientBoostingRegressor(**FEW, loss=loss, warm_start=True).set_params(n_estimators=3)
    half.fit(problem.X, y, **given).set_params(n_estimators=8).fit(problem.X, y, **given)
    assert half.fingerprint_ == model.fingerprint_
    said = message(half.fit, problem.X, y[:, 0], offset=offset[:, 0])
    assert "y has 1 columns, but the model" in said
    found = model.permutation_importances(problem.X, y, offset=offset, n_repeats=1, random_state=0)
    assert found.importances.max() > 0


def test_several_outputs_choose_their_rounds_by_cross_validation():
    problem = census(300)
    model = GradientBoostingRegressor(
        n_estimators="cv", max_estimators=15, cv=3, learning_rate=0.4, min_child_weight=1
    ).fit(problem.X, columns(problem))
    assert model.oof_predictions_.shape == (300, 3)
    error = columns(problem) - model.oof_predictions_
    losses = model.cv_results_.losses
    assert_allclose(losses[model.n_estimators_], 0.5 * (error**2).sum(axis=1).mean(), rtol=1e-9)


# ------------------------------------------------------------------ dropout


def test_without_chances_nothing_is_dropped():
    problem = census(400)
    plain = GradientBoostingRegressor(**FEW, random_state=0).fit(problem.X, problem.numbers)
    skipped = GradientBoostingRegressor(**FEW, random_state=0, dropout=0.5, skip_dropout=1.0)
    assert skipped.fit(problem.X, problem.numbers).fingerprint_ == plain.fingerprint_


def test_if_all_rounds_are_dropped_every_round_is_the_first():
    problem = census(400)
    shared = {"learning_rate": 1.0, "min_child_weight": 1.0, "max_features": None}
    first = GradientBoostingRegressor(**shared, n_estimators=1).fit(problem.X, problem.numbers)
    many = GradientBoostingRegressor(**shared, n_estimators=6, dropout=1.0)
    assert_allclose(
        many.fit(problem.X, problem.numbers).predict(problem.X),
        first.predict(problem.X),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("n_dropped", [1, 2])
def test_a_dropped_round_and_its_replacement_are_made_smaller(n_dropped):
    """With rate r and k rounds dropped: k / (k + r) and r / (k + r)."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    shared = {"learning_rate": 0.5, "max_leaf_nodes": 4, "random_state": 0, "dropout": 1.0}
    before = GradientBoostingRegressor(**shared, n_estimators=2, max_dropped=n_dropped).fit(X, y)
    after = GradientBoostingRegressor(**shared, n_estimators=3, max_dropped=n_dropped).fit(X, y)
    n_nodes, k = len(before._model.grove.value), n_dropped
    leaves = before._model.grove.left < 0
    ratio = after._model.grove.value[:n_nodes][leaves] / before._model.grove.value[leaves]
    sizes = np.diff(before._model.grove.offset)
    tree = np.repeat([0, 1], sizes)[leaves]
    smaller = [bool(np.isclose(ratio[tree == t], k / (k + 0.5)).all()) for t in (0, 1)]
    same = [bool(np.isclose(ratio[tree == t], 1.0).all()) for t in (0, 1)]
    assert sum(smaller) == n_dropped
    assert sum(same) == 2 - n_dropped


@pytest.mark.parametrize(
    ("parameters", "remedy"),
    [
        ({"early_stopping": True}, "early_stopping=False"),
        ({"learning_rate": "line_search"}, "a number as learning_rate"),
        ({"n_estimators": "cv"}, "a number of rounds"),
        ({"warm_start": True}, "warm_start=False"),
    ],
)
def test_dropout_goes_with_nothing_that_needs_rounds_as_they_were(parameters, remedy):
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    assert remedy in message(GradientBoostingRegressor(dropout=0.1, **parameters).fit, X, y)


def test_dropout_has_no_rows_to_watch():
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    said = message(GradientBoostingRegressor(dropout=0.1).fit, X, y, eval_set=(X, y))
    assert "Leave eval_set out" in said
