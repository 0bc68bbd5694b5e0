"""Stagewise boosting is descent: the nearest function, the best step, and AdaBoost as a case."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as SklearnTree
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import StagewiseClassifier, StagewiseRegressor
from hedgerow.losses import Huber
from tests.oracle.stagewise import discrete_adaboost

ADABOOST = {"loss": "exponential", "init": "zero", "step": "exact", "learning_rate": 1.0}
SEEDS = st.integers(0, 2**32 - 1)


@parametrize_with_checks(
    [
        StagewiseClassifier(n_estimators=9, learning_rate=0.9),
        StagewiseClassifier(Ridge(), n_estimators=5, learning_rate=0.5),
        StagewiseRegressor(n_estimators=9, learning_rate=0.9),
        StagewiseRegressor(Ridge(), loss="huber", n_estimators=9, learning_rate=0.9),
        StagewiseRegressor(n_estimators=9, learning_rate=0.9, early_stopping=True),
    ]
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


# ------------------------------------------------------------------ AdaBoost


def classes_and_votes(seed, n=30, q=12):
    """Rows, random classifiers of them with no two alike, and classes that they help with."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    cuts = [(int(rng.integers(3)), float(t)) for t in rng.normal(size=q)]
    votes = np.column_stack([np.where(X[:, j] > t, 1.0, -1.0) for j, t in cuts])
    _, kept = np.unique(votes * votes[:1], axis=1, return_index=True)
    kept = np.sort(kept[np.abs(votes[:, kept].sum(axis=0)) < n])
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 0, 1, -1)
    y[:2] = -1, 1
    return X, [cuts[k] for k in kept], votes[:, kept], y, rng.exponential(size=n) + 0.01


def stumps_at(cuts):
    return lambda X: np.column_stack([np.where(X[:, j] > t, 1.0, -1.0) for j, t in cuts])


@given(SEEDS)
def test_boosting_of_the_exponential_loss_in_a_dictionary_is_adaboost(seed):
    X, cuts, votes, y, weights = classes_and_votes(seed)
    model = StagewiseClassifier(
        dictionary=stumps_at(cuts), direction="collinear", n_estimators=8, **ADABOOST
    ).fit(X, y, sample_weight=weights)
    oracle = discrete_adaboost(votes.T.tolist(), y.tolist(), weights.tolist(), model.n_estimators_)
    assert model.n_estimators_ == 8, seed
    assert_array_equal(model.elements_, oracle.chosen)
    assert_allclose(model.estimator_weights_, np.array(oracle.alphas) * oracle.signs, rtol=1e-9)
    assert_allclose(model.estimator_errors_, oracle.errors, rtol=1e-9)
    for f, expected in zip(model.staged_decision_function(X), oracle.weights[1:], strict=True):
        own = weights * np.exp(-y * f)
        assert_allclose(own / own.sum(), expected, rtol=1e-9)


@given(SEEDS)
def test_the_ways_to_choose_and_to_step_are_one_for_classifiers(seed):
    X, cuts, _, y, weights = classes_and_votes(seed)
    exact = StagewiseClassifier(
        dictionary=stumps_at(cuts), direction="collinear", n_estimators=5, **ADABOOST
    ).fit(X, y, sample_weight=weights)
    for changed in (
        {"direction": "inner_product"},
        {"step": "line_search"},
    ):
        other = clone(exact).set_params(**changed).fit(X, y, sample_weight=weights)
        assert_array_equal(other.elements_, exact.elements_)
        assert_allclose(other.estimator_weights_, exact.estimator_weights_, rtol=1e-9)


@given(SEEDS, st.integers(1, 2))
def test_boosting_of_classification_trees_is_adaboost(seed, depth):
    X, _, _, y, weights = classes_and_votes(seed, n=60)
    learner = SklearnTree(max_depth=depth)
    model = StagewiseClassifier(learner, n_estimators=4, **ADABOOST)
    model.fit(X, y, sample_weight=weights)
    w = weights / weights.sum()
    for number in range(model.n_estimators_):
        said = model.estimators_[number].predict(X)
        error = w[said != y].sum()
        if error < 1e-12:
            assert number == model.n_estimators_ - 1
            break
        assert_allclose(model.estimator_errors_[number], error, rtol=1e-9)
        alpha = 0.5 * np.log((1 - error) / error)
        assert_allclose(model.estimator_weights_[number], alpha, rtol=1e-9)
        own = clone(learner).set_params(random_state=model.estimators_[number].random_state)
        assert_array_equal(own.fit(X, y, sample_weight=w).predict(X), said)
        w = w * np.exp(-alpha * y * said)
        w /= w.sum()
        assert_allclose(w[said != y].sum(), 0.5, rtol=1e-9)


