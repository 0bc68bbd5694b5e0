"""Shares: the probability of each row's own class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.kernels.shares import own_shares
from hedgerow.losses.classification import logistic_of_array

EPS = float(np.finfo(np.float64).eps)


@given(st.lists(st.tuples(st.floats(-800, 800), st.booleans()), min_size=1, max_size=40))
def test_a_share_is_the_probability_of_the_own_class_kept_from_zero_and_one(rows):
    raw, is_second = np.array([f for f, _ in rows]), np.array([own for _, own in rows])
    shares, p = np.full(len(rows), np.nan), logistic_of_array(raw)
    own_shares(raw, is_second, EPS, shares)
    expected = np.clip(np.where(is_second, p, 1.0 - p), EPS, 1.0 - EPS)
    assert_array_equal(shares.view(np.int64), expected.view(np.int64))
