"""Codes: bin numbers instead of values, in the layouts that the grower reads.

A feature of at most 255 bins is *narrow*: one byte per value, 255 for missing. A feature
of more bins (exact splits, many categories) is *wide*: four bytes per value, and the
number of its bins stands for missing.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.team import share

N_BINS = 256
MISSING = 255  # the code of a missing value in a narrow feature; ordinary codes are 0..254
BLOCK = 16  # features per block
_CHUNK = 1024  # rows of a block that stay in the nearest cache


Records: TypeAlias = Any  # np.recarray: fields by name; its stubs lose them in every slice

# place: row in `columns`, or -1 - row in `wide`; missing: code of a missing value; n_bins:
# ordinary bins in use; n_categories: 0 if the feature is numeric; first: its first bin in `bins`.
FEATURE = np.dtype(
    [(name, "i8") for name in ("place", "missing", "n_bins", "n_categories", "first")], align=True
)
# Smallest and largest value in a bin.
BIN = np.dtype([("low", "f8"), ("high", "f8")], align=True)


class Codes(NamedTuple):
    """The table as bin numbers, and what the bins stand for.

    blocks    uint8 [n_blocks, n_rows, 16]  narrow features, 16 of a row together: histograms
    columns   uint8 [n_narrow, n_rows]      narrow features, one by one: partitions, small nodes
    wide      int32 [n_wide, n_rows]        wide features
    features  FEATURE [n_features]
    bins      BIN [sum of n_bins]           of the numeric features
    """

    blocks: NDArray[np.uint8]
    columns: NDArray[np.uint8]
    wide: NDArray[np.int32]
    features: Records
    bins: Records


@part
def threshold_between(left, right):
    """Return a number t half-way between two values, left <= t < right, without overflow."""
    if left == -np.inf or right == np.inf:
        return left
    t = 0.5 * left + 0.5 * right
    return t if left <= t < right else left


@kernel
def bin_narrow(values, high, column):
    """Set each code to the number of bins below the value, or 255 if it is NaN.

    values  float64 [n_rows]   read
    high    float64 [256]      read    ascending, padded with inf
    column  uint8 [n_rows]     write

    Cost: 8 comparisons a value.
    """
    for row in range(values.shape[0]):
        value, below = values[row], np.uint64(0)
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            below += np.uint64(step) if high[below + np.uint64(step - 1)] < value else np.uint64(0)
        column[row] = np.uint64(MISSING) if np.isnan(value) else below


@kernel
def bin_wide(values, high, column):
    """Set each code to the number of bins below the value, or their number if it is NaN.

    values  float64 [n_rows]   read
    high    float64 [n_bins]   read    ascending
    column  int32 [n_rows]     write

    Cost: log2(n_bins) comparisons a value.
    """
    n_bins = high.shape[0]
    for row in range(values.shape[0]):
        value = values[row]
        below, size = np.int64(0), n_bins - 1
        while size > 0:
            half = size - (size >> 1)
            below += half if high[below + half - 1] < value else np.int64(0)
            size >>= 1
        column[row] = n_bins if np.isnan(value) else below


@kernel
def fill_blocks(team, columns, blocks):
    """Copy the narrow columns to blocks, 16 features of a row together.

    columns  uint8 [n_narrow, n_rows]       read
    blocks   uint8 [n_blocks, n_rows, 16]   write   lanes without a feature are left alone
    """
    begin, end = share(team, columns.shape[1])
    for first in range(begin, end, _CHUNK):
        for place in range(columns.shape[0]):
            column, block = columns[place], blocks[place // BLOCK]
            for row in range(first, min(first + _CHUNK, end)):
                block[row, place % BLOCK] = column[row]
