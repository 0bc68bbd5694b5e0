"""Trimming: taking away, from the leaves up, the splits of a grown tree that gain too little.

A split that gains too little stays if one below it stays: its gain may come later, as in
an exclusive or, where no first split gains anything. Notes 3, post-pruning.
"""

import numpy as np

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.meeting import share
from hedgerow.kernels.nodes import clear_node
from hedgerow.kernels.workspace import N_NODES


@kernel
def trim(nodes, least, place):
    """Make leaves of bottom splits of a gain below `least`, and close the gaps.

    nodes  Nodes              both    but for leaf_of_row; parents come before children
    least  float64            read
    place  int64 [n_nodes]    write   where a node, or what it is part of now, has gone
    """
    table, n_nodes = nodes.table, nodes.counters[N_NODES]
    for node in range(n_nodes - 1, -1, -1):
        left = table[node].left
        if (
            left >= 0
            and table[node].gain < least
            and max(table[left].left, table[left + 1].left) < 0
        ):
            clear_node(table[node])
    close_gaps(nodes, place)


@part
def close_gaps(nodes, place):
    """Take out what is below nodes that have become leaves, and set `place` as `trim` does."""
    table, n_nodes, n_kept = nodes.table, nodes.counters[N_NODES], np.int64(1)
    place[0] = 0
    for node in range(1, n_nodes):
        parent = table[node].parent
        place[node] = n_kept if table[parent].left >= 0 else place[parent]
        n_kept += np.int64(table[parent].left >= 0)
    _move(nodes, place, n_nodes, n_kept)


@part
def _move(nodes, place, n_nodes, n_kept):
    """Move every node that is kept to its place, and clear the sums behind them."""
    table, width, number = nodes.table, nodes.sums.shape[1], np.int64(0)
    for node in range(n_nodes):
        if place[node] == number:  # a node that is gone has the lower number of its leaf
            if table[node].left >= 0:
                table[node].left = place[table[node].left]
            if node > 0:
                table[node].parent = place[table[node].parent]
            table[number] = table[node]
            for k in range(width):
                nodes.sums[number, k] = nodes.sums[node, k]
            number += 1
    for node in range(n_kept, n_nodes):
        for k in range(width):
            nodes.sums[node, k] = 0
    nodes.counters[N_NODES] = n_kept


@team_kernel
def move_rows(team, place, leaf_of_row):
    """Set each row's leaf to what has become of it; a thread owns a range of rows."""
    begin, end = share(team, leaf_of_row.shape[0])
    for row in range(begin, end):
        if leaf_of_row[row] >= 0:
            leaf_of_row[row] = place[leaf_of_row[row]]
