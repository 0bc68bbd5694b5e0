"""Thresholds: those of a forest's trees, column by column, and the rank of each split's own."""

import numpy as np

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.meeting import share
from hedgerow.kernels.packed import FEATURE
from hedgerow.kernels.rungs import rank_of_one


@inlined_part
def _column(node, columns):
    """Return the column whose ranks a node is split by, or -1."""
    return -1 if node.feature < 0 else np.int64(columns[np.uint64(node.feature & FEATURE)])


@team_kernel
def count_cuts(team, thicket, columns, counts):
    """Count the splits of some columns.

    thicket  Thicket                   read    a thread owns a range of its nodes
    columns  int32 [n_features]        read    the number of a column, or below 0: it is not asked
    counts   int64 [n_threads, n ..]   both    of this thread; 0 on entry
    """
    begin, end = share(team, thicket.nodes.shape[0])
    own = counts[team.thread]
    for place in range(begin, end):
        column = _column(thicket.nodes[np.uint64(place)], columns)
        if column >= 0:
            own[np.uint64(column)] += 1


@team_kernel
def gather_cuts(team, thicket, columns, places, cuts):
    """Write down the thresholds of some columns.

    places   int64 [n_threads, n ..]   both    where the next one of this thread's goes
    cuts     float64 [n_cuts]          write
    """
    begin, end = share(team, thicket.nodes.shape[0])
    own = places[team.thread]
    for place in range(begin, end):
        node = thicket.nodes[np.uint64(place)]
        column = _column(node, columns)
        if column >= 0:
            cuts[np.uint64(own[np.uint64(column)])] = node.number + 0.0  # there is no negative zero
            own[np.uint64(column)] += 1


@team_kernel
def mark_splits(team, thicket, columns, rungs, marks):
    """Set marks of splits to the keys of their thresholds: 1 more than the rank.

    rungs  Rungs               read    of all columns that are asked
    marks  uint16 [n_nodes]    write   of other nodes they are left alone
    """
    begin, end = share(team, thicket.nodes.shape[0])
    for place in range(begin, end):
        node = thicket.nodes[np.uint64(place)]
        column = _column(node, columns)
        if column >= 0:
            marks[place] = 1 + rank_of_one(rungs, column, node.number)