def test_probabilities_are_the_logistic_of_twice_the_score():
    X, y = load_breast_cancer(return_X_y=True)
    model = StagewiseClassifier(SklearnTree(max_depth=1), n_estimators=10, **ADABOOST).fit(X, y)
    expected = 1 / (1 + np.exp(-2 * model.decision_function(X)))
    assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-12)


def test_a_learner_without_errors_ends_the_rounds():
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    model = StagewiseClassifier(SklearnTree(), n_estimators=10, **ADABOOST).fit(X, y)
    assert model.n_estimators_ == 1
    assert model.stop_reason_ == "The learner of round 1 makes no error: no step is the best."
    assert_array_equal(model.predict(X), y)
    assert 0.0 < model.predict_proba([[0.0]])[0, 1] < 1e-15


def test_a_learner_that_is_no_better_than_chance_ends_the_rounds():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    model = StagewiseClassifier(SklearnTree(max_depth=1), n_estimators=10, **ADABOOST).fit(X, y)
    assert model.n_estimators_ == 0
    assert model.stop_reason_ == "Round 1 was not added: no step along the learner falls."
    assert_array_equal(model.predict_proba(X), 0.5)


def test_weights_far_below_the_smallest_exponential_still_count():
    # 3,000 rounds of eps: every row is right by 1,500 or more, e^-1500 is zero in floating point.
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([-1, -1, 1, 1])
    votes = [lambda X: np.where(X[:, 0] > 1.5, 1.0, -1.0), lambda X: np.where(X[:, 0] > 0.5, 1, -1)]
    model = StagewiseClassifier(
        dictionary=votes,
        loss="exponential",
        init="zero",
        step="epsilon",
        learning_rate=1.0,
        direction="collinear",
        n_estimators=3000,
    ).fit(X, y)
    assert model.n_estimators_ == 3000
    assert_array_equal(model.elements_, 0)
    assert_allclose(model.decision_function(X), 3000.0 * y)
    assert_allclose(model.predict_proba(X), y[:, None] == [-1, 1], rtol=0, atol=1e-300)


def test_weights_below_the_smallest_exponential_are_told_apart():
    # After a step of 1000 margins are 1000 and 990: the last row counts e^10 times as much, and
    # the second function, which is right there and wrong elsewhere, is nearest.
    y = np.array([1, 1, -1, -1, 1])
    right = np.array([[1.0, -0.5]] * 4 + [[0.99, 1.0]])
    model = StagewiseClassifier(
        dictionary=np.asarray,
        loss="exponential",
        init="zero",
        step="epsilon",
        learning_rate=1000.0,
        n_estimators=2,
    ).fit(right * y[:, None], y)
    assert_array_equal(model.elements_, [0, 1])


# ------------------------------------------------------------------ directions


def chosen(direction, H, r):
    model = StagewiseRegressor(
        dictionary=np.asarray, init="zero", n_estimators=1, direction=direction
    )  # the functions are the columns themselves
    return int(model.fit(H, r).elements_[0])


def test_each_direction_has_its_own_nearest_function():
    # r = (3, 4): the first points there, the second is longest, the third has its length.
    r = np.array([3.0, 4.0])
    H = np.array([[0.3, 90.0, 3.0], [0.4, 20.0, 3.5]])
    assert chosen("collinear", H, r) == 0
    assert chosen("inner_product", H, r) == 1
    assert chosen("least_squares", H, r) == 2


@given(SEEDS, st.sampled_from(["least_squares", "collinear", "inner_product"]))
def test_the_nearest_function_is_nearest_of_all(seed, direction):
    rng = np.random.default_rng(seed)
    H, r = rng.normal(size=(8, 6)), rng.normal(size=8)
    signed = np.hstack([H, -H])
    score = {
        "least_squares": -((r[:, None] - signed) ** 2).sum(axis=0),
        "collinear": r @ signed / np.linalg.norm(signed, axis=0),
        "inner_product": r @ signed,
    }[direction]
    assert chosen(direction, H, r) == np.argmax(score) % 6


