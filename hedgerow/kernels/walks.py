"""Walks: rows go down packed trees, 32 of them a step at a time.

A row waits for memory at each step; while it does, others take theirs. Those that have come to
a leaf leave the list of those that walk, so that no step is taken in vain.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.abreast import (
    ABREAST,
    SEAT,
    step,
    step_by_any,
    step_by_number,
    step_unguessed,
)
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.machine import prefetch
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.packed import PACKED

BLOCK = 512  # rows that go down a tree before the next ones
_FEW = 12  # rows that had better walk by fours
_CACHED = 1 << 16  # nodes that stay in a core's cache beside a block of rows: one megabyte
_PER_ROW = 16  # nodes of a tree for each row; if there are more, few of them will be needed
_NODE, _LINE = PACKED.itemsize, 64  # bytes of a node, and of a cache line


class Walkers(NamedTuple):
    """Rows on their way down a tree, of each thread; garbage before and after.

    keys    int64 [n_threads, BLOCK + ABREAST]   where a row's values begin, and its seat: a
                                                 number in its block. See kernels.abreast
    places  int64 [n_threads, BLOCK + ABREAST]   the node that it has come to
    leaves  int64 [n_threads, BLOCK]             where rows have ended, by seat
    """

    keys: NDArray[np.int64]
    places: NDArray[np.int64]
    leaves: NDArray[np.int64]


def walkers_of(n_threads: int) -> Walkers:
    """Return room for the rows of each thread."""
    keys, places = (np.empty((n_threads, BLOCK + ABREAST), np.int64) for _ in range(2))
    return Walkers(keys, places, np.empty((n_threads, BLOCK), np.int64))


@part
def walk(values, rows, thicket, tree, walkers, thread):
    """Set walkers.leaves[thread, i] to the leaf of row rows[i] in a tree, counted from its root.

    values   float64 [n_rows, n_features]   read    NaN is missing, -1 an unseen category
    rows     int64 [n <= BLOCK]             read
    walkers  Walkers                        write   of this thread
    """
    first, first_word = thicket.first[tree, 0], thicket.first[tree, 1]
    nodes, words = thicket.nodes[first : thicket.first[tree + 1, 0]], thicket.words[first_word:]
    keys, places, leaves = walkers.keys[thread], walkers.places[thread], walkers.leaves[thread]
    if rows.shape[0] < _FEW:
        _walk_by_fours(values, rows, nodes, words, leaves)
        return
    for i in range(rows.shape[0]):
        keys[i], places[i] = ((rows[i] * values.shape[1]) << SEAT) | i, 0
    n_going, has_sets = rows.shape[0], thicket.words.shape[0] > 0
    while n_going > 0:
        n_kept = np.int64(0)
        for i in range(0, n_going, ABREAST):
            window = (i, n_going - i, n_kept)
            if has_sets:
                n_kept = step_by_any(values, nodes, words, keys, places, leaves, window)
            else:
                n_kept = step_by_number(values, nodes, words, keys, places, leaves, window)
        n_going = n_kept


@part
def _walk_by_fours(values, rows, nodes, words, leaves):
    """Set leaves[i] to the leaf that row rows[i] reaches. Of the last rows some walk twice."""
    last = rows.shape[0] - 1
    for i in range(0, rows.shape[0], 4):
        j, k, m = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        one, two, three, four = values[rows[i]], values[rows[j]], values[rows[k]], values[rows[m]]
        a, b, c, d = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        walking = True
        while walking:
            a_next, b_next = step(nodes, a, one, words), step(nodes, b, two, words)
            c_next, d_next = step(nodes, c, three, words), step(nodes, d, four, words)
            walking = a_next != a or b_next != b or c_next != c or d_next != d
            a, b, c, d = a_next, b_next, c_next, d_next
        leaves[i], leaves[j], leaves[k], leaves[m] = a, b, c, d


@team_kernel
def add_leaves(team, values, rows, thicket, way, walkers, out):
    """Add what the leaf of each row holds to out[row], one tree after another.

    values  float64 [n_rows, n_features]    read
    rows    int64 [n]                       read    a thread owns a range of them
    thicket Thicket                         read
    way     Proportions, Votes or Means     what is added
    walkers Walkers                         write   garbage
    out     float64 [n_rows, n_values]      both

    Some trees after others, so that they stay in the cache; the order in which a row's sums
    are added up is that of the trees, whatever the threads.
    """
    begin, end = share(team, rows.shape[0])
    if end - begin < _FEW:
        for i in range(begin, end):
            _add_trees(values[rows[i]], thicket, way, out[rows[i]])
        return
    n_trees, end_tree = thicket.first.shape[0] - 1, np.int64(0)
    while end_tree < n_trees:
        begin_tree, end_tree = end_tree, _brought(thicket, end_tree, end - begin)
        for begin_block in range(begin, end, BLOCK):
            if cancelled(team):
                return
            block = rows[begin_block : min(begin_block + BLOCK, end)]
            for tree in range(begin_tree, end_tree):
                first, first_row = thicket.first[tree, 0], thicket.first[tree, 2]
                walk(values, block, thicket, tree, walkers, team.thread)
                for i in range(block.shape[0]):
                    leaf = thicket.nodes[first + walkers.leaves[team.thread, i]]
                    way.add_leaf(leaf, thicket.extra, first_row, out[block[i]])


@part
def _add_trees(row, thicket, way, sums):
    """Add what the leaves of one row hold to its sums. It goes down four trees at once."""
    n_trees, nodes = thicket.first.shape[0] - 1, thicket.nodes
    for tree in range(0, n_trees, 4):
        trees = (
            tree,
            min(tree + 1, n_trees - 1),
            min(tree + 2, n_trees - 1),
            min(tree + 3, n_trees - 1),
        )
        a, b, c, d = _four_leaves(row, thicket, trees)
        for k in range(min(4, n_trees - tree)):
            first, first_row = thicket.first[tree + k, 0], thicket.first[tree + k, 2]
            way.add_leaf(nodes[first + (a, b, c, d)[k]], thicket.extra, first_row, sums)


@inlined_part
def _four_leaves(row, thicket, trees):
    """Return the leaves of a row in four trees, counted from their roots."""
    i, j, k, m = trees
    first = thicket.first
    one, two = thicket.nodes[first[i, 0] :], thicket.nodes[first[j, 0] :]
    three, four = thicket.nodes[first[k, 0] :], thicket.nodes[first[m, 0] :]
    a, b, c, d = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    is_going, has_sets = True, thicket.words.shape[0] > 0
    while is_going:
        before = a, b, c, d
        if has_sets:
            words = thicket.words
            a, b = step(one, a, row, words[first[i, 1] :]), step(two, b, row, words[first[j, 1] :])
            c = step(three, c, row, words[first[k, 1] :])
            d = step(four, d, row, words[first[m, 1] :])
        else:
            a, b = step_unguessed(one, a, row), step_unguessed(two, b, row)
            c, d = step_unguessed(three, c, row), step_unguessed(four, d, row)
        is_going = ((before[0] ^ a) | (before[1] ^ b) | (before[2] ^ c) | (before[3] ^ d)) != 0
    return a, b, c, d


@part
def _brought(thicket, tree, n_rows):
    """Bring trees from this one on into the cache; return the first that is not there.

    One tree at least, however large. To read them from end to end is faster than to read them
    where rows happen to go, if there are rows enough to need most of them.
    """
    first, end = thicket.first[tree, 0], tree + 1
    while end < thicket.first.shape[0] - 1 and thicket.first[end + 1, 0] - first <= _CACHED:
        end += 1
    n_nodes = thicket.first[end, 0] - first
    if n_nodes <= _PER_ROW * n_rows * (end - tree):
        for byte in range(first * _NODE, (first + n_nodes) * _NODE, _LINE):
            prefetch(thicket.nodes, byte)
    return end


@team_kernel
def find_leaves(team, values, rows, thicket, walkers, leaves):
    """Set leaves[i, t] to the node that row number rows[i] reaches in tree t.

    leaves  int32 [n, n_trees]   write
    """
    begin, end = share(team, rows.shape[0])
    for tree in range(thicket.first.shape[0] - 1):
        for begin_block in range(begin, end, BLOCK):
            if cancelled(team):
                return
            block = rows[begin_block : min(begin_block + BLOCK, end)]
            walk(values, block, thicket, tree, walkers, team.thread)
            for i in range(block.shape[0]):
                leaves[begin_block + i, tree] = walkers.leaves[team.thread, i]
