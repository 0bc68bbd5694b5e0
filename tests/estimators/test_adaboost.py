"""AdaBoost classifiers: order, threads, weights, learners, stopping, extremes, messages."""

import pickle
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from hedgerow import AdaBoostClassifier, DecisionTreeClassifier, DecisionTreeRegressor
from tests.estimators.tables import census, message

pytestmark = pytest.mark.usefixtures("many_hands")

IRIS, CANCER = load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)
TREES = [
    DecisionTreeClassifier(max_depth=1),
    DecisionTreeClassifier(max_depth=3, criterion="misclassification"),
    DecisionTreeClassifier(max_leaf_nodes=5, min_samples_leaf=3, criterion="entropy"),
    DecisionTreeClassifier(max_depth=2, max_features=2, splitter="random"),
    DecisionTreeClassifier(max_depth=2, criterion="exponential", min_weight_fraction_leaf=0.05),
]
MODELS = [AdaBoostClassifier(tree, n_estimators=12) for tree in TREES]
MODELS.append(AdaBoostClassifier(TREES[1], n_estimators=12, algorithm="real", learning_rate=0.5))
MODELS.append(AdaBoostClassifier(n_estimators=12, early_stopping=True, n_iter_no_change=3))


def fresh(model, **parameters):
    return type(model)(**model.get_params(deep=False) | parameters)


# ------------------------------------------------------------------ order, threads, weights


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("table", ["iris", "cancer", "census"])
def test_the_model_is_the_same_for_any_order_of_rows_and_number_of_threads(model, table):
    people = census(600)
    X, y = {"iris": IRIS, "cancer": CANCER, "census": (people.X, people.classes)}[table]
    shuffled = np.random.default_rng(0).permutation(len(y))
    first = fresh(model, n_jobs=1).fit(X, y)
    for n_jobs in (1, 3):
        other = fresh(model, n_jobs=n_jobs).fit(X[shuffled], y[shuffled])
        assert other.fingerprint_ == first.fingerprint_
        assert_array_equal(other.estimator_weights_, first.estimator_weights_)
        assert_array_equal(other.predict_proba(X), first.predict_proba(X))


@pytest.mark.parametrize("model", [*MODELS[:2], *MODELS[4:6]])
def test_a_row_of_weight_3_is_three_rows(model):
    X, y = CANCER
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = fresh(model).fit(X, y, sample_weight=weights)
    repeated = fresh(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.fingerprint_ == repeated.fingerprint_
    assert_array_equal(weighted.estimator_errors_, repeated.estimator_errors_)


@pytest.mark.parametrize("scale", [1e-200, 1e200, 2.0**40])
def test_only_ratios_of_weights_matter(scale):
    X, y = CANCER
    weights = np.random.default_rng(2).random(len(y))
    one = AdaBoostClassifier(n_estimators=8).fit(X, y, sample_weight=weights)
    other = AdaBoostClassifier(n_estimators=8).fit(X, y, sample_weight=scale * weights)
    assert_allclose(one.estimator_weights_, other.estimator_weights_, rtol=1e-9)
    assert_array_equal(one.predict(X), other.predict(X))


def test_repeats_of_a_tree_that_is_grown_by_itself_are_those_of_the_table():
    """Each tree of the fast path is that of its own class, fitted to the weights of its round."""
    X, y = CANCER
    tree = DecisionTreeClassifier(max_depth=2)
    model = AdaBoostClassifier(tree, n_estimators=6).fit(X, y)
    weights = np.ones(len(y))
    for own, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        alone = DecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=weights)
        assert_array_equal(own.predict(X), alone.predict(X))
        assert_allclose(own.predict_proba(X), alone.predict_proba(X), atol=1e-9)
        weights = weights * np.exp(alpha * (own.predict(X) != y))


# ------------------------------------------------------------------ stages


