"""Drawing rows: each by random bits that are named by what the row is, not by where it stands.

Rows of the same codes, target, offset and weight are *equals*; a row of weight 3 is three repeats.
The repeats of equals are numbered, and each is drawn by itself, by the bits of (round,
content, number). Which of the equals has which number is an accident of order, but equals
are alike: what is drawn does not depend on the order of the rows or on the threads, and
three rows are drawn as one row of weight 3.

    keys     int64 [n_rows]   what a row is
    first    int64 [n_rows]   number of its first repeat
    names    int64 [n_rows]   both, mixed
    weights  int64 [n_rows], mask -1: repeats; or the number 1 alone, mask 0
    rows     int64 [n]        the rows that may be drawn
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import part
from hedgerow.kernels.meeting import meet, share
from hedgerow.kernels.random import mixed, uniform

N_SIZES = 1 << 15
_TIE = 1  # names the draw that parts rows of one size


class Lots(NamedTuple):
    """What is drawn from: see the module."""

    keys: NDArray[np.int64]
    first: NDArray[np.int64]
    names: NDArray[np.int64]
    weights: NDArray[np.int64]
    mask: int
    rows: NDArray[np.int64]


@team_kernel
def mix_contents(team, codes, numbers, keys):
    """Set each row's key from its codes and numbers.

    codes    Codes                read
    numbers  int64 [m, n_rows]    read    the bits of its targets, weight and offsets
    keys     int64 [n_rows]       both    zero on entry; a thread owns a range of rows
    """
    begin, end = share(team, keys.shape[0])
    for feature in range(codes.columns.shape[0]):
        _mix(codes.columns[feature, begin:end], keys[begin:end])
    for feature in range(codes.wide.shape[0]):
        _mix(codes.wide[feature, begin:end], keys[begin:end])
    for which in range(numbers.shape[0]):
        _mix(numbers[which, begin:end], keys[begin:end])


@part
def _mix(column, keys):
    for i in range(keys.shape[0]):
        keys[i] = mixed(keys[i], np.int64(column[i]))


@team_kernel
def mix_repeats(team, keys, first, names):
    """Set the names of the rows' first repeats; arrays as in the module."""
    begin, end = share(team, keys.shape[0])
    for row in range(begin, end):
        names[row] = mixed(keys[row], first[row])


@team_kernel
def draw(team, lots, bits, chances, counts, drawn, told):
    """Draw repeats of rows, each with the row's chance, and list the rows of which any is drawn.

    lots     Lots                      read
    bits     int64                     the round's name
    chances  float64 [n_rows] or [1]   read    [1]: the same for every row
    counts   int64 [n_rows]            write   repeats of lots.rows that are drawn, if mask is -1
    drawn    int64 [2, n]              write   drawn[0]: rows, in the order of lots.rows
    told     int64 [n_threads, 2]      write   of each thread: rows drawn, repeats drawn
    """
    begin, end = share(team, lots.rows.shape[0])
    if lots.mask == 0:
        n_rows = _draw_rows(lots, begin, end, bits, chances, drawn[1])
        n_repeats = n_rows
    else:
        n_rows, n_repeats = _draw_repeats(lots, begin, end, bits, chances, counts, drawn[1])
    told[team.thread, 0], told[team.thread, 1] = n_rows, n_repeats
    meet(team)
    place = np.int64(0)
    for thread in range(team.thread):
        place += told[thread, 0]
    for i in range(n_rows):
        drawn[0, place + i] = drawn[1, begin + i]


@part
def _draw_rows(lots, begin, end, bits, chances, drawn):
    """List the rows drawn from place `begin` on, without a branch that half of them take."""
    of_each, n = np.int64(-1 if chances.shape[0] > 1 else 0), np.int64(0)
    for i in range(begin, end):
        row = lots.rows[i]
        drawn[begin + n] = row
        n += np.int64(uniform(mixed(bits, lots.names[row])) < chances[row & of_each])
    return n


@part
def _draw_repeats(lots, begin, end, bits, chances, counts, drawn):
    """The same for rows of whole weights, which are counted too."""
    of_each = np.int64(-1 if chances.shape[0] > 1 else 0)
    n, n_repeats = np.int64(0), np.int64(0)
    for i in range(begin, end):
        row, count = lots.rows[i], np.int64(0)
        for repeat in range(lots.weights[row]):
            name = mixed(lots.keys[row], lots.first[row] + repeat)
            count += np.int64(uniform(mixed(bits, name)) < chances[row & of_each])
        counts[row], drawn[begin + n] = count, row
        n += np.int64(count > 0)
        n_repeats += count
    return n, n_repeats


@team_kernel
def measure_sizes(team, pairs, sizes):
    """Set each row's size, |g h| summed over outputs.

    pairs  float32 [n_outputs, 2, n_rows]   read
    sizes  float32 [n_rows]                 write
    """
    begin, end = share(team, sizes.shape[0])
    own = sizes[begin:end]
    own[:] = 0.0
    for output in range(pairs.shape[0]):
        g, h = pairs[output, 0, begin:end], pairs[output, 1, begin:end]
        for i in range(own.shape[0]):
            own[i] += abs(g[i] * h[i])


@part
def _size(bits):
    """Return the upper half of a float32, without its sign: sizes within 1 % of each other."""
    return np.int64(bits >> 16) & np.int64(N_SIZES - 1)


@team_kernel
def count_sizes(team, lots, sizes, counts):
    """Count each thread's repeats by their size.

    sizes   int32 [n_rows]                  read    the memory of float32
    counts  int64 [n_threads, N_SIZES]      both    zero on entry
    """
    begin, end = share(team, lots.rows.shape[0])
    own = counts[team.thread]
    for i in range(begin, end):
        row = lots.rows[i]
        own[_size(sizes[row])] += lots.weights[row & lots.mask]


@team_kernel
def set_chances(team, lots, sizes, bits, edge, ties, chance, chances):
    """Set the chance of rows above the edge to 1, of those at it by lot, of others to `chance`.

    sizes    int32 [n_rows]     read    the memory of float32
    bits     int64              the round's name
    ties     float64            share of the rows at the edge that count as above; equals do
                                together
    chances  float64 [n_rows]   write
    """
    begin, end = share(team, lots.rows.shape[0])
    for i in range(begin, end):
        row = lots.rows[i]
        size = _size(sizes[row])
        chances[row] = 1.0 if size > edge else chance
        if size == edge and uniform(mixed(mixed(bits, _TIE), lots.keys[row])) < ties:
            chances[row] = 1.0


@team_kernel
def amplify(team, drawn, chances, pairs):
    """Divide the derivatives of the rows drawn by the chance that they had.

    pairs  float32 [n_outputs, 2, n_rows]   both
    """
    begin, end = share(team, drawn.shape[0])
    for output in range(pairs.shape[0]):
        for i in range(begin, end):
            factor = np.float32(1.0 / chances[drawn[i]])
            pairs[output, 0, drawn[i]] *= factor
            pairs[output, 1, drawn[i]] *= factor
