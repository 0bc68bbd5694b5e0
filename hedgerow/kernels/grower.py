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

from hedgerow.kernels.bounds import hand_down
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.heap import lift, take_largest
from hedgerow.kernels.jit import part
from hedgerow.kernels.marginals import sum_left
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
    overflowed,
    write_split,
)
from hedgerow.kernels.partition import partition
from hedgerow.kernels.random import mixed
from hedgerow.kernels.search import forget, search
from hedgerow.kernels.shared_histogram import divide_histogram, first_cell, first_histogram
from hedgerow.kernels.split import Node, beats
from hedgerow.kernels.tally import Rows
from hedgerow.kernels.workspace import BY_GAIN, NEWEST, Problem, desk_of

_LEAF = 0x7FFFFFFF  # an item of the queue is -(node, leaf), the leaf in its 31 lowest bits


@team_kernel
def grow(team, problem, space, desks, nodes):
    """Grow the tree below leaf 0 of space.leaves from its records in space.records[0]."""
    me, rules = team.thread, problem.rules
    desk, leaves = desk_of(desks, me), space.leaves[me]
    _open_first(team, problem, space, desk, nodes)
    n_leaves, n_searched = np.int64(1), np.int64(0)
    n_queued = _settle(team, rules, space, nodes, np.int64(0), np.int64(0))
    while n_queued > 0 and n_leaves < rules.max_leaves and not cancelled(team):
        leaf = -take_largest(space.keys[me], space.queue[me], n_queued) & _LEAF
        n_queued -= 1
        if leaves[leaf].feature == OPEN:
            _search_leaf(team, problem, space, desk, nodes, leaf, n_searched & 1)
            n_searched += 1
            if rules.order != NEWEST or leaves[leaf].feature == CLOSED:
                n_queued = _settle(team, rules, space, nodes, leaf, n_queued)
                continue
        smaller = leaf + 1 if rules.order == NEWEST else n_leaves
        if not _write(team, problem, space, desk, nodes, leaf):
            break
        n_leaves += 1
        _divide(team, problem, space, nodes, smaller, leaf, n_leaves < rules.max_leaves)
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
        add_up(problem.moments, records, mine)
        mine[width] = only_target(problem.moments, records)
        meet(team)
        if team.thread == 0:
            for thread in range(team.n_threads):
                for k in range(width):
                    nodes.sums[0, k] += told[thread, k]
        meet(team)
        pure = all_same(problem.moments, told[:, width])
        judge(problem, own, nodes.sums[0], pure, space.tasks.shape[1] > own.n_rows)
    else:
        own.feature = OPEN
    first_histogram(team, problem, space)


@part
def _settle(team, rules, space, nodes, leaf, n_queued):
    """Queue a leaf that is to be searched or divided; put aside or close any other.

    Leaves to be searched come first, then those of the highest gain (of equal gains the
    lower node), or the oldest. On a stack the newest comes first in any case.
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
    elif own.feature == OPEN:
        keys[n_queued] = np.inf
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
def _search_leaf(team, problem, space, desk, nodes, leaf, turn):
    """Find the leaf's best split; every thread adopts the best that any thread has found."""
    own, found = space.leaves[team.thread, leaf], space.found[turn]
    node = Node(nodes.sums[own.node], own.bits, _rows(team, space, desk, leaf))
    mine = found[team.thread, 0]
    forget(mine)
    rules = problem.rules
    if rules.order != NEWEST or varies(rules.menu):
        # Only on a stack of leaves does desk.active still begin with the parent's features.
        own.n_active = offer(rules.menu, rules.seed, nodes.table, own, desk)
    hist = space.hists[leaf] if own.has_histogram else space.queue[0, :0]
    criterion = problem.criterion.within(own.low, own.high)
    view = Problem(problem.codes, problem.moments, criterion, rules)
    own.n_active = search(team, view, desk, own.n_active, hist, node, space.constant, mine)
    meet(team)
    _adopt(rules, found, own)


