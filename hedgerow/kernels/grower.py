"""The grower: (codes, moments, criterion, rules) -> tree, one leaf at a time, by a team.

Every thread of the team runs `grow` and takes the same decisions from the same integers.
A thread owns a segment of each leaf's records, so rows are partitioned without waiting;
histograms are merged, and cuts searched, by column.

With no limit on leaves a node's split does not depend on other nodes. The newest leaf is
then divided next, so that the open leaves are a stack of at most log2(n) (the smaller
child is always on top), and nodes too small to share are put aside as tasks: `grow` is
called again for each, by one thread.
"""

import numpy as np

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.division import ONLY_LEFT, SUMS, divide, sum_told
from hedgerow.kernels.heap import lift, take_largest
from hedgerow.kernels.jit import part
from hedgerow.kernels.meeting import cancelled, meet
from hedgerow.kernels.menu import offer, offer_all, varies
from hedgerow.kernels.nodes import (
    CLOSED,
    OPEN,
    POSTPONED,
    add_up,
    all_same,
    close,
    judge,
    only_target,
    open_root,
    overflowed,
    write_split,
)
from hedgerow.kernels.search import forget, search
from hedgerow.kernels.shared_histogram import first_histogram
from hedgerow.kernels.split import Node, beats
from hedgerow.kernels.tally import Rows
from hedgerow.kernels.workspace import BY_GAIN, NEWEST, Problem, desk_of

_LEAF = 0x7FFFFFFF  # an item of the queue is -(node, leaf), the leaf in its 31 lowest bits


@team_kernel
def grow(team, problem, space, desks, nodes, n_rows):
    """Grow the tree below leaf 0 of space.leaves from its records in space.records[0].

    n_rows: of the whole tree, whose root is opened; -1: leaf 0 is one that was put aside.
    """
    me, rules = team.thread, problem.rules
    desk, leaves, on_stack = desk_of(desks, me), space.leaves[me], rules.order == NEWEST
    if n_rows >= 0:
        open_root(team, space, nodes, rules.seed, n_rows)
    _open_first(team, problem, space, desk, nodes)
    n_leaves, n_searches, first = np.int64(1), np.int64(1), np.int64(0)
    if not on_stack:
        _search(team, problem, space, desk, nodes, first, first, np.int64(0))
    n_queued = _settle(team, rules, space, nodes, first, np.int64(0))
    while n_queued > 0 and n_leaves < rules.max_leaves and not cancelled(team):
        leaf = -take_largest(space.keys[me], space.queue[me], n_queued) & _LEAF
        n_queued -= 1
        if on_stack and leaves[leaf].feature == OPEN:
            _search(team, problem, space, desk, nodes, leaf, leaf, n_searches & 1)
            n_searches += 1
            if leaves[leaf].feature == CLOSED:
                n_queued = _settle(team, rules, space, nodes, leaf, n_queued)
                continue
        smaller = leaf + 1 if on_stack else n_leaves
        if not _write(team, problem, space, desk, nodes, leaf):
            break
        n_leaves += 1
        goes_on = n_leaves < rules.max_leaves
        divide(team, problem, space, nodes, smaller, leaf, space.told[n_leaves & 1], goes_on)
        if goes_on and not on_stack:
            _search(team, problem, space, desk, nodes, leaf, smaller, n_searches & 1)
            n_searches += 1
        n_queued = _settle(team, rules, space, nodes, leaf, n_queued)
        n_queued = _settle(team, rules, space, nodes, smaller, n_queued)
    for i in range(n_queued):
        own = leaves[-space.queue[me, i] & _LEAF]
        close(nodes, own.node, space.records[own.side, own.begin : own.end])


@part
def _open_first(team, problem, space, desk, nodes):
    """Sum up and judge the root; a leaf that was put aside has been judged before."""
    own, width = space.leaves[team.thread, 0], problem.moments.width()
    own.n_active = offer_all(problem.rules.menu, desk)
    if own.node == 0:
        told, mine = space.told[1], space.told[1, team.thread]
        records = space.records[0, own.begin : own.end]
        add_up(problem.moments, records, mine[SUMS:])
        mine[ONLY_LEFT] = only_target(problem.moments, records)
        meet(team)
        for k in range(width):
            nodes.sums[0, k] = sum_told(told, 0, team.n_threads, k)
        pure = all_same(problem.moments, told[:, ONLY_LEFT])
        judge(problem, own, nodes.sums[0], pure, space.tasks.shape[1] > own.n_rows)
    else:
        own.feature = OPEN
    first_histogram(team, problem, space)


