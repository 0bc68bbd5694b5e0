"""Menu: which features a node may try, of its tree, of its level and with those above it.

A draw is named by (seed, level, feature), so it does not depend on order or on threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.heap import heapify, take_largest
from hedgerow.kernels.jit import part
from hedgerow.kernels.random import mixed, uniform

TREE = -1  # names the draw of a tree's features; level d is named -2 - d, the root's bits 0
_ABOVE, _OFFERED = 1, 2


class Menu(NamedTuple):
    """What is on offer.

    own      int64 [n]              the tree's features, ascending
    n_level  int64                  how many of them a level offers, drawn for it
    first    int64 [n_groups + 1]   group k is members[first[k] : first[k + 1]]; the features
    members  int64 [..]             on the way to a leaf are all in one group; [0]: any may meet
    """

    own: NDArray[np.int64]
    n_level: int
    first: NDArray[np.int64]
    members: NDArray[np.int64]


@part
def varies(menu):
    """Tell whether nodes of one tree are offered different features."""
    return menu.n_level < menu.own.shape[0] or menu.members.shape[0] > 0


@part
def offer_all(menu, desk):
    """List the tree's features in desk.active; return their number."""
    for i in range(menu.own.shape[0]):
        desk.active[i] = menu.own[i]
    return menu.own.shape[0]


@part
def offer(menu, seed, table, leaf, desk):
    """List in desk.active the features that a LEAF may try, ascending; return their number."""
    n = offer_all(menu, desk)
    if menu.n_level < n:
        n = _draw(menu, mixed(seed, -2 - leaf.depth), desk)
    if menu.members.shape[0] > 0:
        n = _keep_partners(menu, table, leaf.node, n, desk)
    return n


@part
def _draw(menu, bits, desk):
    """Keep n_level of the active features, which are the menu's own: those of the highest draw."""
    own, marks = menu.own, desk.marks
    for i in range(own.shape[0]):
        desk.ranks[i] = uniform(mixed(bits, own[i]))
    heapify(desk.ranks, desk.active, own.shape[0])
    for i in range(menu.n_level):
        marks[take_largest(desk.ranks, desk.active, own.shape[0] - i)] = 1
    n_kept = np.int64(0)
    for i in range(own.shape[0]):
        desk.active[n_kept] = own[i]
        n_kept += marks[own[i]]
        marks[own[i]] = 0
    return n_kept


@part
def _keep_partners(menu, table, node, n, desk):
    """Keep the active features that are in a group with all features above a node."""
    marks, n_above = desk.marks, np.int64(0)
    while table[node].parent >= 0:
        node = table[node].parent
        n_above += np.int64(marks[table[node].feature] == 0)
        marks[table[node].feature] = _ABOVE
    for group in range(menu.first.shape[0] - 1):
        members = menu.members[menu.first[group] : menu.first[group + 1]]
        n_shared = np.int64(0)
        for i in range(members.shape[0]):
            n_shared += marks[members[i]] & _ABOVE
        if n_shared == n_above:
            for i in range(members.shape[0]):
                marks[members[i]] |= _OFFERED
    n_kept = np.int64(0)
    for i in range(n):
        desk.active[n_kept] = desk.active[i]
        n_kept += np.int64(marks[desk.active[i]] >= _OFFERED)
    for feature in range(marks.shape[0]):
        marks[feature] = 0
    return n_kept
