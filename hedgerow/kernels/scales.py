"""Scales: integers that stand for the numbers of a column, where rows are compared with thresholds.

A *key* is an unsigned integer, at most as high as that of a threshold if, and only if, the value
is at most as high as the threshold. A column has one of three scales:

    WHOLE    whole numbers of a small range: the value less the lowest one
    FLOATS   floats of single precision: their bits. Thresholds are rounded down to one
    ranks    any numbers, where few thresholds are: how many of them are below

Key 0 is below all numbers, and the highest key of its kind above all: those of missing values.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.machine import bits_of_float
from hedgerow.kernels.meeting import share
from hedgerow.kernels.rungs import Rungs, rank

LONG, MISSING, BROKEN = 1, 2, 4  # values seen: one that is no float32, is missing, is not whole
WHOLE, FLOATS = -2, -1  # instead of the number of a column that has ranks
HIGHEST = (1 << 16) - 2  # key of a whole number: one less than the highest of 16 bits
HOME = int(np.float64(np.inf).view(np.int64))  # bits of what leaves have instead of a threshold
_LARGEST = float(np.finfo(np.float32).max)
LANES = 8  # rows of a group, whose keys of a column stand side by side
ROWS = 64  # whose keys are looked up at once, column by column


class Sights(NamedTuple):
    """What each thread has seen of each column, [n_threads, n_features].

    flags      int64     LONG, MISSING and BROKEN
    low, high  float64   of the values that are there
    """

    flags: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Scales(NamedTuple):
    """How the values of each column become keys.

    columns  int32 [n_features]      WHOLE, FLOATS or the number of a column of ranks
    low      float64 [n_features]    the lowest of whole numbers
    rungs    Rungs                   thresholds of columns of ranks
    marks    uint16 [n_nodes]        of some trees, the key of each split by ranks
    """

    columns: NDArray[np.int32]
    low: NDArray[np.float64]
    rungs: Rungs
    marks: NDArray[np.uint16]


class Desks(NamedTuple):
    """What each thread looks up at once; garbage before and after.

    numbers  float64 [n_threads, ROWS]
    ranks    int64 [n_threads, ROWS]
    """

    numbers: NDArray[np.float64]
    ranks: NDArray[np.int64]


@inlined_part
def _rounded(x):
    """Return a number as a float32, to the nearest; those beyond all floats are the last ones."""
    held = x if x < _LARGEST else _LARGEST
    held = held if held > -_LARGEST else -_LARGEST
    return np.float32(held) + np.float32(0.0)  # there is no negative zero


@team_kernel
def look(team, values, rows, sights):
    """See what kinds of values columns have.

    values  float64 [n_rows, n_features]   read    NaN is missing
    rows    int64 [n]                      read    a thread owns a range of them
    sights  Sights                         both    of this thread: flags 0, low inf, high -inf
    """
    begin, end = share(team, rows.shape[0])
    flags, low, high = sights.flags[team.thread], sights.low[team.thread], sights.high[team.thread]
    for i in range(begin, end):
        row = values[np.uint64(rows[i])]
        for feature in range(flags.shape[0]):
            x = row[feature]
            is_there = np.int64(not np.isnan(x))
            found = LONG * np.int64(np.float64(_rounded(x)) != x) * is_there
            found |= BROKEN * np.int64(np.floor(x) != x) * is_there
            flags[feature] |= found | MISSING * (1 - is_there)
            low[feature] = x if x < low[feature] else low[feature]
            high[feature] = x if x > high[feature] else high[feature]


@inlined_part
def _bits(near):
    """Return the bits of a float32 as an integer above 0, in the order of numbers."""
    bits = np.int64(bits_of_float(near))
    sign = bits >> 63
    return ((bits & 0x7FFFFFFF) ^ sign) - sign + (1 << 31)


@inlined_part
def cut_key(scales, feature, threshold, place):
    """Return the key of the threshold of the split at a place."""
    column = scales.columns[np.uint64(feature)]
    if column == WHOLE:
        lowest = scales.low[np.uint64(feature)] - 1.0
        held = threshold if threshold > lowest else lowest
        held = held if held < lowest + HIGHEST else lowest + HIGHEST
        whole = np.int64(held)
        return whole - np.int64(np.float64(whole) > held) - np.int64(lowest)
    if column == FLOATS:
        near = _rounded(threshold)
        return _bits(near) - np.int64(np.float64(near) > threshold)
    return np.int64(scales.marks[np.uint64(place)])


@inlined_part
def shared_rows(team, n_rows):
    """Return the first row of a member's share, and the first beyond it: whole groups."""
    begin, end = share(team, (n_rows + LANES - 1) // LANES)
    return begin * LANES, min(end * LANES, n_rows)


@team_kernel
def read_keys(team, values, rows, scales, above, desks, keys):
    """Set keys[i // LANES, :, i % LANES] to the keys of row rows[i].

    values  float64 [n_rows, n_features]                  read    NaN is missing
    rows    int64 [n]                                     read    a thread owns a range of them
    desks   Desks                                         write   garbage
    keys    uint16 or uint32 [n_groups, n_columns, LANES] write   above: the highest of their kind

    n_columns is n_features + 1 or, with missing values, 2 n_features + 1: a missing value has key
    0 in the first column of its feature and the highest in the second. The last column is 0.
    """
    begin, end = shared_rows(team, rows.shape[0])
    n_features, has_missing = values.shape[1], keys.shape[1] > values.shape[1] + 1
    numbers, ranks = desks.numbers[team.thread], desks.ranks[team.thread]
    for first in range(begin, end, ROWS):
        n_some = min(ROWS, end - first)
        some, groups = rows[first : first + n_some], keys[first // LANES :]
        for feature in range(n_features):
            for i in range(n_some):
                numbers[i] = values[np.uint64(some[i]), feature]
            _read(scales, feature, numbers[:n_some], ranks)
            for i in range(n_some):
                groups[i // LANES, feature, i % LANES] = ranks[i]
                if has_missing:
                    other = above if ranks[i] == 0 else ranks[i]
                    groups[i // LANES, n_features + feature, i % LANES] = other
        for i in range(n_some):
            groups[i // LANES, keys.shape[1] - 1, i % LANES] = 0


@part
def _read(scales, feature, numbers, keys):
    """Set the keys of some numbers of a column."""
    column, low = scales.columns[feature], scales.low[feature] - 1.0
    if column == WHOLE:
        for i in range(numbers.shape[0]):
            keys[i] = np.int64(numbers[i] - low) if not np.isnan(numbers[i]) else 0
    elif column == FLOATS:
        for i in range(numbers.shape[0]):
            keys[i] = _bits(_rounded(numbers[i])) if not np.isnan(numbers[i]) else 0
    else:
        rank(scales.rungs, column, numbers, keys)
        for i in range(numbers.shape[0]):
            keys[i] = 1 + keys[i] if not np.isnan(numbers[i]) else 0
