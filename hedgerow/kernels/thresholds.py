"""Thresholds: which different ones the trees of a forest have, and the rank of each split's own.

Every different threshold of a column takes a seat, and each split keeps the number of its seat;
when all have one, seats are given ranks, and splits those of their seats.
"""

import numpy as np

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.machine import bits_of_double
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.packed import FEATURE

SEATS = 1 << 12, 1 << 14, 1 << 16  # of a column: tried in turn. Half of them are taken at most


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
def seat_cuts(team, thicket, columns, seats, n_cuts, marks):
    """Let the thresholds of some columns take seats.

    thicket  Thicket                            read    a thread owns a range of its nodes
    columns  int32 [n_features]                 read    see scales.Scales
    seats    float64 [n_threads, n, n_seats]    both    of this thread; NaN: nobody
    n_cuts   int64 [n_threads, n]               both    taken; half of them or more: it gave up
    marks    uint16 [n_nodes]                   write   the seat of each split by ranks
    """
    begin, end = share(team, thicket.nodes.shape[0])
    own, counts = seats[team.thread], n_cuts[team.thread]
    for place in range(begin, end):
        node = thicket.nodes[np.uint64(place)]
        column = -1 if node.feature < 0 else np.int64(columns[np.uint64(node.feature & FEATURE)])
        if column < 0:
            continue
        number = node.number + 0.0  # there is no negative zero
        seat = _seat(own[column], number)
        marks[place] = seat
        if own[column, seat] != number:
            own[column, seat] = number
            counts[column] += 1
            if 2 * counts[column] >= seats.shape[2] or cancelled(team):
                return


@team_kernel
def rank_seats(team, thicket, columns, ranks, marks):
    """Set marks of splits to the ranks of their seats.

    ranks  uint16 [n_threads, n, n_seats]   read    what a thread has seated, it ranks
    marks  uint16 [n_nodes]                 both    as seat_cuts has left them
    """
    begin, end = share(team, thicket.nodes.shape[0])
    own = ranks[team.thread]
    for place in range(begin, end):
        node = thicket.nodes[np.uint64(place)]
        column = -1 if node.feature < 0 else np.int64(columns[np.uint64(node.feature & FEATURE)])
        if column >= 0:
            marks[place] = own[column, np.uint64(marks[place])]
