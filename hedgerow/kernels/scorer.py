"""Prediction with many trees: all splits of a tree are tried, for a block of rows at once.

    values of a feature      cuts below           rows left of a cut     leaves of a tree
                             a byte for each      a bit for each         a byte for each
    0.3  NaN  7.1  ...   ->  1  255  4  ...   ->  1  0  0  ...       ->  3  0  2  ...

A value is replaced once by the number of the model's cuts below it, a category by its code, a byte
if the sets of its feature are single words. What a split asks is answered once for all trees of a
chapter that ask it (see kernels.chapters). Then, from the root of a tree on, rows are parted by
these bits: no branches, and 512 rows at once, if a register has so many bits.

Lucchese et al. (2015), "QuickScorer", also try all splits of a tree, with a bit for each leaf.
"""

from functools import partial

import numpy as np

from hedgerow.kernels import in_bulk
from hedgerow.kernels.banks import bucket_of
from hedgerow.kernels.blocks import LANE, WORD_LANE, choose, look_up
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.chapters import FREE, LEAVES, PLANES, REACHED, SIDE
from hedgerow.kernels.grove import FEW
from hedgerow.kernels.jit import inlined_part, interpreted_as, part
from hedgerow.kernels.leaf_values import SMALL, add_small
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.predict import next_node
from hedgerow.kernels.reached import mark, number_leaves, part_rows

_SMALL_PLANES = (SMALL - 1).bit_length()
_WORD = 64  # codes below are places in a word
# In lanes of codes: the last place in a word, and what is no code.
_LAST, _IS_UNSEEN, _IS_MISSING = np.uint8(_WORD - 1), np.uint8(254), np.uint8(255)


@team_kernel
def add_trees(team, values, scorer, scratch, first_tree, end_tree, out):
    """Add to out[row, output of a tree] the value of the leaf that the row reaches in the tree.

    values   float64 [n_rows, n_features]    read    NaN is missing; categories are codes
    scorer   Scorer                          read
    scratch  Scratch                         both    of scratch_for
    out      float64 [n_rows, n_outputs]     both    a thread owns a range of rows

    Trees first_tree .. end_tree are added in this order to each row, whatever the block:
    the sums are those of a walk, bit for bit. Cost: n_rows * n_leaves / 128 instructions a tree,
    n_rows / 32 a condition of a chapter, and n_rows * log2(cuts in a bucket) a bank.
    """
    begin, end = share(team, values.shape[0])
    lanes, sums = scratch.lanes[team.thread], scratch.sums[team.thread]
    for first in range(begin, end, LANE):
        if cancelled(team):
            return
        last = min(first + LANE, end)
        block, found = values[first:last], np.int64(-1)
        _take_sums(out[first:last], sums)
        _note_values(block, scorer, lanes)
        for number in range(first_tree, end_tree):
            found = _add_tree(block, scorer, number, found, lanes, sums)
        _give_sums(sums, out[first:last])


@team_kernel
def add_stages(team, values, scorer, scratch, first_tree, end_tree, out, stages):
    """Do as add_trees, and note the sums after each round of a tree for each output.

    out     float64 [n_rows, n_outputs]             both
    stages  float64 [n_rounds, n_rows, n_outputs]   write   a thread owns a range of rows
    """
    begin, end = share(team, values.shape[0])
    lanes, sums, n_outputs = scratch.lanes[team.thread], scratch.sums[team.thread], out.shape[1]
    for first in range(begin, end, LANE):
        if cancelled(team):
            return
        last = min(first + LANE, end)
        block, found = values[first:last], np.int64(-1)
        _take_sums(out[first:last], sums)
        _note_values(block, scorer, lanes)
        for stage in range(stages.shape[0]):
            number = first_tree + stage * n_outputs
            for tree in range(number, min(number + n_outputs, end_tree)):
                found = _add_tree(block, scorer, tree, found, lanes, sums)
            _give_sums(sums, stages[stage, first:last])
        _give_sums(sums, out[first:last])


@part
def _take_sums(out, sums):
    """Bring the sums of a block's rows, one output after another, where trees add to them."""
    for output in range(out.shape[1]):
        for row in range(out.shape[0]):
            sums[output, row] = out[row, output]


@part
def _give_sums(sums, out):
    for row in range(out.shape[0]):
        for output in range(out.shape[1]):
            out[row, output] = sums[output, row]


