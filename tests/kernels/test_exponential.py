"""Exponentials and their relatives, against the C library's, and the same in both worlds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.exponential import (
    exp,
    exp_below,
    expm1,
    log,
    log1p,
    log1p_exp,
    logistic,
)
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.machine import bits_of_double, double_of_bits


@kernel
def exp_by_kernel(x, out):
    for i in range(x.shape[0]):
        out[i] = exp(x[i])


@kernel
def others_by_kernel(x):
    return log(x), expm1(x), log1p(x), logistic(x), log1p_exp(x)


@kernel
def there_and_back(x):
    return double_of_bits(bits_of_double(x))


def compiled(x):
    x = np.atleast_1d(np.asarray(x, np.float64))
    out = np.empty_like(x)
    exp_by_kernel(x, out)
    return out


def assert_close(found, expected, share=1.5e-15):
    """Some rounding errors of 1.1e-16 each, ours and the C library's."""
    assert abs(found - expected) <= share * abs(expected)


@given(st.floats(-708, 709))
def test_the_exponential_is_that_of_the_c_library_up_to_the_last_bits(x):
    assert_close(exp(x), math.exp(x), 5e-16)


def test_the_exponential_of_zero_is_one():
    assert_array_equal(compiled([0.0, -0.0]), [1.0, 1.0])


def test_the_exponential_is_never_zero_and_never_infinite():
    ends = compiled([-math.inf, -1e9, -708.0, 709.0, 1e9, math.inf])
    assert_array_equal(ends[:3], ends[2])
    assert_array_equal(ends[3:], ends[3])
    assert ends[0] >= np.finfo(float).tiny
    assert np.isfinite(ends[3])


def test_the_exponential_of_nothing_is_nothing():
    assert np.isnan(compiled(math.nan)).all()


@given(st.lists(st.floats(-750, 750), min_size=1, max_size=30))
def test_kernels_arrays_and_numbers_have_exponentials_of_the_same_bits(numbers):
    x = np.array(numbers)
    assert_array_equal(compiled(x), exp(x))
    assert_array_equal(compiled(x), [exp(number) for number in numbers])


def test_the_exponential_of_a_larger_number_is_not_smaller():
    around = np.log(2.0) * (np.arange(-20, 20) + 0.5)  # where the whole number k changes
    x = np.sort(np.concatenate([around, np.nextafter(around, 0), np.nextafter(around, 100)]))
    assert (np.diff(compiled(x)) >= 0).all()


@given(st.floats(-600, 600).filter(bool))
def test_the_relatives_have_the_same_bits_in_kernels_and_in_python(x):
    expected = log(x), expm1(x), log1p(x), logistic(x), log1p_exp(x)
    assert_array_equal(others_by_kernel(x), expected)


@given(st.floats(min_value=2.3e-308, allow_infinity=False))
def test_the_logarithm_is_that_of_the_c_library(x):
    assert_close(log(x), math.log(x))


def test_the_logarithm_ends_where_it_should():
    assert log(0.0) == -math.inf
    assert log(math.inf) == math.inf
    assert math.isnan(log(-1.0))
    assert math.isnan(log(math.nan))
    assert log1p(-1.0) == -math.inf
    assert log1p(math.inf) == math.inf


@given(st.floats(-700, 700) | st.floats(-1e-3, 1e-3))
def test_differences_from_one_keep_their_digits(x):
    assert_close(expm1(x), math.expm1(x))
    assert_close(log1p(abs(x)), math.log1p(abs(x)))
    assert_close(log1p(-min(abs(x), 0.999)), math.log1p(-min(abs(x), 0.999)))


@given(st.floats(-700, 700))
def test_the_logarithm_of_one_and_an_exponential_keeps_its_digits(x):
    assert_close(log1p_exp(x), max(x, 0.0) + math.log1p(math.exp(-abs(x))))


@given(st.floats(-700, 700))
def test_the_logistic_curve_keeps_its_digits_at_both_ends(x):
    expected = math.exp(x) / (1 + math.exp(x)) if x < 0 else 1 / (1 + math.exp(-x))
    assert_close(logistic(x), expected)


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -3.5, 5e-324, math.inf])
def test_a_number_is_its_bits(x):
    assert there_and_back(x) == x
    assert double_of_bits(bits_of_double(x)) == x
    assert bits_of_double(1.0) == 1023 << 52


@kernel
def _below(numbers, out):
    for i in range(numbers.shape[0]):
        out[i] = exp_below(numbers[i])


@given(st.lists(st.floats(-200.0, 0.0, width=32), min_size=1, max_size=20))
def test_the_exponential_in_single_precision_has_its_digits_and_the_same_bits_in_python(numbers):
    x = np.array(numbers, np.float32)
    compiled = np.empty_like(x)
    _below(x, compiled)
    plain = np.array([exp_below(number) for number in x], np.float32)
    assert compiled.tobytes() == plain.tobytes()
    assert_allclose(compiled, np.exp(np.maximum(x.astype(float), -87.0)), rtol=2e-7)
