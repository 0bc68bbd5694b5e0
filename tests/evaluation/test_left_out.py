"""Leaving one out: by the lemma where it holds, by refitting where it does not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import cpu_count
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.ensemble import RandomForestRegressor as SklearnForest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor as SklearnTree
from threadpoolctl import threadpool_info

from hedgerow import DecisionTreeRegressor, ExtraTreesRegressor, RandomForestRegressor
from hedgerow.evaluation import (
    Smoother,
    check_leaving_out,
    leaf_smoother,
    leaf_weights,
    least_squares,
    leave_one_out,
    ridge,
    smoother_of,
)
from hedgerow.evaluation.repeats import repeated

LINEAR = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(alpha=3.0),
    Ridge(alpha=0.3, fit_intercept=False),
    Ridge(alpha=0.0),
]


def problem(n_rows=40, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) + 1.0
    return X, X @ rng.normal(size=n_features) + np.sin(3 * X[:, 0]) + rng.normal(size=n_rows)


def by_hand(model, X, y, weights=None):
    """The definition: fit without a row, predict it."""
    said = np.empty(len(y))
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        given = {} if weights is None else {"sample_weight": weights[others]}
        said[row] = model.fit(X[others], y[others], **given).predict(X[[row]])[0]
    return said


# ------------------------------------------------------------------ the lemma


@pytest.mark.parametrize("model", LINEAR, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_lemma_gives_what_refitting_gives(model, weighted):
    X, y = problem()
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y)) if weighted else None
    found = leave_one_out(model, X, y, sample_weight=weights)
    said = by_hand(model, X, y, weights)
    assert found.method == "lemma"
    assert_allclose(found.predictions, said, rtol=0, atol=1e-10)
    assert_allclose(found.error, np.average((y - said) ** 2, weights=weights), rtol=1e-10)


def test_leave_one_out_is_a_mean_over_rows_and_has_its_standard_error():
    X, y = problem()
    found = leave_one_out(Ridge(), X, y)
    losses = (y - found.predictions) ** 2
    assert_allclose(found.error, losses.mean())
    assert_allclose(found.standard_error, losses.std(ddof=1) / np.sqrt(len(y)))


def test_more_columns_than_rows_are_no_obstacle_for_ridge():
    X, y = problem(n_rows=15, n_features=30)
    model = Ridge(alpha=2.0, solver="cholesky")
    assert_allclose(leave_one_out(model, X, y).predictions, by_hand(model, X, y), atol=1e-10)


def test_columns_that_depend_on_others_are_no_obstacle_for_least_squares():
    X, y = problem()
    twice = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    model = LinearRegression()
    assert_allclose(least_squares(twice).trace(), 5.0)
    assert_allclose(leave_one_out(model, twice, y).predictions, by_hand(model, X, y), atol=1e-10)


def test_a_row_of_weight_zero_is_predicted_and_changes_nothing():
    X, y = problem()
    weights = np.ones(len(y))
    weights[3] = 0.0
    S = ridge(X, 1.5, sample_weight=weights)
    assert_allclose(S(y), Ridge(alpha=1.5).fit(X, y, weights).predict(X), atol=1e-10)
    assert S.diagonal()[3] == 0.0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dataframes_are_taken(frame):
    X, y = problem()
    table = frame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    assert_allclose(
        leave_one_out(Ridge(), table, pd.Series(y)).predictions,
        leave_one_out(Ridge(), X, y).predictions,
    )
    refit = leave_one_out(DecisionTreeRegressor(max_depth=2), table, y)
    alone = leave_one_out(DecisionTreeRegressor(max_depth=2), X, y)
    assert_array_equal(refit.predictions, alone.predictions)


def test_the_mean_leaves_out_n_over_n_minus_one_of_a_residual():  # notes 2, the lemma
    y = np.array([1.0, 4.0, 2.0, 9.0])
    found = leave_one_out(smoother_of(np.full((4, 4), 0.25), y[:, None]), y[:, None], y)
    assert_allclose(y - found.predictions, (y - y.mean()) * 4 / 3)


def test_any_linear_regressor_may_be_left_out_by_the_lemma():
    X, y = problem()
    model = KernelRidge(kernel="rbf", alpha=0.5)
    found = leave_one_out(model, X, y, method="lemma")
    assert_allclose(found.predictions, by_hand(model, X, y), atol=1e-9)
    assert leave_one_out(model, X, y).method == "refit"


# ------------------------------------------------------------------ its conditions


class TotalLasso(RegressorMixin, BaseEstimator):
    """The lasso of the notes, RSS / 2 + penalty |b|_1: its penalty does not depend on n."""

    def __init__(self, penalty=5.0):
        self.penalty = penalty

    def fit(self, X, y):
        self.lasso_ = Lasso(alpha=self.penalty / len(y), tol=1e-14, max_iter=100_000).fit(X, y)
        return self

    def predict(self, X):
        return self.lasso_.predict(X)


@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_least_squares_and_ridge_satisfy_both_conditions(model):
    found = check_leaving_out(model, *problem())
    assert found.holds
    assert found.linear.gap < 1e-12
    assert found.stable.gap < 1e-12


def test_nearest_neighbours_satisfy_the_first_condition_and_not_the_second():  # notes 2
    X, y = problem()
    found = check_leaving_out(KNeighborsRegressor(4), X, y)
    assert found.linear.holds
    assert not found.stable.holds
    # Row i is its own neighbour when it is back: the fifth nearest is lost, v - y_5 is left of 4.
    said = by_hand(KNeighborsRegressor(4), X, y)
    fifth = KNeighborsRegressor(5).fit(X, y).kneighbors(X, return_distance=False)[:, 4]
    assert_allclose(found.stable.gap, np.abs(said - y[fifth]).max() / 4 / y.std())


def test_the_lasso_satisfies_the_second_condition_and_not_the_first():  # notes 2, the challenge
    X, y = problem()
    found = check_leaving_out(TotalLasso(), X, y, tol=1e-7)
    assert not found.linear.holds
    assert found.linear.gap > 0.01
    assert found.stable.holds
    assert not found.holds


def test_a_lasso_whose_penalty_grows_with_the_rows_satisfies_neither():
    X, y = problem()
    found = check_leaving_out(Lasso(alpha=0.1, tol=1e-12), X, y, tol=1e-7)
    assert not found.linear.holds
    assert not found.stable.holds


def test_a_scaler_that_is_fitted_again_breaks_the_second_condition():
    found = check_leaving_out(make_pipeline(StandardScaler(), Ridge(5.0)), *problem())
    assert found.linear.holds
    assert not found.stable.holds


def test_the_lemma_is_refused_where_it_does_not_hold():
    X, y = problem()
    with pytest.raises(ValueError, match=r"(?s)KNeighbors.*Condition 1.*holds.*Condition 2.*fails"):
        leave_one_out(KNeighborsRegressor(4), X, y, method="lemma")
    with pytest.raises(ValueError, match="Condition 1, Yhat = S Y, fails"):
        leave_one_out(TotalLasso(), X, y, method="lemma")


# ------------------------------------------------------------------ refitting


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_other_models_are_refitted(n_jobs):
    X, y = problem()
    model = KNeighborsRegressor(4)
    found = leave_one_out(model, X, y, n_jobs=n_jobs)
    assert found.method == "refit"
    assert_array_equal(found.predictions, by_hand(model, X, y))


def test_coefficients_that_may_not_be_negative_are_not_linear_and_refitted():
    X, y = problem()
    model = LinearRegression(positive=True)
    found = leave_one_out(model, X, y)
    assert found.method == "refit"
    assert_allclose(found.predictions, by_hand(model, X, y))


def test_refitting_is_scikit_learns_leave_one_out():
    X, y = problem()
    model = DecisionTreeRegressor(max_depth=3)
    said = cross_val_predict(model, X, y, cv=LeaveOneOut())
    assert_array_equal(leave_one_out(model, X, y, n_jobs=2).predictions, said)


def test_weights_reach_every_refit():
    X, y = problem()
    weights = np.random.default_rng(3).uniform(0.1, 4.0, len(y))
    model = SklearnTree(max_depth=2, random_state=0)
    found = leave_one_out(model, X, y, sample_weight=weights)
    assert_array_equal(found.predictions, by_hand(model, X, y, weights))


def test_classifiers_are_refitted_and_their_errors_counted():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    found = leave_one_out(KNeighborsClassifier(5), X, names, n_jobs=2)
    said = cross_val_predict(KNeighborsClassifier(5), X, names, cv=LeaveOneOut())
    assert_array_equal(found.predictions, said)
    assert found.error == np.mean(said != names)


def test_workers_share_the_cores():
    def n_threads(_):
        return max((pool["num_threads"] for pool in threadpool_info()), default=1)

    np.ones((4, 4)) @ np.ones((4, 4))  # BLAS is loaded
    allowed = max(1, cpu_count() // 2)
    assert max(repeated(n_threads, [(i,) for i in range(8)], 2)) <= allowed
    assert repeated(n_threads, [(0,)], None) == [n_threads(0)]


def test_a_loss_of_ones_own_is_taken():
    X, y = problem()
    own = leave_one_out(Ridge(), X, y, loss=lambda y, said: np.abs(y - said))
    assert own.error == leave_one_out(Ridge(), X, y, loss="absolute_error").error
    assert own.error != leave_one_out(Ridge(), X, y).error


# ------------------------------------------------------------------ leaves


FORESTS = [
    DecisionTreeRegressor(max_leaf_nodes=6, min_samples_leaf=3),
    SklearnTree(max_leaf_nodes=6, random_state=0),
    RandomForestRegressor(20, min_samples_leaf=3),
    RandomForestRegressor(15, max_samples=0.5, max_features=0.5),
    ExtraTreesRegressor(20, min_samples_leaf=2),
    SklearnForest(20, min_samples_leaf=3, random_state=0),
]


@pytest.mark.parametrize("model", FORESTS, ids=lambda m: f"{type(m).__module__[:8]}-{m}")
@pytest.mark.parametrize("weighted", [False, True])
def test_a_forest_is_a_weighted_mean_of_targets(model, weighted):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120], y[:120]
    weights = np.random.default_rng(5).integers(1, 4, 120).astype(float) if weighted else None
    model.fit(X, y, sample_weight=weights)
    S = leaf_smoother(model, X, y, sample_weight=weights)
    assert_allclose(S(y), model.predict(X), rtol=1e-9)
    assert_allclose(S.matrix().sum(axis=1), 1.0)
    assert_allclose(np.diagonal(S.matrix()), S.diagonal())


def test_how_often_a_row_was_drawn_counts_in_a_forest():
    X, y = problem()
    model = RandomForestRegressor(10, min_samples_leaf=2).fit(X, y)
    leaves = model.apply(X)
    plain = leaf_weights(leaves)
    assert np.abs(plain(y) - model.predict(X)).max() > 0.05
    assert_allclose(leaf_smoother(model, X, y)(y), model.predict(X))


def test_a_fixed_leaf_of_m_rows_leaves_out_m_over_m_minus_one_of_a_residual():  # FIELD, T12
    X, y = problem()
    tree = DecisionTreeRegressor(max_leaf_nodes=5, min_samples_leaf=3).fit(X, y)
    S, leaves = leaf_smoother(tree, X, y), tree.apply(X)
    assert_allclose(S.trace(), tree.get_n_leaves())
    m = np.array([(leaves == leaf).sum() for leaf in leaves])
    residuals = y - leave_one_out(S, X, y).predictions
    assert_allclose(residuals, (y - tree.predict(X)) * m / (m - 1))
    others = [y[(leaves == leaves[i]) & (np.arange(len(y)) != i)].mean() for i in range(len(y))]
    assert_allclose(y - residuals, others, atol=1e-12)


def test_a_fixed_forest_leaves_out_a_row_by_sharing_its_weight():
    X, y = problem()
    forest = RandomForestRegressor(30, min_samples_leaf=3).fit(X, y)
    smoother = leaf_smoother(forest, X, y)
    S = smoother.matrix()
    np.fill_diagonal(S, 0.0)
    shared = (S @ y) / S.sum(axis=1)
    assert_allclose(leave_one_out(smoother, X, y).predictions, shared)


def test_means_of_leaves_that_are_not_the_models_predictions_are_refused():
    X, y = problem()
    median = DecisionTreeRegressor(criterion="absolute_error", max_depth=2).fit(X, y)
    boosted = GradientBoostingRegressor(n_estimators=3, max_depth=1).fit(X, y)
    for model in (median, boosted):
        with pytest.raises(ValueError, match="off its predictions by"):
            leaf_smoother(model, X, y)
    tree = DecisionTreeRegressor(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="off its predictions by"):
        leaf_smoother(tree, X, y[::-1].copy())


# ------------------------------------------------------------------ smoothers


def test_a_matrix_a_function_and_a_probe_are_the_same_smoother():
    X, y = problem()
    H = X @ np.linalg.solve(X.T @ X, X.T)
    for given in (H, sparse.csr_array(H), lambda X: X @ np.linalg.pinv(X)):
        S = smoother_of(given, X)
        assert_allclose(S.matrix(), H, atol=1e-12)
        assert_allclose(S(y), H @ y)
        assert_allclose(S.diagonal(), np.diagonal(H), atol=1e-12)
        assert_allclose(S.error_freedom(), len(y) - X.shape[1])
    assert_allclose(least_squares(X, intercept=False).matrix(), H, atol=1e-12)


class OneOutput(RegressorMixin, BaseEstimator):
    """A ridge regression that takes one output only."""

    def fit(self, X, y):
        self.ridge_ = Ridge(2.0).fit(X, np.asarray(y).reshape(len(X)))
        return self

    def predict(self, X):
        return self.ridge_.predict(X)


def test_a_model_of_one_output_is_fitted_to_one_target_after_another():
    X, _ = problem()
    assert_allclose(smoother_of(OneOutput(), X).matrix(), ridge(X, 2.0).matrix(), atol=1e-12)
    with pytest.raises(ValueError, match="X has 1 rows"):
        smoother_of(OneOutput(), X[:1])


def test_targets_in_a_column_are_targets():
    X, y = problem()
    assert_array_equal(
        leave_one_out(Ridge(), X, y[:, None]).predictions, leave_one_out(Ridge(), X, y).predictions
    )


def test_neighbours_have_n_over_k_degrees_of_freedom():  # FIELD, T12
    X, _ = problem()
    assert_allclose(smoother_of(KNeighborsRegressor(4), X).trace(), len(X) / 4)


def test_what_is_not_linear_is_no_smoother():
    X, _ = problem()
    for model in (Lasso(alpha=0.1), DecisionTreeRegressor(max_depth=2)):
        with pytest.raises(ValueError, match="not linear in the targets"):
            smoother_of(model, X)


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.ones((3, 2)), r"shape \(3, 2\)"),
        (np.ones(4), r"shape \(4,\)"),
        ([[1.0]], "at least 2 rows"),
        (np.full((3, 3), np.nan), "NaN or infinite"),
    ],
)
def test_a_bad_matrix_is_refused(S, message):
    with pytest.raises(ValueError, match=message):
        Smoother.of(S)


def test_a_matrix_of_other_rows_is_refused():
    with pytest.raises(ValueError, match="S has 3 rows, but X has 5"):
        smoother_of(np.eye(3) / 2, np.zeros((5, 1)))


def test_a_row_that_predicts_itself_cannot_be_left_out():
    X, y = problem()
    X[:, 0] = 0.0
    X[7, 0] = 1.0  # only row 7 tells this coefficient
    with pytest.raises(ValueError, match="S_ii = 1 for 1 rows, the first of them row 7"):
        leave_one_out(LinearRegression(), X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([1.0, np.nan, 2.0]), r"y\[1\] is nan"),
        (np.array(["a", "b", "c"]), "not an array of numbers"),
        (np.ones(4), "4 values, but there are 3 rows"),
        (np.ones((3, 2)), r"shape \(3, 2\)"),
    ],
)
def test_bad_targets_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        leave_one_out(Ridge(), np.eye(3), y)


def test_bad_requests_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="at least 2 rows"):
        leave_one_out(Ridge(), X[:1], y[:1])
    with pytest.raises(ValueError, match="method='fast'"):
        leave_one_out(Ridge(), X, y, method="fast")
    with pytest.raises(ValueError, match="loss='huber' is not known"):
        leave_one_out(Ridge(), X, y, loss="huber")
    with pytest.raises(ValueError, match="not their mean"):
        leave_one_out(Ridge(), X, y, loss=lambda y, said: np.mean((y - said) ** 2))
    with pytest.raises(TypeError, match="KNeighborsClassifier predicts classes"):
        check_leaving_out(KNeighborsClassifier(), X, y)
    with pytest.raises(TypeError, match="KNeighborsClassifier predicts classes"):
        leave_one_out(KNeighborsClassifier(), X, y > 0, method="lemma")
    with pytest.raises(ValueError, match="pass numbers of rows, from 0 to 39"):
        check_leaving_out(Ridge(), X, y, rows=[40])
    with pytest.raises(ValueError, match="pass numbers of rows"):
        check_leaving_out(Ridge(), X, y, rows=[])


def test_bad_smoothers_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="alpha=-1"):
        ridge(X, -1.0)
    with pytest.raises(ValueError, match="has the weights of rows in it"):
        smoother_of(np.eye(40), X, sample_weight=np.ones(40))
    with pytest.raises(ValueError, match="more were drawn from"):
        leaf_smoother(RandomForestRegressor(3).fit(X, y), X[:20], y[:20])
    with pytest.raises(TypeError, match="no row can be left out"):
        check_leaving_out(np.eye(40), X, y)
    with pytest.raises(ValueError, match="one class for each of at least 2 rows"):
        leave_one_out(KNeighborsClassifier(), X, y[:5] > 0)
    boosted = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    boosted.estimators_samples_ = [np.arange(40)]
    with pytest.raises(ValueError, match="3 columns of leaves and 1 bags"):
        leaf_smoother(boosted, X, y)
    with pytest.raises(ValueError, match="none that counts"):
        leaf_weights([[0], [1]], [[1], [0]])
    with pytest.raises(TypeError, match="has no fit and predict"):
        leave_one_out(np.eye(len(y)), X, y)
    with pytest.raises(ValueError, match="cannot be fitted to other rows"):
        leave_one_out(ridge(X, 1.0), X, y, method="refit")
    with pytest.raises(ValueError, match="sample_weight has shape"):
        leave_one_out(Ridge(), X, y, sample_weight=[1.0])
    with pytest.raises(ValueError, match="negative or not finite"):
        leave_one_out(Ridge(), X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(TypeError, match="has no `apply`"):
        leaf_smoother(Ridge(), X, y)
