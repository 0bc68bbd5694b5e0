"""A certificate says what is guaranteed, and what is not."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

from hedgerow import DecisionTreeClassifier as OurTree
from hedgerow import StagewiseClassifier, theory
from hedgerow.estimators.certifying import boosted_certificate

ADABOOST = {"loss": "exponential", "init": "zero", "step": "exact", "learning_rate": 1.0}


def test_a_certificate_can_be_written_as_json():
    rounds = theory.Rounds([0.3, 0.2], 0.1, vc_dimension=2)
    seen = theory.Combination(np.array([0.5, -0.1, 1.0]), 4, gap=0.01)
    certificate = theory.certificate_of("A", n=3, rounds=rounds, combination=seen)
    told = json.loads(json.dumps(certificate.as_dict()))
    assert [each["what"] for each in told["guarantees"]] == [
        "training error",
        "training error",
        "VC dimension of the rounds",
        "true error and hinge risk",
        "hinge risk above the best of the class",
    ]
    assert told["guarantees"][2]["bound"] == theory.vc_bound(2, 2)
    assert str(certificate).count("\n") == 15
    assert all("notes 0, page" in each["source"] for each in told["guarantees"])


def test_the_bound_of_the_true_error_is_the_risk_and_the_deviation():
    m = np.array([0.5, -0.1, 1.0, 0.2])
    seen = theory.Combination(m, 7, "logistic", 2.0, 0.25)
    first, second = theory.certificate_of("A", n=4, combination=seen, delta=0.2).guarantees
    phi = theory.surrogate("logistic")
    deviation = theory.deviation_bound(4, 7, 0.2, phi, 2.0)
    assert_allclose(first.bound, phi.phi(-m).mean() + deviation)
    assert first.observed == 0.25
    assert_allclose(second.bound, 2 * deviation + 0.25)


@pytest.mark.parametrize(
    ("rounds", "broken"),
    [
        (theory.Rounds([0.3, 0.5], 0.3), "a round has the edge 0"),
        (theory.Rounds([0.3, 0.2], 0.3, [0.04, 0.07]), "steps are not AdaBoost's own"),
        (theory.Rounds([0.3, 0.2], 0.3), ""),
        (theory.Rounds([0.3, 0.0], 0.0, [0.5 * np.log(7 / 3), 18.0]), ""),  # a perfect learner
    ],
)
def test_an_assumption_that_fails_is_said(rounds, broken):
    product, exponential = theory.certificate_of("A", n=5, rounds=rounds).guarantees
    assert not product.broken
    assert broken in exponential.broken
    assert bool(broken) == ("DOES NOT APPLY" in str(exponential))
    assert exponential.says_something == (not broken)


def test_no_rounds_have_no_guarantees():
    certificate = theory.certificate_of("A", n=1, rounds=theory.Rounds([], 0.5))
    assert certificate.guarantees == ()
    assert str(certificate) == "A, fitted to 1 row\nnothing is guaranteed: no theorem applies"


def test_stagewise_adaboost_has_the_bounds_of_its_training_error():
    X, y = load_breast_cancer(return_X_y=True)
    model = StagewiseClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=20, **ADABOOST)
    certificate = model.fit(X, y).certificate(X, y)
    product, exponential, capacity, risk = certificate.guarantees
    assert certificate.n == len(y)
    assert product.observed == np.mean(model.predict(X) != y)
    assert product.observed <= product.bound <= exponential.bound < 1
    # The product is the mean exponential loss itself: notes 0, page 14.
    assert_allclose(product.bound, np.exp(-(2 * y - 1) * model.decision_function(X)).mean())
    assert not exponential.broken
    assert capacity.bound == theory.vc_bound(20, theory.stump_vc_dimension(30))
    m = (2 * y - 1) * model.decision_function(X) / model.estimator_weights_.sum()
    deviation = theory.deviation_bound(569, 2 * 30 * 570)
    assert_allclose(risk.bound, np.maximum(1 - m, 0).mean() + deviation)


class Ada(BaseEstimator):
    """AdaBoost with the attributes of AdaBoostClassifier: alphas without 1/2."""

    def __init__(self, algorithm="samme", early_stopping=False):
        self.algorithm, self.early_stopping = algorithm, early_stopping

    def fit(self, X, y):
        self.inner_ = StagewiseClassifier(self._learner(), n_estimators=8, **ADABOOST).fit(X, y)
        self.classes_ = self.inner_.classes_
        self.estimator_errors_ = self.inner_.estimator_errors_
        self.estimator_weights_ = 2 * self.inner_.estimator_weights_
        return self

    def _learner(self):
        return DecisionTreeClassifier(max_depth=1)

    def decision_function(self, X):
        return self.inner_.decision_function(X)


def test_alphas_without_one_half_have_the_same_certificate():
    X, y = load_breast_cancer(return_X_y=True)
    ada = Ada().fit(X, y)
    assert (
        boosted_certificate(ada, X, y).guarantees
        == boosted_certificate(ada.inner_, X, y).guarantees
    )


@pytest.mark.parametrize("given", [{"algorithm": "real"}, {"early_stopping": True}])
def test_rounds_that_are_not_of_all_rows_or_not_of_votes_have_no_bounds(given):
    X, y = load_breast_cancer(return_X_y=True)
    assert boosted_certificate(Ada(**given).fit(X, y), X, y).guarantees == ()


def test_missing_values_and_categories_are_not_counted_as_plain_stumps():
    pandas = pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True)
    holes = np.where(np.arange(len(y))[:, None] % 7 == 0, np.nan, X)
    model = StagewiseClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3, **ADABOOST)
    told = [each.what for each in model.fit(holes, y).certificate(holes, y).guarantees]
    assert told == ["training error", "training error", "true error and hinge risk"]
    frame = pandas.DataFrame({"word": np.where(X[:, 0] > 13, "large", "small"), "size": X[:, 1]})
    stump = OurTree(max_depth=1)
    named = StagewiseClassifier(stump, n_estimators=3, **ADABOOST).fit(frame, y)
    told = [each.what for each in named.certificate(frame, y).guarantees]
    assert told == ["training error", "training error"]


@pytest.mark.parametrize(
    "changed", [{"loss": "log_loss", "step": "line_search"}, {"init": "constant"}]
)
def test_other_losses_and_starts_have_no_bound_of_the_training_error(changed):
    X, y = load_breast_cancer(return_X_y=True)
    stump = DecisionTreeClassifier(max_depth=1)
    model = StagewiseClassifier(stump, n_estimators=3, **(ADABOOST | changed)).fit(X, y)
    assert np.isfinite(model.estimator_errors_).all()
    assert model.certificate(X, y).guarantees == ()


def test_a_learning_rate_keeps_the_product_and_loses_the_other_bound():
    X, y = load_breast_cancer(return_X_y=True)
    given = ADABOOST | {"learning_rate": 0.3}
    model = StagewiseClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=9, **given)
    product, exponential, *_ = model.fit(X, y).certificate(X, y).guarantees
    assert_allclose(product.bound, np.exp(-(2 * y - 1) * model.decision_function(X)).mean())
    assert "learning rate" in exponential.broken


def test_a_dictionary_has_the_bound_of_its_true_error():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / np.abs(X).max(axis=0)
    model = StagewiseClassifier(dictionary=np.asarray).fit(X, y)
    (only,) = model.certificate(X, y).guarantees
    total = np.abs(model.coef_).sum() + abs(model._start[0])
    m = (2 * y - 1) * model.decision_function(X) / total
    assert np.abs(m).max() <= 1
    expected = np.maximum(1 - m, 0).mean() + theory.deviation_bound(len(y), 31, 0.05)
    assert_allclose(only.bound, expected)
    assert model.fit(10 * X, y).certificate(10 * X, y).guarantees == ()


def test_rows_of_weight_zero_are_not_counted_and_others_must_be_equal():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / np.abs(X).max(axis=0)
    some = (np.arange(len(y)) % 2).astype(float)
    model = StagewiseClassifier(dictionary=np.asarray).fit(X, y, some)
    certificate = model.certificate(X, y, some)
    assert certificate.n == some.sum()
    assert not certificate.guarantees[0].broken
    uneven = model.fit(X, y, some + 1).certificate(X, y, some + 1)
    assert uneven.guarantees[0].broken == "rows have different weights"


def test_three_classes_have_no_certificate():
    X, y = load_iris(return_X_y=True)
    model = StagewiseClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="one class against the rest"):
        model.certificate(X, y)
