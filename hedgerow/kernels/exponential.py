"""Exponentials that give the same bits on every machine: only IEEE operations and bit patterns.

The C library's `exp` differs in its last bit between systems. These are formulas: kernels
compile them, without branches, so that a loop over them uses the machine's vectors; in
Python `exp` is also a function of arrays, with the same bits.
"""

import math

import numpy as np

from hedgerow.kernels.formula import formula, where
from hedgerow.kernels.logarithm import log2
from hedgerow.kernels.machine import (
    bits_of_double,
    bits_of_float,
    double_of_bits,
    float_of_bits,
)

LOWEST, HIGHEST = -708.0, 709.0  # beyond, e^x is not a normal number

_INVERSE_LN2 = 1.4426950408889634
_LN2 = 0.6931471805599453
# ln 2 in two parts: the first has 21 trailing zero bits, so k times it is exact.
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
# Adding it rounds a number to a whole one, which is then in the lowest bits.
_ROUNDING = 1.5 * 2.0**52
# e^r = 1 + r + r^2 (1 / 2! + r / 3! + ...); |r| <= 0.347, so r^14 / 14! is below 1e-17. In
# two chains of every other term: half the steps wait for one another. They are written
# out, so that there is no loop to unroll.
_C = tuple(1.0 / math.factorial(n) for n in range(14))
# 2 atanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...); |s| <= 0.1716, so s^23 / 23 is below 1e-18.
_A = tuple(2.0 / n for n in range(1, 22, 2))
_SQRT_TWO_LESS_ONE = 0.41421356237309503

# The same in single precision: |r| <= 0.347, and r^8 / 8! is below 1e-8.
_LOWEST_SINGLE = np.float32(-87.0)
_INVERSE_LN2_SINGLE = np.float32(_INVERSE_LN2)
_LN2_HIGH_SINGLE, _LN2_LOW_SINGLE = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUNDING_SINGLE = np.float32(1.5 * 2.0**23)
_ROUNDING_BITS = int(_ROUNDING_SINGLE.view(np.int32))
_S = tuple(np.float32(1.0 / math.factorial(n)) for n in range(8))


@formula
def exp(x):
    """e^x, for x within [-708, 709] and for the nearer end outside; relative error below 5e-16.

        x = k ln 2 + r,  |r| <= ln 2 / 2,     e^x = 2^k (1 + r + r^2 / 2 + ... + r^13 / 13!)

    It is therefore never zero and never infinite. x may be an array, if Python calls.
    """
    x = np.minimum(np.maximum(x, LOWEST), HIGHEST)
    whole = x * _INVERSE_LN2 + _ROUNDING
    k = whole - _ROUNDING
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    q = r * r
    even = ((((_C[12] * q + _C[10]) * q + _C[8]) * q + _C[6]) * q + _C[4]) * q + _C[2]
    odd = ((((_C[13] * q + _C[11]) * q + _C[9]) * q + _C[7]) * q + _C[5]) * q + _C[3]
    series = 1.0 + (r + q * (even + r * odd))
    # k is added to the exponent: it is in the lowest bits of `whole`, the rest is shifted out.
    return double_of_bits(bits_of_double(series) + (bits_of_double(whole) << 52))


@formula
def exp_below(x):
    """e^x in single precision, for x <= 0; e^-87 below. Relative error below 2e-7.

    x may be an array, if Python calls.
    """
    x = where(x < _LOWEST_SINGLE, _LOWEST_SINGLE, x)
    whole = x * _INVERSE_LN2_SINGLE + _ROUNDING_SINGLE
    k = whole - _ROUNDING_SINGLE
    r = (x - k * _LN2_HIGH_SINGLE) - k * _LN2_LOW_SINGLE
    q = r * r
    even = (_S[6] * q + _S[4]) * q + _S[2]
    odd = (_S[7] * q + _S[5]) * q + _S[3]
    series = _S[0] + (r + q * (even + r * odd))
    return float_of_bits(
        np.int32(bits_of_float(series) + ((bits_of_float(whole) - _ROUNDING_BITS) << 23))
    )


@formula
def log(x):
    """Natural logarithm; relative error below 1e-15. -inf of zero, nan of a negative x."""
    if x <= 0.0:
        return -math.inf if x == 0.0 else math.nan
    if x == math.inf:
        return x
    return log2(x) * _LN2


@formula
def logistic(x):
    """1 / (1 + e^-x), to the last bits also where it is almost zero."""
    e = exp(-abs(x))
    return (e if x < 0.0 else 1.0) * (1.0 / (1.0 + e))


@formula
def log1p_exp(x):
    """log(1 + e^x) without overflow; relative error below 1e-15.

    log(1 + e^x) = max(x, 0) + log(1 + e),          e = e^-|x|
    log(1 + e) = 2 atanh(e / (2 + e))               if 1 + e <= sqrt(2)
                 ln 2 + 2 atanh((e - 1) / (e + 3))  otherwise
    """
    e = exp(-abs(x))
    near_one = e > _SQRT_TWO_LESS_ONE
    s = ((e - 1.0) if near_one else e) / (e + (3.0 if near_one else 2.0))
    q = s * s
    far = ((((_A[10] * q + _A[9]) * q + _A[8]) * q + _A[7]) * q + _A[6]) * q + _A[5]
    series = ((((far * q + _A[4]) * q + _A[3]) * q + _A[2]) * q + _A[1]) * q + _A[0]
    return (0.0 if x < 0.0 else x) + ((_LN2 if near_one else 0.0) + series * s)


@formula
def expm1(x):
    """e^x - 1, to the last bits also near zero. Kahan: the errors of u - 1 and log u cancel."""
    u = exp(x)
    if u == 1.0:
        return x
    return (u - 1.0) if u < 1e-17 or u > 1e17 else (u - 1.0) * (x / log(u))


@formula
def log1p(x):
    """log(1 + x), to the last bits also near zero. Kahan: the errors of u - 1 and log u cancel."""
    u = 1.0 + x
    if u == 1.0:
        return x
    return log(u) if u <= 0.0 or u == math.inf else log(u) * (x / (u - 1.0))
