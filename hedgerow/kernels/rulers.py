"""Rulers: numbers of a column to buckets, stretches of its range that hold about as many each.

A mark on the ruler is a whole number that never falls as values rise. It is made of the bits of
a float, which are ordered as floats are: stretches are even near the column's densest place and
wider away from it. So buckets are found without a search, wherever the numbers lie.
"""

from typing import NamedTuple

import numpy as np

from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.machine import bits_of_double

N_ENDS = 255  # numbers that a ruler is laid along
_FAR = 2.0**1021  # differences of numbers nearer to 0 than this are finite


class Ruler(NamedTuple):
    """Where buckets lie: from `low` to `top`, the first mark `start`, 2^shift marks each."""

    low: float
    top: float
    middle: float
    unit: float
    start: np.int64
    shift: np.int64


@inlined_part
def bucket_of(ruler, value):
    """Return the bucket of a value: the first if it is NaN."""
    return (_mark(ruler.low, ruler.top, ruler.middle, ruler.unit, value) - ruler.start) >> (
        ruler.shift
    )


@inlined_part
def _mark(low, top, middle, unit, value):
    value = value if value > low else low  # also if it is NaN
    value = value if value < top else top
    offset = value - middle
    distance = bits_of_double(abs(offset) + unit) - bits_of_double(unit)
    return -distance if offset < 0.0 else distance


@part
def lay_ruler(ends, n_buckets):
    """Lay a ruler along numbers in order; those too far out for a difference are its ends.

    ends  float64 [N_ENDS + 1]   read   ascending, padded with inf
    """
    begin, end = np.int64(0), np.int64(N_ENDS)
    while begin < end and ends[begin] < -_FAR:
        begin += 1
    while begin < end and ends[end - 1] > _FAR:
        end -= 1
    if end - begin < 2:
        return Ruler(0.0, 0.0, 0.0, 1.0, np.int64(0), np.int64(0))
    low, top, n_near = ends[begin], ends[end - 1], (end - begin + 7) // 8
    middle, unit = low, top - low
    for i in range(begin, end - n_near):
        if ends[i + n_near] - ends[i] < unit:
            unit = ends[i + n_near] - ends[i]
            middle = ends[i] + 0.5 * unit
    unit, shift = max(unit, 1e-12 * (top - low)), np.int64(0)
    start = _mark(low, top, middle, unit, low)
    while (_mark(low, top, middle, unit, top) - start) >> shift >= n_buckets:
        shift += 1
    return Ruler(low, top, middle, unit, start, shift)
