"""Seedlings: all that is below a leaf of at most 512 rows, by Gini impurity.

Half of the nodes of a tree of full depth have fewer than 16 rows. What is done for each of
them, whatever its size, takes longer there than what is done for its rows. So here little is: a
seedling is a record of six numbers, features that may vary are bits of a word, rows have lanes
of a vector (see `lanes`), and the sums of both children are known with the cut. Nothing is
sorted: of every row's code the weights up to it are summed, all codes at once.

A node that has missing values in a feature that is tried, or a random cut between infinite
values, is left to `undergrowth`. All others get the splits that they would get there.
"""

import numpy as np

from hedgerow.kernels.bed import CLASS, DECLINED, FOUND, LEFT, NOT_FOUND, TOTAL, WAITING
from hedgerow.kernels.codes import high_of, low_of, threshold_between
from hedgerow.kernels.drawing import FURTHER, draw_features
from hedgerow.kernels.jit import inlined_part, outlined_part, part
from hedgerow.kernels.lanes import CLASSES, MOST_CLASSES, N_LANES, WEIGHTS
from hedgerow.kernels.machine import atomic_add, lowest_bit
from hedgerow.kernels.menu import varies
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.nodes import OPEN, clear_node, close, part_no_bin
from hedgerow.kernels.random import mixed, uniform
from hedgerow.kernels.seedling_cuts import rounded_up, try_feature
from hedgerow.kernels.workspace import N_NODES, Problem

_HEAVY = 1 << 15  # weight from which rows have no lanes
_MOST_ACTIVE = 62  # features that have bits of a word, whose sign is none


@inlined_part
def grow_seedlings(team, problem, space, desk, nodes, origin, top):
    """Grow all that is below leaf `top`; return how many leaves there are from it on now.

    None are left if all is grown. If some are, the newest must be grown in another way.
    """
    own = space.leaves[team.thread, top]
    if own.n_rows > N_LANES or not _fits(problem, own, desk.active, nodes.sums[own.node]):
        return np.int64(1)
    n_waiting = _grow(problem, desk, nodes, space.records[own.side], origin, own)
    for i in range(n_waiting):
        _put_back(desk.bed.waiting[i], own, space.leaves[team.thread, top + i])
    return n_waiting


@part
def _fits(problem, leaf, active, total):
    """Tell whether a LEAF's rows have lanes, its features narrow codes of values."""
    rules, n_classes = problem.rules, np.int64(0)
    if leaf.n_active > _MOST_ACTIVE or leaf.has_histogram or varies(rules.menu):
        return False
    if rules.min_rows > 1:
        return False  # here cuts are allowed by weights, not by numbers of rows
    for k in range(problem.moments.n_classes):
        n_classes += np.int64(total[k] > 0)
    if n_classes > MOST_CLASSES or problem.criterion.mass(total) >= _HEAVY:
        return False
    for i in range(leaf.n_active):
        about = problem.codes.features[active[i]]
        if about.place < 0 or about.n_categories > 0:
            return False
    return True


@part
def _put_back(seedling, first, leaf):
    """Make an open LEAF of a seedling; first: the LEAF that it descends from, or is."""
    leaf.side, leaf.n_active, leaf.has_histogram = first.side, first.n_active, 0
    leaf.begin, leaf.end, leaf.n_rows = seedling.begin, seedling.end, seedling.end - seedling.begin
    leaf.node, leaf.depth, leaf.bits = seedling.node, seedling.depth, seedling.bits
    leaf.low, leaf.high, leaf.feature = -np.inf, np.inf, OPEN


