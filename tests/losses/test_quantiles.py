"""Several quantiles of one target."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.losses import Quantile, Quantiles

NUMBERS = st.integers(-64, 64).map(lambda k: k / 8)


def summed(levels, y, scores):
    return sum(Quantile(level).loss(y, f) for level, f in zip(levels, scores, strict=True))


@given(NUMBERS, NUMBERS, NUMBERS)
def test_putting_crossed_quantiles_in_order_lowers_the_loss_by_what_they_crossed(y, one, two):
    low, high = min(one, two), max(one, two)
    gained = summed((0.25, 0.75), y, (high, low)) - summed((0.25, 0.75), y, (low, high))
    assert gained == 0.5 * (high - low)


@given(NUMBERS, st.lists(NUMBERS, min_size=3, max_size=3))
def test_a_row_s_loss_is_the_mean_of_its_levels_in_order(y, scores):
    loss = Quantiles((0.1, 0.5, 0.9))
    found = loss.row_losses(np.array([y]), np.array([scores]))[0]
    assert_allclose(found, summed(loss.levels, y, sorted(scores)) / 3, rtol=1e-12, atol=1e-15)
    assert found <= summed(loss.levels, y, scores) / 3 + 1e-12


def test_starts_are_the_quantiles_of_the_levels():
    y, w = np.arange(11.0), np.ones(11)
    assert_array_equal(Quantiles((0.1, 0.5, 0.9)).start(y, w), [1.0, 5.0, 9.0])


@pytest.mark.parametrize("levels", [(0.5, 0.5), (0.9, 0.1), ()])
def test_levels_increase(levels):
    with pytest.raises(ValueError, match="levels that increase are accepted"):
        Quantiles(levels).check(np.zeros(3))


def test_levels_are_between_0_and_1():
    with pytest.raises(ValueError, match=r"alpha=1.0 was given"):
        Quantiles((0.5, 1.0)).check(np.zeros(3))