@pytest.mark.parametrize("model", [MODELS[0], MODELS[5], AdaBoostClassifier(GaussianNB())])
@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
def test_a_stage_is_the_model_of_fewer_rounds(model, data):
    X, y = data
    whole = fresh(model, n_estimators=6).fit(X, y)
    for number in range(1, whole.n_estimators_ + 1):
        fewer = fresh(model, n_estimators=number).fit(X, y)
        stages = [whole.staged_decision_function(X), whole.staged_predict(X)]
        stages += [whole.staged_predict_proba(X), whole.staged_score(X, y)]
        asked = [fewer.decision_function(X), fewer.predict(X)]
        asked += [fewer.predict_proba(X), fewer.score(X, y)]
        for stage, one in zip(stages, asked, strict=True):
            assert_array_equal(list(stage)[number - 1], one)


@pytest.mark.parametrize(
    "model", [MODELS[0], MODELS[3], MODELS[5], AdaBoostClassifier(GaussianNB())]
)
@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
def test_rounds_go_on_where_they_were(model, data):
    X, y = data
    whole = fresh(model, n_estimators=7).fit(X, y)
    parts = fresh(model, n_estimators=3, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=7).fit(X, y)
    assert_array_equal(parts.estimator_weights_, whole.estimator_weights_)
    assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    if hasattr(whole, "fingerprint_"):
        assert parts.fingerprint_ == whole.fingerprint_


def test_probabilities_agree_with_predictions_and_logarithms():
    for X, y in (IRIS, CANCER):
        model = AdaBoostClassifier(n_estimators=10).fit(X, y)
        p = model.predict_proba(X)
        assert_allclose(p.sum(axis=1), 1.0)
        assert_array_equal(model.classes_[np.argmax(p, axis=1)], model.predict(X))
        assert_allclose(model.predict_log_proba(X), np.log(p))


def test_importances_are_the_mean_of_the_trees():
    model = AdaBoostClassifier(n_estimators=9).fit(*CANCER)
    each = np.array([tree.feature_importances_ for tree in model.estimators_])
    alpha = model.estimator_weights_
    assert_allclose(model.feature_importances_, alpha @ each / alpha.sum())
    assert_allclose(model.feature_importances_.sum(), 1.0)
    other = AdaBoostClassifier(SklearnTree(max_depth=1), n_estimators=9).fit(*CANCER)
    assert_allclose(other.feature_importances_.sum(), 1.0)


def test_a_model_is_the_same_after_pickling():
    X, y = CANCER
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    other = pickle.loads(pickle.dumps(model))
    assert other.fingerprint_ == model.fingerprint_
    assert_array_equal(other.decision_function(X), model.decision_function(X))


# ------------------------------------------------------------------ learners


class OwnTree(DecisionTreeClassifier):
    """A tree that the fast path does not know."""