@outlined_part
def _grow(whole, desk, nodes, records, origin, leaf):
    """Grow all that is below a LEAF, the newest seedling first; return how many still wait."""
    bed, active = desk.bed, desk.active[: leaf.n_active]
    moments = whole.moments.seen(nodes.sums[leaf.node], desk.room)
    criterion = whole.criterion.at(moments, desk.room[1])
    problem = Problem(whole.codes, moments, criterion, whole.rules)
    n_waiting = _plant(whole.moments, leaf, nodes.sums[leaf.node], active, bed)
    while n_waiting > 0:
        own = bed.waiting[n_waiting - 1]
        found = _search(problem, desk, active, records, n_waiting - 1)
        if found == DECLINED:
            break
        if found == NOT_FOUND or own.gain < whole.rules.min_gain:
            close(nodes, own.node, records[own.begin : own.end], origin)
            n_waiting -= 1
        else:
            n_waiting = _divide(problem, bed, nodes, records, origin, n_waiting)
    for i in range(active.shape[0]):
        bed.bit_of[active[i]] = 0
    return n_waiting


@part
def _plant(moments, leaf, total, active, bed):
    """Make a seedling of a LEAF; return 1, their number."""
    own, n_classes = bed.waiting[0], np.int64(0)
    own.begin, own.end, own.node, own.depth = leaf.begin, leaf.end, leaf.node, leaf.depth
    own.bits, own.active = leaf.bits, (np.int64(1) << active.shape[0]) - 1
    for i in range(active.shape[0]):
        bed.bit_of[active[i]] = np.int64(1) << i
    for k in range(moments.n_classes):
        if total[k] > 0:
            bed.sums[CLASS, n_classes], bed.sums[WAITING, n_classes] = k, total[k]
            n_classes += 1
    return np.int64(1)


@inlined_part
def _search(problem, desk, active, records, number):
    """Find the best split of a seedling, as `search.search` does; say whether there is one."""
    bed, rules, drawn = desk.bed, problem.rules, np.int64(-1)
    own, varied = bed.waiting[number], False
    own.gain, own.margin, own.feature = -np.inf, -1.0, -1
    _take_lanes(problem.moments, records, own, bed.lanes)
    own.weight = 0.0
    for k in range(problem.moments.n_classes):
        bed.sums[TOTAL, k] = bed.sums[WAITING + number, k]
        own.weight += bed.sums[TOTAL, k]
    own.score = problem.criterion.score(bed.sums[TOTAL])
    if rules.n_candidates < rules.menu.own.shape[0]:
        drawn = _draw(desk, own.bits, rules.menu.own, rules.n_candidates)
    tried, rest = own.active & drawn, own.active & ~drawn
    while True:
        while tried != 0:
            bit = lowest_bit(tried)
            tried &= tried - 1
            how = try_feature(problem, active[bit], bed, records, own)
            if how == DECLINED:
                return DECLINED
            varied |= how == FOUND
            if how == NOT_FOUND:
                own.active &= ~(np.int64(1) << bit)
        if varied or rest == 0:
            return FOUND if own.feature >= 0 else NOT_FOUND
        tried = _highest(own.bits, active, rest)
        rest ^= tried


@part
def _take_lanes(moments, records, own, lanes):
    """Set weights and classes of the lanes to those of a seedling's rows."""
    for i in range(np.uint64(rounded_up(own.end - own.begin))):
        lanes[WEIGHTS, i] = 0
    place = np.uint64(0)
    for i in range(np.uint64(own.begin), np.uint64(own.end)):
        k, weight = moments.weighed(records[i])
        lanes[CLASSES, place], lanes[WEIGHTS, place] = k, weight
        place += np.uint64(1)


@part
def _draw(desk, bits, offered, n_wanted):
    """Draw n_wanted of the features on offer; return those that are active, as bits."""
    draw_features(desk, bits, offered, n_wanted)
    drawn, bit_of = np.int64(0), desk.bed.bit_of
    for i in range(n_wanted):
        drawn |= bit_of[desk.drawn[i]]
        desk.marks[desk.drawn[i]] = 0
    return drawn


