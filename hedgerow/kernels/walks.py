"""Walks: rows go down packed trees, many of them a step at a time.

A row waits for memory at each step; while it does, others take theirs.
"""

import numpy as np

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import part
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.packed import BY_CATEGORY, FEATURE, HEAVIER_LEFT, MISSING_LEFT

BLOCK = 256  # rows that walk down a tree together


@part
def walk(values, rows, thicket, tree, places):
    """Let rows walk down a tree, all of them one step at a time; return nothing.

    values  float64 [n_rows, n_features]   read    NaN is missing, -1 an unseen category
    rows    int64 [n <= BLOCK]             read
    places  int32 [2, BLOCK]               write   places[0]: the leaf of each row, counted
            from the tree's first node; places[1]: garbage
    """
    first, first_word = thicket.first[tree, 0], thicket.first[tree, 1]
    nodes, words = thicket.nodes[first : thicket.first[tree + 1, 0]], thicket.words[first_word:]
    place, walking = places[0], places[1]
    for i in range(rows.shape[0]):
        place[i], walking[i] = 0, i
    n_walking = rows.shape[0]
    while n_walking > 0:
        n_left = np.int64(0)
        for j in range(n_walking):
            i = walking[j]
            node = nodes[place[i]]
            if node.feature >= 0:
                place[i] = _next(node, place[i], values[rows[i], node.feature & FEATURE], words)
                walking[n_left] = i
                n_left += 1
        n_walking = n_left


@part
def _next(node, place, x, words):
    """Return the child that a value goes to; an unseen category goes to the heavier one."""
    if np.isnan(x):
        goes_left = (node.feature & MISSING_LEFT) != 0
    elif (node.feature & BY_CATEGORY) == 0:
        goes_left = x <= node.number
    elif x < 0:
        goes_left = (node.feature & HEAVIER_LEFT) != 0
    else:
        code = np.int64(x)
        goes_left = (np.int64(words[node.steps + (code >> 6)]) >> (code & 63)) & 1 == 1
    return place + 1 if goes_left else node.link


@team_kernel
def add_leaves(team, values, rows, thicket, way, places, out):
    """Add what the leaf of each row holds to out[row], one tree after another.

    values  float64 [n_rows, n_features]    read
    rows    int64 [n]                       read    a thread owns a range of them
    thicket Thicket                         read
    way     Proportions, Votes or Means     what is added
    places  int32 [n_threads, 2, BLOCK]     write   garbage
    out     float64 [n_rows, n_values]      both

    A tree after another, so that a large one stays in the cache; the order in which a row's
    sums are added up is that of the trees, whatever the threads.
    """
    begin, end = share(team, rows.shape[0])
    for tree in range(thicket.first.shape[0] - 1):
        first, first_row = thicket.first[tree, 0], thicket.first[tree, 2]
        for begin_block in range(begin, end, BLOCK):
            if cancelled(team):
                return
            block = rows[begin_block : min(begin_block + BLOCK, end)]
            walk(values, block, thicket, tree, places[team.thread])
            for i in range(block.shape[0]):
                leaf = thicket.nodes[first + places[team.thread, 0, i]]
                way.add_leaf(leaf, thicket.extra, first_row, out[block[i]])


@team_kernel
def find_leaves(team, values, rows, thicket, places, leaves):
    """Set leaves[i, t] to the node that row number rows[i] reaches in tree t.

    leaves  int32 [n, n_trees]   write
    """
    begin, end = share(team, rows.shape[0])
    for tree in range(thicket.first.shape[0] - 1):
        for begin_block in range(begin, end, BLOCK):
            if cancelled(team):
                return
            block = rows[begin_block : min(begin_block + BLOCK, end)]
            walk(values, block, thicket, tree, places[team.thread])
            for i in range(block.shape[0]):
                leaves[begin_block + i, tree] = places[team.thread, 0, i]
