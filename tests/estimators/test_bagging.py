"""Bagging: any learner, rows and features drawn by content, votes or means of what models say."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestRegressor as SklearnForest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.estimators.tables import census, message

pytestmark = pytest.mark.usefixtures("many_hands")

LOGISTIC = LogisticRegression(C=0.1, tol=1e-2)  # soon done
SETTINGS = [
    BaggingClassifier(),
    BaggingClassifier(voting="hard", max_samples=0.7),
    BaggingClassifier(LOGISTIC),
    BaggingRegressor(),
    BaggingRegressor(bootstrap_features=True),
    BaggingRegressor(Ridge()),
    BaggingRegressor(KNeighborsRegressor(3)),
]


@pytest.mark.filterwarnings("ignore:.*rows of one class only:UserWarning")
@parametrize_with_checks(SETTINGS)  # no failure is expected of any
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


class OwnTree(DecisionTreeClassifier):
    """A tree that the fast path does not know."""


class OwnRegressionTree(DecisionTreeRegressor):
    """A tree that the fast path does not know."""


IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)


def problem_of(model):
    return IRIS if isinstance(model, BaggingClassifier) else DIABETES


def said(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


# ------------------------------------------------------------------ threads and order

PLANS = [
    {},
    {"max_samples": 0.4, "bootstrap": False},
    {"max_features": 2, "bootstrap": False},
    {"max_samples": 0.6, "max_features": 0.5},
    {"bootstrap_features": True, "oob_score": True, "n_estimators": 15},
]
BASES = [
    BaggingClassifier(),
    BaggingClassifier(DecisionTreeClassifier(splitter="random", min_samples_leaf=2)),
    BaggingClassifier(LOGISTIC),
    BaggingClassifier(make_pipeline(StandardScaler(), GaussianNB()), voting="hard"),
    BaggingRegressor(),
    BaggingRegressor(Ridge()),
    BaggingRegressor(SklearnForest(3)),
    BaggingRegressor(DecisionTreeRegressor(criterion="absolute_error", max_depth=3)),
]


@pytest.mark.parametrize("plan", PLANS, ids=str)
@pytest.mark.parametrize("model", BASES, ids=repr)
def test_neither_threads_nor_the_order_of_rows_make_a_difference(model, plan):
    X, y = problem_of(model)
    shuffled = np.random.default_rng(3).permutation(len(y))
    first = clone(model).set_params(**plan, n_jobs=1).fit(X, y)
    for n_jobs, rows in ((2, np.arange(len(y))), (3, shuffled)):
        other = clone(model).set_params(**plan, n_jobs=n_jobs).fit(X[rows], y[rows])
        assert_array_equal(said(other, X), said(first, X))
        assert getattr(other, "oob_score_", None) == getattr(first, "oob_score_", None)


@pytest.mark.parametrize("learner", [None, LOGISTIC], ids=repr)
@pytest.mark.parametrize("bootstrap", [True, False])
def test_the_order_of_weighted_rows_with_equals_makes_no_difference(learner, bootstrap):
    rng = np.random.default_rng(0)
    X, weights = rng.integers(0, 3, (90, 2)).astype(float), rng.integers(1, 4, 90)
    y, shuffled = (X[:, 0] + rng.integers(0, 2, 90)) > 1, rng.permutation(90)
    tree = DecisionTreeClassifier(min_samples_leaf=2) if learner is None else learner
    model = BaggingClassifier(tree, bootstrap=bootstrap, max_samples=0.5, n_estimators=20)
    one = clone(model).fit(X, y, weights)
    other = clone(model).fit(X[shuffled], y[shuffled], weights[shuffled])
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_copy_by_pickle_says_the_same():
    for model in (BaggingClassifier(max_features=2), BaggingClassifier(LOGISTIC, max_features=2)):
        fitted = model.fit(*IRIS)
        copied = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(copied.predict_proba(IRIS[0]), fitted.predict_proba(IRIS[0]))


# ------------------------------------------------------------------ the fast path


def test_bagged_trees_are_a_random_forest_that_tries_all_features_if_no_two_gain_the_same():
    X, y = DIABETES
    large = {"min_samples_leaf": 25}
    forest = RandomForestClassifier(10, max_features=None, random_state=5, **large).fit(X, y > 150)
    bagging = BaggingClassifier(DecisionTreeClassifier(**large), random_state=5).fit(X, y > 150)
    assert bagging.fingerprint_ == forest.fingerprint_
    forest = RandomForestRegressor(10, random_state=5, **large).fit(X, y)
    bagging = BaggingRegressor(DecisionTreeRegressor(**large), random_state=5).fit(X, y)
    assert bagging.fingerprint_ == forest.fingerprint_


TREES = [{}, {"min_samples_leaf": 3}, {"max_leaf_nodes": 6, "criterion": "entropy"}]
TREES += [{"ccp_alpha": 0.02}, {"class_weight": "balanced"}]


def assert_the_same_trees(fast, slow, X):
    """Of its own rows, because equal gains may be of other cuts: margins are of the whole table."""
    assert_array_equal(fast.estimators_features_, slow.estimators_features_)
    for number, rows in enumerate(fast.estimators_samples_):
        assert_array_equal(rows, slow.estimators_samples_[number])
        own = X[rows][:, fast.estimators_features_[number]]
        one, other = (said(each.estimators_[number], own) for each in (fast, slow))
        assert_allclose(one, other, rtol=1e-9)  # sums have other units


@pytest.mark.parametrize("plan", PLANS, ids=str)
@pytest.mark.parametrize("parameters", TREES, ids=str)
def test_the_fast_path_is_the_general_way_of_the_same_tree(plan, parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=800), [-0.5, 0.8])
    parameters = {"max_depth": 3, **parameters}  # small nodes have cuts of equal gain
    fast = BaggingClassifier(DecisionTreeClassifier(**parameters), **plan).fit(X, y)
    slow = BaggingClassifier(OwnTree(**parameters), **plan).fit(X, y)
    assert hasattr(fast, "fingerprint_")
    assert not hasattr(slow, "fingerprint_")
    assert_the_same_trees(fast, slow, X)


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_the_fast_path_is_the_general_way_of_the_same_regression_tree(plan):
    X, y = DIABETES
    y = np.column_stack([y, np.sqrt(y)])
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    fast = BaggingRegressor(DecisionTreeRegressor(max_depth=4), **plan).fit(X, y, weights)
    slow = BaggingRegressor(OwnRegressionTree(max_depth=4), **plan).fit(X, y, weights)
    assert_the_same_trees(fast, slow, X)


def test_a_share_of_rows_is_one_of_the_rows_that_are_drawn():
    tree = DecisionTreeRegressor(min_samples_leaf=0.25)
    model = BaggingRegressor(tree, bootstrap=False, max_samples=40).fit(*DIABETES)
    sizes = np.concatenate([each.tree_.n_node_samples for each in model.estimators_])
    assert 10 <= sizes.min() < 20


@pytest.mark.parametrize(
    "tree",
    [
        DecisionTreeClassifier(ccp_alpha="cv"),
        DecisionTreeClassifier(misclassification_cost=1 - np.eye(3)),
        DecisionTreeClassifier(class_weight={0: 1.0, 1: 5.0, 2: 1.0}),
    ],
    ids=["cv", "cost", "weights of classes"],
)
def test_trees_that_forests_do_not_know_go_the_general_way(tree):
    model = BaggingClassifier(tree, n_estimators=3).fit(*IRIS)
    assert not hasattr(model, "fingerprint_")
    assert type(model.estimators_[0]) is DecisionTreeClassifier
    assert model.score(*IRIS) > 0.9


def test_parameters_of_the_tree_reach_each_tree():
    tree = DecisionTreeClassifier(max_depth=2, criterion="entropy")
    model = BaggingClassifier(tree).fit(*IRIS)
    assert {each.get_depth() for each in model.estimators_} <= {1, 2}
    assert {each.criterion for each in model.estimators_} == {"entropy"}
    message(BaggingClassifier(DecisionTreeClassifier(max_depth=0)).fit, *IRIS)


def test_a_node_tries_a_share_of_the_features_of_its_tree():
    tree = DecisionTreeRegressor(max_features=0.5, max_depth=1)
    model = BaggingRegressor(tree, 150, max_features=2, bootstrap=False).fit(*DIABETES)
    roots = {}
    for each, features in zip(model.estimators_, model.estimators_features_, strict=True):
        roots.setdefault(tuple(features), set()).add(each.tree_.feature[0])
    assert {0, 1} in roots.values()  # all rows and the same two features: not always the better


def test_categories_of_pandas_are_split_by_the_fast_path():
    pandas = pytest.importorskip("pandas")
    problem = census(600)
    frame = pandas.DataFrame(problem.columns).astype({"work": "category", "town": "category"})
    model = BaggingClassifier(max_features=3, oob_score=True, n_estimators=20)
    model.fit(frame, problem.classes)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    total = 0.0
    for tree, features in zip(model.estimators_, model.estimators_features_, strict=True):
        total = total + tree.predict_proba(frame.iloc[:, features])
    assert_allclose(model.predict_proba(frame), total / 20, rtol=1e-12)
    same = clone(model).fit(problem.X, problem.classes)
    assert same.fingerprint_ == model.fingerprint_


# ------------------------------------------------------------------ what is drawn


@pytest.mark.parametrize("learner", [None, KNeighborsClassifier()], ids=repr)
def test_pasting_draws_distinct_rows(learner):
    model = BaggingClassifier(learner, bootstrap=False, max_samples=0.3).fit(*IRIS)
    sizes = [len(np.unique(rows)) for rows in model.estimators_samples_]
    assert sizes == [len(rows) for rows in model.estimators_samples_] == [45] * 10
    assert len({rows.tobytes() for rows in model.estimators_samples_}) == 10


@pytest.mark.parametrize("learner", [None, KNeighborsClassifier()], ids=repr)
def test_bootstrap_draws_as_many_rows_as_are_asked_for(learner):
    for max_samples, n_drawn in ((None, 150), (2.0, 300), (20, 20), (0.1, 15)):
        model = BaggingClassifier(learner, max_samples=max_samples).fit(*IRIS)
        assert [len(rows) for rows in model.estimators_samples_] == [n_drawn] * 10
        assert any(len(np.unique(rows)) < n_drawn for rows in model.estimators_samples_)


@pytest.mark.parametrize("learner", [None, KNeighborsClassifier()], ids=repr)
def test_rows_are_drawn_in_proportion_to_their_weights(learner):
    X, y = IRIS
    weights = np.where(y == 0, 0.0, np.where(y == 1, 1.0, 3.0))
    model = BaggingClassifier(learner, 40).fit(X, y, weights)
    drawn = np.concatenate(model.estimators_samples_)
    assert model.classes_.tolist() == [1, 2]
    assert not (y[drawn] == 0).any()
    assert np.mean(y[drawn] == 2) == pytest.approx(0.75, abs=0.02)  # 8,000 draws: 4 deviations


@pytest.mark.parametrize("learner", [None, Ridge()], ids=repr)
@pytest.mark.parametrize("replaced", [False, True])
def test_models_have_as_many_features_as_are_asked_for_and_use_no_others(learner, replaced):
    X, y = DIABETES
    model = BaggingRegressor(learner, 20, max_features=4, bootstrap_features=replaced).fit(X, y)
    drawn = model.estimators_features_
    assert {len(features) for features in drawn} == {4}
    assert any(len(set(features)) < 4 for features in drawn) == replaced
    assert len({tuple(features) for features in drawn}) > 10
    total = 0.0
    for each, features in zip(model.estimators_, drawn, strict=True):
        assert each.n_features_in_ == 4
        total = total + each.predict(X[:, features])
    assert_allclose(model.predict(X), total / 20, rtol=1e-12)


def test_a_share_of_features_is_rounded_down_but_never_to_none():
    for share, n_drawn in ((0.5, 2), (0.7, 2), (0.01, 1)):
        model = BaggingClassifier(max_features=share).fit(*IRIS)
        assert {len(features) for features in model.estimators_features_} == {n_drawn}


# ------------------------------------------------------------------ votes and means


class Saying(ClassifierMixin, BaseEstimator):
    """Say what the random state draws: probabilities are 0.4, 0.6 or 0.9, 0.1."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):  # noqa: ARG002  scikit-learn's
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        shares = [0.4, 0.6] if self.random_state % 3 else [0.9, 0.1]
        return np.tile(shares, (len(X), 1))

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def test_hard_voting_counts_models_and_soft_voting_averages_them():
    X, y = np.arange(20.0)[:, None], np.repeat(["no", "yes"], 10)
    soft, hard = (BaggingClassifier(Saying(), 9, voting=way).fit(X, y) for way in ("soft", "hard"))
    n_sure = sum(each.random_state % 3 == 0 for each in soft.estimators_)
    assert 0 < n_sure < 4.5
    shares = [0.9 * n_sure + 0.4 * (9 - n_sure), 0.1 * n_sure + 0.6 * (9 - n_sure)]
    assert_allclose(soft.predict_proba(X[:1])[0], np.array(shares) / 9)
    assert_allclose(hard.predict_proba(X[:1])[0], [n_sure / 9, 1 - n_sure / 9])
    assert hard.predict(X[:1]) == ["yes"]