def test_a_dictionary_of_orthogonal_functions_is_fitted_exactly():
    rng = np.random.default_rng(3)
    Q, _ = np.linalg.qr(rng.normal(size=(20, 6)))
    y = Q @ np.array([3.0, 0.0, -2.0, 0.0, 1.0, 0.5])
    model = StagewiseRegressor(
        dictionary=np.asarray,
        init="zero",
        learning_rate=1.0,
        n_estimators=4,
        direction="collinear",
        step="exact",
    ).fit(Q, y)
    assert_allclose(model.coef_, [3.0, 0.0, -2.0, 0.0, 1.0, 0.5], atol=1e-12)
    assert_array_equal(model.elements_, [0, 2, 4, 5])  # the largest first


# ------------------------------------------------------------------ steps


LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_searched_step_is_the_least_along_the_learner(loss):
    X, y = load_diabetes(return_X_y=True)
    model = StagewiseRegressor(Ridge(), loss=loss, n_estimators=3, learning_rate=1.0).fit(X, y)
    assert model.n_estimators_ == 3
    formula = model._loss
    raws = [np.full(len(y), model._start[0])]
    for learner, step in zip(model.estimators_, model.estimator_weights_, strict=True):
        h = learner.predict(X)
        if loss != "huber":  # its delta is another in each round

            def mean(t, f=raws[-1], h=h):
                return np.mean([formula.loss(u, v) for u, v in zip(y, f + t * h, strict=True)])

            best = minimize_scalar(mean, bounds=(0, 2 * step), method="bounded").fun
            assert mean(step) <= best + 1e-9 * abs(best)
        raws.append(raws[-1] + step * h)


@given(SEEDS, st.sampled_from(["squared_error", "absolute_error", "quantile"]))
def test_the_formula_of_a_step_is_what_a_search_finds(seed, loss):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(25, 2)), rng.exponential(size=25)
    y = X @ [1.0, -1.0] + rng.normal(size=25)
    given = {"loss": loss, "alpha": 0.3, "n_estimators": 1, "learning_rate": 1.0}
    exact = StagewiseRegressor(LinearRegression(), step="exact", **given).fit(X, y, w)
    searched = StagewiseRegressor(LinearRegression(), **given).fit(X, y, w)
    assert_allclose(exact.estimator_weights_, searched.estimator_weights_, rtol=1e-8)


def test_the_step_of_absolute_error_is_the_weighted_median():
    # Notes 0, page 29: r / h = (1, 4, -2), weights |h| = (1, 1, 3): the median is -2.
    X, y = np.array([[1.0], [1.0], [3.0]]), np.array([1.0, 4.0, -6.0])
    h = [lambda X: np.asarray(X)[:, 0]]
    model = StagewiseRegressor(
        dictionary=h,
        loss="absolute_error",
        step="exact",
        init="zero",
        n_estimators=1,
        learning_rate=1.0,
    ).fit(X, y)
    # the function counts with either sign, and the sign of residuals is against it: -(-2)
    assert_allclose(model.coef_, [-2.0])


def test_epsilon_boosting_takes_steps_of_one_length():
    X, y = load_diabetes(return_X_y=True)
    model = StagewiseRegressor(
        dictionary=lambda X: np.asarray(X) / np.abs(X).max(),
        step="epsilon",
        learning_rate=0.5,
        direction="inner_product",
        n_estimators=30,
    ).fit(X, y)
    assert_array_equal(np.abs(model.estimator_weights_), 0.5)
    assert np.all(np.diff(model.train_losses_) < 0)


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_losses_fall_in_every_round(loss):
    X, y = load_breast_cancer(return_X_y=True)
    model = StagewiseClassifier(loss=loss, n_estimators=20).fit(X, y)
    assert np.all(np.diff(model.train_losses_) < 0)
    scores = np.array(list(model.staged_decision_function(X)))
    s = 2 * y - 1
    expected = np.log1p(np.exp(-s * scores)) if loss == "log_loss" else np.exp(-s * scores)
    assert_allclose(model.train_losses_, expected.mean(axis=1), rtol=1e-9)


# ------------------------------------------------------------------ three classes


@pytest.mark.parametrize("space", [None, LinearRegression(), "dictionary"])
def test_three_classes_have_three_scores(space):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    given = {"dictionary": lambda X: np.c_[X, np.ones(len(X))]} if space == "dictionary" else {}
    estimator = None if space == "dictionary" else space
    model = StagewiseClassifier(estimator, n_estimators=40, learning_rate=1.0, **given)
    model.fit(X, names)
    assert model.decision_function(X).shape == (150, 3)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.all(np.diff(model.train_losses_) <= 0)  # trees come to exactly zero
    own = np.log(model.predict_proba(X)[np.arange(150), y])
    assert_allclose(model.train_losses_[-1], -own.mean(), rtol=1e-9)
    assert model.score(X, names) > 0.8
    *_, last = model.staged_predict(X)
    assert_array_equal(last, model.predict(X))


