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
from hedgerow.kernels.jit import inlined_part, kernel, part
from hedgerow.kernels.machine import bits_of_double, bits_of_float, double_of_bits
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.packed import FEATURE

LONG, MISSING, BROKEN = 1, 2, 4  # values seen: one that is no float32, is missing, is not whole
WHOLE, FLOATS = -2, -1  # instead of the number of a column that has ranks
MOST_CUTS = 2047  # different thresholds of a column with ranks
N_SEATS = 4096  # where thresholds are gathered: a power of two, about twice as many as cuts
HIGHEST = (1 << 16) - 2  # key of a whole number: one less than the highest of 16 bits
HOME = int(np.float64(np.inf).view(np.int64))  # bits of what leaves have instead of a threshold
_LARGEST = float(np.finfo(np.float32).max)
_ROWS = 64  # whose keys are looked up, column by column


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

    columns  int32 [n_features]              WHOLE, FLOATS or the number of a column of ranks
    low      float64 [n_features]            the lowest of whole numbers
    cuts     float64 [n, MOST_CUTS + 1]      thresholds in their order, then infinity
    n_levels int64 [n]                       bits of the number of cuts
    seats    float64 [n, n_seats]            thresholds where they are looked for; NaN: nobody
    ranks    uint16 [n, n_seats]             their numbers
    """

    columns: NDArray[np.int32]
    low: NDArray[np.float64]
    cuts: NDArray[np.float64]
    n_levels: NDArray[np.int64]
    seats: NDArray[np.float64]
    ranks: NDArray[np.uint16]


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
def _seat(seats, number):
    """Return where a threshold sits, or where it may."""
    bits = bits_of_double(number)
    bits ^= (bits >> 32) ^ (bits >> 47)
    last = np.int64(seats.shape[0] - 1)
    seat = (bits ^ (bits >> 11) ^ (bits >> 22)) & last
    while seats[np.uint64(seat)] != number and not np.isnan(seats[np.uint64(seat)]):
        seat = (seat + 1) & last
    return np.uint64(seat)


@team_kernel
def gather_cuts(team, thicket, columns, seats, n_cuts):
    """Let the thresholds of some columns take seats.

    thicket  Thicket                        read    a thread owns a range of its nodes
    columns  int32 [n_features]             read    see Scales
    seats    float64 [n_threads, n, N_SEATS]  both  of this thread
    n_cuts   int64 [n_threads, n]           both    how many sit there; above MOST_CUTS: it gave up

    Infinity sits in the first column, for leaves.
    """
    begin, end = share(team, thicket.nodes.shape[0])
    own, counts = seats[team.thread], n_cuts[team.thread]
    own[0, _seat(own[0], np.inf)] = np.inf
    for place in range(begin, end):
        node = thicket.nodes[np.uint64(place)]
        is_leaf = np.int64(node.feature) >> 63  # all bits, or none: nobody can guess
        feature = np.int64(node.feature) & ~is_leaf & FEATURE
        column = np.int64(columns[np.uint64(feature)]) & ~is_leaf
        if column < 0:
            continue
        number = double_of_bits((node.steps & ~is_leaf) | (HOME & is_leaf)) + 0.0
        seat = _seat(own[column], number)
        if own[column, seat] != number:
            own[column, seat] = number
            counts[column] += 1
            if counts[column] > MOST_CUTS or cancelled(team):
                return


@kernel
def take_seats(cuts, n_cuts, seats, ranks):
    """Seat the thresholds of each column, with their numbers.

    cuts    float64 [n, MOST_CUTS + 1]   read
    n_cuts  int64 [n]                    read
    seats   float64 [n, n_seats]         both    NaN
    ranks   uint16 [n, n_seats]          write
    """
    for column in range(n_cuts.shape[0]):
        for i in range(n_cuts[column]):
            seat = _seat(seats[column], cuts[column, i])
            seats[column, seat], ranks[column, seat] = cuts[column, i], i


@inlined_part
def _bits(near):
    """Return the bits of a float32 as an integer above 0, in the order of numbers."""
    bits = np.int64(bits_of_float(near))
    sign = bits >> 63
    return ((bits & 0x7FFFFFFF) ^ sign) - sign + (1 << 31)


@inlined_part
def cut_key(scales, feature, threshold):
    """Return the key of a threshold."""
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
    number = threshold + 0.0
    return 1 + np.int64(scales.ranks[column, _seat(scales.seats[column], number)])


@inlined_part
def _rank(cuts, n_levels, x):
    """Return how many cuts are below a number. Shifted sums: choices would become branches."""
    rank = np.int64(0)
    for level in range(n_levels - 1, -1, -1):
        middle = rank + (np.int64(1) << level) - 1
        rank += np.int64(cuts[np.uint64(middle)] < x) << level
    return rank


@team_kernel
def read_keys(team, values, rows, scales, above, keys):
    """Set keys[i] to the keys of row rows[i].

    values  float64 [n_rows, n_features]        read    NaN is missing
    rows    int64 [n]                           read    a thread owns a range of them
    keys    uint16 or uint32 [n, n_columns]     write   above is the highest of their kind

    n_columns is n_features + 1 or, with missing values, 2 n_features + 1: a missing value has key
    0 in the first column of its feature and the highest in the second. The last column is 0.
    """
    begin, end = share(team, rows.shape[0])
    for first in range(begin, end, _ROWS):
        some = rows[first : min(first + _ROWS, end)]
        for feature in range(values.shape[1]):
            _read_column(values, some, scales, feature, keys[first:])
    n_features = values.shape[1]
    for i in range(begin, end):
        keys[i, keys.shape[1] - 1] = 0
        if keys.shape[1] > n_features + 1:
            for feature in range(n_features):
                key = keys[i, feature]
                keys[i, n_features + feature] = above if key == 0 else key


@part
def _read_column(values, rows, scales, feature, keys):
    """Set the keys of a column for some rows."""
    column, low = scales.columns[feature], scales.low[feature] - 1.0
    if column == WHOLE:
        for i in range(rows.shape[0]):
            x = values[np.uint64(rows[i]), feature]
            keys[i, feature] = np.int64(x - low) if not np.isnan(x) else 0
    elif column == FLOATS:
        for i in range(rows.shape[0]):
            x = values[np.uint64(rows[i]), feature]
            keys[i, feature] = _bits(_rounded(x)) if not np.isnan(x) else 0
    else:
        cuts, n_levels = scales.cuts[column], scales.n_levels[column]
        for i in range(rows.shape[0]):
            x = values[np.uint64(rows[i]), feature]
            keys[i, feature] = 1 + _rank(cuts, n_levels, x) if not np.isnan(x) else 0
