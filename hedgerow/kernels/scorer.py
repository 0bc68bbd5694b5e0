"""Prediction with many trees: all splits of a tree are tried, for a block of rows at once.

    values of a feature        cuts below, a byte each          leaves of a tree, a byte each
    0.3  NaN  7.1  ...    ->   1  255    4  ...            ->   3  0  2  ...

A value is replaced once by the number of the model's cuts below it, a category by its code,
a byte if the sets of its feature are single words. Then, from the last split of a tree to the
first, the leaf that each row would reach from there is chosen from those of the two children:
no branches, and as many rows at once as a register has bytes.

Lucchese et al. (2015), "QuickScorer", also try all splits of a tree, with a bit for each leaf.
"""

import numpy as np

from hedgerow.kernels.banks import bucket_of
from hedgerow.kernels.blocks import LANE, WORD_LANE, choose, look_up
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.grove import FEW, MAX_LEAVES
from hedgerow.kernels.jit import part
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.predict import next_node

_WORD = 64  # codes below are places in a word
# In lanes of codes: the last place in a word, and what is no code.
_LAST, _IS_UNSEEN, _IS_MISSING = np.uint8(_WORD - 1), np.uint8(254), np.uint8(255)


@team_kernel
def add_trees(team, values, scorer, lanes, first_tree, end_tree, out):
    """Add to out[row, output of a tree] the value of the leaf that the row reaches in the tree.

    values  float64 [n_rows, n_features]    read    NaN is missing; categories are codes
    scorer  Scorer                          read
    lanes   uint8 [n_threads, n_bytes]      both    of lanes_for; a thread owns its row
    out     float64 [n_rows, n_outputs]     both    a thread owns a range of rows

    Trees first_tree .. end_tree are added in this order to each row, whatever the block:
    the sums are those of a walk, bit for bit. Cost: n_rows * n_leaves / 32 instructions a
    tree, and n_rows * log2(cuts in a bucket) a bank.
    """
    begin, end = share(team, values.shape[0])
    for first in range(begin, end, LANE):
        if cancelled(team):
            return
        last = min(first + LANE, end)
        block, sums, own = values[first:last], out[first:last], lanes[team.thread]
        _note_values(block, scorer, own)
        for number in range(first_tree, end_tree):
            _add_tree(block, scorer, scorer.trees[number], own, sums)


@team_kernel
def add_stages(team, values, scorer, lanes, first_tree, end_tree, out, stages):
    """Do as add_trees, and note the sums after each round of a tree for each output.

    out     float64 [n_rows, n_outputs]             both
    stages  float64 [n_rounds, n_rows, n_outputs]   write   a thread owns a range of rows
    """
    begin, end = share(team, values.shape[0])
    n_outputs = out.shape[1]
    for first in range(begin, end, LANE):
        if cancelled(team):
            return
        last = min(first + LANE, end)
        block, sums, own = values[first:last], out[first:last], lanes[team.thread]
        _note_values(block, scorer, own)
        for stage in range(stages.shape[0]):
            number = first_tree + stage * n_outputs
            for tree in range(number, min(number + n_outputs, end_tree)):
                _add_tree(block, scorer, scorer.trees[tree], own, sums)
            noted = stages[stage, first:last]
            for row in range(sums.shape[0]):
                for output in range(n_outputs):
                    noted[row, output] = sums[row, output]


@part
def _note_values(block, scorer, lanes):
    """Replace the values of a block by bytes, if it has enough rows to be worth it."""
    if block.shape[0] >= FEW:
        _count_cuts(block, scorer, lanes)
        _note_codes(block, scorer, lanes)


@part
def _add_tree(block, scorer, tree, lanes, sums):
    """Add the values of the leaves that a block's rows reach in a tree."""
    if block.shape[0] < FEW or tree.lane < 0:
        _add_walked(block, scorer, tree, sums[:, tree.output])
    else:
        _add_stepped(block, scorer, tree, lanes, sums[:, tree.output])


