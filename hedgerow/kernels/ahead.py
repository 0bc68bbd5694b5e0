"""Growing ahead: threads divide open leaves each by itself, before it is sure that they should be.

The tree is that of `grow`: leaves of the highest gain are divided first, until there are enough.
Where leaves are small, threads that share each leaf wait for each other as long as they work.
Here a thread takes the most promising leaf that nobody has and divides it alone. What was
divided becomes part of the tree when its turn has come, in the order of `grow`; what was
divided in vain is given back in the end. A thread never waits for another inside a leaf, and
nobody waits for a thread that has not come. Who finds no leaf to divide sums columns for
others (`helping`), or searches a child that they have left.
"""

import numpy as np

from hedgerow.kernels.desks import desk_of
from hedgerow.kernels.division import divide
from hedgerow.kernels.helping import be_idle, help_others, somebody_waits
from hedgerow.kernels.jit import outlined_part, part
from hedgerow.kernels.leaves import open_first, search_leaves, write_leaf
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store, pause
from hedgerow.kernels.meeting import Member, be_patient, cancelled
from hedgerow.kernels.nodes import clear_node, close_leaf, open_root, overflowed
from hedgerow.kernels.outlook import (
    N_BUSY,
    N_CLOSED,
    N_LEAVES,
    NOTHING,
    OVER,
    READY,
    TURN,
    begin,
    lock,
    note_child,
    unlock,
)
from hedgerow.kernels.taking import accept, offer, take, take_back
from hedgerow.kernels.trimming import close_gaps
from hedgerow.kernels.workspace import N_NODES, Workspace

_WHOLE, _GIVEN_UP = 1, 2  # what a tree is when it is ready


@part
def grow_ahead(team, problem, whole, view, desks, nodes, n_rows):
    """Grow the tree of the first n_rows records in whole.records[0].

    view.counters are zero on entry. The number of leaves is limited, and none is put aside.
    """
    alone, rules, counters = Member(0, 1, team.meeting, 0), problem.rules, view.counters
    space, desk = _own_places(whole, view, team.thread), desk_of(desks, team.thread)
    if team.thread == 0:
        open_root(alone, space, nodes, rules.seed, n_rows)
        open_first(alone, problem, space, desk, nodes)
        _search(alone, problem, space, desk, nodes, np.int64(0), np.int64(0))
        begin(rules, view, space, nodes.table)
    while not _is_over(team, counters):
        turn = lock(counters)
        node, slot, goes_on = take(rules, view, space, nodes.table, team.thread)
        to_search = accept(view) if node == NOTHING else slot
        atomic_add(counters, N_BUSY, np.int64(to_search != NOTHING))
        unlock(counters, turn)
        if to_search == NOTHING:
            _await_news(team, problem, space, view, turn + 1)
            continue
        if node != NOTHING:
            to_search = _divided(team, problem, space, view, desk, nodes, node, slot, goes_on)
        if to_search != NOTHING:
            _search(alone, problem, space, desk, nodes, to_search, to_search)
        turn = lock(counters)
        if to_search != NOTHING:
            note_child(rules, view, space, nodes.table, to_search, team.thread)
        atomic_add(counters, N_BUSY, -1)
        unlock(counters, turn)
    _end(team, space, view, nodes)


@part
def _divided(team, problem, space, view, desk, nodes, node, smaller, goes_on):
    """Divide a node; return a child that this thread has still to search, or NOTHING.

    If somebody waits, the smaller child is offered: most often the larger is the next to be
    divided, and need not wait for it.
    """
    alone, counters, leaf = Member(0, 1, team.meeting, 0), view.counters, view.slot[node]
    rules, table = problem.rules, nodes.table
    has_room = write_leaf(alone, problem, space, desk, nodes, leaf)
    if has_room:
        divide(alone, problem, space, nodes, smaller, leaf, space.told[0], goes_on)
    is_offered = has_room and goes_on and somebody_waits(space.asked[0])
    if is_offered:
        turn = lock(counters)
        offer(view, smaller)
        unlock(counters, turn)
    if has_room and goes_on:
        _search(alone, problem, space, desk, nodes, leaf, leaf if is_offered else smaller)
    turn = lock(counters)
    is_left = False
    if has_room:
        note_child(rules, view, space, table, leaf, team.thread)
        is_left = is_offered and take_back(view, smaller)
        if not is_offered:
            note_child(rules, view, space, table, smaller, team.thread)
    else:
        atomic_store(counters, OVER, 1)
    unlock(counters, turn)
    return smaller if is_left else np.int64(NOTHING)


@outlined_part
def _search(alone, problem, space, desk, nodes, slot, other):
    """Find the best split of one leaf, or of two."""
    search_leaves(alone, problem, space, desk, nodes, slot, other, np.int64(0))


@part
def _own_places(space, view, thread):
    """Return the workspace of a thread that works alone."""
    return Workspace(
        space.records,
        space.masks,
        space.hists,
        space.parts,
        space.piles[thread : thread + 1],
        space.leaves,
        space.tasks,
        space.queue,
        space.keys,
        space.n_tasks,
        view.told[thread],
        view.found[thread],
        view.constant[thread],
        space.tickets,
        space.n_sums,
        view.asked[thread],
        space.copse,
    )


@part
def _await_news(team, problem, space, view, turn):
    """Help others until another thread has had its turn, or all is over."""
    waited = 0
    be_idle(view, team.thread, 1)
    while atomic_load(view.counters, TURN) == turn and not _is_over(team, view.counters):
        waited = 0 if help_others(problem, space, view, team.thread) else waited + 1
        be_patient(waited)
    be_idle(view, team.thread, -1)


@part
def _is_over(team, counters):
    return atomic_load(counters, OVER) != 0 or cancelled(team)


@part
def _end(team, space, view, nodes):
    """Make the tree whole when the last thread has done its work, and note the leaf of each row."""
    counters = view.counters
    if team.thread == 0:
        while atomic_load(counters, N_BUSY) > 0:
            pause()
        is_whole = not cancelled(team) and not overflowed(nodes)
        if is_whole:
            _give_back(view, nodes)
        atomic_store(counters, READY, _WHOLE if is_whole else _GIVEN_UP)
    while atomic_load(counters, READY) == 0:
        pause()
    if atomic_load(counters, READY) == _WHOLE:
        _close_leaves(view, space, nodes)


@part
def _give_back(view, nodes):
    """Give back what was divided in vain."""
    n_nodes, place = nodes.counters[N_NODES], view.place
    for node in range(n_nodes):
        left = nodes.table[node].left
        place[node] = node
        if left >= 0 and view.number[left] < 0:
            clear_node(nodes.table[node])
    if n_nodes > 2 * view.counters[N_LEAVES] - 1:
        close_gaps(nodes, place)


@part
def _close_leaves(view, space, nodes):
    """Note the leaf of each row; each thread takes the next leaf."""
    n_slots = view.is_used.shape[0]
    slot = atomic_add(view.counters, N_CLOSED, 1)
    while slot < n_slots:
        leaf = space.leaves[0, slot]
        if view.is_used[slot]:
            close_leaf(space, nodes, leaf, slot, view.place[leaf.node], space.copse.origin[:0])
        slot = atomic_add(view.counters, N_CLOSED, 1)
