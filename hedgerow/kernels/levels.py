"""Levels: the values of a bin in some parts of about equal weight.

A bin of a large table has thousands of rows, and a small node of a deep tree lies inside a few
bins. Its own codes are then *pieces* of bins: as many levels each as there are codes for, see
`finer`. A level costs one byte a value more, and nothing where nodes are large.
"""

import numpy as np

from hedgerow.kernels.codes import MISSING
from hedgerow.kernels.jit import kernel


@kernel
def find_levels(values, column, ends, lane):
    """Set the level of each value inside its bin: how many levels end below it.

    values  float64 [n_rows]             read
    column  uint8 [n_rows]               read    codes
    ends    float64 [n_bins, n_levels]   read    largest value of each level; n_levels: a power of 2
    lane    uint8 [n_rows]               write   0 where the value is missing

    Cost: log2(n_levels) comparisons a value.
    """
    n_levels = ends.shape[1]  # at most 256
    for row in range(values.shape[0]):
        value, code = values[row], np.int64(column[row])
        own, below = ends[0 if code == MISSING else code], np.int64(0)
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            if step < n_levels:
                below += step if own[below + step - 1] < value else 0
        lane[row] = below


@kernel
def fill_levels(values, ends, levels):
    """Set what each level holds: the smallest value from it on, and the largest up to it.

    values  float64 [n]               read    ascending
    ends    float64 [n_all]           read    largest value of each level, ascending
    levels  BIN [n_all]               write

    A level may be empty: it ends where the one before it does. Cost: log2 of its values a level.
    """
    first = np.int64(0)
    for level in range(ends.shape[0]):
        levels[level].low = values[first] if first < values.shape[0] else np.inf
        levels[level].high = ends[level]
        step = np.int64(1)
        while first + step <= values.shape[0] and values[first + step - 1] <= ends[level]:
            first += step
            step <<= 1
        while step > 0:
            if first + step <= values.shape[0] and values[first + step - 1] <= ends[level]:
                first += step
            step >>= 1