@pytest.mark.parametrize("learner", [None, OwnTree()], ids=repr)
def test_hard_and_soft_votes_of_trees_are_those_of_the_trees(learner):
    X, y = IRIS
    tree = DecisionTreeClassifier(max_depth=1) if learner is None else OwnTree(max_depth=1)
    soft, hard = (BaggingClassifier(tree, voting=way).fit(X, y) for way in ("soft", "hard"))
    votes = sum(np.eye(3)[each.predict(X)] for each in hard.estimators_) / 10
    shares = sum(each.predict_proba(X) for each in soft.estimators_) / 10
    assert_allclose(hard.predict_proba(X), votes, rtol=1e-12)
    assert_allclose(soft.predict_proba(X), shares, rtol=1e-12)
    assert (votes != shares).any()


def test_a_learner_without_probabilities_votes():
    X, y = IRIS
    model = BaggingClassifier(LinearSVC(), 7, max_features=3).fit(X, y)
    own = zip(model.estimators_, model.estimators_features_, strict=True)
    votes = sum(np.eye(3)[each.predict(X[:, features])] for each, features in own) / 7
    assert_allclose(model.predict_proba(X), votes)
    decisions = [
        each.decision_function(X[:, features])
        for each, features in zip(model.estimators_, model.estimators_features_, strict=True)
    ]
    assert_allclose(model.decision_function(X), np.mean(decisions, axis=0))
    assert not hasattr(BaggingClassifier(), "decision_function")


