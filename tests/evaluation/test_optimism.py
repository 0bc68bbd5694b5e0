"""Optimism, degrees of freedom and prediction error: formulas against simulation.

Simulations have fixed seeds. A value is compared with its own standard error, four of them, and
the test below each such group says that a formula with a slip in it would be found.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

from hedgerow import (
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    StagewiseRegressor,
)
from hedgerow.evaluation import (
    Covariance,
    DataModel,
    Perturbation,
    Simulation,
    Smoother,
    Stein,
    Trace,
    aic,
    bic,
    boosted_freedom,
    decomposed,
    degrees_of_freedom,
    gcv,
    leaf_smoother,
    least_squares,
    mallows_cp,
    noise_variance,
    optimism,
    ridge,
    smoother_of,
)

N, SIGMA = 60, 1.5


def table(n_rows=N, n_features=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features))


def truth(X):
    return X @ np.linspace(1.0, -1.0, X.shape[1]) + np.sin(2 * X[:, 0])


DATA = DataModel(truth, SIGMA, lambda rng, n_rows: rng.normal(size=(n_rows, 4)))


def other_targets(X, seed=99):
    """Targets that splits are chosen by: independent of those that are simulated."""
    return truth(X) + SIGMA * np.random.default_rng(seed).normal(size=len(X))


def smoothers():
    X = table()
    y = other_targets(X)
    tree = DecisionTreeRegressor(max_leaf_nodes=7, min_samples_leaf=3).fit(X, y)
    forest = RandomForestRegressor(30, min_samples_leaf=2).fit(X, y)
    return {
        "least squares": (least_squares(X), LinearRegression()),
        "ridge": (ridge(X, 20.0), Ridge(alpha=20.0)),
        "neighbours": (smoother_of(KNeighborsRegressor(5), X), KNeighborsRegressor(5)),
        "fixed tree": (leaf_smoother(tree, X, y), None),
        "fixed forest": (leaf_smoother(forest, X, y), None),
    }


NAMES = ["least squares", "ridge", "neighbours", "fixed tree", "fixed forest"]


@pytest.fixture(scope="module", params=NAMES)
def simulated(request):
    """A smoother, and its fixed-X errors; estimators are refitted, fixed leaves are refilled."""
    S, model = smoothers()[request.param]
    found = Simulation(DATA, n_repeats=1500, seed=3).fixed_x(model or S, table())
    return S, found


# ------------------------------------------------------------------ the covariance formula


def test_the_closed_form_of_the_optimism_is_the_covariance_formula(simulated):
    S, found = simulated
    closed = 2 * SIGMA**2 * S.trace() / N
    op, se = found.parts.optimism
    assert abs(closed - op) < 4 * se
    assert abs(closed / 2 - op) > 10 * se  # a factor that is left out would be seen
    squared = (S.matrix() ** 2).sum()  # tr(S'S): of projections and of neighbours it is tr(S)
    if abs(squared - S.trace()) > 1e-9:
        assert abs(2 * SIGMA**2 * squared / N - op) > 4 * se


def test_the_closed_form_is_the_difference_of_the_two_errors(simulated):
    S, found = simulated
    op, se = found.optimism
    assert abs(2 * SIGMA**2 * S.trace() / N - op) < 4 * se
    assert abs(SIGMA**2 * S.trace() / N - op) > 4 * se


def test_training_error_plus_optimism_is_unbiased_for_the_fixed_x_error(simulated):
    S, found = simulated
    # The same repeats, one by one: RSS/n + op is an estimate in each, and its mean is the error.
    estimate = found.training_error[0] + 2 * SIGMA**2 * S.trace() / N
    assert abs(estimate - found.error[0]) < 4 * found.optimism[1]
    assert abs(found.training_error[0] - found.error[0]) > 4 * found.optimism[1]


def test_the_parts_add_up_to_the_training_error_to_rounding(simulated):  # notes 2, the proof
    _, found = simulated
    assert_allclose(found.parts.training_error, found.training_error[0], rtol=1e-12)


def test_the_first_three_parts_are_the_prediction_error(simulated):
    _, found = simulated
    gap = found.parts.prediction_error - found.error[0]
    assert abs(gap) < 4 * np.hypot(found.error[1], found.parts.optimism[1])


def test_the_parts_are_what_a_smoother_has_of_them(simulated):
    S, found = simulated
    matrix, f = S.matrix(), truth(table())
    exact = {
        "irreducible": SIGMA**2,
        "bias": np.mean((f - matrix @ f) ** 2),
        "variance": SIGMA**2 * (matrix**2).sum() / N,
        "covariance": SIGMA**2 * S.trace() / N,
    }
    for name, value in exact.items():
        part, se = getattr(found.parts, name)
        assert abs(part - value) < 4 * se, name


# ------------------------------------------------------------------ the identity


def test_the_identity_holds_for_any_draws_of_any_fitter():
    rng = np.random.default_rng(2)
    for n_repeats in (2, 3, 17):
        y, said = rng.normal(5.0, 2.0, (2, n_repeats, 11))
        parts = decomposed(y, said + 0.3 * y**2)
        assert_allclose(parts.training_error, np.mean((y - said - 0.3 * y**2) ** 2), rtol=1e-12)


def test_each_part_is_unbiased_with_few_repeats():
    # y = e, yhat = e / 2 + 1: 1, 1, 1/4, 1/2. Dividing by n, or not correcting the bias, is seen.
    y = np.random.default_rng(4).normal(size=(4000, 3, 5))
    parts = np.array([[value for value, _ in decomposed(each, each / 2 + 1)] for each in y])
    se = parts.std(axis=0, ddof=1) / np.sqrt(len(parts))
    assert (np.abs(parts.mean(axis=0) - [1.0, 1.0, 0.25, 0.5]) < 4 * se).all()
    assert (np.abs(parts.mean(axis=0) * 2 / 3 - [1.0, 1.0, 0.25, 0.5]) > 10 * se).all()


# ------------------------------------------------------------------ three kinds of error


def test_same_x_and_random_x_errors_of_least_squares_are_known():
    # Normal X, no intercept, p columns: sigma^2 (1 + p / n) and sigma^2 (1 + p / (n - p - 1)).
    n, p = 20, 5
    data = DataModel(
        lambda X: X @ np.arange(1.0, p + 1), 1.0, lambda rng, n_rows: rng.normal(size=(n_rows, p))
    )
    simulation = Simulation(data, n_repeats=4, n_tables=250, seed=1)
    model = LinearRegression(fit_intercept=False)
    same, new = simulation.same_x(model, n), simulation.random_x(model, n)
    assert abs(same.error[0] - (1 + p / n)) < 4 * same.error[1]
    assert abs(new.error[0] - (1 + p / (n - p - 1))) < 4 * new.error[1]
    assert new.error[0] - same.error[0] > 4 * np.hypot(new.error[1], same.error[1])
    assert abs(same.parts.optimism[0] - 2 * p / n) < 4 * same.parts.optimism[1]
    assert abs(new.parts.variance[0] - p / (n - p - 1)) < 4 * new.parts.variance[1]
    assert abs(new.parts.bias[0]) < 4 * new.parts.bias[1]
    assert abs(new.parts.covariance[0]) < 4 * new.parts.covariance[1]
    # The models are fitted to the same draws.
    assert same.training_error == new.training_error


def test_the_same_x_error_is_the_mean_of_what_its_definition_says():
    errors, parts = [], []
    for number in range(3):
        X = DATA.draw(np.random.default_rng([7, 0, number]), 20)
        drawn = []
        for repeat in range(5):
            y, y_new = (
                truth(X) + SIGMA * np.random.default_rng([7, use, number, repeat]).normal(size=20)
                for use in (1, 2)
            )
            drawn.append((y, Ridge().fit(X, y).predict(X)))
            errors.append(np.mean((y_new - drawn[-1][1]) ** 2))
        parts.append([value for value, _ in decomposed(*np.transpose(drawn, (1, 0, 2)))])
    found = Simulation(DATA, n_repeats=5, n_tables=3, seed=7).same_x(Ridge(), 20)
    tables = np.mean(np.reshape(errors, (3, 5)), axis=1)
    assert_allclose(found.error, (tables.mean(), tables.std(ddof=1) / np.sqrt(3)))
    assert_allclose(
        np.transpose(found.parts), (np.mean(parts, 0), np.std(parts, 0, ddof=1) / np.sqrt(3))
    )


@pytest.mark.parametrize("kind", ["fixed_x", "same_x", "random_x"])
def test_a_simulation_is_the_same_for_any_number_of_workers(kind):
    given = table() if kind == "fixed_x" else 30
    model = DecisionTreeRegressor(max_depth=2)
    one, two = (
        getattr(Simulation(DATA, n_repeats=4, n_tables=3, n_jobs=n_jobs), kind)(model, given)
        for n_jobs in (None, 2)
    )
    other = getattr(Simulation(DATA, n_repeats=4, n_tables=3, seed=1), kind)(model, given)
    assert one == two
    assert one != other


def test_noise_may_be_of_any_kind_and_losses_too():
    # The optimism formula needs no normal noise, only independent noise of one variance.
    data = DataModel(truth, lambda rng, X: rng.exponential(SIGMA, len(X)) - SIGMA)
    S = least_squares(table())
    found = Simulation(data, n_repeats=2000, seed=5).fixed_x(S, table())
    assert abs(2 * SIGMA**2 * S.trace() / N - found.parts.optimism[0]) < 4 * found.parts.optimism[1]
    absolute = Simulation(DATA, n_repeats=20, loss="absolute_error").fixed_x(S, table())
    own = Simulation(DATA, n_repeats=20, loss=lambda y, said: np.abs(y - said)).fixed_x(S, table())
    assert absolute == own
    assert absolute.parts is None
    tables = Simulation(DATA, n_repeats=3, n_tables=3, loss="absolute_error").random_x(Ridge(), 20)
    assert tables.parts is None
    assert tables.error[0] > tables.training_error[0]
    assert absolute.error[0] > absolute.training_error[0]


# ------------------------------------------------------------------ any fitter


WAYS = [
    Covariance(SIGMA**2, 400),
    Perturbation(SIGMA**2, 400),
    Stein(n_repeats=400),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: type(way).__name__)
@pytest.mark.parametrize("name", ["least squares", "ridge", "neighbours"])
def test_every_way_finds_the_trace_of_a_linear_smoother(way, name):
    S, _ = smoothers()[name]
    X = table()
    df = degrees_of_freedom(S, X, other_targets(X), way)
    assert abs(df.value - S.trace()) < 4 * df.standard_error
    assert abs(df.value - S.trace() / 2) > 10 * df.standard_error
    assert 0 < df.standard_error < 0.5


def test_degrees_of_freedom_are_the_sum_of_slopes_of_rows():  # Ye (1998)
    X = table()
    y, model = other_targets(X), DecisionTreeRegressor(max_leaf_nodes=4)
    moves = (
        0.6
        * SIGMA
        * np.array([np.random.default_rng([5, repeat]).standard_normal(N) for repeat in range(12)])
    )
    said = np.array([model.fit(X, y + move).predict(X) for move in moves])
    slopes = [np.polyfit(moves[:, row], said[:, row], 1)[0] for row in range(N)]
    df = degrees_of_freedom(model, X, y, Perturbation(SIGMA**2, 12), seed=5)
    assert_allclose(df.value, np.sum(slopes))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: type(way).__name__)
def test_standard_errors_are_the_spread_of_other_seeds(way):
    X = table()
    y, S = other_targets(X), ridge(X, 20.0)
    found = [degrees_of_freedom(S, X, y, way._replace(n_repeats=30), seed=s) for s in range(200)]
    spread = np.std([df.value for df in found])
    told = np.sqrt(np.mean([df.standard_error**2 for df in found]))
    # A standard deviation of 200 values is known to 5 %; by Stein's way the sum has no slack.
    assert 0.8 < told / spread < 1.25


@pytest.mark.parametrize(
    ("way", "centre", "deviation"),
    [
        (Covariance(4.0, 50), 1.0, 2.0),
        (Covariance(4.0, 50, centre=np.full(N, 7.0)), 7.0, 2.0),
        (Perturbation(4.0, 50, scale=0.6), 3.0, 1.2),
    ],
)
def test_targets_are_moved_as_far_as_the_way_says(way, centre, deviation):
    seen = []

    def fit(y):
        seen.append(y)
        return np.full(N, 1.0)

    degrees_of_freedom(fit, table(), np.full(N, 3.0), way)
    moved = np.array(seen[-50:])
    assert abs(moved.mean() - centre) < 4 * deviation / np.sqrt(50 * N)
    assert abs(np.sqrt(np.mean((moved - centre) ** 2)) - deviation) < 4 * deviation / np.sqrt(
        100 * N
    )


def test_the_covariance_bootstrap_is_the_definition_if_its_centre_is_the_truth():
    # An adaptive model, so no matrix: E sum e_i yhat_i / sigma^2, by brute simulation.
    X, model = table(), DecisionTreeRegressor(max_leaf_nodes=4)
    simulation = Simulation(DATA, n_repeats=600, seed=11)
    op, se = simulation.fixed_x(model, X).parts.optimism
    df = degrees_of_freedom(model, X, np.zeros(N), Covariance(SIGMA**2, 200, centre=truth(X)))
    scale = 2 * SIGMA**2 / N
    assert abs(scale * df.value - op) < 4 * np.hypot(se, scale * df.standard_error)


def test_choosing_splits_costs_degrees_of_freedom_that_the_derivative_does_not_see():
    X, rng = table(100, 5), np.random.default_rng(0)
    y, stump = rng.normal(size=100), DecisionTreeRegressor(max_leaf_nodes=2)
    searched = degrees_of_freedom(stump, X, y, Covariance(1.0, 100, centre=np.zeros(100)))
    moved = degrees_of_freedom(stump, X, y, Perturbation(1.0, 100))
    derivative = degrees_of_freedom(stump, X, y, Stein(n_repeats=100, step=1e-6))
    assert searched.value - 2.0 > 10 * searched.standard_error
    assert moved.value - 2.0 > 10 * moved.standard_error
    assert abs(derivative.value - 2.0) < 4 * derivative.standard_error


def test_the_lasso_has_as_many_degrees_of_freedom_as_columns_in_it():
    # Zou, Hastie and Tibshirani (2007): E(number of nonzero coefficients), and the intercept.
    X = table(80, 8, seed=2)
    data = DataModel(lambda X: 2 * X[:, 0] - X[:, 1], 1.0)
    model = Lasso(alpha=0.15)
    op, se = Simulation(data, n_repeats=800, seed=1).fixed_x(model, X).parts.optimism
    counts = []
    for repeat in range(400):
        y = data.mean(X) + np.random.default_rng(repeat).normal(size=80)
        counts.append(1 + np.count_nonzero(model.fit(X, y).coef_))
    expected = 2 * np.mean(counts) / 80
    assert abs(op - expected) < 4 * np.hypot(se, 2 * np.std(counts) / np.sqrt(400) / 80)
    df = degrees_of_freedom(model, X, y, Stein(n_repeats=200, step=1e-5))
    assert abs(df.value - counts[-1]) < 4 * df.standard_error


def test_one_fit_gives_the_degrees_of_freedom_of_every_round():
    # Boosting of ridge regressions is linear: the formula is known for each round.
    X, rate = table(), 0.3
    y = other_targets(X)
    model = StagewiseRegressor(
        Ridge(alpha=30.0, fit_intercept=False),
        init="zero",
        step="epsilon",
        learning_rate=rate,
        n_estimators=8,
    )
    df = degrees_of_freedom(model, X, y, Covariance(SIGMA**2, 25), staged=True)
    exact = boosted_freedom(ridge(X, 30.0, intercept=False), rate, 8)
    assert df.value.shape == (8,)
    assert (np.abs(df.value - exact) < 4 * df.standard_error).all()
    assert (np.diff(df.value) > 0).all()
    last = degrees_of_freedom(model, X, y, Covariance(SIGMA**2, 25))
    assert_allclose(df.value[-1], last.value)


def test_a_function_may_have_rounds_too():
    X = table()
    y, S = other_targets(X), ridge(X, 30.0, intercept=False)

    def rounds(y):
        first = 0.5 * S(y)
        return np.array([first, first + 0.5 * S(y - first)])

    df = degrees_of_freedom(rounds, X, y, Covariance(SIGMA**2, 40), staged=True)
    assert (np.abs(df.value - boosted_freedom(S, 0.5, 2)) < 4 * df.standard_error).all()
    column = degrees_of_freedom(lambda y: S(y)[:, None], X, y, Stein(n_repeats=3))
    assert column == degrees_of_freedom(S, X, y, Stein(n_repeats=3))
    found = optimism(rounds, X, y, Covariance(SIGMA**2, 5), staged=True)
    assert_allclose(found.training_error, np.mean((y - rounds(y)) ** 2, axis=1))


def test_targets_of_a_staged_model_are_drawn_around_its_last_round():
    seen = []

    def rounds(y):
        seen.append(y)
        return np.array([np.full(N, 1.0), np.full(N, 9.0)])

    degrees_of_freedom(rounds, table(), np.zeros(N), Covariance(0.01, 5), staged=True)
    assert_allclose(np.mean(seen[-5:]), 9.0, atol=0.05)


def test_a_model_whose_slopes_are_alike_leaves_nothing_to_chance():
    for way in WAYS:
        df = degrees_of_freedom(lambda y: y / 2, table(), np.ones(N), way._replace(n_repeats=5))
        assert_allclose(df.value, N / 2, rtol=1e-8)
        assert df.standard_error < 1e-6


def test_boosting_a_smoother_is_a_power_of_a_matrix():
    S = smoothers()["fixed tree"][0]
    R = np.eye(N) - 0.4 * S.matrix()
    expected = [N - np.trace(np.linalg.matrix_power(R, m)) for m in (1, 2, 3)]
    assert_allclose(boosted_freedom(S, 0.4, 3), expected)


def test_boosted_trees_spend_degrees_of_freedom_with_every_round():
    X = table(150)
    y = other_targets(X)
    model = GradientBoostingRegressor(n_estimators=40, max_leaf_nodes=4, learning_rate=0.2)
    found = optimism(model, X, y, Covariance(SIGMA**2, 20), staged=True)
    df = found.freedom.value
    assert df.shape == (40,)
    assert df[0] < df[9] < df[39] < 150
    assert found.training_error[0] > found.training_error[39]
    assert_allclose(found.prediction_error, found.training_error + 2 * SIGMA**2 * df / 150)
    assert 1 <= found.best_round <= 40
    assert found.prediction_error[found.best_round - 1] == found.prediction_error.min()
    said = model.fit(X, y).predict(X)
    assert_allclose(found.training_error[-1], np.mean((y - said) ** 2))


def test_degrees_of_freedom_are_the_same_for_any_number_of_workers():
    X = table()
    y, model = other_targets(X), DecisionTreeRegressor(max_depth=2)
    way = Covariance(SIGMA**2, 6)
    one = degrees_of_freedom(model, X, y, way)
    assert degrees_of_freedom(model, X, y, way, n_jobs=2) == one
    with parallel_config(backend="threading", n_jobs=2):
        assert degrees_of_freedom(model, X, y, way) == one
    assert degrees_of_freedom(model, X, y, way, seed=1) != one


def test_a_model_of_known_formula_is_not_simulated():
    X = table()
    found = optimism(Ridge(alpha=5.0), X, other_targets(X), Trace(SIGMA**2))
    assert found.standard_error == 0.0
    assert_allclose(found.value, 2 * SIGMA**2 * ridge(X, 5.0).trace() / N)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dataframes_are_taken(frame):
    X = table()
    y = other_targets(X)
    columns = frame({f"x{j}": X[:, j] for j in range(4)})
    for model in (Ridge(), DecisionTreeRegressor(max_depth=2)):
        way = None if isinstance(model, Ridge) else Covariance(n_repeats=4)
        one, two = optimism(model, columns, pd.Series(y), way), optimism(model, X, y, way)
        assert_allclose(one[:3], two[:3], rtol=1e-12)  # the order of columns in memory


# ------------------------------------------------------------------ noise


def test_the_noise_of_a_linear_truth_is_estimated_without_bias():
    X = table()
    draws = [X.sum(axis=1) + np.random.default_rng(s).normal(size=N) for s in range(600)]
    for way in ("linear", smoother_of(LinearRegression(), X)):
        found = np.array([noise_variance(X, y, by=way) for y in draws])
        se = found.std() / np.sqrt(600)
        assert abs(found.mean() - 1.0) < 4 * se
        assert abs(found.mean() * (N - 5) / N - 1.0) > 4 * se  # RSS / n is too small


def test_neighbours_know_the_noise_of_a_smooth_truth():
    x = np.linspace(0.0, 6.0, 400)[:, None]
    found = []
    for seed in range(100):
        y = np.sin(x[:, 0]) + np.random.default_rng(seed).normal(size=400)
        found.append(noise_variance(x, y, by="neighbours"))
    assert abs(np.mean(found) - 1.0) < 4 * np.std(found) / np.sqrt(100)
    assert np.std(found) / np.sqrt(100) < 0.02


def test_a_smoother_divides_by_what_its_residuals_have_left():
    # E RSS = sigma^2 (n - tr(2 S - S S')) + ||(I - S) f||^2, with f = 0
    X = table(N, 20)
    S = ridge(X, 60.0)
    draws = [np.random.default_rng(s).normal(size=N) for s in range(600)]
    found = np.array([noise_variance(X, y, by=S) for y in draws])
    assert abs(found.mean() - 1.0) < 4 * found.std() / np.sqrt(600)
    plain = found.mean() * S.error_freedom() / (N - S.trace())  # which is right for projections
    assert abs(plain - 1.0) > 4 * found.std() / np.sqrt(600)
    assert_allclose(S.error_freedom(), N - np.trace(2 * S.matrix() - S.matrix() @ S.matrix().T))


def test_weights_are_reciprocal_variances_of_the_noise():
    X, weights = table(), np.random.default_rng(8).uniform(0.2, 5.0, N)
    S = least_squares(X, sample_weight=weights)
    found, cp, new = [], [], []
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        y, y_new = X.sum(axis=1) + rng.normal(size=(2, N)) / np.sqrt(weights)
        found.append(noise_variance(X, y, sample_weight=weights))
        cp.append(mallows_cp(y, S(y), S.trace(), 1.0, sample_weight=weights))
        new.append(weights @ (y_new - S(y)) ** 2 / N)
    assert abs(np.mean(found) - 1.0) < 4 * np.std(found) / np.sqrt(1500)
    gap = np.array(cp) - new
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(1500)
    assert abs(gap.mean() - S.trace() / N) > 4 * gap.std() / np.sqrt(1500)  # half of the charge


# ------------------------------------------------------------------ criteria


def test_the_likelihoods_are_those_of_scipy():
    rng = np.random.default_rng(0)
    p, mean, y = rng.uniform(0.1, 0.9, 30), rng.uniform(0.5, 4.0, 30), rng.normal(size=30)
    said, weights = y + rng.normal(size=30), rng.integers(1, 4, 30)
    flags, counts, classes = rng.integers(0, 2, 30), rng.poisson(2.0, 30), rng.integers(0, 3, 30)
    shares = rng.dirichlet([1, 1, 1], 30)
    expected = {
        "normal": -2 * stats.norm.logpdf(y, said, 0.7) @ weights,
        "bernoulli": -2 * stats.bernoulli.logpmf(flags, p) @ weights,
        "poisson": -2 * stats.poisson.logpmf(counts, mean) @ weights,
        "multinomial": -2 * np.log(shares[np.arange(30), classes]) @ weights,
    }
    given = {
        "normal": (y, said),
        "bernoulli": (flags, p),
        "poisson": (counts, mean),
        "multinomial": (classes, shares),
    }
    for name, deviance in expected.items():
        known = {"sigma2": 0.49} if name == "normal" else {}
        shared = {"likelihood": name, "sample_weight": weights} | known
        assert_allclose(aic(*given[name], 3.0, **shared), deviance + 6.0)
        assert_allclose(bic(*given[name], 3.0, **shared), deviance + 3.0 * np.log(weights.sum()))


def test_an_unknown_variance_is_fitted_and_costs_a_degree_of_freedom():
    y, said = np.array([1.0, 2.0, 4.0, 3.0]), np.array([1.5, 2.0, 3.0, 3.0])
    variance = np.mean((y - said) ** 2)
    assert_allclose(aic(y, said, 2), aic(y, said, 3, sigma2=variance))
    assert_allclose(bic(y, said, 2), bic(y, said, 3, sigma2=variance))


def test_aic_of_normal_noise_is_cp_in_other_units():
    rng = np.random.default_rng(1)
    y, said, df = rng.normal(size=40), rng.normal(size=(5, 40)), np.arange(5.0)
    cp, akaike = mallows_cp(y, said, df, 0.8), aic(y, said, df, sigma2=0.8)
    assert_allclose(np.diff(akaike), np.diff(40 * cp / 0.8))


def test_aic_charges_what_logistic_regression_gains_by_looking():
    # E -2 log-likelihood of new targets is that of the old ones and 2 p, if rows are many; both are
    # taken relative to those of the true probabilities, which have no optimism.
    X = table(500, 3)
    p = 1 / (1 + np.exp(-X @ [0.8, -0.5, 0.3]))

    def expected(said):
        return -2 * np.sum(p * np.log(said) + (1 - p) * np.log(1 - said))

    gaps = []
    for seed in range(150):
        y = np.random.default_rng(seed).uniform(size=500) < p
        said = LogisticRegression(C=np.inf).fit(X, y).predict_proba(X)[:, 1]
        old = aic(y, said, 4.0, likelihood="bernoulli") - aic(y, p, 0.0, likelihood="bernoulli")
        gaps.append(expected(said) - expected(p) - old)
    se = np.std(gaps) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) < 4 * se
    assert abs(np.mean(gaps) - 4.0) > 4 * se  # of a charge of p, and not 2 p


def test_gcv_is_leaving_one_out_if_all_rows_are_alike():
    # Of a mean S_ii = 1/n for all rows.
    y = np.array([1.0, 4.0, 2.0, 9.0])
    left_out = (y - y.mean()) * 4 / 3
    assert_allclose(gcv(y, np.full(4, y.mean()), 1.0), np.mean(left_out**2))


# ------------------------------------------------------------------ bad input


def test_bad_requests_are_refused():
    X = table()
    y = other_targets(X)
    with pytest.raises(TypeError, match="LogisticRegression predicts classes"):
        degrees_of_freedom(LogisticRegression(), X, y)
    for sigma2 in (-1.0, 0.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"sigma2=.* is not a finite number above 0"):
            optimism(Ridge(), X, y, Trace(sigma2))
        with pytest.raises(ValueError, match=r"sigma2=.* is not a finite number above 0"):
            mallows_cp(y, y, 1, sigma2)
    with pytest.raises(TypeError, match="by='trace'"):
        degrees_of_freedom(Ridge(), X, y, "trace")
    with pytest.raises(ValueError, match="n_repeats=1"):
        degrees_of_freedom(Ridge(), X, y, Covariance(1.0, 1))
    with pytest.raises(TypeError, match="is no fitter"):
        degrees_of_freedom(np.eye(N), X, y)
    with pytest.raises(TypeError, match="no staged_predict"):
        degrees_of_freedom(Ridge(), X, y, Covariance(), staged=True)
    with pytest.raises(ValueError, match="trace is of one smoother"):
        degrees_of_freedom(Ridge(), X, y, staged=True)
    with pytest.raises(TypeError, match="trace is of a matrix"):
        degrees_of_freedom(lambda y: y / 2, X, y, Trace())
    with pytest.raises(ValueError, match="at least 2 rows"):
        degrees_of_freedom(Ridge(), X[:1], y[:1])
    with pytest.raises(ValueError, match="leaves nothing of 5 rows"):
        optimism(Ridge(), X[:5], y[:5])
    with pytest.raises(ValueError, match="Predictions have shape"):
        degrees_of_freedom(lambda y: y[:3], X, y, Covariance(1.0))
    with pytest.raises(ValueError, match="NaN or infinite"):
        degrees_of_freedom(lambda y: y * np.nan, X, y, Covariance(1.0))
    with pytest.raises(ValueError, match="judged as a whole"):
        _ = optimism(Ridge(), X, y).best_round
    with pytest.raises(ValueError, match="learning_rate=0"):
        boosted_freedom(ridge(X, 1.0), 0.0, 3)


def test_fits_of_different_lengths_are_refused():
    X = table(200)
    lengths = iter([3, 3, 4])

    def rounds(y):
        return np.zeros((next(lengths), len(y)))

    one, other = iter([3, 3, 3, 3, 4]), Covariance(1.0, 3, centre=truth(X))
    with pytest.raises(ValueError, match="when it is fitted to y itself"):
        optimism(lambda y: np.zeros((next(one), len(y))), X, truth(X), other, staged=True)
    with pytest.raises(ValueError, match="have 3 rounds, and 4"):
        degrees_of_freedom(rounds, X, truth(X), Covariance(1.0, 5, centre=truth(X)), staged=True)


def test_bad_simulations_are_refused():
    X = table()
    with pytest.raises(ValueError, match="has no `draw`"):
        Simulation(DataModel(truth)).same_x(Ridge(), 10)
    with pytest.raises(TypeError, match="is of one table"):
        Simulation(DATA).random_x(ridge(X, 1.0), 10)
    with pytest.raises(TypeError, match="predicts classes"):
        Simulation(DATA).fixed_x(LogisticRegression(), X)
    with pytest.raises(ValueError, match=r"noise=-1.0 is not a deviation"):
        Simulation(DataModel(truth, -1.0)).fixed_x(Ridge(), X)
    with pytest.raises(ValueError, match=r"mean\(X\) has 3 values, but there are 60 rows"):
        Simulation(DataModel(lambda _: np.ones(3))).fixed_x(Ridge(), X)
    with pytest.raises(ValueError, match="n_repeats=1"):
        Simulation(DATA, n_repeats=1).fixed_x(Ridge(), X)
    with pytest.raises(ValueError, match="n_tables=1"):
        Simulation(DATA, n_tables=1).same_x(Ridge(), 10)
    with pytest.raises(ValueError, match="loss='huber'"):
        Simulation(DATA, n_repeats=2, loss="huber").fixed_x(Ridge(), X)


def test_bad_criteria_are_refused():
    y, p = np.array([0.0, 1.0, 2.0]), np.full(3, 0.5)
    with pytest.raises(ValueError, match="likelihood='gamma'"):
        aic(y, p, 1, likelihood="gamma")
    with pytest.raises(ValueError, match="targets 0 and 1"):
        aic(y, p, 1, likelihood="bernoulli")
    with pytest.raises(ValueError, match="counts"):
        aic(y - 1, p, 1, likelihood="poisson")
    with pytest.raises(ValueError, match="add up to 1"):
        aic(y, np.ones((3, 3)), 1, likelihood="multinomial")
    with pytest.raises(ValueError, match="classes 0 to 1"):
        aic(y, np.full((3, 2), 0.5), 1, likelihood="multinomial")
    with pytest.raises(ValueError, match="sigma2 is of likelihood='normal'"):
        aic(y, p, 1, likelihood="poisson", sigma2=1.0)
    with pytest.raises(ValueError, match="no residuals"):
        bic(y, y, 1)
    with pytest.raises(ValueError, match="freedom=-1"):
        mallows_cp(y, p, -1, 1.0)
    with pytest.raises(ValueError, match="as many degrees of freedom as rows"):
        gcv(y, p, 3)
    with pytest.raises(ValueError, match="predictions have shape"):
        mallows_cp(y, p[:2], 1, 1.0)
    with pytest.raises(ValueError, match="Weights are for by='linear'"):
        noise_variance(y[:, None], y, by="neighbours", sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="by='knn'"):
        noise_variance(y[:, None], y, by="knn")


def test_a_smoother_is_a_fitter_too():
    X = table()
    y = other_targets(X)
    S = Smoother.of(ridge(X, 3.0).matrix())
    assert_allclose(degrees_of_freedom(S, X, y).value, ridge(X, 3.0).trace())
    assert_array_equal(S(y), S(list(y)))
