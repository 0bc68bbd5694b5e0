"""Numbers are sorted by the digits of their bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from hedgerow.data import edges
from hedgerow.data.edges import ascending

NUMBERS = st.floats(width=64).map(lambda x: x + 0.0)  # tables have no zero with a sign


@pytest.fixture(autouse=True, scope="module")
def by_digits():
    """Sort few numbers by their digits, too."""
    before, edges._MANY = edges._MANY, 1
    yield
    edges._MANY = before


@given(st.lists(NUMBERS, min_size=1, max_size=60))
def test_numbers_of_all_kinds_are_in_order_and_nan_is_last(numbers):
    numbers = np.array(numbers)
    found = ascending(numbers)
    np.testing.assert_array_equal(found, np.sort(numbers))


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="many numbers take long in plain Python")
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1.0, 1e300])
def test_many_numbers_are_in_order(scale):
    numbers = scale * np.random.default_rng(0).standard_normal(50_000) + 0.0
    np.testing.assert_array_equal(ascending(numbers), np.sort(numbers))


@given(st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 5e-324, -5e-324, np.nan]), min_size=1))
def test_zeros_stand_between_the_numbers_below_and_above(numbers):
    found = ascending(np.array(numbers))
    np.testing.assert_array_equal(found, np.sort(numbers))


def test_a_column_of_a_matrix_is_sorted_where_it_is_not_contiguous():
    numbers = np.random.default_rng(0).standard_normal((50, 3))
    np.testing.assert_array_equal(ascending(numbers[:, 1]), np.sort(numbers[:, 1]))


def test_nan_is_last_whatever_its_sign():
    numbers = np.array([1.0, np.copysign(np.nan, -1.0), -np.inf, np.copysign(np.nan, 1.0), np.inf])
    np.testing.assert_array_equal(ascending(numbers), [-np.inf, 1.0, np.inf, np.nan, np.nan])


def test_numbers_that_differ_in_their_lower_digits_only_are_in_order():
    numbers = 1.0 + np.random.default_rng(0).permutation(200) * 2.0**-50
    for sign in (1.0, -1.0):
        np.testing.assert_array_equal(ascending(sign * numbers), np.sort(sign * numbers))


def test_neighbours_that_differ_in_their_lower_digits_only_change_places():
    numbers = np.repeat(np.arange(1.0, 40.0), 2)
    numbers[::2] += 2.0**-40
    np.testing.assert_array_equal(ascending(numbers), np.sort(numbers))
