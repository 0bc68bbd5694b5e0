"""Weights of rows are AdaBoost's, at any size of margins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import theory


@given(st.integers(0, 2**32 - 1))
def test_weights_are_products_of_rounds(seed):
    rng = np.random.default_rng(seed)
    right = np.sign(rng.normal(size=(5, 12)))  # y h
    alphas, w = rng.uniform(0.1, 1.0, 5), rng.exponential(size=12)
    found = theory.row_weights(np.cumsum(alphas[:, None] * right, axis=0), w)
    own = w / w.sum()
    assert_allclose(found[0], own)
    for after, alpha, said in zip(found[1:], alphas, right, strict=True):
        own = own * np.exp(-alpha * said)
        own /= own.sum()
        assert_allclose(after, own, rtol=1e-9)


def test_margins_beyond_the_range_of_exponentials_have_weights():
    found = theory.row_weights([[2000.0, 2000.0, 2001.0]])[1]
    assert_allclose(found, np.array([1, 1, np.exp(-1)]) / (2 + np.exp(-1)))
    found = theory.row_weights([[-900.0, 0.0, 900.0]])[1]
    assert_array_equal(found, [1.0, 0.0, 0.0])


def test_rows_of_weight_zero_stay_so():
    found = theory.row_weights([[-900.0, 1.0, 1.0]], [0.0, 1.0, 1.0])
    assert_array_equal(found, [[0.0, 0.5, 0.5]] * 2)


def test_each_row_needs_a_weight():
    with pytest.raises(ValueError, match="2 weights are needed"):
        theory.row_weights([[1.0, 2.0]], [1.0])
