"""Leaves of a growing tree: the first is opened, others are divided and searched, by a team.

`turn`, 0 or 1, is that of the places where threads tell each other what they found. It changes
from one division to the next, as a slower thread may still read what was told before.
"""

from hedgerow.kernels.division import ONLY_LEFT, SUMS, divide, sum_told
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.meeting import cancelled, meet
from hedgerow.kernels.menu import offer, offer_all, varies
from hedgerow.kernels.nodes import (
    CLOSED,
    OPEN,
    add_up,
    all_same,
    judge,
    only_target,
    overflowed,
    write_split,
)
from hedgerow.kernels.search import forget, search, search_column
from hedgerow.kernels.shared_histogram import first_histogram
from hedgerow.kernels.split import Node, beats
from hedgerow.kernels.tally import Rows
from hedgerow.kernels.workspace import NEWEST, Problem


@part
def open_first(team, problem, space, desk, nodes):
    """Sum up and judge the root; a leaf that was put aside has been judged before."""
    own, sum_width = space.leaves[team.thread, 0], problem.moments.sum_width()
    own.n_active = offer_all(problem.rules.menu, desk)
    if own.node == 0:
        told, mine = space.told[1], space.told[1, team.thread]
        records = space.records[own.side, own.begin : own.end]
        add_up(problem.moments, records, mine[SUMS:])
        mine[ONLY_LEFT] = only_target(problem.moments, records)
        meet(team)
        for k in range(sum_width):
            nodes.sums[0, k] = sum_told(told, 0, team.n_threads, k)
        pure = all_same(problem.moments, told[:, ONLY_LEFT])
        judge(problem, own, nodes.sums[0], pure, space.tasks.shape[1] > own.n_rows)
    else:
        own.feature = OPEN
    first_histogram(team, problem, space)


@part
def split_leaf(team, problem, space, desk, nodes, leaf, smaller, turn, goes_on):
    """Divide a leaf, the smaller child to leaf `smaller`, and find the children's splits.

    goes_on: whether they may be divided. Returns False if the tree has no room for the split,
    or if the team was cancelled.
    """
    if not write_leaf(team, problem, space, desk, nodes, leaf):
        return False
    if not divide(team, problem, space, nodes, smaller, leaf, space.told[turn], goes_on):
        return False
    if goes_on and problem.rules.order != NEWEST:
        search_leaves(team, problem, space, desk, nodes, leaf, smaller, turn)
    return True


@inlined_part
def write_leaf(team, problem, space, desk, nodes, leaf):
    """Write a leaf's split into the tree. Returns False if it has no room for it, or nobody did."""
    own = space.leaves[team.thread, leaf]
    if team.thread == 0:
        node = Node(nodes.sums[own.node], own.bits, _rows(team, space, desk, leaf))
        hist = space.hists[leaf] if own.has_histogram else space.queue[0, :0]
        write_split(problem, nodes, own, node, hist, desk)
    if problem.codes.features[own.feature].n_categories == 0:
        return True
    meet(team)  # the others part their rows by the set of categories
    return not overflowed(nodes) and not cancelled(team)


@part
def search_leaves(team, problem, space, desk, nodes, leaf, other, turn):
    """Find the best split of one or two leaves; every thread adopts the best of any thread."""
    for k in range(2 if other != leaf else 1):
        which = leaf if k == 0 else other
        if space.leaves[team.thread, which].feature == OPEN:
            desk.scratch.summed[:] = 0
            search_leaf(team, problem, space, desk, nodes, which, turn, k, search_column)
    meet(team)
    for k in range(2 if other != leaf else 1):
        own = space.leaves[team.thread, leaf if k == 0 else other]
        if own.feature == OPEN:
            adopt(problem.rules, space.found[turn, :, k], own)


@inlined_part
def search_leaf(team, problem, space, desk, nodes, leaf, turn, k, search_one):
    """Find the best split of a leaf among the features that this thread owns."""
    own = space.leaves[team.thread, leaf]
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
    constant = space.constant[k]
    own.n_active = search(team, view, desk, own.n_active, hist, node, constant, mine, search_one)


@part
def adopt(rules, found, leaf):
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
def _rows(team, space, desk, leaf):
    """Return the records of a leaf, of all threads."""
    for thread in range(team.n_threads):
        desk.bounds[thread, 0] = space.leaves[thread, leaf].begin
        desk.bounds[thread, 1] = space.leaves[thread, leaf].end
    own = space.leaves[team.thread, leaf]
    return Rows(space.records[own.side], desk.bounds, own.n_rows)
