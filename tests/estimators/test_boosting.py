"""Gradient boosting: scikit-learn's contract, order-free training, and what it learns."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor
from tests.estimators.tables import census

FEW = {"n_estimators": 8, "min_child_weight": 1.0}
REGRESSORS = [
    GradientBoostingRegressor(**FEW),
    GradientBoostingRegressor(**FEW, method="gradient", max_leaf_nodes=6),
    GradientBoostingRegressor(**FEW, early_stopping=True, n_iter_no_change=3),
    GradientBoostingRegressor(**FEW, loss="absolute_error"),
    GradientBoostingRegressor(**FEW, loss="huber"),
    GradientBoostingRegressor(**FEW, loss="quantile", alpha=0.3),
    GradientBoostingRegressor(**FEW, max_leaf_nodes=None, max_depth=3, l1=0.1),
    GradientBoostingRegressor(**FEW, prune="post", gamma=2.0),
    GradientBoostingRegressor(**FEW, monotonic_cst=[1, -1, 0, 0, 0], interaction_cst="pairwise"),
    GradientBoostingRegressor(**FEW, max_features=0.6, max_features_level=4, random_state=0),
    GradientBoostingRegressor(**FEW, split_finding="exact"),
    GradientBoostingRegressor(**FEW, subsample=0.5, random_state=0),
    GradientBoostingRegressor(**FEW, subsample=0.4, random_state=0, loss="absolute_error"),
    GradientBoostingRegressor(**FEW, sampling="goss", random_state=0, method="gradient"),
    GradientBoostingRegressor(**FEW, learning_rate="line_search"),
    GradientBoostingRegressor(**FEW, dropout=0.3, random_state=0),
]
COUNTS = [GradientBoostingRegressor(**FEW, loss=loss) for loss in ("poisson", "gamma", "tweedie")]
CLASSIFIERS = [
    GradientBoostingClassifier(**FEW),
    GradientBoostingClassifier(**FEW, method="gradient"),
    GradientBoostingClassifier(**FEW, early_stopping=True),
    GradientBoostingClassifier(**FEW, class_weight="balanced"),
    GradientBoostingClassifier(**FEW, subsample=0.5, random_state=0, class_weight="balanced"),
    GradientBoostingClassifier(**FEW, sampling="goss", random_state=0, early_stopping=True),
    GradientBoostingClassifier(**FEW, learning_rate="line_search", subsample=0.7, random_state=0),
    GradientBoostingClassifier(**FEW, dropout=0.3, subsample=0.7, random_state=0),
]
MODELS = pytest.mark.parametrize("model", [*REGRESSORS, *COUNTS, *CLASSIFIERS], ids=repr)


@parametrize_with_checks(
    [
        GradientBoostingRegressor(n_estimators=20, learning_rate=0.3),
        GradientBoostingRegressor(n_estimators=20, learning_rate=0.3, loss="absolute_error"),
        GradientBoostingRegressor(
            n_estimators=20, learning_rate=0.3, min_samples_leaf=5, min_child_weight=20
        ),
        GradientBoostingRegressor(n_estimators=20, prune="post", split_finding="exact"),
        GradientBoostingClassifier(n_estimators=5),
        GradientBoostingClassifier(n_estimators=5, max_features=0.5, interaction_cst="pairwise"),
        GradientBoostingClassifier(n_estimators=20, early_stopping=True),
        GradientBoostingRegressor(
            n_estimators="cv", max_estimators=10, cv=3, learning_rate=0.5, min_child_weight=1
        ),
        GradientBoostingClassifier(n_estimators="cv", max_estimators=5, cv=3),
        GradientBoostingRegressor(n_estimators=10, learning_rate=0.5, warm_start=True),
        GradientBoostingRegressor(n_estimators=20, learning_rate=0.3, subsample=0.7),
        GradientBoostingClassifier(n_estimators=5, sampling="goss"),
        GradientBoostingClassifier(n_estimators=5, learning_rate="line_search"),
        GradientBoostingClassifier(n_estimators=5, multi_output="vector", dropout=0.2),
        GradientBoostingRegressor(n_estimators=20, learning_rate=0.3, multi_output="vector"),
    ]
)  # no failure is expected of any
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def target(problem, model):
    if isinstance(model, GradientBoostingClassifier):
        return problem.classes
    return np.exp(problem.numbers / 4) if model in COUNTS else problem.numbers


def fingerprint(model, X, y, weights=None, **parameters):
    return clone(model).set_params(**parameters).fit(X, y, sample_weight=weights).fingerprint_


# ------------------------------------------------------------------ a function of the rows


@pytest.mark.usefixtures("many_hands")
def test_threads_share_the_chunks_of_many_rows_and_blocks_of_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 20))  # several chunks for each of three threads, two blocks
    y = X[:, 0] + X[:, 17] * X[:, 5] + rng.normal(size=len(X))
    model = GradientBoostingRegressor(n_estimators=3)
    prints = {fingerprint(model, X, y, n_jobs=n_jobs) for n_jobs in (1, 2, 3)}
    assert len(prints) == 1


@pytest.mark.parametrize("parameters", [{}, {"learning_rate": "line_search"}, {"dropout": 0.5}])
@pytest.mark.usefixtures("many_hands")
def test_trees_of_classes_are_the_same_grown_apart_or_together(parameters):
    problem = census(2000, seed=3)
    y = np.digitize(problem.numbers, np.quantile(problem.numbers, [0.2, 0.4, 0.6, 0.8]))
    model = GradientBoostingClassifier(n_estimators=4, random_state=0, **parameters)
    prints = {fingerprint(model, problem.X, y, n_jobs=n_jobs) for n_jobs in (1, 2, 3, 5)}
    assert len(prints) == 1


@MODELS
@pytest.mark.usefixtures("many_hands")
def test_threads_and_order_make_no_difference(model):
    problem = census(3000)
    shuffled = problem.rows(np.random.default_rng(1).permutation(3000))
    prints = [fingerprint(model, problem.X, target(problem, model), n_jobs=n) for n in (1, 2, 3)]
    prints.append(fingerprint(model, shuffled.X, target(shuffled, model), n_jobs=2))
    assert len(set(prints)) == 1


@MODELS
def test_a_row_of_weight_three_is_three_rows(model):
    problem = census(300, seed=4)
    weights = np.random.default_rng(5).integers(0, 5, 300)
    repeated = problem.rows(np.repeat(np.arange(300), weights))
    assert fingerprint(model, problem.X, target(problem, model), weights) == fingerprint(
        model, repeated.X, target(repeated, model)
    )


@MODELS
def test_a_pickled_copy_is_the_same_and_predicts_the_same(model):
    problem = census(400)
    fitted = clone(model).fit(problem.X, target(problem, model))
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.fingerprint_ == fitted.fingerprint_
    assert_array_equal(copy.predict(problem.X), fitted.predict(problem.X))


# ------------------------------------------------------------------ what is learnt


@MODELS
def test_the_last_stage_is_the_prediction(model):
    problem = census(400)
    fitted = clone(model).fit(problem.X, target(problem, model))
    stages = list(fitted.staged_predict(problem.X))
    assert len(stages) == fitted.n_estimators_
    assert_array_equal(stages[-1], fitted.predict(problem.X))


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("method", ["newton", "gradient"])
def test_small_steps_lower_the_loss_in_every_round(loss, method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.exp(X[:, 0] + 0.3 * rng.normal(size=400))
    model = GradientBoostingRegressor(loss=loss, method=method, n_estimators=30).fit(X, y)
    values = [
        np.mean([model._loss.loss(a, b) for a, b in zip(y, raw[:, 0], strict=True)])
        for raw in model._staged_raw(X)
    ]
    assert (np.diff(values) < 0).all()


def test_quantiles_have_their_share_of_rows_below():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 1))
    y = X[:, 0] + rng.normal(size=2000)
    for alpha in (0.1, 0.5, 0.8):
        model = GradientBoostingRegressor(loss="quantile", alpha=alpha, max_leaf_nodes=4)
        below = np.mean(y <= model.fit(X, y).predict(X))
        assert abs(below - alpha) < 0.02


def test_early_stopping_keeps_the_best_round():
    problem = census(2000, seed=2)
    model = GradientBoostingClassifier(
        n_estimators=300, learning_rate=0.5, early_stopping=True, n_iter_no_change=5
    ).fit(problem.X, problem.classes)
    losses = model.validation_losses_
    assert model.n_estimators_ == int(np.argmin(losses))
    assert len(losses) == model.n_estimators_ + 6  # the start, and five rounds in vain
    assert len(losses) < 300


def test_a_perfect_fit_ends():
    model = GradientBoostingRegressor(learning_rate=1.0, l2=0.0, min_child_weight=0.0)
    model.fit([[0.0], [1.0]], [1.0, 3.0])
    assert model.n_estimators_ == 1
    assert_array_equal(model.predict([[0.0], [1.0]]), [1.0, 3.0])


def test_equal_targets_need_no_tree():
    model = GradientBoostingRegressor().fit([[0.0], [1.0], [2.0]], [2.5, 2.5, 2.5])
    assert model.n_estimators_ == 0
    assert_array_equal(model.predict([[5.0]]), [2.5])


def test_missing_values_and_new_categories_are_predicted():
    problem = census(400)
    model = GradientBoostingRegressor(**FEW).fit(problem.X, problem.numbers)
    X = problem.X[:3].copy()
    X[0, :] = None
    X[1, -1] = "a town that was not there"
    assert np.isfinite(model.predict(X)).all()


# ------------------------------------------------------------------ against scikit-learn


@pytest.mark.parametrize("leaves", [3, 8, 15])
def test_trees_are_those_of_scikit_learn_on_a_small_exact_problem(leaves):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:, :5], y + 0.01 * np.arange(len(y))  # no two cuts gain the same
    shared = {"max_leaf_nodes": leaves, "learning_rate": 0.3, "early_stopping": False}
    theirs = HistGradientBoostingRegressor(
        **shared, max_iter=5, min_samples_leaf=1, l2_regularization=1.0
    ).fit(X, y)
    ours = GradientBoostingRegressor(**shared, n_estimators=5, l2=1.0, max_features=None).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=2e-6)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_probabilities_are_as_good_as_those_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    test = np.arange(len(y)) % 3 == 0
    ours = GradientBoostingClassifier(early_stopping=False).fit(X[~test], y[~test])
    theirs = HistGradientBoostingClassifier(early_stopping=False).fit(X[~test], y[~test])
    mine, other = (log_loss(y[test], m.predict_proba(X[test])) for m in (ours, theirs))
    assert mine < 1.1 * other


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("loss", "y", "said"),
    [
        ("poisson", [1.0, -2.0, 0.0], "y[1] = -2.0"),
        ("poisson", [0.0, 0.0, 0.0], "all zero"),
        ("gamma", [1.0, 0.0, 2.0], "y[1] = 0.0"),
        ("tweedie", [1.0, 0.5, -2.0], "y[2] = -2.0"),
    ],
)
def test_targets_without_a_loss_are_refused(loss, y, said):
    with pytest.raises(ValueError, match=r".*") as caught:
        GradientBoostingRegressor(loss=loss).fit([[0.0], [1.0], [2.0]], y)
    assert said in str(caught.value)


def test_exponential_loss_is_for_two_classes():
    with pytest.raises(ValueError, match="is for two classes, but y has 3"):
        GradientBoostingClassifier(loss="exponential").fit([[0], [1], [2]], [0, 1, 2])


@pytest.mark.parametrize("name", ["learning_rate", "n_estimators", "max_bins", "loss", "method"])
def test_parameters_out_of_range_are_refused(name):
    with pytest.raises(ValueError, match=name):
        GradientBoostingRegressor(**{name: -1}).fit([[0.0], [1.0]], [0.0, 1.0])


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = GradientBoostingRegressor(**FEW).fit([[0.0], [1.0]], [0.0, 1.0])
    before = model.fingerprint_
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[0.0], [1.0]], [0.0, np.nan])
    assert model.fingerprint_ == before


# ------------------------------------------------------------------ what "auto" stands for


@pytest.mark.parametrize(("n_features", "n_drawn"), [(3, 3), (4, 4), (5, 4), (8, 4), (11, 6)])
def test_a_node_tries_half_of_the_features_but_no_fewer_than_four(n_features, n_drawn):
    rng = np.random.default_rng(0)
    X, model = rng.normal(size=(200, n_features)), GradientBoostingRegressor(n_estimators=5)
    own = {n: fingerprint(model, X, X.sum(axis=1), max_features=n) for n in range(1, n_features)}
    own[n_features] = fingerprint(model, X, X.sum(axis=1), max_features=None)
    automatic = fingerprint(model, X, X.sum(axis=1), max_features="auto")
    assert [n for n, one in own.items() if one == automatic] == [n_drawn]


def test_without_a_random_state_every_fit_gives_the_same_model():
    problem = census(300)
    model = GradientBoostingRegressor(n_estimators=5, max_features=0.3, subsample=0.5)
    prints = [fingerprint(model, problem.X, problem.numbers, random_state=s) for s in (None, 0, 1)]
    assert prints[0] == prints[1] == fingerprint(model, problem.X, problem.numbers)
    assert prints[0] != prints[2]


def test_small_tables_are_learnt_slowly_unless_a_rate_or_rounds_are_given():
    problem = census(300)
    X, y = problem.X, problem.numbers
    automatic = fingerprint(GradientBoostingRegressor(), X, y)
    slow = GradientBoostingRegressor(n_estimators=200, learning_rate=0.06)
    assert automatic == fingerprint(slow, X, y)
    few = GradientBoostingRegressor(n_estimators=7)
    assert fingerprint(few, X, y) == fingerprint(few, X, y, learning_rate=0.1)
