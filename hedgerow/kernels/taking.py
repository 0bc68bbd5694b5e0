"""Taking: which leaf a thread that grows a tree ahead divides or searches next.

What a thread has written is in the caches of its core. So it goes on with children of its own
if they are likely to have their turn, and always puts histograms into the same places. Who finds
nothing to divide may search a leaf that another thread offers. Whoever calls has the lock.
"""

import numpy as np

from hedgerow.kernels.jit import part
from hedgerow.kernels.outlook import (
    N_LEAVES,
    N_OFFERED,
    N_QUEUED,
    N_SLOTS,
    N_WAITING,
    NODE_BITS,
    NOTHING,
    OVER,
    TAKEN,
    key_of,
)


@part
def take(rules, view, space, table, thread):
    """Take the node of the highest gain that nobody has and that may come to be divided.

    If a thread has made one itself that is likely to be divided, it takes that one. Returns the
    node, or NOTHING, a slot for its smaller child, and whether its children may be divided. As
    many slots are kept as there will be leaves: the others are for what may be in vain.
    """
    counters, top = view.counters, -space.queue[0, 0] & NODE_BITS
    n_left = rules.max_leaves - counters[N_LEAVES]
    is_scarce = counters[N_SLOTS] + n_left >= space.leaves.shape[1]
    while counters[N_WAITING] > 0 and not counters[OVER]:
        best = _best_waiting(view, top, is_scarce, np.int64(-1))
        if best < 0:
            break
        own = _best_waiting(view, top, is_scarce, thread)
        if own >= 0 and own != best:
            n_before = _divisions_before(rules, view, space, table, view.waiting[own])
            best = own if 2 * n_before < n_left else best
        node = view.waiting[best]
        counters[N_WAITING] -= 1
        view.waiting[best] = view.waiting[counters[N_WAITING]]
        n_needed = _divisions_before(rules, view, space, table, node) + 1
        if n_needed <= n_left:  # or else it will never be divided
            view.state[node], view.n_unknown[node] = TAKEN, 2
            return node, _free_slot(view, thread), n_needed < n_left
    return np.int64(NOTHING), np.int64(0), False


@part
def _best_waiting(view, top, is_scarce, maker):
    """Return where the best node waits, of those that `maker` made, or all if it is -1; or -1."""
    best = np.int64(-1)
    for i in range(view.counters[N_WAITING]):
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
    key, item = key_of(rules, view, node), -(view.number[node] << 31 | node)
    for i in range(view.counters[N_QUEUED]):
        before = space.keys[0, i]
        n += np.int64(before > key or (before == key and space.queue[0, i] > item))
    return n


@part
def offer(view, slot):
    """Let whoever has nothing to do search the leaf in a slot."""
    view.offered[view.counters[N_OFFERED]] = slot
    view.counters[N_OFFERED] += 1


@part
def accept(view):
    """Return the slot of a leaf that is offered, or NOTHING."""
    if view.counters[N_OFFERED] == 0:
        return np.int64(NOTHING)
    view.counters[N_OFFERED] -= 1
    return view.offered[view.counters[N_OFFERED]]


@part
def take_back(view, slot):
    """Tell whether nobody has accepted an offer, which is then no more."""
    n_offered = view.counters[N_OFFERED]
    for i in range(n_offered):
        if view.offered[i] == slot:
            view.offered[i] = view.offered[n_offered - 1]
            view.counters[N_OFFERED] = n_offered - 1
            return True
    return False