def test_a_learner_without_weights_is_given_rows_as_often_as_they_are_drawn():
    X, y = DIABETES
    model = BaggingRegressor(KNeighborsRegressor(3), 4).fit(X, y)
    for each, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert sorted(each._y.tolist()) == sorted(y[rows].tolist())


def test_a_learner_with_weights_is_given_the_number_of_draws():
    X, y = DIABETES
    model = BaggingRegressor(Ridge(), 4).fit(X, y)
    for each, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        # Another order of the rows: sums are rounded elsewhere.
        assert_allclose(each.coef_, Ridge().fit(X[rows], y[rows]).coef_, rtol=1e-8)


def test_pasted_rows_keep_their_weights():
    X, y = DIABETES
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    model = BaggingRegressor(Ridge(), 4, bootstrap=False, max_samples=0.5).fit(X, y, weights)
    for each, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        own = Ridge().fit(X[rows], y[rows], weights[rows])
        assert_allclose(each.coef_, own.coef_, rtol=1e-6)  # weights are whole steps of 2^-30
    neighbours = BaggingRegressor(KNeighborsRegressor(), bootstrap=False, max_samples=0.5)
    assert "bootstrap=True" in message(neighbours.fit, X, y, weights)
    neighbours.fit(X, y, np.full(len(y), 2.0))


