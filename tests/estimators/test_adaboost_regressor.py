"""AdaBoost.R2: its definition, order and threads, learners, stopping, messages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from hedgerow import AdaBoostRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.ensembles.adaboost_r2 import weighted_medians
from tests.estimators.tables import census, message

pytestmark = pytest.mark.usefixtures("many_hands")

DIABETES = load_diabetes(return_X_y=True)
LOSSES = {
    "linear": lambda r: r,
    "square": lambda r: r**2,
    "exponential": lambda r: 1 - np.exp(-r),
}


class OwnTree(DecisionTreeRegressor):
    """A tree that the fast path does not know."""


MODELS = [
    AdaBoostRegressor(n_estimators=6),
    AdaBoostRegressor(n_estimators=6, resample=False, loss="square", learning_rate=0.5),
    AdaBoostRegressor(DecisionTreeRegressor(max_depth=2, max_features=3), n_estimators=6),
    AdaBoostRegressor(OwnTree(max_depth=2), n_estimators=4, loss="exponential"),
]


def fresh(model, **parameters):
    return type(model)(**model.get_params(deep=False) | parameters)


@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("loss", LOSSES)
def test_rounds_are_those_of_the_definition(loss, rate):  # Drucker (1997)
    X, y = DIABETES
    tree = DecisionTreeRegressor(max_depth=3)
    model = AdaBoostRegressor(
        tree, n_estimators=5, loss=loss, learning_rate=rate, resample=False
    ).fit(X, y)
    weights, said, alphas = np.full(len(y), 1 / len(y)), [], []
    for number in range(5):
        # Trees of weights in steps of 2^-30 may part where gains differ by less: take ours.
        h = model.estimators_[number].predict(X)
        r = np.abs(y - h)
        missed = LOSSES[loss](r / r.max())
        error = (weights * missed).sum()
        alpha = rate * np.log((1 - error) / error)
        assert_allclose(model.estimator_errors_[number], error, rtol=1e-9)
        assert_allclose(model.estimator_weights_[number], alpha, rtol=1e-9)
        alone = DecisionTreeRegressor(max_depth=3).fit(X, y, sample_weight=weights)
        assert_allclose(h, alone.predict(X), rtol=1e-6)
        weights = weights * np.exp(-alpha * (1 - missed))
        weights /= weights.sum()
        said.append(h)
        alphas.append(alpha)
    for row in range(0, len(y), 50):
        order = np.argsort(np.array(said)[:, row])
        below = np.cumsum(np.array(alphas)[order])
        middle = order[np.searchsorted(below, 0.5 * below[-1])]
        assert model.predict(X[row : row + 1])[0] == said[middle][row]


def test_medians_are_weighted():
    said = np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]])
    assert weighted_medians(said, np.array([1.0, 1.0, 1.0])).tolist() == [2.0, 5.0]
    assert weighted_medians(said, np.array([5.0, 1.0, 1.0])).tolist() == [3.0, 5.0]
    assert weighted_medians(said, np.array([1.0, 1.0, 2.0])).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("table", ["diabetes", "census"])
def test_the_model_is_the_same_for_any_order_of_rows_and_number_of_threads(model, table):
    people = census(400)
    X, y = DIABETES if table == "diabetes" else (people.X, people.numbers)
    shuffled = np.random.default_rng(0).permutation(len(y))
    first = fresh(model, n_jobs=1).fit(X, y)
    for n_jobs in (1, 3):
        other = fresh(model, n_jobs=n_jobs).fit(X[shuffled], y[shuffled])
        assert_array_equal(other.estimator_weights_, first.estimator_weights_)
        assert_array_equal(other.predict(X), first.predict(X))
        if hasattr(first, "fingerprint_"):
            assert other.fingerprint_ == first.fingerprint_


# Draws are the same. Weights beside targets are rounded to 2^-30 of the heaviest row, repeated or
# not, and means are divided by sums of them: eight digits stay.
@pytest.mark.parametrize(("model", "tolerance"), [(MODELS[0], 1e-13), (MODELS[1], 1e-8)])
def test_a_row_of_weight_3_is_three_rows(model, tolerance):
    X, y = DIABETES
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = fresh(model).fit(X, y, sample_weight=weights)
    repeated = fresh(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(weighted.estimator_errors_, repeated.estimator_errors_, rtol=tolerance)
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=tolerance)


@pytest.mark.parametrize("model", MODELS)
def test_a_stage_is_the_model_of_fewer_rounds(model):
    X, y = DIABETES
    whole = fresh(model).fit(X, y)
    predicted, scores = list(whole.staged_predict(X)), list(whole.staged_score(X, y))
    for number in range(1, whole.n_estimators_ + 1):
        fewer = fresh(model, n_estimators=number).fit(X, y)
        assert_array_equal(predicted[number - 1], fewer.predict(X))
        assert scores[number - 1] == fewer.score(X, y)


def test_learners_of_any_kind_are_boosted():
    X, y = DIABETES
    for learner in (KNeighborsRegressor(3), Ridge()):
        model = AdaBoostRegressor(learner, n_estimators=4).fit(X, y)
        assert len(model.estimators_) == model.n_estimators_ == len(model.estimator_weights_)
        assert model.score(X, y) > 0.4
    said = message(AdaBoostRegressor(KNeighborsRegressor(), resample=False).fit, X, y)
    assert "takes no sample_weight" in said
    assert "resample=True" in said
    classifier = AdaBoostRegressor(DecisionTreeClassifier())
    assert "use AdaBoostClassifier" in message(classifier.fit, X, y, error=TypeError)


def test_seeds_draw_other_samples():
    X, y = DIABETES
    one, two = (AdaBoostRegressor(random_state=seed, n_estimators=3).fit(X, y) for seed in (0, 1))
    assert one.fingerprint_ != two.fingerprint_
    assert AdaBoostRegressor(n_estimators=3).fit(X, y).fingerprint_ == one.fingerprint_


def test_a_learner_that_misses_no_row_is_the_last():
    X, y = np.arange(8.0)[:, None], np.repeat([1.0, 2.0], 4)
    model = AdaBoostRegressor(resample=False).fit(X, y)
    assert model.n_estimators_ == 1
    assert model.stopped_ == "Round 1 misses no row: no round can add to it."
    assert_array_equal(model.predict(X), y)


def test_a_learner_of_large_loss_ends_the_fit_with_a_warning():
    X, y = np.ones((4, 1)), np.array([0.0, 1.0, 0.0, 1.0])
    with pytest.warns(UserWarning, match="stopped at round 1 of 50: .* Use deeper trees"):
        model = AdaBoostRegressor(resample=False).fit(X, y)
    assert model.n_estimators_ == 1
    assert "round 1" in model.stopped_
    assert_array_equal(model.predict(X), np.full(4, 0.5))


def test_importances_are_the_mean_of_the_trees():
    model = AdaBoostRegressor(n_estimators=5).fit(*DIABETES)
    each = np.array([tree.feature_importances_ for tree in model.estimators_])
    alpha = model.estimator_weights_
    assert_allclose(model.feature_importances_, alpha @ each / alpha.sum())


def test_time_keeps_the_rounds_that_are_done():
    assert AdaBoostRegressor(time_limit=1e-9).fit(*DIABETES).n_estimators_ == 1
