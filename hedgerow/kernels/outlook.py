"""Outlook: what threads that grow a tree ahead know of it.

A node is divided by one thread, and is then part of the tree as soon as all nodes that `grow`
divides before it are. Whoever reads or changes what is known has the lock.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import Records
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.heap import lift, take_largest
from hedgerow.kernels.helping import nobody_asked
from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store
from hedgerow.kernels.meeting import be_patient
from hedgerow.kernels.split import SPLIT
from hedgerow.kernels.workspace import APART, BY_GAIN, LANES, Size

SPARE = 8  # leaves for what may be divided in vain

# What is known of a node: it is not to be divided, may be, is by somebody, or has been.
_CLOSED, _WAITING, TAKEN, _DIVIDED = 0, 1, 2, 3

# Places in `counters`, lines of their own for what threads wait for.
_TICKETS, TURN, OVER, N_BUSY, READY, N_CLOSED = range(0, 6 * APART, APART)
N_LEAVES, N_QUEUED, N_SLOTS, N_WAITING, N_OFFERED = range(N_BUSY + 1, N_BUSY + 6)

NODE_BITS = 0x7FFFFFFF  # an item of the queue is -(number, node), the node in its 31 lowest bits
NOTHING = -1


class Outlook(NamedTuple):
    """What threads know of the tree, each under the lock, and their own places in a Workspace.

    counters  int64 [..]
    state     int64 [max_nodes]     what is known of a node
    number    int64 [max_nodes]     in the order of `grow`; -1 while it is not part of the tree
    slot      int64 [max_nodes]     where its leaf is in space.leaves
    maker     int64 [max_nodes]     the thread that made it
    gain      float64 [max_nodes]   its gain
    waiting   int64 [max_nodes]     nodes that may be divided
    place     int64 [max_nodes]     where a node, or what it is part of, is in the end
    is_used   int64 [max_open]      whether a slot has a leaf
    n_unknown int64 [max_nodes]     children of a divided node whose splits are not known yet
    offered   int64 [max_open]      slots of leaves that anybody may search
    told      int64 [n_threads, 2, 1, ..]       see Workspace
    found     SPLIT [n_threads, 2, 1, 2]
    constant  int64 [n_threads, 2, n_features]
    asked     int64 [n_threads, 1, APART]
    """

    counters: NDArray[np.int64]
    state: NDArray[np.int64]
    number: NDArray[np.int64]
    slot: NDArray[np.int64]
    maker: NDArray[np.int64]
    gain: NDArray[np.float64]
    waiting: NDArray[np.int64]
    place: NDArray[np.int64]
    is_used: NDArray[np.int64]
    n_unknown: NDArray[np.int64]
    offered: NDArray[np.int64]
    told: NDArray[np.int64]
    found: Records
    constant: NDArray[np.int64]
    asked: NDArray[np.int64]


def outlook(n_threads: int, size: Size) -> Outlook:
    """Allocate what growing ahead needs beside a workspace; with no threads, next to nothing."""
    n_nodes = 2 * size.max_open - 1 if n_threads else 0
    asked = np.zeros((n_threads, 1, APART), np.int64)
    nobody_asked(asked)
    return Outlook(
        counters=np.zeros(N_CLOSED + APART, np.int64),
        state=np.zeros(n_nodes, np.int64),
        number=np.zeros(n_nodes, np.int64),
        slot=np.zeros(n_nodes, np.int64),
        maker=np.zeros(n_nodes, np.int64),
        gain=np.zeros(n_nodes),
        waiting=np.zeros(n_nodes, np.int64),
        place=np.zeros(n_nodes, np.int64),
        is_used=np.zeros(size.max_open if n_threads else 0, np.int64),
        n_unknown=np.zeros(n_nodes, np.int64),
        offered=np.zeros(size.max_open if n_threads else 0, np.int64),
        told=np.zeros((n_threads, 2, 1, LANES * size.sum_width + APART), np.int64),
        found=with_fields(np.zeros((n_threads, 2, 1, 2), SPLIT)),
        constant=np.zeros((n_threads, 2, size.n_features), np.int64),
        asked=asked,
    )


@part
def lock(counters):
    """Wait until no other thread changes what all know; return this thread's turn."""
    turn, waited = atomic_add(counters, _TICKETS, 1), 0
    while atomic_load(counters, TURN) != turn:
        waited += 1
        be_patient(waited)
    return turn


@part
def unlock(counters, turn):
    """Let the thread that came next have its turn."""
    atomic_store(counters, TURN, turn + 1)


@part
def begin(rules, view, space, table):
    """Let all know of the root."""
    turn = lock(view.counters)
    view.counters[N_LEAVES], view.counters[N_SLOTS] = 1, 1
    view.is_used[:] = 0
    view.is_used[0] = 1
    _note(rules, view, space, np.int64(0), np.int64(0))
    _number(rules, view, space, np.int64(0), np.int64(0))
    _commit(rules, view, space, table)
    unlock(view.counters, turn)


@part
def _note(rules, view, space, slot, thread):
    """Note what is known of the leaf in a slot, which a thread has made."""
    leaf = space.leaves[0, slot]
    node = leaf.node
    view.slot[node], view.number[node], view.maker[node] = slot, -1, thread
    view.gain[node] = leaf.gain if rules.order == BY_GAIN else -float(node)
    view.state[node] = _CLOSED
    if leaf.feature >= 0:
        view.state[node] = _WAITING
        view.waiting[view.counters[N_WAITING]] = node
        view.counters[N_WAITING] += 1


@part
def _number(rules, view, space, node, number):
    """Make a node part of the tree; queue it if it may be divided."""
    view.number[node] = number
    if view.state[node] != _CLOSED:
        n_queued, keys, queue = view.counters[N_QUEUED], space.keys[0], space.queue[0]
        keys[n_queued], queue[n_queued] = key_of(rules, view, node), -(number << 31 | node)
        lift(keys, queue, n_queued)
        view.counters[N_QUEUED] = n_queued + 1


@part
def key_of(rules, view, node):
    """Return what nodes of the tree are queued by."""
    return view.gain[node] if rules.order == BY_GAIN else -float(view.number[node])


@part
def note_child(rules, view, space, table, slot, thread):
    """Note the leaf in a slot, which has been searched or need not be.

    If its sibling is known, too, make whatever has its turn part of the tree.
    """
    _note(rules, view, space, slot, thread)
    parent = table[space.leaves[0, slot].node].parent
    view.n_unknown[parent] -= 1
    if view.n_unknown[parent] == 0:
        view.state[parent] = _DIVIDED
        _commit(rules, view, space, table)


@part
def _commit(rules, view, space, table):
    """Number the children of divided nodes whose turn has come, in the order of `grow`."""
    counters, keys, queue = view.counters, space.keys[0], space.queue[0]
    while counters[N_QUEUED] > 0 and counters[N_LEAVES] < rules.max_leaves:
        node = -queue[0] & NODE_BITS
        if view.state[node] != _DIVIDED:
            return
        take_largest(keys, queue, counters[N_QUEUED])
        counters[N_QUEUED] -= 1
        left, number = table[node].left, 2 * counters[N_LEAVES] - 1
        counters[N_LEAVES] += 1
        _number(rules, view, space, left, number)
        _number(rules, view, space, left + 1, number + 1)
    atomic_store(counters, OVER, 1)
