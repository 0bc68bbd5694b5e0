"""Chapters: trees whose splits ask few enough different questions, one after another.

Many splits of a model are the same: a feature has some hundred cuts, and trees many thousand
splits. A chapter is a range of trees. Its *conditions*, each of them once, are *marked* for a block
of rows, a bit for each row; then its trees part the rows by these bits: see kernels.scorer.

A thread has these bytes; a lane is a byte for each row of a block, bits are a bit for each:

    ZERO, ONE   lanes   constant
    SIDE        lane    0 where a split by categories sends the row left, 1 where right
    LEAVES      lane    the number of the leaf that the row reaches in the tree at hand
    ALL, NONE   bits    constant
    PLANES      bits    scratch of reached.number_leaves
    REACHED     bits    rows that reach each leaf of the tree at hand, and each split
    FREE        lanes   2 a bank: cuts below the value; a missing one has 0 (left) and 255 (right)
                lanes   2 a set: codes of a feature whose sets are single words
                bits    conditions of the chapter at hand
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.blocks import LANE
from hedgerow.kernels.codes import Records
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.reached import BITS, LEAST_PLANES, MOST_PLANES

MAX_LEAVES = 1 << MOST_PLANES  # of a tree that has steps: a leaf's number is a byte
MOST_CONDITIONS = 4096  # of a chapter: their bits stay in the second cache

ZERO, ONE, SIDE, LEAVES, ALL = 0, LANE, 2 * LANE, 3 * LANE, 4 * LANE
NONE, PLANES = ALL + BITS, ALL + 2 * BITS
REACHED = PLANES + MOST_PLANES * BITS
FREE = REACHED + 2 * MAX_LEAVES * BITS

# root: first node; first_leaf: in leaf_value; output: the column that the tree adds to; stem: the
# first tree of the same splits, if it is the tree before or has the same stem; n_planes: digits of
# a leaf's number, 0 if the tree is to be walked; steps first_step .. end_step find the leaves.
_OF_TREES = ("root", "first_leaf", "output", "stem", "n_planes", "chapter", "first_step")
TREE = np.dtype([(name, "i8") for name in (*_OF_TREES, "end_step")], align=True)
# Places of bytes. A step has the arguments of reached.part_rows.
STEP = np.dtype([(name, "i4") for name in ("condition", "source", "left", "right")])
# The arguments of reached.mark; node: if it is split by categories, else -1; codes: where the
# codes of its feature are, if there is a lane of them, else -1.
MARK = np.dtype([(name, "i4") for name in ("test", "limit", "target", "node", "codes")])


class Draft(NamedTuple):
    """Nodes of all trees, before they are put into chapters.

    left, right  int32 [n_nodes]   children, counted over all trees; -1: a leaf
    place        int64 [n_nodes]   where the bits of the rows that reach the node are
    question     int64 [n_nodes]   the same for splits that send all rows alike
    marks        MARK [n_nodes]    without `target`
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    place: NDArray[np.int64]
    question: NDArray[np.int64]
    marks: Records


class Chapters(NamedTuple):
    """Trees as kernels.scorer reads them.

    trees   TREE [n_trees]
    steps   STEP [n_steps]            a node's step comes before those of its children
    marks   MARK [n_marks]            of one chapter after another
    bounds  int64 [n_chapters + 1]    first mark of each chapter
    """

    trees: Records
    steps: Records
    marks: Records
    bounds: NDArray[np.int64]


def chapters_of(trees: Records, n_nodes: NDArray[np.int64], draft: Draft, free: int) -> Chapters:
    """Put trees into chapters; n_nodes, [n_trees], are theirs, and conditions are from `free` on.

    Of trees, chapter, first_step and end_step are set.
    """
    n_splits = int(np.count_nonzero(draft.left >= 0))
    most_steps = n_splits + MAX_LEAVES // 2 * len(trees)
    steps = with_fields(np.zeros(most_steps, STEP))
    marks = with_fields(np.zeros(n_splits, MARK))
    bounds = np.zeros(len(trees) + 1, np.int64)
    known = np.full((2, int(draft.question.max(initial=0)) + 1), -1, np.int64)
    made = Chapters(trees, steps, marks, bounds)
    n_steps, n_chapters = _write(trees.root + n_nodes, draft, free, known, made)
    kept = marks[: bounds[n_chapters]].copy(), bounds[: n_chapters + 1].copy()
    return Chapters(trees, steps[:n_steps].copy(), *kept)


@kernel
def _write(ends, draft, free, known, chapters):
    """Write steps, marks and bounds; return how many steps and chapters there are.

    ends   int64 [n_trees]          read    the node after each tree
    known  int64 [2, n_questions]   both    chapter and place of a condition; -1 on entry
    """
    trees, n_marks, n_steps, n_chapters = chapters.trees, np.int64(0), np.int64(0), np.int64(0)
    for number in range(trees.shape[0]):
        tree, stem = trees[number], trees[trees[number].stem]
        if tree.n_planes == 0 or tree.stem < number:
            tree.chapter, tree.first_step = stem.chapter, stem.first_step
            tree.end_step = stem.end_step
            continue
        n_own = n_marks - chapters.bounds[max(n_chapters - 1, 0)]
        if n_chapters == 0 or n_own + (ends[number] - tree.root) // 2 > MOST_CONDITIONS:
            chapters.bounds[n_chapters] = n_marks
            n_chapters += 1
        tree.chapter, tree.first_step = n_chapters - 1, n_steps
        n_leaves = np.int64(0)
        for node in range(tree.root, ends[number]):
            if draft.left[node] < 0:
                n_leaves += 1
                continue
            question, step = draft.question[node], chapters.steps[n_steps]
            if known[0, question] != tree.chapter:
                known[0, question] = tree.chapter
                known[1, question] = free + (n_marks - chapters.bounds[tree.chapter]) * BITS
                mark, given = chapters.marks[n_marks], draft.marks[node]
                mark.test, mark.limit, mark.target = given.test, given.limit, known[1, question]
                mark.node, mark.codes = given.node, given.codes
                n_marks += 1
            left, right = draft.left[node], draft.right[node]
            step.condition, step.source = known[1, question], draft.place[node]
            step.left, step.right = draft.place[left], draft.place[right]
            n_steps += 1
        n_steps = _empty(chapters.steps, n_steps, n_leaves, np.int64(1) << tree.n_planes)
        tree.end_step = n_steps
    chapters.bounds[n_chapters] = n_marks
    return n_steps, n_chapters


@part
def _empty(steps, n_steps, n_leaves, n_places):
    """Write steps after which no row is at the places that a tree has no leaves for."""
    for leaf in range(n_leaves, n_places, 2):
        step = steps[n_steps]
        step.condition, step.source, step.left = ALL, NONE, REACHED + leaf * BITS
        step.right = REACHED + min(leaf + 1, n_places - 1) * BITS
        n_steps += 1
    return n_steps


def planes_of(n_leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many digits the leaves' numbers of trees have, 0 of trees that have too many."""
    n_digits = np.frexp(np.maximum(n_leaves - 1, 0))[1].astype(np.int64)
    return np.where(n_digits > MOST_PLANES, 0, np.maximum(n_digits, LEAST_PLANES))
