"""The logarithm to base 2, against that of the C library."""

import math

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.kernels.jit import kernel
from hedgerow.kernels.logarithm import log2


@kernel
def log2_by_kernel(x):
    return log2(x)


def assert_close(x):
    """Two units in the last place; near 1, where the logarithm vanishes, 1e-15."""
    expected = math.log2(x)
    assert abs(log2_by_kernel(x) - expected) <= max(2 * math.ulp(expected), 1e-15 * (0.7 < x < 1.5))


@given(st.floats(min_value=2.3e-308, allow_infinity=False))
def test_the_logarithm_is_that_of_the_c_library_up_to_the_last_bits(x):
    assert_close(x)


@given(st.integers(1, 2**53), st.integers(1, 2**53))
def test_the_logarithm_of_a_share_is_that_of_the_c_library_up_to_the_last_bits(part, rest):
    assert_close(part / (part + rest))


def test_the_logarithm_of_a_power_of_two_is_exact():
    for exponent in range(-1022, 1024):
        assert log2_by_kernel(2.0**exponent) == exponent


@given(st.floats(min_value=0.5, max_value=2.0))
def test_the_logarithm_has_the_sign_of_its_argument_minus_one(x):
    assert (log2_by_kernel(x) > 0) == (x > 1)
    assert (log2_by_kernel(x) < 0) == (x < 1)
