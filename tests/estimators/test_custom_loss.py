"""Losses of users' own in the estimators."""

import os
import pickle
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor
from hedgerow.losses import AbsoluteError, Exponential, Huber, Tweedie, with_derivatives
from hedgerow.losses.formulas import exp, log1p_exp
from tests.estimators.tables import census

FEW = {"n_estimators": 8, "min_child_weight": 1.0}


class Square(NamedTuple):
    factor: float = 0.5

    def loss(self, y, f):
        return self.factor * (y - f) * (y - f)


class Counts(NamedTuple):
    """Poisson's, with a link of its own."""

    n_outputs: int = 1

    def loss(self, y, f):
        return exp(f) - y * f

    def link(self, raw):
        return np.exp(raw)


class Logistic(NamedTuple):
    n_outputs: int = 1

    def loss(self, y, f):
        return log1p_exp((1.0 - 2.0 * y) * f)


class Middle(NamedTuple):
    """Absolute error with a leaf of its own."""

    n_outputs: int = 1

    def loss(self, y, f):
        return abs(y - f)

    def hessian(self, y, f):  # noqa: ARG002
        return 1.0

    def leaf(self, residual, w):
        return AbsoluteError().leaf(residual, w)


def square(y, raw):
    return raw - y, np.ones_like(y)


def problem(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


def fitted(loss, X, y, weights=None, **parameters):
    return GradientBoostingRegressor(loss=loss, **FEW | parameters).fit(X, y, weights)


# Derivatives of the twins differ in their last bits.
def name_of(loss):
    """A name that is the same in every process: that of a function has its address."""
    return getattr(loss, "__name__", repr(loss))


@pytest.mark.parametrize(
    ("own", "name"),
    [(Square(), "squared_error"), (square, "squared_error"), (Counts(), "poisson")],
    ids=name_of,
)
@pytest.mark.parametrize("method", ["newton", "gradient"])
def test_a_loss_of_ones_own_is_as_good_as_the_librarys(own, name, method):
    X, y = problem()
    y = np.exp(y)
    mine, theirs = fitted(own, X, y, method=method), fitted(name, X, y, method=method)
    assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-5)


def test_leaves_of_ones_own_are_used():
    X, y = problem()
    mine, theirs = fitted(Middle(), X, y), fitted("absolute_error", X, y)
    assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "name"), [(Tweedie(1.5), "tweedie"), (AbsoluteError(), "absolute_error")]
)
def test_a_value_of_the_library_is_what_its_name_is(value, name):
    X, y = problem(500)
    y = np.exp(y)
    assert fitted(value, X, y).fingerprint_ == fitted(name, X, y).fingerprint_


@pytest.mark.parametrize("loss", [Square(), Middle(), square], ids=name_of)
def test_models_of_own_losses_are_functions_of_the_rows(loss):
    problem = census(300, seed=4)
    weights = np.random.default_rng(5).integers(0, 5, 300)
    repeated = problem.rows(np.random.default_rng(6).permutation(np.repeat(range(300), weights)))
    prints = {
        fitted(loss, problem.X, problem.numbers, weights, n_jobs=n).fingerprint_ for n in (1, 3)
    }
    prints.add(fitted(loss, repeated.X, repeated.numbers).fingerprint_)
    assert len(prints) == 1


@pytest.mark.parametrize("loss", [Square(0.7), Counts(), square, Huber(2.0)], ids=name_of)
def test_models_of_own_losses_are_cloned_and_pickled(loss):
    X, y = problem(300)
    model = fitted(loss, X, np.exp(y))
    assert clone(model).get_params()["loss"] == loss
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.fit(X, np.exp(y)).fingerprint_ == model.fingerprint_


def test_early_stopping_watches_a_loss_of_ones_own():
    X, y = problem()
    mine = fitted(Square(), X, y, n_estimators=200, learning_rate=0.5, early_stopping=True)
    losses = mine.validation_losses_
    assert mine.n_estimators_ == int(np.argmin(losses)) < len(losses) - 1


def test_two_definitions_of_one_name_are_two_losses():
    X, y = problem(300)

    def defined(shift):
        class Mine(NamedTuple):
            n_outputs: int = 1

            def loss(self, y, f):
                return (y + shift - f) ** 2

        return Mine()

    for wrapped in (lambda loss: loss, with_derivatives):
        none, five = (fitted(wrapped(defined(shift)), X, y).predict(X) for shift in (0.0, 5.0))
        assert_allclose(none + 5.0, five, rtol=1e-6)


# ------------------------------------------------------------------ classes


def test_a_classifier_takes_a_loss_of_classes_0_and_1():
    X, y = problem()
    names = np.where(y > 0.4, "yes", "no")
    mine = GradientBoostingClassifier(loss=Logistic(), **FEW).fit(X, names)
    theirs = GradientBoostingClassifier(**FEW).fit(X, names)
    assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert_array_equal(mine.predict(X), theirs.predict(X))
    assert_array_equal(
        GradientBoostingClassifier(loss=Exponential(), **FEW).fit(X, names).predict_proba(X),
        GradientBoostingClassifier(loss="exponential", **FEW).fit(X, names).predict_proba(X),
    )


