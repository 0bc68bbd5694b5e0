"""Walks: rows go down packed trees, four of them a step at a time.

A row waits for memory at each step; while it does, others take theirs.
"""

import numpy as np

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.packed import BY_CATEGORY, FEATURE, HEAVIER_LEFT, MISSING_LEFT

BLOCK = 256  # rows that go down a tree before the next ones


@part
def walk(values, rows, thicket, tree, places):
    """Set places[i] to the leaf that row rows[i] reaches in a tree, counted from its root.

    values  float64 [n_rows, n_features]   read    NaN is missing, -1 an unseen category
    rows    int64 [n <= BLOCK]             read
    places  int32 [BLOCK]                  write

    Four rows at a time; of the last ones some walk twice.
    """
    first, first_word = thicket.first[tree, 0], thicket.first[tree, 1]
    nodes, words = thicket.nodes[first : thicket.first[tree + 1, 0]], thicket.words[first_word:]
    last = rows.shape[0] - 1
    for i in range(0, rows.shape[0], 4):
        j, k, m = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        one, two, three, four = values[rows[i]], values[rows[j]], values[rows[k]], values[rows[m]]
        a, b, c, d = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        walking = True
        while walking:
            a_next, b_next = _next(nodes, a, one, words), _next(nodes, b, two, words)
            c_next, d_next = _next(nodes, c, three, words), _next(nodes, d, four, words)
            walking = a_next != a or b_next != b or c_next != c or d_next != d
            a, b, c, d = a_next, b_next, c_next, d_next
        places[i], places[j], places[k], places[m] = a, b, c, d


@inlined_part
def _next(nodes, place, row, words):
    """Return the child that a row goes to, or the leaf itself.

    An unseen category goes to the heavier child.
    """
    node = nodes[np.uint64(place)]
    if node.feature < 0:
        return place
    x = row[np.uint64(node.feature & FEATURE)]
    if np.isnan(x):
        goes_left = (node.feature & MISSING_LEFT) != 0
    elif (node.feature & BY_CATEGORY) == 0:
        goes_left = x <= node.number
    elif x < 0:
        goes_left = (node.feature & HEAVIER_LEFT) != 0
    else:
        code = np.int64(x)
        goes_left = (np.int64(words[node.steps + (code >> 6)]) >> (code & 63)) & 1 == 1
    return np.int32(place + 1) if goes_left else node.link


@team_kernel
def add_leaves(team, values, rows, thicket, way, places, out):
    """Add what the leaf of each row holds to out[row], one tree after another.

    values  float64 [n_rows, n_features]    read
    rows    int64 [n]                       read    a thread owns a range of them
    thicket Thicket                         read
    way     Proportions, Votes or Means     what is added
    places  int32 [n_threads, BLOCK]        write   garbage
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
                leaf = thicket.nodes[first + places[team.thread, i]]
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
                leaves[begin_block + i, tree] = places[team.thread, i]
