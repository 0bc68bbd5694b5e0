"""Users' losses: completed where something is missing, refused where nothing can be done."""

import copy
import math
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.jit import config
from hedgerow.losses import (
    AbsoluteError,
    Bernoulli,
    Callback,
    Exponential,
    Gamma,
    Huber,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
    custom_loss,
    with_derivatives,
)
from hedgerow.losses.formulas import log, log1p_exp

FACTOR = 1.0
ONE_SCORE = [
    SquaredError(),
    AbsoluteError(),
    Quantile(0.3),
    Huber(1.5),
    Poisson(),
    Gamma(),
    Tweedie(1.4),
    Bernoulli(),
    Exponential(),
]


class OnlyLoss(NamedTuple):
    scale: float = 1.0

    def loss(self, y, f):
        z = abs(f - y) / self.scale
        return z + log1p_exp(-2.0 * z)


class OwnGradient(NamedTuple):
    n_outputs: int = 1

    def loss(self, y, f):
        return (f - y) ** 2

    def gradient(self, y, f):  # noqa: ARG002
        return 7.0

    def link(self, raw):
        return -raw


class Logarithmic(NamedTuple):
    """Only defined for f > 0, and least at f = y."""

    n_outputs: int = 1

    def loss(self, y, f):
        return f - y * log(f) if f > 0.0 else math.nan


class Endless(NamedTuple):
    n_outputs: int = 1

    def loss(self, y, f):
        return f - y


def rows(seed, n=200):
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(size=n)), rng.integers(1, 4, n).astype(float)


def test_what_is_missing_is_supplied():
    loss = custom_loss(OnlyLoss(2.0))
    reference = with_derivatives(OnlyLoss(2.0))
    assert loss.gradient(0.3, 1.0) == reference.gradient(0.3, 1.0)
    assert loss.hessian(0.3, 1.0) == reference.hessian(0.3, 1.0)
    raw = np.array([1.0, 2.0])
    assert loss.link(raw) is raw
    assert loss.n_outputs == 1
    assert repr(loss) == "OnlyLoss(scale=2.0)"
    assert not hasattr(loss, "leaf")


def test_what_is_there_is_kept():
    loss = custom_loss(OwnGradient(), np.exp)
    assert loss.gradient(0.3, 1.0) == 7.0
    assert loss.hessian(0.3, 1.0) == 2.0
    assert loss.link(3.0) == -3.0


@pytest.mark.parametrize("loss", ONE_SCORE, ids=repr)
def test_losses_of_the_library_are_taken_as_they_are(loss):
    assert custom_loss(loss) is loss


@pytest.mark.parametrize("loss", [Quantile(0.3), Poisson(), Bernoulli()], ids=repr)
def test_a_start_that_is_not_given_is_that_of_the_loss(loss):
    y, w = rows(0)
    if isinstance(loss, Bernoulli):
        y = (y > 1.5).astype(float)
    found = custom_loss(with_derivatives(loss)).start(y, w)
    # Derivatives are summed from float32.
    assert_allclose(found, loss.start(y, w), rtol=2e-6, atol=2e-6)


def test_a_start_does_not_depend_on_order_and_counts_weights_as_repeats():
    loss, (y, w) = custom_loss(OnlyLoss(0.7)), rows(1)
    order = np.random.default_rng(2).permutation(len(y))
    repeated = np.repeat(y, w.astype(int))
    starts = {
        loss.start(y, w),
        loss.start(y[order], w[order]),
        loss.start(repeated, np.ones(len(repeated))),
    }
    assert len(starts) == 1


def test_a_start_is_found_where_a_loss_is_not_defined_everywhere():
    y, w = rows(3)
    y = y - 0.9 * y.min()  # near zero, so that a step downhill may leave the domain
    assert_allclose(custom_loss(Logarithmic()).start(y, w), np.average(y, weights=w), rtol=1e-6)


def test_a_loss_without_a_minimum_has_no_start():
    with pytest.raises(ValueError, match=r"falls without end towards -.*`start"):
        custom_loss(Endless()).start(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="not finite at the median and the mean"):
        custom_loss(Logarithmic()).start(-np.ones(3), np.ones(3))


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_completed_loss_is_copied_and_pickled(again):
    loss = custom_loss(OwnGradient())
    twin = again(loss)
    assert twin == loss
    assert type(twin) is type(loss)  # its kernels are not compiled again


def test_a_method_replaced_or_a_constant_changed_makes_another_class(monkeypatch):
    class Patched(NamedTuple):
        n_outputs: int = 1

        def loss(self, y, f):
            return FACTOR * (f - y) ** 2

    kinds = [type(custom_loss(Patched()))]
    assert type(custom_loss(Patched())) is kinds[0]
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    kinds.append(type(custom_loss(Patched())))
    monkeypatch.setattr(Patched, "loss", lambda self, y, f: 5.0 * (f - y) ** 2)  # noqa: ARG005
    kinds.append(type(custom_loss(Patched())))
    assert len(set(kinds)) == 3


# ------------------------------------------------------------------ functions of arrays


def test_a_callback_has_one_number_for_each_row_or_for_all():
    y, w = rows(0, 9)
    loss = custom_loss(lambda y, raw: (raw - y, 1))
    assert isinstance(loss, Callback)
    assert_array_equal(loss.derivatives(y, np.zeros(9)), [-y, np.ones(9)])
    assert_allclose(loss.start(y, w), np.average(y, weights=w), rtol=1e-9)


@pytest.mark.parametrize(
    "returned", [None, 1.0, (np.zeros(3), np.zeros(4)), np.zeros(3), (np.zeros((3, 2)), 1.0)]
)
def test_a_callback_that_returns_something_else_is_refused(returned):
    def bad(_y, _raw):
        return returned

    with pytest.raises(ValueError, match=r"bad returned .* of shape \(3,\) each is needed"):
        custom_loss(bad).derivatives(np.zeros(3), np.zeros(3))


def test_a_callback_cannot_change_targets_or_scores():
    def greedy(_y, raw):
        raw[0] = 3.0

    with pytest.raises(ValueError, match="read-only"):
        custom_loss(greedy).derivatives(np.zeros(3), np.zeros(3))


# ------------------------------------------------------------------ refused


class NoLoss(NamedTuple):
    n_outputs: int = 1


class TwoScores(NamedTuple):
    n_outputs: int = 2

    def loss(self, y, f):
        return f - y


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (OnlyLoss, r"is a class, and a value is needed. Pass loss=OnlyLoss\(...\)"),
        (3, "loss=3 is not a loss"),
        ((1.0, 2.0), "value of a typing.NamedTuple class"),
        (NoLoss(), "has no method `loss"),
    ],
)
def test_what_is_no_loss_is_refused(given, said):
    with pytest.raises(TypeError, match=said):
        custom_loss(given)


def test_a_loss_of_two_scores_is_refused():
    with pytest.raises(ValueError, match="n_outputs=2"):
        custom_loss(TwoScores())


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_formula_that_cannot_be_compiled_is_named_with_its_reason():
    class Unknown(NamedTuple):
        n_outputs: int = 1

        def loss(self, y, f):
            return np.linalg.norm([y, f])

    with pytest.raises(TypeError, match=r"Unknown.*cannot be compiled.*norm.*test_custom.py"):
        custom_loss(Unknown())