@part
def _note_values(block, scorer, lanes):
    """Replace the values of a block by bytes, if it has enough rows to be worth it."""
    if block.shape[0] >= FEW:
        _count_cuts(block, scorer, lanes)
        _note_codes(block, scorer, lanes)


@inlined_part
def _add_tree(block, scorer, number, found, lanes, sums):
    """Add the values of the leaves that a block's rows reach in a tree.

    found: the stem whose leaves are in the lane LEAVES, or -1. Returns the one that is there then.
    """
    tree = scorer.chapters.trees[number]
    if block.shape[0] < FEW or tree.n_planes == 0:
        _add_walked(block, scorer, tree, sums[tree.output])
        return found
    if found != tree.stem:
        if found < 0 or scorer.chapters.trees[found].chapter != tree.chapter:
            _mark_conditions(block, scorer, tree.chapter, lanes)
        _find_leaves(scorer.chapters.steps[tree.first_step : tree.end_step], tree.n_planes, lanes)
    _add_leaves(lanes, scorer.leaf_value, tree, sums[tree.output])
    return tree.stem


@part
def _mark_conditions(block, scorer, chapter, lanes):
    """Set the bits of all conditions of a chapter."""
    chapters = scorer.chapters
    for number in range(chapters.bounds[chapter], chapters.bounds[chapter + 1]):
        asked = chapters.marks[number]
        if asked.codes >= 0 and asked.node >= 0:
            _part_by_code(lanes, asked, scorer.paths)
        elif asked.node >= 0:
            _part_by_category(block, scorer.paths, asked.node, lanes[SIDE : SIDE + LANE])
        mark(lanes, asked.test, asked.limit, asked.target)


@part
def _find_leaves(steps, n_planes, lanes):
    """Set the lane LEAVES to the leaves that a block's rows reach by the steps of a tree."""
    for number in range(steps.shape[0]):
        step = steps[number]
        part_rows(lanes, step.condition, step.source, step.left, step.right)
    number_leaves(lanes, REACHED, n_planes, PLANES, LEAVES)


@part
def _add_leaves(lanes, leaf_value, tree, sums):
    """Add the values of the leaves in the lane LEAVES; beyond the rows, of any leaves."""
    if tree.n_planes <= _SMALL_PLANES:
        add_small(lanes, LEAVES, leaf_value, tree.first_leaf, sums)
        return
    _add_values(lanes[LEAVES : LEAVES + LANE], leaf_value[tree.first_leaf :], sums)


@interpreted_as(in_bulk.add_values)
@part
def _add_values(leaves, values, sums):
    for row in range(LANE):
        sums[row] += values[np.uint64(leaves[row])]


@interpreted_as(partial(in_bulk.count_cuts, FREE, LANE))
@part
def _count_cuts(block, scorer, lanes):
    """Set the two lanes of each bank: see kernels.chapters.

    One halving after another for all rows, not one row after another: without branches
    the rows do not wait for each other.
    """
    one = np.uint64(1)
    for number in range(scorer.banks.shape[0]):
        bank, cuts, starts = scorer.banks[number], scorer.cuts[number], scorer.starts[number]
        feature, low, high, scale = bank.feature, bank.low, bank.high, bank.scale
        place = FREE + 2 * number * LANE
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
        place = FREE + 2 * (scorer.banks.shape[0] + number) * LANE
        codes, feature, largest = lanes[place : place + LANE], scorer.sets[number], np.uint8(0)
        for row in range(block.shape[0]):
            x = block[row, feature]
            code = np.uint8(x) if x >= 0 else _IS_UNSEEN
            codes[row] = _IS_MISSING if np.isnan(x) else code
            largest = max(largest, codes[row])
        lanes[place + LANE] = largest >= _WORD


@part
def _part_by_code(lanes, asked, paths):
    """Set a lane as _part_by_category does, from a lane of codes; beyond the rows, to anything."""
    node = asked.node
    word, has_others = paths.category_words[paths.category_start[node]], lanes[asked.codes + LANE]
    for first in range(0, LANE, WORD_LANE):
        look_up(lanes, asked.codes + first, word, asked.test + first)
    if has_others:  # the first two lanes are constant
        if_unseen = np.int64(paths.weight[paths.left[node]] < paths.weight[paths.right[node]])
        if_missing = np.int64(not paths.missing_left[node])
        choose(lanes, asked.codes, _LAST, asked.test, if_unseen * LANE, asked.test)
        choose(lanes, asked.codes, _IS_UNSEEN, asked.test, if_missing * LANE, asked.test)


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
