"""Lone trees: one tree made ready for many rows, whose values are compared as they are.

Children stand side by side, and a row goes to the second one if it goes right. A leaf has itself
for a child and infinity for a threshold: who is there stays.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.codes import Records
from hedgerow.kernels.jit import inlined_part, kernel
from hedgerow.kernels.meeting import cancelled, share

STEP = np.dtype([("threshold", "f8"), ("column", "u4"), ("child", "u4")])
_BLOCK = 512  # rows after which a thread looks whether it is to go on


class Lone(NamedTuple):
    """A tree without splits by categories.

    steps    STEP [n_nodes]     column is twice the feature, and one more if missing values go right
    origins  int32 [n_nodes]    the number of each in its tree
    """

    steps: Records
    origins: NDArray[np.int32]


def room_for_one(n_nodes: int) -> Lone:
    """Return room for a tree."""
    return Lone(np.empty(n_nodes, STEP).view(np.recarray), np.empty(n_nodes, np.int32))


@kernel
def lay_one(paths, slots, lone):
    """Put the nodes of a tree where their siblings are.

    paths  Paths             read    in preorder
    slots  int64 [n_nodes]   write   garbage
    lone   Lone              write
    """
    slots[0], free = 0, np.int64(1)
    for node in range(slots.shape[0]):
        slot = slots[node]
        step, left = lone.steps[slot], paths.left[node]
        lone.origins[slot] = node
        if left < 0:
            step.threshold, step.column, step.child = np.inf, 0, slot
            continue
        goes_right = np.int64(not paths.missing_left[node])
        step.threshold, step.child = paths.threshold[node], free
        step.column = 2 * np.int64(paths.feature[node]) + goes_right
        slots[left], slots[paths.right[node]] = free, free + 1
        free += 2


@inlined_part
def _next(steps, place, row):
    """Return where a row goes from a place. It is a sum: a choice would become a branch."""
    step = steps[np.uint64(place)]
    x = row[np.uint64(step.column >> np.uint32(1))]
    is_above, is_not_below = np.uint32(x > step.threshold), np.uint32(not x <= step.threshold)
    return np.uint32(step.child + (is_above | (np.uint32(step.column) & is_not_below)))


@team_kernel
def find_leaves_of_one(team, values, lone, leaves):
    """Set leaves[row] to the node that the row reaches.

    values  float64 [n_rows, n_features]   read    NaN is missing
    lone    Lone                           read
    leaves  int64 [n_rows]                 write   a thread owns a range of rows

    Four rows go down at once, and nobody guesses which way. Of the last rows some do so twice.
    """
    begin, end = share(team, values.shape[0])
    steps, origins, root = lone.steps, lone.origins, np.uint32(0)
    for row in range(begin, end, 4):
        if row % _BLOCK < 4 and cancelled(team):
            return
        i, j, k = min(row + 1, end - 1), min(row + 2, end - 1), min(row + 3, end - 1)
        one, two, three, four = values[row], values[i], values[j], values[k]
        a, b, c, d = root, root, root, root
        is_going = True
        while is_going:
            before = a, b, c, d
            a, b = _next(steps, a, one), _next(steps, b, two)
            c, d = _next(steps, c, three), _next(steps, d, four)
            is_going = ((before[0] ^ a) | (before[1] ^ b) | (before[2] ^ c) | (before[3] ^ d)) != 0
        leaves[row], leaves[i] = origins[np.uint64(a)], origins[np.uint64(b)]
        leaves[j], leaves[k] = origins[np.uint64(c)], origins[np.uint64(d)]
