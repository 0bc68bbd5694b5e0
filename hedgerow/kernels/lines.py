"""Lines: the records of a small node, in the order of their codes of one feature.

A tally has a cell for each code. In a small node most of them would hold one row or none: it
is sooner to put the rows in line, and to walk along it from the first cut to the last.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import MISSING, N_BINS
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.ranks import FEW, rank

MOST = 512  # rows of a line


class Line(NamedTuple):
    """Rows in line, and what they are put in line with.

    codes    uint8 [2, MOST + 1]   in the order of the node's rows; in line
    wide     int32 [MOST]          of a wide feature, in the order of the node's rows
    records  int64 [2, MOST]       the same of records
    keys     int16 [2, FEW]        of few rows: what they are ranked by, their ranks
    counts   int64 [N_BINS]        of many: how many have a code, then where those of a code go
    left     float64 [MOST]        of the cut after each position: the weight on its left
    squares  float64 [2, MOST]     the squares of its sides, see `squares`
    rough    float64 [MOST]        its estimated score
    rough_bits int64 [MOST]        the memory of rough
    """

    codes: NDArray[np.uint8]
    wide: NDArray[np.int32]
    records: NDArray[np.int64]
    keys: NDArray[np.int16]
    counts: NDArray[np.int64]
    left: NDArray[np.float64]
    squares: NDArray[np.float64]
    rough: NDArray[np.float64]
    rough_bits: NDArray[np.int64]


def lines_for(n_threads: int) -> Line:
    """Allocate every thread's line."""
    rough = np.zeros((n_threads, MOST))
    return Line(
        codes=np.zeros((n_threads, 2, MOST + 64), np.uint8),
        wide=np.zeros((n_threads, MOST), np.int32),
        records=np.zeros((n_threads, 2, MOST), np.int64),
        keys=np.zeros((n_threads, 2, FEW), np.int16),
        counts=np.zeros((n_threads, N_BINS), np.int64),
        left=np.zeros((n_threads, MOST)),
        squares=np.zeros((n_threads, 2, MOST)),
        rough=rough,
        rough_bits=rough.view(np.int64),
    )


@inlined_part
def line_up(column, rows, line):
    """Put the rows in line; return whether all have the same code, and are left as they were.

    column  uint8 [n_rows of the table]   read
    rows    Rows, at most MOST            read
    """
    n = collect(column, rows, line.codes[0], line.records[0])
    if n < 0:
        return True
    if n <= FEW:
        _line_few(line, n)
    else:
        _line_many(line, n)
    return False


@inlined_part
def collect(column, rows, codes, copied):
    """Copy the codes and records of the rows; return their number, or -1 if all codes are equal.

    codes    as column [MOST]   write
    copied   int64 [MOST]       write
    """
    n, differs = np.uint64(0), codes[0] ^ codes[0]
    for segment in range(rows.bounds.shape[0]):
        for i in range(rows.bounds[segment, 0], rows.bounds[segment, 1]):
            record = rows.records[i]
            code = column[row_of(record)]
            copied[n], codes[n] = record, code
            differs |= code ^ codes[0]
            n += np.uint64(1)
    return np.int64(n) if differs else np.int64(-1)


@inlined_part
def _line_few(line, n):
    """Sort by counting, for all rows at once, those that come before."""
    codes, keys, ranks = line.codes, line.keys[0], line.keys[1]
    for i in range(n):
        keys[i] = np.int16(np.int64(codes[0, i]) * FEW + i)
    rank(line.keys, n)
    for i in range(n):
        place = np.uint64(ranks[i])
        codes[1, place], line.records[1, place] = codes[0, i], line.records[0, i]


@inlined_part
def _line_many(line, n):
    """Sort by counting the rows of each code."""
    codes, counts, place = line.codes, line.counts, np.int64(0)
    for code in range(N_BINS):
        counts[code] = 0
    for i in range(n):
        counts[np.uint64(codes[0, i])] += 1
    for code in range(N_BINS):
        own = counts[code]
        counts[code] = place
        place += own
    for i in range(n):
        mine = np.uint64(codes[0, i])
        to = np.uint64(counts[mine])
        counts[mine] += 1
        codes[1, to], line.records[1, to] = codes[0, i], line.records[0, i]


@part
def missing_at_end(line, n):
    """Return how many rows at the end of a line are missing."""
    n_found = np.int64(0)
    while n_found < n and line.codes[1, n - 1 - n_found] == MISSING:
        n_found += 1
    return n_found


@part
def move_to_front(line, n, n_moved):
    """Move the rows at the end of a line, which are missing, to its beginning."""
    codes, records = line.codes, line.records
    for i in range(n):
        codes[0, (i + n_moved) % n], records[0, (i + n_moved) % n] = codes[1, i], records[1, i]
    for i in range(n):
        codes[1, i], records[1, i] = codes[0, i], records[0, i]