@part
def _count_cuts(block, scorer, lanes):
    """Set the two lanes of each bank: see kernels.grove.

    One halving after another for all rows, not one row after another: without branches
    the rows do not wait for each other.
    """
    one = np.uint64(1)
    for number in range(scorer.banks.shape[0]):
        bank, cuts, starts = scorer.banks[number], scorer.cuts[number], scorer.starts[number]
        feature, low, high, scale = bank.feature, bank.low, bank.high, bank.scale
        place = (MAX_LEAVES + 2 * number) * LANE
        below, beside = lanes[place : place + LANE], lanes[place + LANE : place + 2 * LANE]
        for row in range(block.shape[0]):
            below[row] = starts[bucket_of(low, high, scale, block[row, feature])]
        for halving in range(bank.n_halvings - 1, -1, -1):
            half = one << np.uint64(halving)
            for row in range(block.shape[0]):
                start = np.uint64(below[row])
                is_below = cuts[start + half - one] < block[row, feature]
                below[row] = start + half * np.uint64(is_below)
        for row in range(block.shape[0]):
            beside[row] = np.uint8(255) if np.isnan(block[row, feature]) else below[row]


@part
def _note_codes(block, scorer, lanes):
    """Set the two lanes of each set: codes, and in the first byte whether some are no codes."""
    for number in range(scorer.sets.shape[0]):
        place = (MAX_LEAVES + 2 * (scorer.banks.shape[0] + number)) * LANE
        codes, feature, largest = lanes[place : place + LANE], scorer.sets[number], np.uint8(0)
        for row in range(block.shape[0]):
            x = block[row, feature]
            code = np.uint8(x) if x >= 0 else _IS_UNSEEN
            codes[row] = _IS_MISSING if np.isnan(x) else code
            largest = max(largest, codes[row])
        lanes[place + LANE] = largest >= _WORD


@part
def _add_stepped(block, scorer, tree, lanes, sums):
    """Find the leaves of a block's rows by the steps of a tree, and add their values."""
    for number in range(tree.first_step, tree.end_step):
        step = scorer.steps[number]
        if step.node >= 0:
            test = lanes[step.test : step.test + LANE]
            if step.codes >= 0:
                _part_by_code(lanes, step, scorer.paths)
            else:
                _part_by_category(block, scorer.paths, step.node, test)
        choose(lanes, step.test, step.limit, step.left, step.right, step.target)
    leaves, leaf_value = lanes[tree.lane : tree.lane + LANE], scorer.leaf_value[tree.first_leaf :]
    for row in range(sums.shape[0]):
        sums[row] += leaf_value[leaves[row]]


@part
def _part_by_code(lanes, step, paths):
    """Set a lane as _part_by_category does, from a lane of codes; beyond the rows, to anything."""
    node = step.node
    word, has_others = paths.category_words[paths.category_start[node]], lanes[step.codes + LANE]
    for first in range(0, LANE, WORD_LANE):
        look_up(lanes, step.codes + first, word, step.test + first)
    if has_others:  # lanes 0 and 1 are constant, and hold just that
        if_unseen = np.int64(paths.weight[paths.left[node]] < paths.weight[paths.right[node]])
        if_missing = np.int64(not paths.missing_left[node])
        choose(lanes, step.codes, _LAST, step.test, if_unseen * LANE, step.test)
        choose(lanes, step.codes, _IS_UNSEEN, step.test, if_missing * LANE, step.test)


@part
def _part_by_category(block, paths, node, lane):
    """Set a lane to 0 where a row goes left from a node, 1 where right, as next_node says."""
    feature, words = paths.feature[node], paths.category_words[paths.category_start[node] :]
    if_missing = np.int64(not paths.missing_left[node])
    if_unseen = np.int64(paths.weight[paths.left[node]] < paths.weight[paths.right[node]])
    for row in range(block.shape[0]):
        x = block[row, feature]
        code = np.uint64(np.int64(x)) if x >= 0 else np.uint64(0)
        word = np.int64(words[code >> np.uint64(6)])
        side = 1 - ((word >> np.int64(code & np.uint64(63))) & 1)
        side = side if x >= 0 else if_unseen
        lane[row] = if_missing if np.isnan(x) else side


@part
def _add_walked(block, scorer, tree, sums):
    """Find the leaf of one row after another, from the root, and add its value."""
    paths = scorer.paths
    for row in range(block.shape[0]):
        node = tree.root
        while paths.left[node] >= 0:
            node = np.int64(next_node(paths, node, block[row, paths.feature[node]]))
        sums[row] += scorer.value[node]
