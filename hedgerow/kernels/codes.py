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
from hedgerow.kernels.jit import part
from hedgerow.kernels.meeting import share

N_BINS = 256
MISSING = 255  # the code of a missing value in a narrow feature; ordinary codes are 0..254
BLOCK = 16  # columns per block, at most
PAIR = 2  # columns that are summed at once
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

    blocks    uint8 [n_blocks, n_rows, w]   joint codes, w columns of a row together: histograms
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


def empty_blocks(n_columns: int, n_rows: int) -> NDArray[np.uint8]:
    """Return room for as few blocks as hold the columns, all of one width, a multiple of four.

    Behind the last row there is room for whoever reads BLOCK bytes of it.
    """
    n_blocks = -(-n_columns // BLOCK)
    width = 4 * -(-n_columns // (4 * n_blocks)) if n_blocks else BLOCK
    room = np.zeros(n_blocks * n_rows * width + BLOCK, np.uint8)
    return room[: n_blocks * n_rows * width].reshape(n_blocks, n_rows, width)


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


@team_kernel
def fill_blocks(team, columns, features, blocks, shared):
    """Set the blocks, and columns that are shared, to the joint codes of the narrow features.

    columns   uint8 [n_narrow, n_rows]       read
    features  FEATURE [n_features]           read
    blocks    uint8 [n_blocks, n_rows, w]    write  lanes without a column are left alone; a
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
                block, lane = _place(blocks, about.column)
                for row in range(first, last):
                    shared[about.shared, row] = block[row, lane]


@part
def _place(blocks, column):
    """Return the block of a column, and its lane there."""
    return blocks[column // blocks.shape[2]], column % blocks.shape[2]


@part
def _fill(columns, about, first, last, adds, blocks):
    """Set the joint codes of a column to a feature's part of them, or add that."""
    column, (block, lane) = columns[about.place], _place(blocks, about.column)
    last_digit, unit = about.n_codes - 1, about.stride * max(about.flag, 1)
    for row in range(first, last):
        own = min(np.int64(column[row]), last_digit) * unit
        block[row, lane] = own + np.int64(block[row, lane]) if adds else own


@team_kernel
def take_rows(team, column, rows, taken):
    """Set taken[i] to column[rows[i]].

    column  uint8 [n_rows]   read
    rows    int64 [n]        read
    taken   uint8 [n]        write   a thread owns a range
    """
    begin, end = share(team, rows.shape[0])
    for i in range(begin, end):
        taken[i] = column[np.uint64(rows[i])]
