"""The grower: (codes, moments, criterion, rules) -> tree, one leaf at a time, by a team.

Threads divide the leaves of small tables each by itself, see `ahead`. Or else all of them take
the same decisions from the same integers: a thread owns a segment of each leaf's records, so
rows are partitioned without waiting; histograms are merged, and cuts searched, by column.

With no limit on leaves a node's split does not depend on other nodes. The newest leaf is
then divided next, so that the open leaves are a stack of at most log2(n) (the smaller
child is always on top), and nodes too small to share are put aside as tasks: `grow` is
called again for each, by one thread.
"""

import numpy as np

from hedgerow.kernels import grown_in_bulk
from hedgerow.kernels.ahead import grow_ahead
from hedgerow.kernels.calling import helped_kernel
from hedgerow.kernels.copse import gather, is_copse, leave
from hedgerow.kernels.desks import desk_of
from hedgerow.kernels.heap import lift, take_largest
from hedgerow.kernels.jit import interpreted_as, part
from hedgerow.kernels.leaves import open_first, search_leaves, split_leaf
from hedgerow.kernels.lines import MOST
from hedgerow.kernels.meeting import cancelled
from hedgerow.kernels.nodes import CLOSED, OPEN, POSTPONED, close_leaf, open_root
from hedgerow.kernels.undergrowth import GROWN, NO_ROOM
from hedgerow.kernels.workspace import BY_GAIN, NEWEST

_LEAF = 0x7FFFFFFF  # an item of the queue is -(node, leaf), the leaf in its 31 lowest bits


@helped_kernel
def grow(team, problem, space, view, desks, nodes, n_rows):
    """Grow the tree below leaf 0 of space.leaves from its records in space.records[0].

    view    Outlook   both   for threads that grow ahead; of no threads: they share each leaf
    n_rows  int64     read   of the whole tree, whose root is opened; -1: leaf 0 was put aside

    Threads that share each leaf meet, so all of them have come before one has done.
    """
    grow_root(team, problem, space, view, desks, nodes, n_rows)


@interpreted_as(grown_in_bulk.grow_root)
@part
def grow_root(team, problem, space, view, desks, nodes, n_rows):
    """Grow the tree: see `grow`."""
    if view.told.shape[0] > 0:
        grow_ahead(team, problem, space, view, desks, nodes, n_rows)
    else:
        _grow_together(team, problem, space, desks, nodes, n_rows)


@part
def _grow_together(team, problem, space, desks, nodes, n_rows):
    desk, leaf = desk_of(desks, team.thread), np.int64(0)
    if n_rows >= 0:
        open_root(team, space, nodes, problem.rules.seed, n_rows)
    open_first(team, problem, space, desk, nodes)
    if problem.rules.order == NEWEST:
        _grow_newest(team, problem, space, desk, nodes)
    else:
        search_leaves(team, problem, space, desk, nodes, leaf, leaf, np.int64(1))
        _grow_best(team, problem, space, desk, nodes)


@part
def _grow_newest(team, problem, space, desk, nodes):
    """Divide the newest leaf until none is left; small ones are put aside, or grown at once.

    here, origin: the problem of a copse that was made of leaf `floor`, and its rows.
    """
    leaves, top, turn = space.leaves[team.thread], np.int64(0), np.int64(0)
    here, origin, floor = problem, space.copse.origin[:0], np.int64(-1)
    while top >= 0 and not cancelled(team):
        own, alone = leaves[top], team.n_threads == 1
        if top < floor:
            leave(space, desk)
            here, origin, floor = problem, space.copse.origin[:0], np.int64(-1)
        if own.feature == OPEN and floor < 0 and alone and is_copse(problem, space, desk, own):
            here, origin, floor = gather(problem, space, desk, own), space.copse.origin, top
        is_final = floor >= 0 or problem.rules.fine_rows == 0  # no finer bins are to come
        if own.feature == OPEN and alone and own.n_rows <= MOST and is_final:
            done = problem.moments.grow_below(team, here, space, desk, nodes, origin, top)
            if done == NO_ROOM:
                return
            if done == GROWN:
                top -= 1
                continue
        if own.feature == OPEN:
            search_leaves(team, here, space, desk, nodes, top, top, turn)
        if own.feature < 0:
            _settle(team, problem.rules, space, nodes, origin, top, np.int64(0))
            top -= 1
        elif split_leaf(team, here, space, desk, nodes, top, top + 1, turn, True):
            top += 1
        else:
            return
        turn = 1 - turn


@part
def _grow_best(team, problem, space, desk, nodes):
    """Divide the best leaf, or the oldest, until there are enough."""
    me, rules, n_leaves = team.thread, problem.rules, np.int64(1)
    origin = space.copse.origin[:0]
    n_queued = _settle(team, rules, space, nodes, origin, np.int64(0), np.int64(0))
    while n_queued > 0 and n_leaves < rules.max_leaves and not cancelled(team):
        leaf = -take_largest(space.keys[me], space.queue[me], n_queued) & _LEAF
        n_queued -= 1
        turn, goes_on = (n_leaves + 1) & 1, n_leaves + 1 < rules.max_leaves
        if not split_leaf(team, problem, space, desk, nodes, leaf, n_leaves, turn, goes_on):
            break
        n_queued = _settle(team, rules, space, nodes, origin, leaf, n_queued)
        n_queued = _settle(team, rules, space, nodes, origin, n_leaves, n_queued)
        n_leaves += 1
    for i in range(n_queued):
        leaf = -space.queue[me, i] & _LEAF
        own = space.leaves[me, leaf]
        close_leaf(space, nodes, own, leaf, own.node, origin)


@part
def _settle(team, rules, space, nodes, origin, leaf, n_queued):
    """Queue a leaf that is to be divided; put aside or close any other.

    Leaves of the highest gain come first (of equal gains the lower node), or the oldest.
    """
    own = space.leaves[team.thread, leaf]
    if own.feature == POSTPONED:
        n_tasks = space.n_tasks[team.thread]
        space.tasks[team.thread, n_tasks] = own
        space.n_tasks[team.thread] = n_tasks + 1
        return n_queued
    if own.feature == CLOSED:
        close_leaf(space, nodes, own, leaf, own.node, origin)
        return n_queued
    keys, queue = space.keys[team.thread], space.queue[team.thread]
    keys[n_queued] = own.gain if rules.order == BY_GAIN else -own.node
    queue[n_queued] = -(own.node << 31 | leaf)
    lift(keys, queue, n_queued)
    return n_queued + 1
