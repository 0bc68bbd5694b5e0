"""L1 boosting finds the least phi-risk in the ball, and the theorem holds of it."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import L1BoostClassifier, theory
from hedgerow.ensembles.l1_boost import Problem, minimised

SEEDS = st.integers(0, 2**32 - 1)
LOSSES = ["hinge", "exponential", "logistic"]


@parametrize_with_checks([L1BoostClassifier(loss=loss) for loss in LOSSES])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


# ------------------------------------------------------------------ the minimum


def problem_of(seed, loss, radius, n=25, q=6):
    rng = np.random.default_rng(seed)
    H = np.where(rng.random(q) < 0.5, np.sign(rng.normal(size=(n, q))), rng.uniform(-1, 1, (n, q)))
    y = np.where(H[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    w = rng.exponential(size=n)
    return Problem(H * y[:, None], w / w.sum(), theory.surrogate(loss), radius)


def least_risk(problem):
    """The minimum by scipy: b = b+ - b-, as a linear program or by sequential quadratic ones."""
    A, w, r = problem.signed, problem.weights, problem.radius
    n, q = A.shape
    if problem.phi.name == "hinge":
        rows = np.hstack([-A, A, -np.eye(n)])
        ball = np.concatenate([np.ones(2 * q), np.zeros(n)])
        cost = np.concatenate([np.zeros(2 * q), w])
        return linprog(cost, np.vstack([rows, ball]), np.append(-np.ones(n), r)).fun
    double = np.hstack([A, -A])
    found = minimize(
        lambda b: problem.risk(double @ b),
        np.full(2 * q, 0.1 * r / q),
        jac=lambda b: -double.T @ (w * problem.phi.slope(-(double @ b))),
        bounds=[(0, r)] * (2 * q),
        constraints={
            "type": "ineq",
            "fun": lambda b: r - b.sum(),
            "jac": lambda b: -np.ones(len(b)),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.fun


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=SEEDS, radius=st.sampled_from([0.3, 1.0, 5.0]))
def test_the_gap_is_closed_and_the_risk_is_that_of_another_solver(loss, seed, radius):
    problem = problem_of(seed, loss, radius)
    found = minimised(problem, 1e-9, 500)
    assert found.gap <= 1e-9
    assert np.abs(found.coef).sum() <= radius * (1 + 1e-12)
    assert_allclose(found.risk, problem.risk(problem.signed @ found.coef), rtol=1e-12)
    assert_allclose(found.risk, least_risk(problem), atol=2e-7)  # SLSQP's own accuracy


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=SEEDS)
def test_the_gap_is_never_less_than_the_distance_from_the_minimum(loss, seed):
    problem = problem_of(seed, loss, 3.0)
    least = minimised(problem, 1e-10, 500).risk
    for rounds in (0, 1, 2):
        early = minimised(problem, 1e-10, rounds)
        assert early.n_iter <= rounds
        assert early.risk - least <= early.gap + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_many_functions_is_right_in_every_round(loss, seed):
    problem = problem_of(seed, loss, 4.0, n=60, q=150)
    done = minimised(problem, 1e-9, 500)
    assert done.gap <= 1e-9
    if loss == "hinge":  # the other solver of smooth ones takes long
        assert_allclose(done.risk, least_risk(problem), atol=1e-9)
    assert done.n_iter > 2
    gaps = []
    for rounds in range(done.n_iter):
        early = minimised(problem, 1e-9, rounds)
        assert 0 <= early.risk - done.risk + 1e-9 <= early.gap + 2e-9
        gaps.append(early.gap)
    assert gaps[-1] < gaps[0]


def test_functions_that_say_nothing_have_no_coefficients():
    signed = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for loss in LOSSES:
        found = minimised(Problem(signed, np.full(2, 0.5), theory.surrogate(loss), 1.0), 1e-8, 9)
        assert found.gap <= 1e-8
        assert_allclose(found.risk, 1.0)


def test_repeated_functions_share_a_coefficient_and_the_risk_is_the_same():
    for loss in LOSSES:
        problem = problem_of(1, loss, 2.0)
        doubled = problem._replace(signed=np.hstack([problem.signed] * 2))
        one, two = (minimised(each, 1e-9, 500) for each in (problem, doubled))
        assert two.gap <= 1e-9
        assert_allclose(one.risk, two.risk, atol=2e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_single_stump_is_enough_where_it_parts_the_classes(loss):
    X, y = np.arange(20.0)[:, None], np.arange(20) > 7
    model = L1BoostClassifier(loss=loss).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert_array_equal(
        np.flatnonzero(model.coef_), [np.flatnonzero(model.dictionary_.threshold == 7.5)[-1]]
    )
    assert_allclose(model.coef_.sum(), 1.0)
    assert_allclose(model.risk_, theory.surrogate(loss).phi(-1.0), atol=1e-9)


def test_a_radius_as_large_as_exponentials_can_be():
    X, y = np.arange(20.0)[:, None], (np.arange(20) > 7) ^ (np.arange(20) == 3)
    model = L1BoostClassifier(loss="exponential", radius=700.0).fit(X, y)
    assert model.duality_gap_ <= 1e-6
    assert np.isfinite(model.decision_function(X)).all()
    with pytest.raises(ValueError, match="beyond 700"):
        L1BoostClassifier(loss="exponential", radius=701.0).fit(X, y)


# ------------------------------------------------------------------ rows and tables


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_rows_makes_no_difference(loss):
    X, y = load_breast_cancer(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(y))
    model = L1BoostClassifier(loss=loss, radius=3.0, max_thresholds=8)
    one, other = clone(model).fit(X, y), clone(model).fit(X[shuffled], y[shuffled])
    assert_array_equal(one.coef_, other.coef_)
    assert one.duality_gap_ == other.duality_gap_


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repeats_and_zero_is_absence(loss):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    weights = np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), weights)
    model = L1BoostClassifier(loss=loss, max_thresholds=8, tol=1e-10)
    one, other = clone(model).fit(X, y, weights), clone(model).fit(X[repeated], y[repeated])
    assert_array_equal(one.dictionary_.threshold, other.dictionary_.threshold)
    assert_allclose(one.risk_, other.risk_, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_weight_e_to_minus_700_hardly_count(loss):
    X, y = load_breast_cancer(return_X_y=True)
    some = np.arange(len(y)) % 2 > 0
    model = L1BoostClassifier(lambda X: X / np.array([5e3]), loss=loss, tol=1e-9)
    light = clone(model).fit(X, y, np.where(some, 1.0, np.exp(-700.0)))
    without = clone(model).fit(X[some], y[some])
    assert_allclose(light.risk_, without.risk_, atol=2e-9)
    assert light.duality_gap_ <= 1e-9


def test_categories_and_missing_values_have_stumps():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"colour": ["red", "blue", "green", None] * 10, "size": [1.0, 2.0, np.nan, 4.0] * 10}
    )
    y = (frame["colour"] == "red").to_numpy()
    model = L1BoostClassifier(loss="exponential").fit(frame, y)
    assert model.score(frame, y) == 1.0
    said = model._said(frame)
    colour = model.dictionary_.feature == 0
    assert_array_equal(said[3, colour], 0.0)
    assert_array_equal(said[:, 0], 1.0)
    assert sorted(said[0, colour]) == [-1.0, -1.0, 1.0]
    assert model.decision_function(frame.assign(colour="violet")).shape == (40,)


def test_one_class_is_always_predicted_and_more_than_two_are_refused():
    X = np.arange(6.0)[:, None]
    model = L1BoostClassifier().fit(X, ["only"] * 6)
    assert set(model.predict(X)) == {"only"}
    with pytest.raises(ValueError, match="no error to bound"):
        model.certificate(X, ["only"] * 6)
    with pytest.raises(ValueError, match="y has 3 classes"):
        L1BoostClassifier().fit(X, [0, 1, 2] * 2)


def test_functions_must_keep_within_one():
    X, y = np.arange(6.0)[:, None], [0, 1] * 3
    with pytest.raises(ValueError, match="says 5, but they must be within"):
        L1BoostClassifier([lambda X: X[:, 0]]).fit(X, y)


def test_an_early_end_is_said():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="above tol=1e-06"):
        model = L1BoostClassifier(loss="logistic", radius=20.0, max_iter=2).fit(X, y)
    assert model.duality_gap_ > 1e-6
    assert model.n_iter_ == 2


def test_a_copy_is_the_same_model_and_a_failed_fit_changes_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    model = L1BoostClassifier(loss="logistic", max_thresholds=4).fit(X, y)
    scores = model.decision_function(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), scores)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X[:5], y)
    assert_array_equal(model.decision_function(X), scores)


# ------------------------------------------------------------------ the theorem


def half_steps(X):
    """Ten stumps, fixed in advance."""
    return np.where(X[:, :1] > np.arange(1, 11) / 11, 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_risk_bound_holds_of_a_distribution_that_is_known(loss):
    # x uniform on [0, 1], P(y = 1 | x) = 0.1 up to 1/2 and 0.8 above: the true risk of a step
    # function is a sum over the eleven pieces between thresholds.
    edges = np.arange(12) / 11
    middle = (edges[:-1] + edges[1:])[:, None] / 2
    below = np.clip(0.5 - edges[:-1], 0, 1 / 11) * 11
    share = 0.1 * below + 0.8 * (1 - below)
    phi = theory.surrogate(loss)

    def true_risk(coef):
        f = half_steps(middle) @ coef
        return np.mean(share * phi.phi(-f) + (1 - share) * phi.phi(f))

    def true_error(coef):
        f = half_steps(middle) @ coef
        return np.mean(np.where(f > 0, 1 - share, share))

    whole = Problem(
        np.vstack([half_steps(middle), -half_steps(middle)]),
        np.concatenate([share, 1 - share]) / 11,
        phi,
        1.0,
    )
    best = minimised(whole, 1e-9, 200).risk
    excess, deviations = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.random((400, 1))
        y = rng.random(400) < np.where(x[:, 0] < 0.5, 0.1, 0.8)
        model = L1BoostClassifier(half_steps, loss=loss).fit(x, y)
        assert model.n_functions_ == 10
        excess.append(true_risk(model.coef_) - best)
        deviations.append(true_risk(model.coef_) - model.risk_)
        bound = model.certificate(x, y, delta=0.05).guarantees[0].bound
        assert true_error(model.coef_) <= true_risk(model.coef_) <= bound
    assert max(excess) <= model.risk_bound(0.05)
    assert max(np.abs(deviations)) <= theory.deviation_bound(400, 10, 0.05, loss)
    assert min(excess) >= -1e-9  # nothing is better than the best
    assert max(excess) > 0.0


def test_the_bound_falls_below_one_with_enough_rows():
    n = theory.rows_needed(0.2, 10)
    x = (np.arange(n)[:, None] + 0.5) / n
    y = x[:, 0] > 5 / 11
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = L1BoostClassifier(half_steps, loss="exponential").fit(x[::50], y[::50])
    certificate = model.certificate(x[::50], y[::50])
    assert not certificate.guarantees[0].says_something
    own = theory.Combination(theory.margins(model.decision_function(x), y.astype(int)), 10)
    assert theory.certificate_of("many", n=n, combination=own).guarantees[0].bound < 0.2


def test_stumps_count_all_that_rows_could_tell_apart():
    X, y = load_breast_cancer(return_X_y=True)
    model = L1BoostClassifier(loss="exponential", max_thresholds=4).fit(X, y)
    assert model.n_functions_ == 30 * 570 + 1
    assert_allclose(
        model.risk_bound(0.1),
        theory.risk_bound(569, 17101, 0.1, "exponential") + model.duality_gap_,
    )


def test_a_certificate_is_of_the_rows_of_fit_and_of_equal_weights():
    X, y = load_breast_cancer(return_X_y=True)
    model = L1BoostClassifier(max_thresholds=4).fit(X, y)
    with pytest.raises(ValueError, match="Pass the margins of all of them"):
        model.certificate(X[:100], y[:100])
    weighted = clone(model).fit(X, y, np.arange(len(y)) % 2 + 1)
    broken = [each.broken for each in weighted.certificate(X, y).guarantees]
    assert broken == ["rows have different weights"] * 2
    assert "DOES NOT APPLY: rows have different weights" in str(weighted.certificate(X, y))