@part
def _settle(team, rules, space, nodes, leaf, n_queued):
    """Queue a leaf that is to be divided; put aside or close any other.

    Leaves of the highest gain come first (of equal gains the lower node), or the oldest. On a
    stack the newest comes first, and is searched when its turn has come.
    """
    own = space.leaves[team.thread, leaf]
    if own.feature == POSTPONED:
        n_tasks = space.n_tasks[team.thread]
        space.tasks[team.thread, n_tasks] = own
        space.n_tasks[team.thread] = n_tasks + 1
        return n_queued
    if own.feature == CLOSED:
        close(nodes, own.node, space.records[own.side, own.begin : own.end])
        return n_queued
    keys, queue = space.keys[team.thread], space.queue[team.thread]
    if rules.order == NEWEST:
        keys[n_queued] = leaf
    else:
        keys[n_queued] = own.gain if rules.order == BY_GAIN else -own.node
    queue[n_queued] = -(own.node << 31 | leaf)
    lift(keys, queue, n_queued)
    return n_queued + 1


@part
def _rows(team, space, desk, leaf):
    """Return the records of a leaf, of all threads."""
    for thread in range(team.n_threads):
        desk.bounds[thread, 0] = space.leaves[thread, leaf].begin
        desk.bounds[thread, 1] = space.leaves[thread, leaf].end
    own = space.leaves[team.thread, leaf]
    return Rows(space.records[own.side], desk.bounds, own.n_rows)


@part
def _search(team, problem, space, desk, nodes, leaf, other, turn):
    """Find the best split of one or two leaves; every thread adopts the best of any thread."""
    for k in range(2 if other != leaf else 1):
        own = space.leaves[team.thread, leaf if k == 0 else other]
        if own.feature == OPEN:
            _search_leaf(team, problem, space, desk, nodes, leaf if k == 0 else other, own, turn, k)
    meet(team)
    for k in range(2 if other != leaf else 1):
        own = space.leaves[team.thread, leaf if k == 0 else other]
        if own.feature == OPEN:
            _adopt(problem.rules, space.found[turn, :, k], own)


@part
def _search_leaf(team, problem, space, desk, nodes, leaf, own, turn, k):
    """Find the best split of a leaf among the features that this thread owns."""
    node = Node(nodes.sums[own.node], own.bits, _rows(team, space, desk, leaf))
    mine = space.found[turn, team.thread, k]
    forget(mine)
    rules = problem.rules
    if rules.order != NEWEST or varies(rules.menu):
        # Only on a stack of leaves does desk.active still begin with the parent's features.
        own.n_active = offer(rules.menu, rules.seed, nodes.table, own, desk)
    hist = space.hists[leaf] if own.has_histogram else space.queue[0, :0]
    criterion = problem.criterion.within(own.low, own.high)
    view = Problem(problem.codes, problem.moments, criterion, rules)
    own.n_active = search(team, view, desk, own.n_active, hist, node, space.constant[k], mine)


@part
def _adopt(rules, found, leaf):
    """Take the best of the threads' splits."""
    forget(leaf)
    for thread in range(found.shape[0]):
        split = found[thread]
        if beats(split.gain, split.margin, split.feature, leaf):
            leaf.gain, leaf.margin, leaf.feature = split.gain, split.margin, split.feature
            leaf.threshold = split.threshold
            leaf.cut, leaf.order = split.cut, split.order
            leaf.missing_left, leaf.heavier_left = split.missing_left, split.heavier_left
    if leaf.gain < rules.min_gain:
        leaf.feature = CLOSED


@part
def _write(team, problem, space, desk, nodes, leaf):
    """Write a leaf's split into the tree. Returns False if the tree has no room for it."""
    own = space.leaves[team.thread, leaf]
    if team.thread == 0:
        node = Node(nodes.sums[own.node], own.bits, _rows(team, space, desk, leaf))
        write_split(problem, nodes, own, node, desk)
    if problem.codes.features[own.feature].n_categories == 0:
        return True
    meet(team)  # the others part their rows by the set of categories
    return not overflowed(nodes)
