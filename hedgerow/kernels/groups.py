"""Groups: eight rows, whose keys of a column stand side by side, go down a laid tree at once."""

import numpy as np

from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.scales import LANES


@part
def sure_steps(thicket, tree):
    """Return how many steps a group takes before it looks whether all have arrived.

    As many as to a leaf of a tree whose leaves are all equally far away: in any other tree of
    as many nodes the average leaf is farther, and who has arrived stays.
    """
    n_nodes, n_steps = thicket.first[tree + 1, 0] - thicket.first[tree, 0], np.int64(0)
    while n_nodes > 1:
        n_nodes, n_steps = n_nodes >> 1, n_steps + 1
    return n_steps


@inlined_part
def _next(keys, first, lane, laid, place):
    """Return where a row goes from a place. It is a sum: a choice would become a branch."""
    node = laid[np.uint64(place)]
    key = keys[first + np.uint64(node.column) + np.uint64(lane)]
    return np.uint32(node.child + np.uint32(key > node.key))


@inlined_part
def _step(keys, first, laid, places):
    """Return where the rows of a group go from their places."""
    a, b, c, d, e, f, g, h = places
    return (
        _next(keys, first, 0, laid, a),
        _next(keys, first, 1, laid, b),
        _next(keys, first, 2, laid, c),
        _next(keys, first, 3, laid, d),
        _next(keys, first, 4, laid, e),
        _next(keys, first, 5, laid, f),
        _next(keys, first, 6, laid, g),
        _next(keys, first, 7, laid, h),
    )


@inlined_part
def _moved(before, after):
    """Return 0 if a group has stayed where it was."""
    some = (before[0] ^ after[0]) | (before[1] ^ after[1]) | (before[2] ^ after[2])
    others = (before[3] ^ after[3]) | (before[4] ^ after[4]) | (before[5] ^ after[5])
    return some | others | (before[6] ^ after[6]) | (before[7] ^ after[7])


@inlined_part
def go(keys, n_columns, laid, begin, n_rows, n_sure, places):
    """Set places to the leaves that rows begin .. begin + n_rows - 1 reach.

    begin   is the first row of a group; behind the last row of all, a group has any keys
    n_sure  steps that are taken anyway
    """
    root = np.uint32(0)
    for row in range(0, n_rows, LANES):
        first = np.uint64((begin + row) * n_columns)
        after = root, root, root, root, root, root, root, root
        for _ in range(n_sure):
            after = _step(keys, first, laid, after)
        is_going = True
        while is_going:
            before, after = after, _step(keys, first, laid, after)
            is_going = _moved(before, after) != 0
        for lane in range(LANES):
            places[row + lane] = after[lane]
