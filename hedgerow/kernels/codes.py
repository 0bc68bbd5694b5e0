"""Codes: bin numbers instead of values, in the layouts that the grower reads.

A feature of at most 255 bins is *narrow*: one byte per value, 255 for missing. A feature
of more bins (exact splits, many categories) is *wide*: four bytes per value, and the
number of its bins stands for missing.

Histograms are summed by columns of one byte. A narrow feature has a column for itself,
or shares one with others of few codes, whose *joint code* still fits:

    joint code = low + stride * (digit + n_codes * high),     digit < n_codes

`low` is made by the features before it in the column, `high` by those after it. A digit
is a code; the last one is missing, if the feature has missing values. Flags of which no row
has two share a digit: it tells which of them is set, 0 if none is.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part, kernel, part
from hedgerow.kernels.machine import bits_of_double
from hedgerow.kernels.meeting import share

N_BINS = 256
MISSING = 255  # the code of a missing value in a narrow feature; ordinary codes are 0..254
BLOCK = 16  # columns per block
PAIR = 2  # columns that are summed at once
N_BUCKETS = 4096
_FAR = 2.0**1021  # differences of numbers nearer to 0 than this are finite
_CHUNK = 1024  # rows of a block that stay in the nearest cache


Records: TypeAlias = Any  # np.recarray: fields by name; its stubs lose them in every slice

# place: row in `columns`, or -1 - row in `wide`; missing: code of a missing value; n_bins:
# ordinary bins in use; n_categories: 0 if the feature is numeric; first: its first bin in `bins`.
# column: of the histogram, -1 (and stride 0) if wide; stride, n_codes, n_high (how many there
# are): of its joint codes. A feature alone has 1, 256, 1; one feature of each column `leads`.
# flag: the digit of its code 1, if it shares the digit with other flags, else 0; shared: row in
# `shared`, -1 if it is alone. fine: its lane in `fine`, -1 if its bins have no levels; first_level:
# its first level in `levels`; pieces: its first piece in `pieces`, if its codes are pieces of bins,
# else -1.
FEATURE = np.dtype(
    [(name, "i8") for name in ("place", "missing", "n_bins", "n_categories", "first")]
    + [(name, "i8") for name in ("column", "stride", "n_codes", "n_high")]
    + [(name, "i8") for name in ("flag", "shared", "fine", "first_level", "pieces")],
    align=True,
)
# Smallest and largest value in a bin.
BIN = np.dtype([("low", "f8"), ("high", "f8")], align=True)


class Codes(NamedTuple):
    """The table as bin numbers, and what the bins stand for.

    blocks    uint8 [n_blocks, n_rows, 16]  joint codes, 16 columns of a row together: histograms
    columns   uint8 [n_narrow, n_rows]      narrow features, one by one: partitions, small nodes
    wide      int32 [n_wide, n_rows]        wide features
    shared    uint8 [n_shared, n_rows]      columns of joint codes that features share: tallies
    features  FEATURE [n_features]
    bins      BIN [sum of n_bins]           of the numeric features
    fine      uint8 [n_blocks, n_rows, 16]  levels inside bins, 16 features of a row together
    levels    BIN [sum of n_bins * n_levels]  smallest value from a level on, largest up to it
    n_levels  int64                         of a bin, a power of two
    pieces    int64 [n, 2]                  first and last level of codes that are pieces of bins
    """

    blocks: NDArray[np.uint8]
    columns: NDArray[np.uint8]
    wide: NDArray[np.int32]
    shared: NDArray[np.uint8]
    features: Records
    bins: Records
    fine: NDArray[np.uint8]
    levels: Records
    n_levels: int
    pieces: NDArray[np.int64]


@part
def low_of(codes, about, code):
    """Return the smallest value that has a code of a FEATURE."""
    if about.pieces >= 0:
        return codes.levels[codes.pieces[about.pieces + code, 0]].low
    return codes.bins[about.first + code].low


@part
def high_of(codes, about, code):
    """Return the largest value that has a code of a FEATURE."""
    if about.pieces >= 0:
        return codes.levels[codes.pieces[about.pieces + code, 1]].high
    return codes.bins[about.first + code].high


@part
def leads(about):
    """Tell whether a FEATURE is the one that stands for its column."""
    return about.stride == 1 and about.flag <= 1


@part
def threshold_between(left, right):
    """Return a number t half-way between two values, left <= t < right, without overflow."""
    if left == -np.inf or right == np.inf:
        return left
    t = 0.5 * left + 0.5 * right
    return t if left <= t < right else left


@kernel
def bin_narrow(values, high, first, column):
    """Set each code to the number of bins below the value, or 255 if it is NaN.

    values  float64 [n_rows]     read
    high    float64 [256]        read    ascending, padded with inf
    first   uint8 [N_BUCKETS]    write   bins below all values of a bucket
    column  uint8 [n_rows]       write

    The value's bucket, a stretch of the numbers, tells how many bins end before it; those that
    end inside are compared. Cost: 2 comparisons a value if no bucket has more than 3 ends, as
    in most columns, else 8.
    """
    ruler = _ruler(high)
    start, shift = _mark(ruler, ruler.low), np.int64(0)
    while (_mark(ruler, ruler.top) - start) >> shift >= N_BUCKETS:
        shift += 1
    if _fill_buckets(ruler, start, shift, high, first) <= 3:
        for row in range(values.shape[0]):
            value = values[row]
            below = np.int64(first[(_mark(ruler, value) - start) >> shift])
            below += 2 if high[below + 1] < value else 0
            below += 1 if high[below] < value else 0
            column[row] = MISSING if np.isnan(value) else below
    else:
        for row in range(values.shape[0]):
            value, below = values[row], np.int64(0)
            for step in (128, 64, 32, 16, 8, 4, 2, 1):
                below += step if high[below + step - 1] < value else 0
            column[row] = MISSING if np.isnan(value) else below


class _Ruler(NamedTuple):
    """Where the buckets of a column lie: even near its densest place, wider away from it."""

    low: float
    top: float
    middle: float
    unit: float


@inlined_part
def _mark(ruler, value):
    """Return a whole number that never falls as values rise: the bits of a float are ordered."""
    value = value if value > ruler.low else ruler.low  # also if it is NaN
    value = value if value < ruler.top else ruler.top
    offset = value - ruler.middle
    distance = bits_of_double(abs(offset) + ruler.unit) - bits_of_double(ruler.unit)
    return -distance if offset < 0.0 else distance


@part
def _ruler(high):
    """Lay a ruler along the ends of bins; those too far out for a difference are its ends."""
    begin, end = np.int64(0), np.int64(MISSING)
    while begin < end and high[begin] < -_FAR:
        begin += 1
    while begin < end and high[end - 1] > _FAR:
        end -= 1
    if end - begin < 2:
        return _Ruler(0.0, 0.0, 0.0, 1.0)
    low, top, n_near = high[begin], high[end - 1], (end - begin + 7) // 8
    middle, unit = low, top - low
    for i in range(begin, end - n_near):
        if high[i + n_near] - high[i] < unit:
            unit = high[i + n_near] - high[i]
            middle = high[i] + 0.5 * unit
    return _Ruler(low, top, middle, max(unit, 1e-12 * (top - low)))


@part
def _fill_buckets(ruler, start, shift, high, first):
    """Set the bins below each bucket; return the most ends of bins that one has inside."""
    next_bucket, inside, fullest, below = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while high[below] < np.inf:
        bucket = (_mark(ruler, high[below]) - start) >> shift
        inside = inside + 1 if bucket + 1 == next_bucket else np.int64(1)
        fullest = max(fullest, inside)
        first[next_bucket : bucket + 1] = below
        next_bucket = bucket + 1
        below += 1
    first[next_bucket:] = below
    return fullest


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


@team_kernel
def fill_blocks(team, columns, features, blocks, shared):
    """Set the blocks, and columns that are shared, to the joint codes of the narrow features.

    columns   uint8 [n_narrow, n_rows]       read
    features  FEATURE [n_features]           read
    blocks    uint8 [n_blocks, n_rows, 16]   write  lanes without a column are left alone; a
              thread owns a range of rows
    shared    uint8 [n_shared, n_rows]       write
    """
    begin, end = share(team, columns.shape[1])
    for first in range(begin, end, _CHUNK):
        last = min(first + _CHUNK, end)
        # New memory is written before it is read, so that it comes in large pages.
        for feature in range(features.shape[0]):
            if leads(features[feature]):
                _fill(columns, features[feature], first, last, False, blocks)
        for feature in range(features.shape[0]):
            if features[feature].column >= 0 and not leads(features[feature]):
                _fill(columns, features[feature], first, last, True, blocks)
        for feature in range(features.shape[0]):
            about = features[feature]
            if about.shared >= 0 and leads(about):
                block, lane = blocks[about.column // BLOCK], about.column % BLOCK
                for row in range(first, last):
                    shared[about.shared, row] = block[row, lane]


@part
def _fill(columns, about, first, last, adds, blocks):
    """Set the joint codes of a column to a feature's part of them, or add that."""
    column, block, lane = columns[about.place], blocks[about.column // BLOCK], about.column % BLOCK
    last_digit, unit = about.n_codes - 1, about.stride * max(about.flag, 1)
    for row in range(first, last):
        own = min(np.int64(column[row]), last_digit) * unit
        block[row, lane] = own + np.int64(block[row, lane]) if adds else own
