"""A logarithm that gives the same bits on every machine: only IEEE additions and products.

The C library's `log` differs in its last bit between systems, and a last bit can decide
between two cuts.
"""

import math

from hedgerow.kernels.jit import inlined_part

_INVERSE_LN2 = 1.4426950408889634
# 2 atanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...); |s| <= 0.1716, so s^23 / 23 is below 1e-18.
_ODD = tuple(2.0 / n for n in range(21, 0, -2))
_SQRT_HALF = 0.7071067811865476


@inlined_part
def log2(x):
    """Logarithm to base 2 of a positive, normal x; relative error below 4e-16 away from 1.

    x = m 2^e,  sqrt(1/2) <= m < sqrt(2),   log2 x = e + 2 atanh((m - 1) / (m + 1)) / ln 2
    """
    m, e = math.frexp(x)
    if m < _SQRT_HALF:
        m, e = 2.0 * m, e - 1
    s = (m - 1.0) / (m + 1.0)
    square, series = s * s, 0.0
    for coefficient in _ODD:
        series = series * square + coefficient
    return e + series * s * _INVERSE_LN2