@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["iris", "cancer"])
def test_the_fast_path_is_the_general_one_sooner(data):
    X, y = data
    fast = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4).fit(X, y)
    slow = AdaBoostClassifier(OwnTree(max_depth=2), n_estimators=4).fit(X, y)
    assert_array_equal(fast.predict(X), slow.predict(X))
    assert_allclose(fast.estimator_errors_, slow.estimator_errors_, atol=1e-9)
    assert_allclose(fast.decision_function(X), slow.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("learner", [LogisticRegression(max_iter=2000), GaussianNB()])
def test_any_classifier_with_weights_is_boosted_in_any_order_of_rows(learner):
    X, y = IRIS
    X = X[:, :2] / X[:, :2].max(axis=0)
    shuffled = np.random.default_rng(3).permutation(len(y))
    one = AdaBoostClassifier(learner, n_estimators=4).fit(X, y)
    other = AdaBoostClassifier(learner, n_estimators=4).fit(X[shuffled], y[shuffled])
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert len(one.estimators_) == 4
    assert not hasattr(one, "fingerprint_")


def test_learners_without_weights_are_given_samples():
    X, y = IRIS
    shuffled = np.random.default_rng(4).permutation(len(y))
    model = AdaBoostClassifier(KNeighborsClassifier(1), n_estimators=5, resample=True)
    one, other = fresh(model).fit(X, y), fresh(model).fit(X[shuffled], y[shuffled])
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert one.score(X, y) > 0.95
    another = fresh(model, random_state=1).fit(X, y)
    assert not np.array_equal(one.decision_function(X), another.decision_function(X))
    said = message(AdaBoostClassifier(KNeighborsClassifier()).fit, X, y)
    assert "takes no sample_weight" in said
    assert "resample=True" in said


def test_heavy_rows_are_drawn_more_often():
    """The first sample of a row of weight 8 among 8 of weight 1 has it about half of the time."""
    X, y = np.arange(9.0)[:, None], np.array([0, 1] * 4 + [0])
    weights = np.where(np.arange(9) == 8, 8.0, 1.0)

    class Noting(KNeighborsClassifier):
        seen: ClassVar = []

        def fit(self, X, y):
            Noting.seen.append(np.asarray(X)[:, 0])
            return super().fit(X, y)

    for seed in range(40):
        model = AdaBoostClassifier(Noting(1), n_estimators=1, resample=True, random_state=seed)
        model.fit(X, y, sample_weight=weights)
    share = np.mean(np.concatenate(Noting.seen) == 8)
    assert abs(share - 0.5) < 4 * np.sqrt(0.25 / (40 * 16))


def test_real_adaboost_needs_probabilities():
    X, y = IRIS

    class Silent(OwnTree):
        @property
        def predict_proba(self):
            raise AttributeError("predict_proba")

    assert "predict_proba" in message(
        AdaBoostClassifier(Silent(), algorithm="real").fit, X, y, error=TypeError
    )


# ------------------------------------------------------------------ stopping


def test_rounds_are_chosen_by_rows_that_are_held_out():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 5))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=2000) > 0).astype(int)
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=4),
        n_estimators=300,
        early_stopping=True,
        n_iter_no_change=9,
    ).fit(X, y)
    errors = model.validation_errors_
    assert model.n_estimators_ == len(model.estimators_) == np.argmin(errors) + 1
    assert len(errors) <= model.n_estimators_ + 9 < 300
    assert len(model.estimator_weights_) == model.n_estimators_
    assert f"best after round {model.n_estimators_}, of {len(errors)}" in model.stopped_
    assert not hasattr(AdaBoostClassifier(n_estimators=2).fit(X, y), "validation_errors_")


def test_a_perfect_learner_is_watched_too():
    X = np.arange(40.0)[:, None]
    tree = DecisionTreeClassifier(max_depth=1)
    model = AdaBoostClassifier(tree, early_stopping=True).fit(X, X[:, 0] > 19)
    assert len(model.validation_errors_) == model.n_estimators_ == 1
    assert "right about every row" in model.stopped_


def test_a_perfect_learner_is_the_last():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    model = AdaBoostClassifier().fit(X, y)
    assert model.n_estimators_ == 1
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.stopped_ == "Round 1 is right about every row: no round can add to it."
    assert_array_equal(model.predict(X), y)
    assert model.predict_proba(X)[0, 0] > 1 - 1e-15
    more = model.set_params(warm_start=True, n_estimators=60).fit(X, y)
    assert more.n_estimators_ == 1


def test_a_learner_no_better_than_chance_ends_the_fit_with_a_warning():
    X, y = np.ones((3, 1)), np.array([0, 0, 1])  # all are called 0, and then nothing is left
    with pytest.warns(UserWarning, match=r"stopped at round 2 of 50: .* chance, 0\.500\. Use deep"):
        model = AdaBoostClassifier().fit(X, y)
    assert model.n_estimators_ == 1
    assert "round 2" in model.stopped_
    said = message(AdaBoostClassifier().fit, np.ones((4, 1)), [0, 1, 0, 1])
    assert "stopped at round 1 of 50" in said
    assert "chance, 0.500" in said


