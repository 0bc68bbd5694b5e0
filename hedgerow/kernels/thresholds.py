"""Thresholds: those of a forest's trees, column by column, and the rank of each split's own.

Half of all nodes are leaves, and nobody can guess which. So leaves, and splits of columns that are
not asked for, are counted and written down as well, where it does not matter.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.machine import bits_of_double
from hedgerow.kernels.meeting import share
from hedgerow.kernels.packed import FEATURE
from hedgerow.kernels.rungs import rank_of_one

SEEN_BITS = 11
SEEN = 1 << SEEN_BITS  # thresholds of a column that a thread remembers
BATCH = 512  # nodes whose splits are looked for at once
_SCATTER = -0x61C8864680B583EB  # odd, of about 2^64 over the golden ratio: Knuth (1973), section 6.4


class Sieve(NamedTuple):
    """Thresholds that a thread has written down; most of a column come again and again.

    places  int64 [n_threads, n_slots]          where the next one of a column goes. The last slot
                                                is for whatever is not asked for
    known   float64 [n_threads, n_slots, SEEN]  some that are there; NaN on entry
    """

    places: NDArray[np.int64]
    known: NDArray[np.float64]


@inlined_part
def _column(node, columns):
    """Return the column whose ranks a node is split by, or -1."""
    nothing = np.int64(node.feature) >> 63  # all bits of a leaf
    feature = np.int64(node.feature) & FEATURE & ~nothing
    return np.int64(columns[np.uint64(feature)]) | nothing


@inlined_part
def _slot(column, n_slots):
    """Return the slot of a column; of -1, the last one."""
    return np.uint64(column + (n_slots & (column >> 63)))


@team_kernel
def count_cuts(team, thicket, columns, counts):
    """Count the splits of some columns.

    thicket  Thicket                      read    a thread owns a range of its nodes
    columns  int32 [n_features]           read    the number of a column, or -1: it is not asked
    counts   int64 [n_threads, n_slots]   both    of this thread; 0 on entry. The last is garbage
    """
    begin, end = share(team, thicket.nodes.shape[0])
    own = counts[team.thread]
    for place in range(begin, end):
        column = _column(thicket.nodes[np.uint64(place)], columns)
        own[_slot(column, own.shape[0])] += 1


@team_kernel
def gather_cuts(team, thicket, columns, sieve, cuts):
    """Write down the thresholds of some columns, each at least once.

    sieve  Sieve              both    of this thread
    cuts   float64 [n_cuts]   write   there is one more for each thread's last slot
    """
    begin, end = share(team, thicket.nodes.shape[0])
    places, known = sieve.places[team.thread], sieve.known[team.thread]
    for place in range(begin, end):
        node = thicket.nodes[np.uint64(place)]
        column = _column(node, columns)
        slot = _slot(column, places.shape[0])
        number = node.number + 0.0  # there is no negative zero
        scattered = np.uint64(bits_of_double(number) * _SCATTER) >> np.uint64(64 - SEEN_BITS)
        is_new = np.int64(known[slot, scattered] != number) & (column >= 0)
        known[slot, scattered] = number
        cuts[np.uint64(places[slot])] = number
        places[slot] += is_new


@team_kernel
def mark_splits(team, thicket, columns, rungs, desks, marks):
    """Set marks of splits to the keys of their thresholds: 1 more than the rank.

    rungs  Rungs                        read    of all columns that are asked
    desks  int64 [n_threads, 2, BATCH]  write   garbage
    marks  uint16 [n_nodes]             write   of other nodes they are left alone
    """
    begin, end = share(team, thicket.nodes.shape[0])
    n_levels = np.int64(0)
    for column in range(rungs.marks.shape[0]):
        n_levels = max(n_levels, rungs.marks[column, 2])
    places, asked = desks[team.thread]
    for first in range(begin, end, BATCH):
        n_some = _splits(thicket, columns, first, min(first + BATCH, end), places, asked)
        for i in range(n_some):
            place = np.uint64(places[i])
            number = thicket.nodes[place].number
            marks[place] = 1 + rank_of_one(rungs, asked[i], number, n_levels)


@part
def _splits(thicket, columns, begin, end, places, asked):
    """Write down the splits of some nodes by columns that are asked, and these."""
    n_some = np.int64(0)
    for place in range(begin, end):
        column = _column(thicket.nodes[np.uint64(place)], columns)
        places[np.uint64(n_some)], asked[np.uint64(n_some)] = place, column
        n_some += np.int64(column >= 0)
    return n_some
