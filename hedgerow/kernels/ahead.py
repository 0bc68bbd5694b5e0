"""Growing ahead: threads divide open leaves each by itself, before it is sure that they should be.

The tree is that of `grow`: leaves of the highest gain are divided first, until there are enough.
Where leaves are small, threads that share each leaf wait for each other as long as they work.
Here a thread takes the most promising leaf that nobody has and divides it alone. What was
divided becomes part of the tree when its turn has come, in the order of `grow`; what was
divided in vain is given back in the end. A thread never waits for another inside a leaf, and
nobody waits for a thread that has not come.
"""

import numpy as np

from hedgerow.kernels.desks import desk_of
from hedgerow.kernels.helping import be_idle, help_others
from hedgerow.kernels.jit import part
from hedgerow.kernels.leaves import open_first, search_leaves, split_leaf
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store, pause
from hedgerow.kernels.meeting import Member, be_patient, cancelled
from hedgerow.kernels.nodes import clear_node, close, open_root, overflowed
from hedgerow.kernels.outlook import (
    N_BUSY,
    N_LEAVES,
    NOTHING,
    OVER,
    TURN,
    begin,
    lock,
    note_children,
    take,
    unlock,
)
from hedgerow.kernels.trimming import close_gaps
from hedgerow.kernels.workspace import N_NODES, Workspace


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
        search_leaves(alone, problem, space, desk, nodes, np.int64(0), np.int64(0), np.int64(0))
        begin(rules, view, space, nodes.table)
    while not _is_over(team, counters):
        turn = lock(counters)
        node, smaller, goes_on = take(rules, view, space, nodes.table, team.thread)
        unlock(counters, turn)
        if node == NOTHING:
            _await_news(team, problem, space, view, turn + 1)
            continue
        leaf = view.slot[node]
        has_room = split_leaf(
            alone, problem, space, desk, nodes, leaf, smaller, np.int64(0), goes_on
        )
        turn = lock(counters)
        if has_room:
            note_children(rules, view, space, nodes.table, node, smaller, team.thread)
        else:
            atomic_store(counters, OVER, 1)
        atomic_add(counters, N_BUSY, -1)
        unlock(counters, turn)
    while team.thread == 0 and atomic_load(counters, N_BUSY) > 0:
        pause()
    if team.thread == 0 and not cancelled(team) and not overflowed(nodes):
        _finish(view, space, nodes)


@part
def _own_places(space, view, thread):
    """Return the workspace of a thread that works alone."""
    return Workspace(
        space.records,
        space.hists,
        space.parts,
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
def _finish(view, space, nodes):
    """Give back what was divided in vain, and note the leaf of each row."""
    n_nodes, place = nodes.counters[N_NODES], view.place
    for node in range(n_nodes):
        left = nodes.table[node].left
        place[node] = node
        if left >= 0 and view.number[left] < 0:
            clear_node(nodes.table[node])
    if n_nodes > 2 * view.counters[N_LEAVES] - 1:
        close_gaps(nodes, place)
    for slot in range(view.is_used.shape[0]):
        leaf = space.leaves[0, slot]
        if view.is_used[slot]:
            records = space.records[leaf.side, leaf.begin : leaf.end]
            close(nodes, place[leaf.node], records, space.copse.origin[:0])
