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

from hedgerow.kernels import in_bulk
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.jit import interpreted_as, part
from hedgerow.kernels.meeting import share

N_BINS = 256
MISSING = 255  # the code of a missing value in a narrow feature; ordinary codes are 0..254
BLOCK = 16  # columns per block, at most
PAIR = 2  # neighbouring columns, which threads do not share out further
_CHUNK = 1024  # rows of a block that stay in the nearest cache


Records: TypeAlias = Any  # np.recarray: fields by name; its stubs lose them in every slice

# place: row in `columns`, or -1 - row in `wide`; missing: code of a missing value; n_bins:
# ordinary bins in use; n_categories: 0 if the feature is numeric; first: its first bin in `bins`.
# column: of the histogram, -1 (and stride 0) if wide; stride, n_codes, n_high (how many there
# are): of its joint codes. A feature alone has 1, 256, 1; one feature of each column `leads`.
# flag: the digit of its code 1, if it shares the digit with other flags, else 0; shared: row in
# `shared`, -1 if it is alone; margin: where its digit begins among all codes of `digits`. fine:
# its lane in `fine`, -1 if its bins have no levels; first_level: its first level in `levels`;
# pieces: its first piece in `pieces`, if its codes are pieces of bins, else -1.
FEATURE = np.dtype(
    [(name, "i8") for name in ("place", "missing", "n_bins", "n_categories", "first")]
    + [(name, "i8") for name in ("column", "stride", "n_codes", "n_high")]
    + [(name, "i8") for name in ("flag", "shared", "margin", "fine", "first_level", "pieces")],
    align=True,
)
# A block: columns in use; its kinds (see `kinds`), 0 if it has none; row in `keys`.
PANEL = np.dtype([(name, "i8") for name in ("n_columns", "n_kinds", "keys")], align=True)
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
    digits    int64 [n_shared, 8, 3]        of a shared column, the last digit first: stride, codes
              (0: no more digits), and the sum of codes of those before, from 1 on
    panels    PANEL [n_blocks]
    keys      uint16 [n, n_rows]            the kind that a row has in a block
    kinds     uint8 [n, n_kinds, w]         the joint codes of a kind
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
    digits: NDArray[np.int64]
    panels: Records
    keys: NDArray[np.uint16]
    kinds: NDArray[np.uint8]


class Kinds(NamedTuple):
    """The last fields of Codes."""

    panels: Records
    keys: NDArray[np.uint16]
    kinds: NDArray[np.uint8]


def no_kinds(n_columns: int, n_rows: int) -> Kinds:
    """Return as few blocks as hold the columns, all of one width, a multiple of four."""
    n_blocks = -(-n_columns // BLOCK)
    width = 4 * -(-n_columns // (4 * n_blocks)) if n_blocks else BLOCK
    panels = with_fields(np.zeros(n_blocks, PANEL))
    panels.n_columns = np.minimum(n_columns - width * np.arange(n_blocks), width)
    return Kinds(panels, np.empty((0, n_rows), np.uint16), np.empty((0, 0, width), np.uint8))


def empty_blocks(n_blocks: int, n_rows: int, width: int) -> NDArray[np.uint8]:
    """Return room for blocks, and for whoever reads BLOCK bytes of the last row."""
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


def leading(features: Records) -> NDArray[np.int64]:
    """Return the feature that leads each column of the histogram."""
    leads_one = (features.stride == 1) & (features.flag <= 1) & (features.column >= 0)
    found = np.flatnonzero(leads_one)
    return found[np.argsort(features.column[found])]


@part
def threshold_between(left, right):
    """Return a number t half-way between two values, left <= t < right, without overflow."""
    if left == -np.inf or right == np.inf:
        return left
    t = 0.5 * left + 0.5 * right
    return t if left <= t < right else left


@team_kernel
def fill_shared(team, columns, features, shared):
    """Set the columns that features share to the joint codes of these.

    columns   uint8 [n_narrow, n_rows]   read
    features  FEATURE [n_features]       read
    shared    uint8 [n_shared, n_rows]   write  a thread owns a range of rows
    """
    begin, end = share(team, columns.shape[1])
    for first in range(begin, end, _CHUNK):
        last = min(first + _CHUNK, end)
        for feature in range(features.shape[0]):
            if features[feature].shared >= 0 and leads(features[feature]):
                _add_digits(columns, features[feature], first, last, False, shared)
        for feature in range(features.shape[0]):
            if features[feature].shared >= 0 and not leads(features[feature]):
                _add_digits(columns, features[feature], first, last, True, shared)


@interpreted_as(in_bulk.add_digits)
@part
def _add_digits(columns, about, first, last, adds, shared):
    """Set the joint codes of a column to a feature's part of them, or add that."""
    own, joint = columns[about.place, first:last], shared[about.shared, first:last]
    last_digit, unit = np.uint8(about.n_codes - 1), np.uint8(about.stride * max(about.flag, 1))
    if adds:
        for row in range(own.shape[0]):
            joint[row] = np.uint8(joint[row] + np.uint8(min(own[row], last_digit) * unit))
    else:
        for row in range(own.shape[0]):
            joint[row] = np.uint8(min(own[row], last_digit) * unit)


@team_kernel
def fill_blocks(team, columns, shared, features, blocks):
    """Set the blocks to the columns of histograms.

    columns   uint8 [n_narrow, n_rows]       read
    shared    uint8 [n_shared, n_rows]       read
    features  FEATURE [n_features]           read
    blocks    uint8 [n_blocks, n_rows, w]    write  lanes without a column are left alone; a
              thread owns a range of rows
    """
    begin, end = share(team, columns.shape[1])
    for first in range(begin, end, _CHUNK):
        last = min(first + _CHUNK, end)
        for feature in range(features.shape[0]):
            about = features[feature]
            if about.column >= 0 and leads(about):
                block = blocks[about.column // blocks.shape[2], first:last]
                if about.shared >= 0:
                    _copy(shared[about.shared, first:last], about.column % blocks.shape[2], block)
                else:
                    _copy(columns[about.place, first:last], about.column % blocks.shape[2], block)


@interpreted_as(in_bulk.copy)
@part
def _copy(column, lane, block):
    for row in range(column.shape[0]):
        block[row, lane] = column[row]


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
