"""Trails: packed trees made ready for many rows that have keys, see scales.py.

A step down a tree is then one addition: children stand side by side, and a row goes to the second
one if its key is above that of the split.

    split   key, LANES times the column that it is compared with, and where its children are
    leaf    has itself for a child and a column of keys that are 0: who is there stays. Its own key
            is the class of all its rows, or NO_CLASS if there is more to be said
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.codes import Records
from hedgerow.kernels.groups import go, sure_steps
from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import double_of_bits
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.packed import FEATURE, MISSING_LEFT
from hedgerow.kernels.scales import HOME, LANES, cut_key, shared_rows

NARROW = np.dtype([("key", "u2"), ("column", "u2"), ("child", "u4")])  # nodes for keys of 16 bits
WIDE = np.dtype([("key", "u4"), ("column", "u4"), ("child", "u4")])
NO_CLASS = (1 << 16) - 1
BLOCK = 480  # rows that go down a tree before the next ones: a number of groups
_LEFT_OVER = 2  # trees that all threads lay


class Trails(NamedTuple):
    """Rows made ready, and room for trees; what belongs to a thread has its number first.

    keys       uint16 or uint32 [n_groups * n_columns * LANES]   see read_keys
    nodes      NARROW or WIDE [n_threads, n_nodes]     of one tree, the largest has room
    origins    int32 [n_threads, n_nodes]       the number of each in its tree
    slots      int32 [n_threads, n_nodes + 2]
    places     uint32 [n_threads, BLOCK]        where rows have come to
    n_columns
    """

    keys: NDArray[np.uint32]
    nodes: Records
    origins: NDArray[np.int32]
    slots: NDArray[np.int32]
    places: NDArray[np.uint32]
    n_columns: int


@team_kernel
def follow(team, thicket, begin_tree, way, scales, trails, verdicts):
    """Find out what trees begin_tree, ... say of every row.

    thicket   Thicket                      read    without sets of categories
    way       Proportions, Votes or Means          tells which leaves have a class
    scales    Scales                       read    its marks are those of the thicket
    trails    Trails                       both    all but keys are garbage, and of this thread
    verdicts  int32 [n_trees, n_rows]      write   the class of a leaf, or -1 - its number

    A thread lays a tree out for itself, and all rows follow it: what one thread has written
    another one would wait for. A tree or two that are left over are laid by all, and rows shared.

    Cost: 4 to 8 nanoseconds a node, 3 to 4 cycles a step, as rows of a group take theirs at once.
    """
    n_trees, n_rows = verdicts.shape
    n_left = n_trees % team.n_threads
    n_left = n_left if n_left <= _LEFT_OVER else 0
    for number in range(team.thread, n_trees - n_left, team.n_threads):
        _follow(team, thicket, begin_tree + number, way, scales, trails, 0, verdicts[number])
    begin, end = shared_rows(team, n_rows)
    for number in range(n_trees - n_left, n_trees):
        tree = begin_tree + number
        _follow(team, thicket, tree, way, scales, trails, begin, verdicts[number, begin:end])


@part
def _follow(team, thicket, tree, way, scales, trails, begin, verdicts):
    """Lay a tree out, and let rows from `begin` on follow it: whole groups, but for the last."""
    _lay(team.thread, thicket, tree, way, scales, trails)
    n_sure = sure_steps(thicket, tree)
    laid, origins = trails.nodes[team.thread], trails.origins[team.thread]
    places = trails.places[team.thread]
    for block in range(0, verdicts.shape[0], BLOCK):
        if cancelled(team):
            return
        n_rows = min(BLOCK, verdicts.shape[0] - block)
        go(trails.keys, trails.n_columns, laid, begin + block, n_rows, n_sure, places)
        some = verdicts[block : block + n_rows]
        for i in range(n_rows):
            vote = laid[np.uint64(places[i])].key
            some[i] = vote if vote < NO_CLASS else -1 - origins[np.uint64(places[i])]


@part
def _lay(thread, thicket, tree, way, scales, trails):
    """Put the nodes of a tree where their siblings are.

    In preorder a split is followed by its left child, and a leaf by the right child of the last
    split that still waits for one: those wait in `slots`. What is done is the same for splits and
    leaves, as which of them comes next nobody can guess.
    """
    first = thicket.first[tree, 0]
    nodes = thicket.nodes[first : thicket.first[tree + 1, 0]]
    laid, origins, slots = trails.nodes[thread], trails.origins[thread], trails.slots[thread]
    nothing = np.int64(trails.n_columns - 1)  # the column of leaves
    second = nothing - scales.columns.shape[0]  # how far the second column of a feature is
    slot, free, n_waiting = np.int64(0), np.int64(1), np.int64(1)
    slots[0] = 0
    for place in range(nodes.shape[0]):
        node, to = nodes[np.uint64(place)], laid[np.uint64(slot)]
        is_leaf = np.int64(node.feature) >> 63  # all bits, or none
        about = np.int64(node.feature) & ~is_leaf
        feature = about & FEATURE
        number = double_of_bits((node.steps & ~is_leaf) | (HOME & is_leaf))
        key = cut_key(scales, feature, number, first + place)
        column = feature + (second & ((about & MISSING_LEFT) // MISSING_LEFT - 1))
        to.key = (key & ~is_leaf) | (np.int64(way.vote(node)) & NO_CLASS & is_leaf)
        to.column = LANES * ((column & ~is_leaf) | (nothing & is_leaf))
        to.child = (free & ~is_leaf) | (slot & is_leaf)
        origins[np.uint64(slot)] = place
        slots[np.uint64(n_waiting)] = free + 1
        slot = (free & ~is_leaf) | (np.int64(slots[np.uint64(n_waiting - 1)]) & is_leaf)
        n_waiting += 1 + 2 * is_leaf
        free += 2 + 2 * is_leaf


@team_kernel
def arrange(team, thicket, way, scales, trails, leaves, order, keys):
    """Put rows in the order of the leaves that they reach in the first tree.

    Neighbours then go similar ways in other trees, too: what they need is in the cache, and they
    arrive at about the same time.

    trails   Trails            both    all but keys are garbage, and of this thread
    leaves   int32 [n_rows]    write   garbage
    order    int64 [n_rows]    write   each thread orders a range of the rows
    keys     as trails.keys    write   the same rows in this order
    """
    begin, end = shared_rows(team, order.shape[0])
    _lay(team.thread, thicket, 0, way, scales, trails)
    n_sure = sure_steps(thicket, 0)
    laid, places = trails.nodes[team.thread], trails.places[team.thread]
    for block in range(begin, end, BLOCK):
        n_rows = min(BLOCK, end - block)
        go(trails.keys, trails.n_columns, laid, block, n_rows, n_sure, places)
        for i in range(n_rows):
            leaves[block + i] = places[i]
    _count(leaves[begin:end], trails.slots[team.thread][: thicket.first[1, 0] + 1])
    _sort(leaves, begin, end, trails, trails.slots[team.thread], order, keys)


@part
def _count(leaves, counts):
    """Set counts[leaf] to the number of rows in leaves before this one."""
    for slot in range(counts.shape[0]):
        counts[slot] = 0
    for i in range(leaves.shape[0]):
        counts[np.uint64(leaves[i] + 1)] += 1
    for slot in range(counts.shape[0] - 1):
        counts[slot + 1] += counts[slot]


@part
def _sort(leaves, begin, end, trails, counts, order, keys):
    """Write down some rows, and their keys, leaf by leaf."""
    n_columns = trails.n_columns
    for row in range(begin, end):
        leaf = np.uint64(leaves[row])
        to = begin + np.int64(counts[leaf])
        order[to] = row
        counts[leaf] += 1
        own = trails.keys[(row // LANES) * n_columns * LANES + row % LANES :]
        room = keys[(to // LANES) * n_columns * LANES + to % LANES :]
        for column in range(n_columns):
            room[column * LANES] = own[column * LANES]


@team_kernel
def add_verdicts(team, thicket, begin_tree, way, verdicts, sums):
    """Add what trees begin_tree, ... say of each row to its sums, one tree after another.

    way       Proportions, Votes or Means          what is added
    verdicts  int32 [n_trees, n_rows]      read    see follow
    sums      float64 [n_rows, n_values]   both    a thread owns a range of the rows
    """
    begin, end = share(team, sums.shape[0])
    for block in range(begin, end, BLOCK):
        if cancelled(team):
            return
        for number in range(verdicts.shape[0]):
            first, first_row = (
                thicket.first[begin_tree + number, 0],
                thicket.first[begin_tree + number, 2],
            )
            for row in range(block, min(block + BLOCK, end)):
                verdict = np.int64(verdicts[number, row])
                if verdict >= 0:
                    sums[np.uint64(row), np.uint64(verdict)] += 1.0
                else:
                    leaf = thicket.nodes[np.uint64(first - 1 - verdict)]
                    way.add_leaf(leaf, thicket.extra, first_row, sums[row])