def test_a_class_that_is_missing_in_a_sample_has_no_share_there():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.array(["a"] * 29 + ["b"] + ["c"] * 30)
    model = BaggingClassifier(LOGISTIC, 10).fit(X, y)
    seen = [each.classes_.tolist() for each in model.estimators_]
    assert ["a", "c"] in seen
    assert ["a", "b", "c"] in seen
    total = np.zeros((60, 3))
    for each in model.estimators_:
        for k, name in enumerate(each.classes_):
            total[:, "abc".index(name)] += each.predict_proba(X)[:, k]
    assert_allclose(model.predict_proba(X), total / 10)
    assert model.decision_function(X).shape == (60, 3)


def test_a_sample_of_one_class_makes_a_constant_and_a_warning():
    X, y = np.arange(12.0)[:, None], np.array([0] * 11 + [1])
    with pytest.warns(UserWarning, match="of 30 samples have rows of one class only, of 2"):
        model = BaggingClassifier(LOGISTIC, 30).fit(X, y)
    constant = [each for each in model.estimators_ if len(each.classes_) == 1]
    assert 0 < len(constant) < 30
    assert_array_equal(constant[0].predict(X), 0)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# ------------------------------------------------------------------ out of bag


@pytest.mark.parametrize("plan", [{}, {"bootstrap": False, "max_samples": 0.6}], ids=str)
@pytest.mark.parametrize("learner", [None, LOGISTIC, LinearSVC()], ids=repr)
def test_each_row_is_judged_by_the_models_that_have_not_seen_it(learner, plan):
    X, y = IRIS
    model = BaggingClassifier(learner, 12, max_features=3, oob_score=True, **plan).fit(X, y)
    total, n_models = np.zeros((150, 3)), np.zeros(150)
    own = model.estimators_, model.estimators_samples_, model.estimators_features_
    for each, rows, features in zip(*own, strict=True):
        left = np.setdiff1d(np.arange(150), rows)
        x = X[left][:, features]
        total[left] += (
            each.predict_proba(x) if hasattr(each, "predict_proba") else np.eye(3)[each.predict(x)]
        )
        n_models[left] += 1
    known = n_models > 0
    assert_allclose(model.oob_decision_function_[known], (total / n_models[:, None])[known])
    assert model.oob_score_ == pytest.approx(np.mean(total.argmax(axis=1)[known] == y[known]))
    assert model.oob_curve_.shape == (12,)
    assert model.oob_curve_[-1] == model.oob_score_