def test_a_classifier_takes_a_function_of_log_odds():
    def logistic(y, raw):
        p = 1.0 / (1.0 + np.exp(-raw))
        return p - y, p * (1.0 - p)

    X, y = problem()
    mine = GradientBoostingClassifier(loss=logistic, **FEW).fit(X, y > 0.4)
    theirs = GradientBoostingClassifier(**FEW).fit(X, y > 0.4)
    assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("loss", [Logistic(), lambda y, raw: (raw - y, 1.0)])
def test_a_loss_of_ones_own_is_for_two_classes(loss):
    with pytest.raises(ValueError, match="is for two classes, but y has 3"):
        GradientBoostingClassifier(loss=loss).fit([[0], [1], [2]], [0, 1, 2])


# ------------------------------------------------------------------ losses that go wrong


class Wrong(NamedTuple):
    """Wrong for targets above `limit`, if f has moved."""

    limit: float
    gradient_there: float = 0.0
    hessian_there: float = 1.0
    loss_there: float = 0.0

    def loss(self, y, f):
        return self.loss_there if y > self.limit and f != 0.0 else 0.5 * (y - f) ** 2

    def gradient(self, y, f):
        return self.gradient_there if y > self.limit and f != 0.0 else f - y

    def hessian(self, y, f):
        return self.hessian_there if y > self.limit and f != 0.0 else 1.0

    def start(self, y, w):  # noqa: ARG002
        return 0.0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Wrong(9.0, gradient_there=np.nan), "gradient nan and Hessian 1"),
        (Wrong(9.0, gradient_there=-np.inf), "gradient -inf and Hessian 1"),
        (Wrong(9.0, hessian_there=np.nan), "gradient 0 and Hessian nan"),
        (Wrong(9.0, hessian_there=-0.25), "gradient 0 and Hessian -0.25"),
    ],
)
def test_derivatives_that_cannot_be_used_name_the_round_and_the_row(wrong, said):
    X, y = problem(300)
    y[123] = 10.0
    weights = (np.arange(300) >= 50).astype(float)  # rows without weight count too
    with pytest.raises(FloatingPointError) as caught:
        fitted(wrong, X, y, weights)
    assert f"In round 2 {wrong} has {said} for row 123 (y = 10, raw score " in str(caught.value)
    remedy = "`hessian(self, y, f)` that is never below zero" if "-0.25" in said else "rescale y"
    assert remedy in str(caught.value)


def test_a_function_with_a_negative_hessian_is_told_so():
    X, y = problem(300)
    with pytest.raises(FloatingPointError, match=r"In round 1 .* Hessian -1 for row 0 "):
        fitted(lambda y, raw: (raw - y, -1.0), X, y)


def test_a_loss_without_a_value_ends_early_stopping():
    X, y = problem(300)
    y[:150] = 10.0
    with pytest.raises(FloatingPointError, match=r"After round 1 Wrong.* is nan for row .*y = 10"):
        fitted(Wrong(9.0, loss_there=np.nan), X, y, early_stopping=True)


def test_a_function_of_derivatives_has_nothing_to_watch():
    X, y = problem(300)
    with pytest.raises(ValueError, match=r"only knows derivatives.*early_stopping=False"):
        fitted(square, X, y, early_stopping=True)


def test_targets_of_an_own_loss_are_finite_or_as_it_demands():
    class Even(Square):
        def check(self, y):
            if (y % 2).any():
                raise ValueError("Even accepts even targets.")

    with pytest.raises(ValueError, match="even targets"):
        fitted(Even(), [[0.0], [1.0]], [1.0, 2.0])


# ------------------------------------------------------------------ other processes

SCRIPT = """
import pickle, sys
from typing import NamedTuple
from hedgerow import GradientBoostingRegressor

class Mine(NamedTuple):
    n_outputs: int = 1

    def loss(self, y, f):
        return (y - FACTOR * f) ** 2

model = GradientBoostingRegressor(loss=Mine(), n_estimators=1, min_child_weight=0)
model.fit([[0.0], [1.0]], [4.0, 4.0])
print(pickle.loads(pickle.dumps(model)).predict([[0.0]])[0])
"""


def test_a_formula_changed_between_processes_is_seen():
    for factor, start in (("1.0", 4.0), ("2.0", 2.0)):
        result = subprocess.run(
            [sys.executable, "-c", SCRIPT.replace("FACTOR", factor)],
            env=os.environ.copy(),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert result.returncode == 0, result.stderr
        assert_allclose(float(result.stdout), start, rtol=1e-6)


def test_a_loss_that_is_almost_right_is_suggested():
    with pytest.raises(ValueError, match="Did you mean 'quantile'") as told:
        GradientBoostingRegressor(loss="quantil").fit([[1.0], [2.0]], [1.0, 2.0])
    assert "a loss such as hedgerow.losses.Huber(2.0) or a callable" in str(told.value)