# ------------------------------------------------------------------ rows


@pytest.mark.parametrize("learner", [None, LinearRegression(), KNeighborsRegressor(3)])
def test_the_order_of_rows_makes_no_difference(learner):
    X, y = load_diabetes(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(y))
    one = StagewiseRegressor(learner, n_estimators=4).fit(X, y)
    other = StagewiseRegressor(learner, n_estimators=4, n_jobs=2).fit(X[shuffled], y[shuffled])
    assert_array_equal(one.predict(X), other.predict(X))
    assert_array_equal(one.estimator_weights_, other.estimator_weights_)


def test_the_order_of_rows_makes_no_difference_to_a_dictionary():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weights = np.random.default_rng(1).exponential(size=len(y))
    shuffled = np.random.default_rng(0).permutation(len(y))
    model = StagewiseClassifier(dictionary=np.asarray, direction="collinear")
    one = clone(model).fit(X, y, weights)
    other = clone(model).fit(X[shuffled], y[shuffled], weights[shuffled])
    assert_array_equal(one.coef_, other.coef_)


def test_rows_of_weight_zero_are_not_there():
    X, y = load_diabetes(return_X_y=True)
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    some = weights > 0
    one = StagewiseRegressor(n_estimators=5).fit(X, np.where(some, y, 1e9), weights)
    other = StagewiseRegressor(n_estimators=5).fit(X[some], y[some])
    assert_array_equal(one.predict(X), other.predict(X))


def test_three_rows_are_a_row_of_weight_three():
    X, y = load_breast_cancer(return_X_y=True)
    weights = np.arange(len(y)) % 3 + 1
    repeated = np.repeat(np.arange(len(y)), weights)
    model = StagewiseClassifier(dictionary=np.asarray, direction="collinear")
    one, other = clone(model).fit(X, y, weights), clone(model).fit(X[repeated], y[repeated])
    assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_one_class_is_always_predicted(loss):
    model = StagewiseClassifier(loss=loss).fit(np.arange(4.0)[:, None], ["only"] * 4)
    assert model.predict([[1.0]]).tolist() == ["only"]
    assert_array_equal(model.predict_proba([[1.0]]), [[1.0]])


def test_a_constant_target_needs_no_round():
    model = StagewiseRegressor().fit(np.arange(5.0)[:, None], np.full(5, 7.0))
    assert model.n_estimators_ == 0
    assert model.stop_reason_ == "Round 1 was not begun: the gradient is zero."
    assert_array_equal(model.predict([[9.0]]), [7.0])


def test_equal_rows_of_different_classes_do_not_confuse():
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.tile([0, 0, 0, 0, 1], 4)
    model = StagewiseClassifier(n_estimators=50, learning_rate=1.0).fit(X, y)
    assert_allclose(model.predict_proba(X)[:, 1], 0.2, rtol=1e-9)


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("step", ["line_search", "epsilon"])
def test_classes_that_are_parted_without_error_stay_finite(loss, step):
    X, y = np.arange(20.0)[:, None], np.arange(20) > 9
    model = StagewiseClassifier(loss=loss, step=step, learning_rate=1.0, n_estimators=200)
    model.fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.train_losses_).all()
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("model", [StagewiseClassifier(), StagewiseRegressor()])
def test_rows_of_weight_e_to_minus_700_hardly_count(model):
    X, y = load_breast_cancer(return_X_y=True)
    some = np.arange(len(y)) % 2 > 0
    weights = np.where(some, 1.0, np.exp(-700.0))
    model = clone(model).set_params(dictionary=lambda X: X / 1e3, n_estimators=10)
    light, without = clone(model).fit(X, y, weights), clone(model).fit(X[some], y[some])
    assert_allclose(light.coef_, without.coef_, rtol=1e-9)
    alike = clone(model).fit(X, y, np.full(len(y), np.exp(-700.0)))  # all of them are
    assert_allclose(alike.coef_, clone(model).fit(X, y).coef_, rtol=1e-9)


# ------------------------------------------------------------------ early stopping, staging, copies


def test_the_best_round_of_held_out_rows_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X[:, 0] + rng.normal(size=300)
    model = StagewiseRegressor(
        early_stopping=True, n_estimators=500, learning_rate=0.5, validation_fraction=0.25
    ).fit(X, y)
    curve = model.validation_losses_
    assert 0 < model.n_estimators_ == np.argmin(curve) < len(curve) - 1 < 500
    assert "held-out rows gain no more" in model.stop_reason_
    shuffled = rng.permutation(300)
    again = clone(model).fit(X[shuffled], y[shuffled])
    assert_array_equal(again.validation_losses_, curve)


