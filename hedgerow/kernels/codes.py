"""Codes: bin numbers instead of values, in the layouts that the grower reads.

A feature of at most 255 bins is *narrow*: one byte per value, 255 for missing. A feature
of more bins (exact splits, many categories) is *wide*: four bytes per value, and the
number of its bins stands for missing.

Histograms are summed by columns of one byte. A narrow feature has a column for itself,
or shares one with others of few codes, whose *joint code* still fits:

    joint code = low + stride * (digit + n_codes * high),     digit < n_codes

`low` is made by the features before it in the column, `high` by those after it. A digit
is a code; the last one is missing, if the feature has missing values.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.team import share

N_BINS = 256
MISSING = 255  # the code of a missing value in a narrow feature; ordinary codes are 0..254
BLOCK = 16  # columns per block
QUAD = 4  # columns that are summed at once
_CHUNK = 1024  # rows of a block that stay in the nearest cache


Records: TypeAlias = Any  # np.recarray: fields by name; its stubs lose them in every slice

# place: row in `columns`, or -1 - row in `wide`; missing: code of a missing value; n_bins:
# ordinary bins in use; n_categories: 0 if the feature is numeric; first: its first bin in `bins`.
# column: of the histogram, -1 (and stride 0) if wide; stride, n_codes, n_high (how many there
# are): of its joint codes. A feature alone has 1, 256, 1; one feature of each column has stride 1.
FEATURE = np.dtype(
    [(name, "i8") for name in ("place", "missing", "n_bins", "n_categories", "first")]
    + [(name, "i8") for name in ("column", "stride", "n_codes", "n_high")],
    align=True,
)
# Smallest and largest value in a bin.
BIN = np.dtype([("low", "f8"), ("high", "f8")], align=True)


class Codes(NamedTuple):
    """The table as bin numbers, and what the bins stand for.

    blocks    uint8 [n_blocks, n_rows, 16]  joint codes, 16 columns of a row together: histograms
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
def fill_blocks(team, columns, features, blocks):
    """Set the blocks to the joint codes of the narrow features.

    columns   uint8 [n_narrow, n_rows]       read
    features  FEATURE [n_features]           read
    blocks    uint8 [n_blocks, n_rows, 16]   write  lanes without a column are left alone; a
              thread owns a range of rows
    """
    begin, end = share(team, columns.shape[1])
    for first in range(begin, end, _CHUNK):
        last = min(first + _CHUNK, end)
        # New memory is written before it is read, so that it comes in large pages.
        for feature in range(features.shape[0]):
            if features[feature].stride == 1:
                _fill(columns, features[feature], first, last, False, blocks)
        for feature in range(features.shape[0]):
            if features[feature].stride > 1:
                _fill(columns, features[feature], first, last, True, blocks)


@part
def _fill(columns, about, first, last, adds, blocks):
    """Set the joint codes of a column to a feature's part of them, or add that."""
    column, block, lane = columns[about.place], blocks[about.column // BLOCK], about.column % BLOCK
    last_digit, stride = about.n_codes - 1, about.stride
    for row in range(first, last):
        own = min(np.int64(column[row]), last_digit) * stride
        block[row, lane] = own + np.int64(block[row, lane]) if adds else own
