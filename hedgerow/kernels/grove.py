"""Trees whose values are added, and what is made of them for fast prediction.

A *lane* is a byte for each row of a block (see kernels.scorer). Lanes stand in this order:

    256        constant: lane l is the number l of a leaf in its tree
    2 a bank   cuts below the row's value; a missing value has 0 (goes left) and 255 (right)
    2 a set    codes of a feature whose sets of categories are single words, see kernels.scorer
    1          0 where a split by categories sends the row left, 1 where right
    the rest   scratch: the number of the leaf that the row would reach from a certain node
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.banks import banked
from hedgerow.kernels.blocks import LANE
from hedgerow.kernels.codes import Records
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.predict import Paths

FEW = 8  # rows that are walked sooner than their values are replaced
MAX_LEAVES = 256  # of a tree that has steps: a leaf's number is a byte
_CACHE_LINE = 64

# root: first node; first_leaf: in leaf_value; output: the column that the tree adds to; lane: where
# steps first_step .. end_step leave the number of the leaf, or -1 if the tree is to be walked.
TREE = np.dtype(
    [(name, "i8") for name in ("root", "first_leaf", "output", "lane", "first_step", "end_step")],
    align=True,
)
# The arguments of blocks.choose; node: if it is split by categories, else -1; codes: where the
# codes of its feature are, if there is a lane of them, else -1.
STEP = np.dtype(
    [(name, "i4") for name in ("test", "limit", "left", "right", "target", "node", "codes")]
)


class Grove(NamedTuple):
    """Nodes of all trees, one tree after another, each in preorder.

    offset  int64 [n_trees + 1]   first node of each tree
    value   float64 [n_nodes]     what a leaf adds
    output  int32 [n_trees]       the column that it is added to

    The rest is as in trees.tree.Tree: children are counted from the tree's first node.
    """

    offset: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_start: NDArray[np.int64]
    category_words: NDArray[np.uint64]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]
    output: NDArray[np.int32]


class Scorer(NamedTuple):
    """A grove as kernels.scorer reads it.

    trees       TREE [n_trees]
    steps       STEP [n_steps]            a node's step follows those of its children
    leaf_value  float64 [n_leaves]        of all trees
    banks, cuts, starts                   see kernels.banks
    sets        int64 [n_sets]            features that have lanes of codes
    paths       Paths                     children are counted over all trees
    value       float64 [n_nodes]
    """

    trees: Records
    steps: Records
    leaf_value: NDArray[np.float64]
    banks: Records
    cuts: NDArray[np.float64]
    starts: NDArray[np.uint8]
    sets: NDArray[np.int64]
    paths: Paths
    value: NDArray[np.float64]


def scorer_of(grove: Grove) -> Scorer:
    """Prepare a grove for prediction. Cost: n log n in the number of nodes."""
    is_leaf = grove.left < 0
    first_leaf = np.append(0, np.cumsum(is_leaf))[grove.offset]
    tree = np.repeat(np.arange(len(grove.output)), np.diff(grove.offset))
    has_steps = np.diff(first_leaf) <= MAX_LEAVES
    is_step = ~is_leaf & has_steps[tree]
    numeric = np.flatnonzero(is_step & (grove.category_start < 0))
    (banks, cuts, starts), bank, limit = banked(grove.feature[numeric], grove.threshold[numeric])
    sets = _short_sets(grove, is_step)
    n_fixed = _n_fixed(banks, sets)

    root = np.where(is_leaf, 0, grove.offset[tree]).astype(np.int32)
    kept = (getattr(grove, name) for name in Paths._fields[2:])
    paths = Paths(grove.left + root, grove.right + root, *kept)
    tests = np.zeros(len(is_leaf), STEP).view(np.recarray)
    tests.test[:], tests.node[:] = n_fixed - 1, np.arange(len(is_leaf))
    place = np.searchsorted(sets, grove.feature)
    has_codes = np.append(sets, -1)[place] == grove.feature
    tests.codes = np.where(has_codes, MAX_LEAVES + 2 * (len(banks) + place), -1)
    tests.test[numeric] = MAX_LEAVES + 2 * bank + ~grove.missing_left[numeric]
    tests.limit[numeric], tests.node[numeric] = limit, -1
    trees = np.zeros(len(grove.output), TREE).view(np.recarray)
    trees.root, trees.first_leaf, trees.output = grove.offset[:-1], first_leaf[:-1], grove.output
    trees.lane = np.where(has_steps, 0, -1)
    steps = np.zeros(np.count_nonzero(is_step), STEP).view(np.recarray)
    lanes = np.empty(len(is_leaf), np.int32)
    _order((grove.offset, first_leaf), paths, tests, n_fixed, lanes, trees, steps)
    values = grove.value[is_leaf], grove.value
    return Scorer(trees, steps, values[0], banks, cuts, starts, sets, paths, values[1])


def _short_sets(grove: Grove, is_step: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the features all of whose sets of categories are single words, ascending.

    A set ends where the next one begins.
    """
    by_set = np.flatnonzero(is_step & (grove.category_start >= 0))
    begins, which = np.unique(grove.category_start[by_set], return_inverse=True)
    is_long = np.diff(begins, append=len(grove.category_words)) > 1
    features = grove.feature[by_set].astype(np.int64)
    return np.setdiff1d(features, features[is_long[which]])