def test_stages_lead_to_the_prediction():
    X, y = load_diabetes(return_X_y=True)
    model = StagewiseRegressor(loss="poisson", n_estimators=6).fit(X, y)
    *_, last = stages = list(model.staged_predict(X))
    assert len(stages) == 6
    assert_array_equal(last, model.predict(X))
    assert_allclose(pickle.loads(pickle.dumps(model)).predict(X), last)


def test_a_fit_that_fails_leaves_the_earlier_one():
    X, y = load_diabetes(return_X_y=True)
    model = StagewiseRegressor(n_estimators=3).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(y > 300, np.nan, y))
    assert_array_equal(model.predict(X), before)


def test_a_refit_forgets_the_dictionary():
    X, y = load_diabetes(return_X_y=True)
    model = StagewiseRegressor(dictionary=np.asarray, n_estimators=3).fit(X, y)
    model.set_params(dictionary=None).fit(X, y)
    assert not hasattr(model, "coef_")
    assert len(model.estimators_) == 3


def test_frames_reach_learners_and_functions_as_they_are():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0)[::-1] ** 2})
    y = 3.0 * frame["b"].to_numpy()
    model = StagewiseRegressor(
        dictionary=[lambda X: X["a"], lambda X: X["b"]],
        init="zero",
        learning_rate=1.0,
        direction="collinear",
        n_estimators=1,
    ).fit(frame, y)
    assert_allclose(model.coef_, [0.0, 3.0])
    lines = StagewiseRegressor(LinearRegression(), n_estimators=1).fit(frame, y)
    assert lines.estimators_[0].feature_names_in_.tolist() == ["a", "b"]


# ------------------------------------------------------------------ losses of users, errors


def test_a_loss_of_ones_own_and_a_function_of_derivatives_are_taken():
    X, y = load_diabetes(return_X_y=True)
    given = {"n_estimators": 3, "learning_rate": 1.0}
    ours = StagewiseRegressor(Ridge(), **given).fit(X, y)
    derivatives = StagewiseRegressor(
        Ridge(), loss=lambda y, raw: (raw - y, np.ones(len(y))), **given
    ).fit(X, y)
    assert_allclose(derivatives.predict(X), ours.predict(X), rtol=1e-6)
    assert np.isnan(derivatives.train_losses_).all()
    wide = StagewiseRegressor(Ridge(), loss=Huber(1e9, 0.999999), **given).fit(X, y)
    assert wide.n_estimators_ == 3


XY = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 1, 0])


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (StagewiseClassifier(step="exact"), XY[1], "step='exact' has no formula for Bernoulli"),
        (StagewiseClassifier(step="exact"), [0, 1, 2] * 2, "no formula for 3 classes"),
        (
            StagewiseClassifier(Ridge(), step="exact", loss="exponential"),
            XY[1],
            "other values than -1",
        ),
        (StagewiseClassifier(loss="exponential"), [0, 1, 2] * 2, "AdaBoostClassifier"),
        (StagewiseClassifier(LogisticRegression()), [0, 1, 2] * 2, "Pass a regressor"),
        (StagewiseClassifier(KNeighborsClassifier(1)), XY[1], "takes no sample_weight"),
        (StagewiseRegressor(SklearnTree()), XY[1], "use StagewiseClassifier"),
        (StagewiseRegressor(LinearRegression), XY[1], r"Pass estimator=LinearRegression\(\)"),
        (StagewiseRegressor(Ridge(), dictionary=[len]), XY[1], "Leave one out"),
        (StagewiseRegressor(dictionary=[3]), XY[1], "is not a dictionary"),
        (StagewiseRegressor(dictionary=lambda X: X / 0.0), XY[1], "not finite"),
        (StagewiseRegressor(direction="colinear"), XY[1], "Did you mean 'collinear'"),
        (StagewiseRegressor(loss="poisson"), XY[1] - 1.0, ">= 0"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(model, y, message):
    with (
        np.errstate(divide="ignore", invalid="ignore"),
        pytest.raises((ValueError, TypeError), match=message),
    ):
        model.fit(XY[0], y)


def test_weights_need_a_learner_that_takes_them():
    with pytest.raises(ValueError, match="repeat rows instead"):
        StagewiseRegressor(KNeighborsRegressor(2)).fit(*XY, sample_weight=[1, 2, 3, 4, 5, 6])