@pytest.mark.parametrize("learner", [None, Ridge()], ids=repr)
def test_each_number_is_judged_by_the_models_that_have_not_seen_it(learner):
    X, y = DIABETES
    model = BaggingRegressor(learner, 30, oob_score=True).fit(X, y)
    total, n_models = np.zeros(len(y)), np.zeros(len(y))
    for each, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        left = np.setdiff1d(np.arange(len(y)), rows)
        total[left] += each.predict(X[left])
        n_models[left] += 1
    assert n_models.min() > 0
    assert_allclose(model.oob_prediction_, total / n_models)
    errors = (y - total / n_models) ** 2
    assert model.oob_score_ == pytest.approx(1 - errors.sum() / ((y - y.mean()) ** 2).sum())


# ------------------------------------------------------------------ going on, and stopping


@pytest.mark.parametrize("learner", [None, LOGISTIC, Saying()], ids=repr)
def test_five_models_and_five_more_are_ten(learner):
    X, y = IRIS[0][50:], IRIS[1][50:]
    ten = BaggingClassifier(learner, 10, max_features=3, random_state=7, oob_score=True).fit(X, y)
    five = clone(ten).set_params(n_estimators=5, warm_start=True).fit(X, y)
    more = five.set_params(n_estimators=10).fit(X, y)
    assert len(more.estimators_) == 10
    assert_array_equal(more.predict_proba(X), ten.predict_proba(X))
    assert_array_equal(more.oob_curve_, ten.oob_curve_)
    assert "is less than the 10" in message(more.set_params(n_estimators=3).fit, X, y)
    changed = more.set_params(n_estimators=11, max_features=2)
    assert "warm_start=False" in message(changed.fit, X, y)