@part
def _adopt(rules, found, leaf):
    """Take the best of the threads' splits."""
    forget(leaf)
    for thread in range(found.shape[0]):
        split = found[thread, 0]
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
    if team.thread == 0:
        own = space.leaves[team.thread, leaf]
        node = Node(nodes.sums[own.node], own.bits, _rows(team, space, desk, leaf))
        write_split(problem, nodes, own, node, desk)
    meet(team)
    return not overflowed(nodes)


@part
def _divide(team, problem, space, nodes, smaller, larger, goes_on):
    """Part the leaf `larger`: its larger child stays there, the smaller one goes to `smaller`."""
    rest, less = space.leaves[team.thread, larger], space.leaves[team.thread, smaller]
    parent, begin, end, had_histogram = rest.node, rest.begin, rest.end, rest.has_histogram
    source = space.records[rest.side, begin:end]
    target = space.records[1 - rest.side, begin:end]
    split = nodes.table[parent]
    words = nodes.words[max(split.category_start, 0) :]
    middle = begin + partition(problem.codes, rest, words, source, target)
    n_left = _sum_over_threads(team, space.told[0], middle - begin)
    left_is_smaller = 2 * n_left <= rest.n_rows
    less.side = rest.side = 1 - rest.side
    less.depth = rest.depth = rest.depth + 1
    less.n_active = rest.n_active
    if left_is_smaller:
        less.node, rest.node = split.left, split.left + 1
        less.begin, less.end, rest.begin = begin, middle, middle
        less.n_rows, rest.n_rows = n_left, rest.n_rows - n_left
        less.bits, rest.bits = mixed(rest.bits, 1), mixed(rest.bits, 2)
    else:
        less.node, rest.node = split.left + 1, split.left
        less.begin, less.end, rest.end = middle, end, middle
        less.n_rows, rest.n_rows = rest.n_rows - n_left, n_left
        less.bits, rest.bits = mixed(rest.bits, 2), mixed(rest.bits, 1)
    _divide_sums(team, problem, space, nodes, parent, smaller, larger)
    if goes_on:
        divide_histogram(team, problem, space, smaller, larger, had_histogram)


@part
def _sum_over_threads(team, told, own):
    told[team.thread, 0] = own
    meet(team)
    total = np.int64(0)
    for thread in range(team.n_threads):
        total += told[thread, 0]
    return total


@part
def _divide_sums(team, problem, space, nodes, parent, smaller, larger):
    """Sum the smaller child's rows; the larger child is the rest. Judge both."""
    moments, width, me = problem.moments, problem.moments.width(), team.thread
    told, less, rest = space.told[1], space.leaves[me, smaller], space.leaves[me, larger]
    mine, records = told[me], space.records[less.side]
    first = first_cell(problem, rest)
    if first < 0:
        add_up(moments, records[less.begin : less.end], mine)
    else:
        for k in range(width):
            mine[k] = 0
    if first >= 0 and me == 0:
        about = problem.codes.features[rest.feature]
        sum_left(about, space.hists[larger, first:], rest, width, mine)
        if less.node > rest.node:
            for k in range(width):
                mine[k] = nodes.sums[parent, k] - mine[k]
    mine[width] = only_target(moments, records[less.begin : less.end])
    mine[width + 1] = only_target(moments, records[rest.begin : rest.end])
    meet(team)
    if me == 0:
        nodes.table[less.node].n_rows, nodes.table[rest.node].n_rows = less.n_rows, rest.n_rows
        for k in range(width):
            for thread in range(team.n_threads):
                nodes.sums[less.node, k] += told[thread, k]
            nodes.sums[rest.node, k] = nodes.sums[parent, k] - nodes.sums[less.node, k]
    meet(team)
    hand_down(problem.criterion, nodes, less, rest)
    room = space.n_tasks[me] + 2 <= space.tasks.shape[1]
    judge(problem, less, nodes.sums[less.node], all_same(moments, told[:, width]), room)
    judge(problem, rest, nodes.sums[rest.node], all_same(moments, told[:, width + 1]), room)
