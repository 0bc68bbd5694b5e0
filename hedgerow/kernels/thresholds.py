"""Thresholds: those of a forest's trees, column by column, and the rank of each split's own.

Most thresholds of a column come again and again, in this tree and in others. A thread writes down a
*copy* of those that it does not remember, and for each node where its copy is: copies are sorted,
and have ranks, which nodes then have from them.

Half of all nodes are leaves, and nobody can guess which. So leaves, and splits of columns that are
not asked for, are counted and written down as well, where it does not matter.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.machine import bits_of_double
from hedgerow.kernels.meeting import share
from hedgerow.kernels.packed import FEATURE
from hedgerow.kernels.rungs import rank

SEATS_BITS = 10
SEATS = 1 << SEATS_BITS  # thresholds of a column that a thread remembers at most
_LOW = (1 << 32) - 1
ROWS = 64  # copies whose ranks are looked up at once
_SCATTER = 0x4F1BBCDD  # odd, of 2^31 over the golden ratio: Knuth (1973), section 6.4


class Memory(NamedTuple):
    """What each thread remembers of the thresholds that it has met.

    places   int64 [n_threads, n_slots]           where the next copy of a column goes. The last
                                                  slot is for what is not asked for
    numbers  float64 [n_threads, n_slots, SEATS]  one threshold for each seat; NaN on entry
    copies   int32 [n_threads, n_slots, SEATS]    where its copy is
    """

    places: NDArray[np.int64]
    numbers: NDArray[np.float64]
    copies: NDArray[np.int32]


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


@inlined_part
def _seat(bits):
    """Return the seat of a number, given its bits: those in the middle of a product."""
    product = ((bits ^ (bits >> 32)) & _LOW) * _SCATTER
    return np.uint64((product >> (32 - SEATS_BITS)) & (SEATS - 1))


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
def copy_cuts(team, thicket, columns, memory, cuts, copies):
    """Write down the thresholds of some columns, each at least once.

    memory  Memory              both    of this thread
    cuts    float64 [n_cuts]    write   copies; there is one more for each thread's last slot
    copies  int32 [n_nodes]     write   where the copy of each node's threshold is
    """
    begin, end = share(team, thicket.nodes.shape[0])
    places, numbers = memory.places[team.thread], memory.numbers[team.thread]
    remembered = memory.copies[team.thread]
    for node_place in range(begin, end):
        node = thicket.nodes[np.uint64(node_place)]
        column = _column(node, columns)
        slot, number = _slot(column, places.shape[0]), node.number + 0.0  # no negative zero
        seat = _seat(bits_of_double(number) & ~(column >> 63))
        place, is_new = places[slot], np.int64(numbers[slot, seat] != number)
        copy = np.int64(remembered[slot, seat])
        copy += (place - copy) & -is_new
        numbers[slot, seat], remembered[slot, seat] = number, copy
        cuts[np.uint64(place)], copies[node_place] = number, copy
        places[slot] = place + (is_new & (column >= 0))


@team_kernel
def rank_cuts(team, cuts, bounds, rungs, desks, keys):
    """Set the keys of copies: 1 more than their rank.

    cuts    float64 [n_cuts]              read
    bounds  int64 [n_lists, 3]            read    the column of a list of copies, its first and end;
                                                  a thread owns every n-th list
    rungs   Rungs                         read    of these columns
    desks   int64 [n_threads, ROWS]       write   garbage
    keys    uint16 [n_cuts]               write   of copies that are in no list they are left alone
    """
    ranks = desks[team.thread]
    for each in range(team.thread, bounds.shape[0], team.n_threads):
        column, begin, end = bounds[each]
        for first in range(begin, end, ROWS):
            some = cuts[first : min(first + ROWS, end)]
            rank(rungs, column, some, ranks)
            for i in range(some.shape[0]):
                keys[first + i] = 1 + ranks[i]


@team_kernel
def mark_splits(team, copies, keys, marks):
    """Set marks of splits to the keys of their thresholds.

    copies  int32 [n_nodes]    read    a thread owns a range of the nodes
    keys    uint16 [n_cuts]    read    0 for nodes that are not asked for
    marks   uint16 [n_nodes]   both    0 on entry, or what is right
    """
    begin, end = share(team, copies.shape[0])
    for place in range(begin, end):
        marks[place] |= keys[np.uint64(copies[place])]
