"""Derivatives that the machine finds: those written by hand, in kernels and in Python."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.jit import kernel
from hedgerow.losses import (
    AbsoluteError,
    Bernoulli,
    Exponential,
    Gamma,
    Huber,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
    with_derivatives,
)
from hedgerow.losses.formulas import (
    cos,
    exp,
    expm1,
    log,
    log1p,
    log1p_exp,
    logistic,
    sin,
    sqrt,
    tanh,
)
from hedgerow.losses.series import Series

BUILT_IN = [
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


@kernel
def evaluated(loss, y, f):
    return loss.loss(y, f), loss.gradient(y, f), loss.hessian(y, f)


class Operators(NamedTuple):
    power: float = 1.5

    def loss(self, y, f):
        sums = (f + f) - (2 - f) + (f - 3.0) + (1 + f) - f / 7 + y * f
        ratios = 2 / f + f / (f * f + y) - (-f)
        powers = f**2 + f**3.0 + f**-1 + f**0 + f**1 + f**self.power + 2.0**f + f**f + f**-0.5
        return sums + ratios + powers


class Functions(NamedTuple):
    scale: float = 0.5

    def loss(self, y, f):
        z = self.scale * f
        curves = exp(z) + expm1(-z) + log(f) + log1p(f) + log1p_exp(-f) + logistic(f)
        return curves * sqrt(f) + tanh(z) * sin(f) + y * cos(z)


class Branches(NamedTuple):
    cut: float = 1.0

    def loss(self, y, f):
        if f >= 4.0:
            return 0.0
        if f < 0.5:
            return max(f, y) * min(2.0 * f, 3.0) + abs(-f)
        r = min(abs(f - y), 5.0)
        return r * f if f > self.cut and f != y else max(r, f * f)


class Flat(NamedTuple):
    height: float = 2.0

    def loss(self, y, f):  # noqa: ARG002  flat: f does not matter
        return self.height * y


@pytest.mark.parametrize("loss", BUILT_IN, ids=lambda loss: type(loss).__name__)
@given(st.sampled_from([0.0, 1.0]), st.floats(-30, 30))
def test_found_derivatives_are_those_written_by_hand(loss, y, f):
    name = type(loss).__name__
    y = 1.0 if name == "Gamma" else y
    assume(name not in ("AbsoluteError", "Quantile") or f != y)  # at the kink
    _, gradient, hessian = evaluated(with_derivatives(loss), y, f)
    # The atol is for gradients that are what is left of two terms of size 1.
    assert_allclose(gradient, loss.gradient(y, f), rtol=1e-10, atol=1e-15)
    if name not in ("AbsoluteError", "Quantile"):  # theirs is 1 by decision
        assert_allclose(hessian, loss.hessian(y, f), rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("formula", [Operators(), Functions(), Branches(), Flat()])
@given(st.floats(0.05, 5.0))
def test_kernels_and_python_find_the_same_derivatives(formula, f):
    loss = with_derivatives(formula)
    expected = loss.loss(0.7, f), loss.gradient(0.7, f), loss.hessian(0.7, f)
    # `**` of plain numbers is the C library's or repeated products: one bit may differ.
    assert_allclose(evaluated(loss, 0.7, f)[0], expected[0], rtol=1e-14)
    assert_array_equal(evaluated(loss, 0.7, f)[1:], expected[1:])


@pytest.mark.parametrize("formula", [Operators(), Functions()])
@given(st.floats(0.3, 3.0))
def test_found_derivatives_are_the_slopes_of_the_formula(formula, f):
    loss, step = with_derivatives(formula), 1e-5
    slope = (loss.loss(0.7, f + step) - loss.loss(0.7, f - step)) / (2 * step)
    bend = (loss.gradient(0.7, f + step) - loss.gradient(0.7, f - step)) / (2 * step)
    assert_allclose(loss.gradient(0.7, f), slope, rtol=1e-6, atol=1e-7)
    assert_allclose(loss.hessian(0.7, f), bend, rtol=1e-6, atol=1e-7)


def test_the_found_value_is_the_formula():
    for formula in (Operators(), Functions(), Branches()):
        for f in (0.2, 0.9, 2.5):
            series = formula.loss(0.7, Series(f, 1.0, 0.0))
            assert_allclose(series.value, formula.loss(0.7, f), rtol=1e-14)


@pytest.mark.parametrize(
    ("power", "expected"),
    [(0, (1.0, 0.0, 0.0)), (1, (0.0, 1.0, 0.0)), (2, (0.0, 0.0, 2.0)), (2.5, (0.0, 0.0, 0.0))],
)
def test_powers_of_zero_have_derivatives(power, expected):
    series = Series(0.0, 1.0, 0.0) ** power
    assert (series.value, series.first, series.second) == expected


def test_a_kink_has_the_slope_of_its_right_side_so_that_its_square_has_a_bend():
    size = abs(Series(0.0, 1.0, 0.0))
    assert (size.value, size.first, size.second) == (0.0, 1.0, 0.0)
    square = size * size
    assert (square.value, square.first, square.second) == (0.0, 0.0, 2.0)


def test_series_are_compared_by_value():
    two = Series(2.0, 1.0, 0.0)
    assert two > 1.0
    assert two < Series(3.0, 0.0, 0.0)
    assert two <= 2.0
    assert two >= 2.0
    assert two == 2.0
    assert two != 3.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(two)


@given(st.floats(-30, 30))
def test_the_hyperbolic_tangent_is_that_of_the_c_library(x):
    assert_allclose(tanh(x), math.tanh(x), rtol=2e-15)


def test_a_found_huber_loss_is_the_built_in_one_bit_for_bit():
    loss = with_derivatives(Huber(1.5))
    for f in np.linspace(-4, 4, 9):
        assert evaluated(loss, 0.5, f) == evaluated(Huber(1.5), 0.5, f)


class NoLoss(NamedTuple):
    n_outputs: int = 1


class NoField:
    def loss(self, y, f):
        return (y - f) ** 2


@pytest.mark.parametrize(
    ("given", "says"),
    [(NoLoss(), r"NoLoss without.*loss\(self, y, f\)"), (NoField(), "NamedTuple")],
)
def test_what_cannot_be_derived_is_refused(given, says):
    with pytest.raises(TypeError, match=says):
        with_derivatives(given)
