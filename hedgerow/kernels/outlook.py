"""Outlook: what threads that grow a tree ahead know of it, and which leaf one of them takes next.

A node is divided by one thread, and is then part of the tree as soon as all nodes that `grow`
divides before it are. Whoever reads or changes what is known has the lock.

What a thread has written is in the caches of its core. So it goes on with children of its own
if they are likely to have their turn, and always puts histograms into the same places.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import Records
from hedgerow.kernels.heap import lift, take_largest
from hedgerow.kernels.helping import nobody_asked
from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store
from hedgerow.kernels.meeting import be_patient
from hedgerow.kernels.split import SPLIT
from hedgerow.kernels.workspace import APART, BY_GAIN, LANES, Size

SPARE = 8  # leaves for what may be divided in vain

# What is known of a node: it is not to be divided, may be, is by somebody, or has been.
_CLOSED, _WAITING, _TAKEN, _DIVIDED = 0, 1, 2, 3

# Places in `counters`, lines of their own for what threads wait for.
_TICKETS, TURN, OVER, N_BUSY = range(0, 4 * APART, APART)
N_LEAVES, _N_QUEUED, N_SLOTS, _N_WAITING, _N_OFFERED = range(N_BUSY + 1, N_BUSY + 6)

_NODE = 0x7FFFFFFF  # an item of the queue is -(number, node), the node in its 31 lowest bits
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
        counters=np.zeros(N_BUSY + APART, np.int64),
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
        found=np.zeros((n_threads, 2, 1, 2), SPLIT).view(np.recarray),
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
        view.waiting[view.counters[_N_WAITING]] = node
        view.counters[_N_WAITING] += 1


@part
def _number(rules, view, space, node, number):
    """Make a node part of the tree; queue it if it may be divided."""
    view.number[node] = number
    if view.state[node] != _CLOSED:
        n_queued, keys, queue = view.counters[_N_QUEUED], space.keys[0], space.queue[0]
        keys[n_queued], queue[n_queued] = _key(rules, view, node), -(number << 31 | node)
        lift(keys, queue, n_queued)
        view.counters[_N_QUEUED] = n_queued + 1


@part
def _key(rules, view, node):
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
def offer(view, slot):
    """Let whoever has nothing to do search the leaf in a slot."""
    view.offered[view.counters[_N_OFFERED]] = slot
    view.counters[_N_OFFERED] += 1


@part
def accept(view):
    """Return the slot of a leaf that is offered, or NOTHING."""
    if view.counters[_N_OFFERED] == 0:
        return np.int64(NOTHING)
    view.counters[_N_OFFERED] -= 1
    return view.offered[view.counters[_N_OFFERED]]


@part
def take_back(view, slot):
    """Tell whether nobody has accepted an offer, which is then no more."""
    n_offered = view.counters[_N_OFFERED]
    for i in range(n_offered):
        if view.offered[i] == slot:
            view.offered[i] = view.offered[n_offered - 1]
            view.counters[_N_OFFERED] = n_offered - 1
            return True
    return False


@part
def _commit(rules, view, space, table):
    """Number the children of divided nodes whose turn has come, in the order of `grow`."""
    counters, keys, queue = view.counters, space.keys[0], space.queue[0]
    while counters[_N_QUEUED] > 0 and counters[N_LEAVES] < rules.max_leaves:
        node = -queue[0] & _NODE
        if view.state[node] != _DIVIDED:
            return
        take_largest(keys, queue, counters[_N_QUEUED])
        counters[_N_QUEUED] -= 1
        left, number = table[node].left, 2 * counters[N_LEAVES] - 1
        counters[N_LEAVES] += 1
        _number(rules, view, space, left, number)
        _number(rules, view, space, left + 1, number + 1)
    atomic_store(counters, OVER, 1)


@part
def take(rules, view, space, table, thread):
    """Take the node of the highest gain that nobody has and that may come to be divided.

    If a thread has made one itself that is likely to be divided, it takes that one. Returns the
    node, or NOTHING, a slot for its smaller child, and whether its children may be divided. As
    many slots are kept as there will be leaves: the others are for what may be in vain.
    """
    counters, top = view.counters, -space.queue[0, 0] & _NODE
    n_left = rules.max_leaves - counters[N_LEAVES]
    is_scarce = counters[N_SLOTS] + n_left >= space.leaves.shape[1]
    while counters[_N_WAITING] > 0 and not counters[OVER]:
        best = _best_waiting(view, top, is_scarce, np.int64(-1))
        if best < 0:
            break
        own = _best_waiting(view, top, is_scarce, thread)
        if own >= 0 and own != best:
            n_before = _divisions_before(rules, view, space, table, view.waiting[own])
            best = own if 2 * n_before < n_left else best
        node = view.waiting[best]
        counters[_N_WAITING] -= 1
        view.waiting[best] = view.waiting[counters[_N_WAITING]]
        n_needed = _divisions_before(rules, view, space, table, node) + 1
        if n_needed <= n_left:  # or else it will never be divided
            view.state[node], view.n_unknown[node] = _TAKEN, 2
            return node, _free_slot(view, thread), n_needed < n_left
    return np.int64(NOTHING), np.int64(0), False


@part
def _best_waiting(view, top, is_scarce, maker):
    """Return where the best node waits, of those that `maker` made, or all if it is -1; or -1."""
    best = np.int64(-1)
    for i in range(view.counters[_N_WAITING]):
        node = view.waiting[i]
        is_best = best < 0 or view.gain[node] > view.gain[view.waiting[best]]
        if is_best and (maker < 0 or view.maker[node] == maker) and (node == top or not is_scarce):
            best = np.int64(i)
    return best


@part
def _free_slot(view, thread):
    """Take a slot for a new leaf: a thread has the same ones in every tree, as far as possible."""
    n_slots = view.is_used.shape[0]
    slot = thread * n_slots // view.told.shape[0]
    while view.is_used[slot]:
        slot = (slot + 1) % n_slots
    view.is_used[slot] = 1
    view.counters[N_SLOTS] += 1
    return slot


@part
def _divisions_before(rules, view, space, table, node):
    """Return how many nodes, of those that are known, come before a node in any case."""
    n = np.int64(0)
    while view.number[node] < 0:
        node = table[node].parent
        n += 1
    key, item = _key(rules, view, node), -(view.number[node] << 31 | node)
    for i in range(view.counters[_N_QUEUED]):
        before = space.keys[0, i]
        n += np.int64(before > key or (before == key and space.queue[0, i] > item))
    return n