def test_time_and_interrupts_keep_the_rounds_that_are_done():
    X, y = CANCER
    assert AdaBoostClassifier(n_estimators=50, time_limit=1e-9).fit(X, y).n_estimators_ == 1
    calls = []

    class Interrupting(OwnTree):
        def fit(self, X, y, sample_weight=None):
            calls.append(0)
            if len(calls) in (4, 5):
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight=sample_weight)

    model = AdaBoostClassifier(Interrupting(max_depth=1)).fit(X, y)
    assert model.n_estimators_ == 3
    with pytest.raises(KeyboardInterrupt):
        AdaBoostClassifier(Interrupting(max_depth=1)).fit(X, y)


# ------------------------------------------------------------------ extremes


def test_weights_that_span_e_to_the_700_are_kept():
    X = np.arange(6.0)[:, None]
    y = np.array([0, 1, 0, 1, 0, 1])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, np.exp(-700)])
    model = AdaBoostClassifier(n_estimators=400).fit(X, y, sample_weight=weights)
    assert np.isfinite(model.estimator_weights_).all()
    assert_array_equal(model.predict(X)[:5], y[:5])


@pytest.mark.slow
def test_margins_beyond_the_range_of_float64_stay_finite():
    X, y = np.arange(3.0)[:, None], np.array([0, 1, 0])  # stumps of three kinds, by turns
    model = AdaBoostClassifier(n_estimators=9000).fit(X, y)
    f = model.decision_function(X)
    assert np.abs(f).min() > 750  # e^-750 is 0 in float64: plain weights would all be
    # The cycle of Rudin, Daubechies and Schapire (2004): an edge of the golden ratio less 1.
    assert_allclose(model.estimator_errors_[-3:], (3 - np.sqrt(5)) / 4, rtol=1e-9)
    assert np.isfinite(model.predict_proba(X)).all()
    assert_array_equal(model.predict(X), y)


def test_one_class_is_always_named():
    X = np.arange(4.0)[:, None]
    for algorithm in ("samme", "real"):
        model = AdaBoostClassifier(algorithm=algorithm).fit(X, ["only"] * 4)
        assert model.predict(X).tolist() == ["only"] * 4
        assert_array_equal(model.predict_proba(X), np.ones((4, 1)))
        assert_array_equal(model.decision_function(X), np.zeros(4))


def test_rows_of_weight_zero_are_not_there():
    X, y = CANCER
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    kept = weights > 0
    one = AdaBoostClassifier(n_estimators=5).fit(X, y, sample_weight=weights)
    other = AdaBoostClassifier(n_estimators=5).fit(X[kept], y[kept])
    assert one.fingerprint_ == other.fingerprint_


def test_categories_and_missing_values_come_as_they_are():
    people = census(500)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=20)
    model.fit(people.X, people.classes)
    assert model.score(people.X, people.classes) > 0.7
    assert model.estimators_[0].predict(people.X).shape == (500,)


@pytest.mark.slow
def test_a_million_rows():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(1_000_000, 3))
    y = (X.sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    e = model.estimator_errors_
    errors = 1 - np.array(list(model.staged_score(X, y)))
    assert (errors <= np.cumprod(2 * np.sqrt(e * (1 - e)))).all()
    assert errors[-1] < errors[0]


# ------------------------------------------------------------------ messages


def test_errors_say_what_to_do():
    X, y = IRIS
    discrete, reel = AdaBoostClassifier(algorithm="discrete"), AdaBoostClassifier(algorithm="reel")
    assert "Pass algorithm='samme'" in message(discrete.fit, X, y)
    assert "Did you mean 'real'?" in message(reel.fit, X, y)
    a_class, a_regressor = map(AdaBoostClassifier, (GaussianNB, DecisionTreeRegressor()))
    assert "Pass estimator=GaussianNB()" in message(a_class.fit, X, y, error=TypeError)
    assert "use AdaBoostRegressor" in message(a_regressor.fit, X, y, error=TypeError)
    both = AdaBoostClassifier(warm_start=True, early_stopping=True)
    assert "Pass one" in message(both.fit, X, y)
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, y)
    assert "less than the 3 rounds" in message(model.set_params(n_estimators=2).fit, X, y)
    assert "warm_start=False" in message(model.fit, X[:, :2], y)
