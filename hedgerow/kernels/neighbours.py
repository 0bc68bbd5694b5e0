"""Neighbours: training rows that share a leaf with a row, and trees that two rows share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.meeting import cancelled, share

_ROUNDING = 1e-12  # of a sum of shares that is 1 or less


class Dwellers(NamedTuple):
    """Training rows by the leaf that they are in, tree after tree.

    rows     int32 [n]           of each tree, those of its bag, by their leaf
    amounts  int32 or int64 [n]  what each counts there: how often it was drawn, or its weight
    starts   int64 [n_nodes + 1] first of each node of all trees, in `rows`
    first    int64 [n_trees]     first node of each tree, in `starts`
    """

    rows: NDArray[np.int32]
    amounts: NDArray[np.int64]
    starts: NDArray[np.int64]
    first: NDArray[np.int64]


@kernel
def settle(leaves, order, counts, starts, rows, amounts):
    """Lay out the rows that count in one tree by their leaf: a sort by counting.

    leaves   int32 [n_rows]           read
    order    int64 [n_rows]           read    rows, in the order they shall have in a leaf
    counts   int32 or int64 [n_rows]  read    0: not in the tree's bag
    starts   int64 [n_nodes + 1]      write   first place of each node in rows, counted from 0
    rows     int32 [n_in_bag], amounts [n_in_bag]   write
    """
    n_nodes = starts.shape[0] - 1
    for node in range(n_nodes + 1):
        starts[node] = 0
    for row in range(order.shape[0]):
        if counts[row] > 0:
            starts[leaves[row] + 1] += 1
    for node in range(n_nodes):
        starts[node + 1] += starts[node]
    for i in range(order.shape[0]):
        row = order[i]
        if counts[row] > 0:
            place = starts[leaves[row]]
            rows[place], amounts[place] = row, counts[row]
            starts[leaves[row]] += 1
    for node in range(n_nodes, 0, -1):
        starts[node] = starts[node - 1]
    starts[0] = 0


@team_kernel
def leaf_quantiles(team, leaves, dwellers, ranks, levels, shares, places):
    """Set places[i, q] to the rank of the quantile levels[q] of row i.

    leaves    int32 [n, n_trees]              read    a thread owns a range of rows
    dwellers  Dwellers                        read
    ranks     int32 [n_training_rows]         read    of their targets; equal ones have one rank
    levels    float64 [n_levels]              read    ascending, from 0 to 1
    shares    float64 [n_threads, n_ranks]    both    zero on entry, and again at the end
    places    int32 [n, n_levels]             write

    A rank's share of a tree is what its rows count in the leaf, out of all that is there. The
    quantile is the first rank with a share at which the sum of shares reaches the level, but
    for rounding. Sums are added up in the order of trees, then of ranks.
    Cost: rows in the leaves, and one step for each rank.
    """
    begin, end = share(team, leaves.shape[0])
    own, n_trees = shares[team.thread], leaves.shape[1]
    for i in range(begin, end):
        if cancelled(team):
            return
        for tree in range(n_trees):
            node = dwellers.first[tree] + leaves[i, tree]
            total = np.int64(0)
            for place in range(dwellers.starts[node], dwellers.starts[node + 1]):
                total += dwellers.amounts[place]
            for place in range(dwellers.starts[node], dwellers.starts[node + 1]):
                own[ranks[dwellers.rows[place]]] += dwellers.amounts[place] / total
        reached, level = 0.0, np.int64(0)
        for rank in range(own.shape[0]):
            if own[rank] == 0.0:
                continue
            reached, own[rank] = reached + own[rank], 0.0
            for k in range(level, levels.shape[0]):
                places[i, k] = rank
            while level < levels.shape[0] and reached >= (levels[level] - _ROUNDING) * n_trees:
                level += 1


@team_kernel
def count_shared(team, starts, others, left, right, counts):
    """Set counts[k] to the trees that have left out both rows of pair k: row i and others[k].

    starts  int32 or int64 [n_left + 1]   read    first pair of each row; a thread owns rows
    others  int32 or int64 [n_pairs]      read
    left    uint8 [n_left, n_trees]       read    1: the tree has left the row out
    right   uint8 [n_right, n_trees]      read
    counts  int64 [n_pairs]               write
    """
    begin, end = share(team, left.shape[0])
    for i in range(begin, end):
        if cancelled(team):
            return
        for k in range(starts[i], starts[i + 1]):
            total, other = np.int64(0), others[k]
            for tree in range(left.shape[1]):
                total += left[i, tree] & right[other, tree]
            counts[k] = total