class Interrupted(Ridge):
    """Be interrupted by the user in the fit of one model."""

    victim = -1

    def fit(self, X, y, sample_weight=None):
        if self.random_state == Interrupted.victim:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_keeps_the_models_that_are_fitted(n_jobs):
    X, y = DIABETES
    whole = BaggingRegressor(Ridge()).fit(X, y)
    Interrupted.victim = whole.estimators_[4].random_state
    model = BaggingRegressor(Interrupted(), n_jobs=n_jobs, oob_score=True).fit(X, y)
    for kept, own in zip(model.estimators_, whole.estimators_[:4], strict=True):
        assert_array_equal(kept.coef_, own.coef_)
    assert len(model.estimators_samples_) == len(model.oob_curve_) == 4


def test_an_interrupt_before_the_first_model_changes_nothing():
    X, y = DIABETES
    model = BaggingRegressor(Interrupted(), 3, n_jobs=1)
    Interrupted.victim = -1
    before = model.fit(X, y).predict(X)
    Interrupted.victim = model.estimators_[0].random_state
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=20).fit(X[:100], y[:100])
    assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("learner", [None, Ridge()], ids=repr)
def test_no_model_is_begun_after_the_time_limit(learner):
    model = BaggingRegressor(learner, 100_000, time_limit=0.05, n_jobs=2).fit(*DIABETES)
    assert 1 <= len(model.estimators_) < 100_000


def test_an_error_of_a_learner_leaves_the_earlier_fit_whole():
    X, y = IRIS
    model = BaggingClassifier(LOGISTIC).fit(X, y)
    before = model.predict_proba(X)
    holes = np.where(X > 7, np.nan, X)
    message(model.fit, holes, y)
    assert_array_equal(model.predict_proba(X), before)


# ------------------------------------------------------------------ tables of any kind


class Reporting(Ridge):
    """Remember the kind of table that it was given."""

    def fit(self, X, y, sample_weight=None):
        self.kind_ = type(X)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "csr", "csc", "coo", "list"])
def test_a_learner_is_given_the_kind_of_table_that_the_user_gave(kind):
    X, y = DIABETES
    given = {
        "array": lambda: X,
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(X, columns=list("abcdefghij")),
        "polars": lambda: pytest.importorskip("polars").DataFrame(X, schema=list("abcdefghij")),
        "csr": lambda: sparse.csr_matrix(X),
        "csc": lambda: sparse.csc_array(X),
        "coo": lambda: sparse.coo_array(X),
        "list": X.tolist,
    }[kind]()
    model = BaggingRegressor(Reporting(), 4, max_features=5, oob_score=True).fit(given, y)
    kinds = {"list": np.ndarray, "csc": sparse.csr_array, "coo": sparse.csr_array}
    assert {each.kind_ for each in model.estimators_} == {kinds.get(kind, type(given))}
    same = BaggingRegressor(Reporting(), 4, max_features=5).fit(X, y)
    # Sparse tables are solved by another algorithm.
    assert_allclose(model.predict(given), same.predict(X), rtol=1e-3 if "c" in kind else 1e-12)


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (BaggingClassifier(max_samples=2.0, bootstrap=False), "asks for 300 rows"),
        (BaggingClassifier(max_samples=151, bootstrap=False), "only 150 to be drawn"),
        (BaggingClassifier(max_features=5), "max_features=5 is more than the 4 features"),
        (BaggingClassifier(max_features=1.5), "max_features"),
        (BaggingClassifier("tree"), "implementing 'fit' and 'predict'"),
        (BaggingClassifier(DecisionTreeClassifier), r"Pass estimator=DecisionTreeClassifier()"),
        (BaggingClassifier(Ridge()), "use BaggingRegressor"),
        (BaggingRegressor(LOGISTIC), "use BaggingClassifier"),
        (BaggingClassifier(voting="sotf"), "Did you mean 'soft'?"),
        (BaggingClassifier(bootstrap=False, oob_score=True), "Pass bootstrap=True"),
        (BaggingClassifier(LOGISTIC, bootstrap=False, oob_score=True), "Pass bootstrap=True"),
    ],
    ids=str,
)
def test_a_parameter_that_makes_no_sense_is_refused_with_a_way_out(model, words):
    assert words in message(model.fit, *IRIS, error=(ValueError, TypeError))