def lanes_for(scorer: Scorer, n_threads: int, n_rows: int) -> NDArray[np.uint8]:
    """Return the lanes of a team, uint8 [n_threads, n_bytes]. They begin with a cache line.

    Few rows are walked, and need none.
    """
    if n_rows < FEW:
        return np.empty((n_threads, 0), np.uint8)
    n_fixed = _n_fixed(scorer.banks, scorer.sets)
    n_bytes = max(n_fixed * LANE, int(scorer.steps.target.max(initial=0)) + LANE)
    room = np.zeros(n_threads * n_bytes + _CACHE_LINE, np.uint8)
    first = -room.ctypes.data % _CACHE_LINE
    lanes = room[first : first + n_threads * n_bytes].reshape(n_threads, n_bytes)
    lanes[:, : MAX_LEAVES * LANE] = np.repeat(np.arange(MAX_LEAVES), LANE)
    return lanes


def _n_fixed(banks: Records, sets: NDArray[np.int64]) -> int:
    """Return the number of lanes before the scratch."""
    return MAX_LEAVES + 2 * (len(banks) + len(sets)) + 1


@kernel
def _order(bounds, paths, tests, n_fixed, lanes, trees, steps):
    """Set the steps of the trees that have a lane.

    bounds  two int64 [n_trees + 1]   read    of the trees' nodes, of their leaves
    paths   Paths                     read
    tests   STEP [n_nodes]            read    test, limit, node, codes
    lanes   int32 [n_nodes]           write   the lane of a node's result; garbage on entry
    trees   TREE [n_trees]            both    lane, first_step, end_step
    steps   STEP [n_steps]            write

    From the last node to the first, as a stack machine: two results give way to one. Lanes
    are counted in `tests` and `lanes`; in `trees` and `steps` they are places of bytes.
    """
    n_steps = np.int64(0)
    for number in range(trees.shape[0]):
        tree, first, end = trees[number], bounds[0][number], bounds[0][number + 1]
        tree.first_step, leaf, free = n_steps, bounds[1][number + 1] - bounds[1][number], n_fixed
        for node in range(end - 1, first - 1 if tree.lane >= 0 else end - 1, -1):
            if paths.left[node] < 0:
                leaf -= 1
                lanes[node] = leaf
                continue
            left, right = lanes[paths.left[node]], lanes[paths.right[node]]
            free -= np.int64(left >= n_fixed) + np.int64(right >= n_fixed)
            step, test = steps[n_steps], tests[node]
            step.test, step.limit, step.node = test.test * LANE, test.limit, test.node
            step.codes = test.codes * LANE
            step.left, step.right, step.target = left * LANE, right * LANE, free * LANE
            lanes[node] = free
            free += 1
            n_steps += 1
        if tree.lane >= 0:
            tree.lane = lanes[first] * LANE
        tree.end_step = n_steps
