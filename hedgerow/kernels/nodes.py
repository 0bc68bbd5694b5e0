"""Nodes: writing a split into the growing tree, and telling which nodes may be split."""

import numpy as np

from hedgerow.kernels import in_bulk
from hedgerow.kernels.codes import high_of, low_of, threshold_between
from hedgerow.kernels.jit import inlined_part, interpreted_as, part
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store
from hedgerow.kernels.masks import close_mask, mask_all
from hedgerow.kernels.meeting import share
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.random import mixed
from hedgerow.kernels.search import choose_categories
from hedgerow.kernels.workspace import N_NODES, N_WORDS, OVERFLOW

# What `feature` of a leaf says before a split is found.
CLOSED, OPEN, POSTPONED = -1, -2, -3
DIFFERENT = -2  # in the place of the only target of some rows


@part
def open_root(team, space, nodes, seed, n_rows):
    """Leave only the root, a leaf until it is split; each thread has a segment of its records."""
    if team.thread == 0:
        nodes.sums[: nodes.counters[N_NODES]] = 0
        nodes.counters[:] = 0
        nodes.counters[N_NODES] = 1
        clear_node(nodes.table[0])
        nodes.table[0].n_rows, nodes.table[0].parent = n_rows, -1
        space.tickets[:] = 0
        space.n_sums[:] = 0
    root = space.leaves[team.thread, 0]
    root.begin, root.end = share(team, n_rows)
    root.n_rows, root.side, root.node, root.depth = n_rows, 0, 0, 0
    root.bits, root.n_active, root.has_histogram = mixed(seed, 0), 0, 0
    root.low, root.high = -np.inf, np.inf
    mask_all(space, root, n_rows)
    space.n_tasks[team.thread] = 0


@inlined_part
def write_split(problem, nodes, split, node, hist, desk):
    """Turn the leaf of a split into a node with two new leaves.

    split  LEAF                               read   the leaf and its split
    hist   int64 [n_cells * width], or [0]    read   its histogram
    """
    left, parent = atomic_add(nodes.counters, N_NODES, 2), nodes.table[split.node]
    parent.left, parent.feature, parent.gain = left, split.feature, split.gain
    parent.threshold, parent.cut = split.threshold, split.cut
    parent.missing_left = split.missing_left
    if problem.codes.features[split.feature].n_categories == 0:
        part_no_bin(problem.codes, parent)
    for side in range(2):
        clear_node(nodes.table[left + side])
        nodes.table[left + side].parent = split.node
    n_categories = problem.codes.features[split.feature].n_categories
    if n_categories > 0:
        n_words = n_categories // 64 + 1
        start = atomic_add(nodes.counters, N_WORDS, n_words)
        if start + n_words > nodes.words.shape[0]:
            # The caller grows the tree again with more room.
            atomic_store(nodes.counters, OVERFLOW, 1)
            return
        words = nodes.words[start : start + n_words]
        choose_categories(problem, split, node, hist, desk, words)
        parent.category_start = start


@part
def part_no_bin(codes, node):
    """Set a node's cut to the last bin at or below its threshold, which goes above that bin.

    Bins that are empty in the node may lie across its cut. Rows that other nodes know, or
    that were held out, must take the same way by their codes as by their values.
    """
    about = codes.features[node.feature]
    bin = node.cut
    while bin < about.n_bins - 1 and low_of(codes, about, bin + 1) <= node.threshold:
        bin += 1
    if high_of(codes, about, bin) > node.threshold:
        node.threshold = threshold_between(
            high_of(codes, about, bin), low_of(codes, about, bin + 1)
        )
    node.cut = bin


@part
def clear_node(node):
    """Make a leaf of a NODE."""
    node.left, node.feature, node.category_start = -1, -1, -1
    node.threshold, node.gain, node.cut, node.missing_left = np.nan, 0.0, -1, 0


@part
def overflowed(nodes):
    """Tell whether sets of categories did not fit: the tree is of no use."""
    return atomic_load(nodes.counters, OVERFLOW) != 0


@part
def judge(problem, leaf, sums, pure, may_postpone):
    """Decide whether a new leaf is open, closed or put aside for one thread."""
    rules = problem.rules
    splits = (
        not pure
        and leaf.n_rows >= rules.min_split_rows
        and leaf.n_rows >= 2 * rules.min_rows
        and leaf.depth < rules.max_depth
        and problem.criterion.mass(sums) >= 2 * rules.min_weight
    )
    leaf.feature = CLOSED
    if splits:
        leaf.feature = POSTPONED if may_postpone and leaf.n_rows < rules.small else OPEN


@part
def only_target(moments, records):
    """Return a record if all have its target, -1 if there is none, or else DIFFERENT."""
    if records.shape[0] == 0:
        return np.int64(-1)
    for i in range(records.shape[0]):
        if not moments.same(records[i], records[0]):
            return np.int64(DIFFERENT)
    return records[0]


@part
def all_same(moments, only):
    """Tell from the threads' only targets whether all rows of a leaf have the same."""
    example = np.int64(-1)
    for thread in range(only.shape[0]):
        if only[thread] == DIFFERENT:
            return False
        if only[thread] >= 0:
            if example >= 0 and not moments.same(only[thread], example):
                return False
            example = only[thread]
    return True


@interpreted_as(in_bulk.add_up)
@part
def add_up(moments, records, sums):
    """Set `sums` to those of the records; it has room for LANES of them."""
    moments.add_up(records, sums)
    moments.widen(sums, 1)


@part
def close_leaf(space, nodes, leaf, slot, node, origin):
    """Note for each row of a leaf that it ends in leaf `node` of the tree."""
    if leaf.is_listed or space.masks.shape[1] == 0:
        close(nodes, node, space.records[leaf.side, leaf.begin : leaf.end], origin)
    else:
        close_mask(nodes, node, space.masks[slot])


@interpreted_as(in_bulk.close)
@part
def close(nodes, node, records, origin):
    """Note for each record that it ends in leaf `node`, if anybody asks; origin: as in a copse.

    origin  int64 [n] or [0]   read   rows of a copse, by their numbers in it
    """
    if nodes.leaf_of_row.shape[0] == 0:
        return
    for i in range(records.shape[0]):
        row = row_of(records[i])
        nodes.leaf_of_row[origin[row] if origin.shape[0] > 0 else row] = node
