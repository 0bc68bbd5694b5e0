"""Division: a leaf's rows, sums and histogram go to its two children, by a team.

Threads tell each other of their rows in `told`, int64 [n_threads, ..]. It is another one than
for the division before, which a slower thread may still read.
"""

import numpy as np

from hedgerow.kernels.bounds import hand_down
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.marginals import sum_left
from hedgerow.kernels.masks import MOST_CATEGORIES, divide_mask, divides_mask, list_rows
from hedgerow.kernels.meeting import cancelled, meet
from hedgerow.kernels.nodes import DIFFERENT, OPEN, add_up, all_same, judge, only_target
from hedgerow.kernels.partition import partition
from hedgerow.kernels.random import mixed
from hedgerow.kernels.shared_histogram import divide_histogram, first_cell

# Places in what a thread tells: sums of moments come last.
N_LEFT, ONLY_LEFT, ONLY_RIGHT, SUMS = 0, 1, 2, 3


@inlined_part
def divide(team, problem, space, nodes, smaller, larger, told, goes_on):
    """Part the leaf `larger`: its larger child stays there, the smaller one goes to `smaller`.

    Returns False if the team was cancelled: then nobody may have written the split.
    """
    rest, less = space.leaves[team.thread, larger], space.leaves[team.thread, smaller]
    begin, end, had_histogram = rest.begin, rest.end, rest.has_histogram
    split, mine = nodes.table[rest.node], told[team.thread]
    first = first_cell(problem, rest)
    if first >= 0:
        about, width = problem.codes.features[rest.feature], problem.moments.width()
        mine[SUMS : SUMS + width] = 0
        sum_left(about, space.hists[larger, first:], rest, width, mine[SUMS:])
        problem.moments.widen(mine[SUMS:], 1)
    words = nodes.words[max(split.category_start, 0) :]
    _part_rows(problem, space, words, mine, rest, less, smaller, larger)
    middle, n_left = begin + mine[N_LEFT], _n_left(team, told)
    if team.n_threads > 1 and cancelled(team):
        return False
    left_is_smaller = 2 * n_left <= rest.n_rows
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
    if not less.is_listed and (goes_on or first < 0):
        list_rows(space, less, smaller)
    _divide_sums(team, problem, space, nodes, told, smaller, larger, first >= 0)
    if goes_on:
        divide_histogram(team, problem, space, smaller, larger, had_histogram)
        reads_rows = not rest.has_histogram or rest.n_rows <= MOST_CATEGORIES  # see `search`
        if not rest.is_listed and reads_rows and rest.feature == OPEN:
            list_rows(space, rest, larger)
    return True


@inlined_part
def _part_rows(problem, space, words, mine, rest, less, smaller, larger):
    """Part this thread's rows of leaf `rest`, by its mask or by moving them, and tell of them."""
    by_mask, moments = divides_mask(space, rest), problem.moments
    if by_mask:
        mine[N_LEFT] = divide_mask(problem.codes, rest, words, space.masks, larger, smaller)
        mine[ONLY_LEFT], mine[ONLY_RIGHT] = DIFFERENT, DIFFERENT
        less.side = rest.side = 0
    else:
        source = space.records[rest.side, rest.begin : rest.end]
        target = space.records[1 - rest.side, rest.begin : rest.end]
        n_left = partition(problem.codes, rest, words, source, target)
        mine[N_LEFT] = n_left
        mine[ONLY_LEFT] = only_target(moments, target[:n_left])
        mine[ONLY_RIGHT] = only_target(moments, target[n_left:])
        less.side = rest.side = 1 - rest.side
    less.is_masked = rest.is_masked = np.int64(by_mask)
    less.is_listed = rest.is_listed = np.int64(not by_mask)


@part
def _n_left(team, told):
    """Return the number of all threads' left rows."""
    meet(team)
    total = np.int64(0)
    for thread in range(team.n_threads):
        total += told[thread, N_LEFT]
    return total


@inlined_part
def _divide_sums(team, problem, space, nodes, told, smaller, larger, knows_left):
    """Set the sums of both children, and judge them.

    This thread has told the sums of the left child if it knows them; or else all threads sum
    their rows of the smaller child. Every thread writes the same numbers.
    """
    moments, me = problem.moments, team.thread
    less, rest = space.leaves[me, smaller], space.leaves[me, larger]
    left = min(less.node, rest.node)
    parent, child, begin, end = nodes.table[left].parent, left, me, me + 1
    if not knows_left:
        add_up(moments, space.records[less.side, less.begin : less.end], told[me, SUMS:])
        child, begin, end = less.node, np.int64(0), team.n_threads
    meet(team)  # from here on others may look where this thread's rows are
    for k in range(moments.sum_width()):
        own = sum_told(told, begin, end, k)
        nodes.sums[child, k] = own
        nodes.sums[2 * left + 1 - child, k] = nodes.sums[parent, k] - own
    if me == 0:
        nodes.table[less.node].n_rows, nodes.table[rest.node].n_rows = less.n_rows, rest.n_rows
    hand_down(problem.criterion, nodes, less, rest)
    for_less, for_rest = ONLY_LEFT, ONLY_RIGHT
    if less.node > rest.node:
        for_less, for_rest = ONLY_RIGHT, ONLY_LEFT
    room = space.n_tasks[me] + 2 <= space.tasks.shape[1]
    judge(problem, less, nodes.sums[less.node], all_same(moments, told[:, for_less]), room)
    judge(problem, rest, nodes.sums[rest.node], all_same(moments, told[:, for_rest]), room)


@part
def sum_told(told, begin, end, k):
    """Add up what threads begin..end-1 have told of moment k."""
    total = np.int64(0)
    for thread in range(begin, end):
        total += told[thread, SUMS + k]
    return total