@part
def _highest(bits, active, rest):
    """Return the bit of the feature to try next, of those that were not drawn."""
    state, best, highest = mixed(bits, FURTHER), np.int64(0), -1.0
    feature = np.int64(-1)
    while rest != 0:
        bit = lowest_bit(rest)
        rest &= rest - 1
        rank = uniform(mixed(state, active[bit]))
        if rank > highest or (rank == highest and active[bit] > feature):
            highest, feature, best = rank, active[bit], np.int64(1) << bit
    return best


@inlined_part
def _divide(problem, bed, nodes, records, origin, n_waiting):
    """Write the newest seedling's split, and let its children wait; return how many wait then."""
    own, left = bed.waiting[n_waiting - 1], atomic_add(nodes.counters, N_NODES, 2)
    _write(problem, nodes, bed, own, left)
    middle, n_waiting = _part_rows(problem.codes, records, own, bed.right), n_waiting - 1
    begin, end, depth, bits, active = own.begin, own.end, own.depth + 1, own.bits, own.active
    left_is_smaller = 2 * (middle - begin) <= end - begin
    for i in range(2):  # the smaller child is the newest
        is_left = (i == 1) == left_is_smaller
        first, last, node = (begin, middle, left) if is_left else (middle, end, left + 1)
        child = bed.waiting[n_waiting]
        child.begin, child.end, child.node, child.depth = first, last, node, depth
        if _sum_up(problem, bed, nodes, child, is_left, n_waiting):
            child.bits, child.active = mixed(bits, 1 if is_left else 2), active
            n_waiting += 1
        else:
            close(nodes, node, records[first:last], origin)
    return n_waiting


@inlined_part
def _sum_up(problem, bed, nodes, child, is_left, number):
    """Set the sums of a child; tell whether it may be split."""
    rules, n_rows = problem.rules, child.end - child.begin
    sums, known, n_seen, W = bed.sums[WAITING + number], nodes.sums[child.node], 0, np.int64(0)
    for k in range(problem.moments.n_classes):
        own = bed.sums[LEFT, k]
        own = own if is_left else bed.sums[TOTAL, k] - own
        sums[k], known[bed.sums[CLASS, k]] = own, own
        n_seen, W = n_seen + (own > 0), W + own
    known[known.shape[0] - 1] = n_rows
    nodes.table[child.node].n_rows = n_rows
    is_allowed = n_rows >= rules.min_split_rows and 2 * rules.min_weight <= W
    return n_seen > 1 and is_allowed and child.depth < rules.max_depth


@inlined_part
def _write(problem, nodes, bed, own, left):
    """Turn the leaf of a seedling's split into a node with two new leaves."""
    codes, parent, L, W = problem.codes, nodes.table[own.node], np.int64(0), np.int64(0)
    for k in range(problem.moments.n_classes):
        L, W = L + bed.sums[LEFT, k], W + bed.sums[TOTAL, k]
    about = codes.features[own.feature]
    low, high = high_of(codes, about, own.cut), low_of(codes, about, own.following)
    parent.threshold = threshold_between(low, high)
    if low <= own.threshold < high:
        parent.threshold = own.threshold
    parent.left, parent.feature, parent.gain = left, own.feature, own.gain
    parent.cut, parent.missing_left = own.cut, np.int64(2 * L >= W)
    part_no_bin(codes, parent)
    for side in range(2):
        clear_node(nodes.table[left + side])
        nodes.table[left + side].parent = own.node


@inlined_part
def _part_rows(codes, records, own, right):
    """Move the records left of the cut before the others; return where these begin."""
    column, cut = codes.columns[codes.features[own.feature].place], own.cut
    low, n_right, one = np.uint64(own.begin), np.uint64(0), np.uint64(1)
    for i in range(np.uint64(own.begin), np.uint64(own.end)):
        record = records[i]
        is_left = np.uint64(np.int64(column[row_of(record)]) <= cut)
        records[low], right[n_right] = record, record
        low, n_right = low + is_left, n_right + (one - is_left)
    for i in range(n_right):
        records[low + i] = right[i]
    return np.int64(low)
