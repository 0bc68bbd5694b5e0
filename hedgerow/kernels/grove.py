"""Trees whose values are added, and what is made of them for fast prediction."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.banks import banked
from hedgerow.kernels.blocks import LANE
from hedgerow.kernels.chapters import (
    ALL,
    FREE,
    MARK,
    MAX_LEAVES,
    NONE,
    ONE,
    REACHED,
    SIDE,
    TREE,
    Chapters,
    Draft,
    chapters_of,
    planes_of,
)
from hedgerow.kernels.codes import Records
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.leaf_values import SMALL
from hedgerow.kernels.predict import Paths
from hedgerow.kernels.reached import BITS

FEW = 8  # rows that are walked sooner than their values are replaced
_CACHE_LINE = 64


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

    chapters    Chapters
    leaf_value  float64 [n_leaves + 32]   of all trees, then zeros
    banks, cuts, starts                   see kernels.banks
    sets        int64 [n_sets]            features that have lanes of codes
    paths       Paths                     children are counted over all trees
    value       float64 [n_nodes]
    """

    chapters: Chapters
    leaf_value: NDArray[np.float64]
    banks: Records
    cuts: NDArray[np.float64]
    starts: NDArray[np.uint8]
    sets: NDArray[np.int64]
    paths: Paths
    value: NDArray[np.float64]


class Scratch(NamedTuple):
    """What a team needs to add trees; a thread owns its row.

    lanes  uint8 [n_threads, n_bytes]               see kernels.chapters
    sums   float64 [n_threads, n_outputs, LANE]     of the rows of a block
    """

    lanes: NDArray[np.uint8]
    sums: NDArray[np.float64]


def scorer_of(grove: Grove) -> Scorer:
    """Prepare a grove for prediction. Cost: n log n in the number of nodes."""
    is_leaf, n_nodes = grove.left < 0, np.diff(grove.offset)
    n_before = np.append(0, np.cumsum(is_leaf))  # leaves before each node
    first_leaf = n_before[grove.offset]
    tree = np.repeat(np.arange(len(n_nodes)), n_nodes)
    n_planes = planes_of(np.diff(first_leaf))
    is_step = ~is_leaf & (n_planes[tree] > 0)
    numeric = np.flatnonzero(is_step & (grove.category_start < 0))
    (banks, cuts, starts), bank, limit = banked(grove.feature[numeric], grove.threshold[numeric])
    n_words = _set_sizes(grove)
    sets = _short_sets(grove, is_step, n_words)
    free = FREE + 2 * (len(banks) + len(sets)) * LANE

    root = np.where(is_leaf, 0, grove.offset[tree]).astype(np.int32)
    kept = (getattr(grove, name) for name in Paths._fields[2:])
    paths = Paths(grove.left + root, grove.right + root, *kept)
    lane = 2 * bank + ~grove.missing_left[numeric]
    question = 512 * len(banks) + np.arange(len(is_leaf))  # of a split by categories: its own
    question[numeric] = 256 * lane + limit
    marks = with_fields(np.zeros(len(is_leaf), MARK))
    marks.test[:], marks.node[:] = SIDE, np.arange(len(is_leaf))
    place = np.searchsorted(sets, grove.feature)
    has_codes = np.append(sets, -1)[place] == grove.feature
    marks.codes = np.where(has_codes, FREE + 2 * (len(banks) + place) * LANE, -1)
    marks.test[numeric] = FREE + lane * LANE
    marks.limit[numeric], marks.node[numeric] = limit, -1
    leaf = n_before[:-1] - first_leaf[tree]  # of a split: leaves of its tree before it
    number = np.where(is_leaf, leaf, MAX_LEAVES + np.arange(len(leaf)) - grove.offset[tree] - leaf)
    reached = REACHED + BITS * number
    reached[grove.offset[:-1][grove.left[grove.offset[:-1]] >= 0]] = ALL

    trees = with_fields(np.zeros(len(n_nodes), TREE))
    trees.root, trees.first_leaf, trees.output = grove.offset[:-1], first_leaf[:-1], grove.output
    trees.n_planes, trees.stem = n_planes, _stems(grove, paths, n_words)
    draft = Draft(paths.left, paths.right, reached, question, marks)
    chapters = chapters_of(trees, n_nodes, draft, free)
    leaf_value = np.append(grove.value[is_leaf], np.zeros(SMALL))
    return Scorer(chapters, leaf_value, banks, cuts, starts, sets, paths, grove.value)


def _set_sizes(grove: Grove) -> NDArray[np.int64]:
    """Return the words of each node's set of categories. It ends where the next one begins."""
    begins, which = np.unique(grove.category_start, return_inverse=True)
    sizes = np.diff(begins, append=len(grove.category_words))
    return np.where(grove.category_start < 0, 0, sizes[which])


def _short_sets(
    grove: Grove, is_step: NDArray[np.bool_], n_words: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the features all of whose sets of categories are single words, ascending."""
    by_set = np.flatnonzero(is_step & (grove.category_start >= 0))
    features = grove.feature[by_set].astype(np.int64)
    return np.setdiff1d(features, features[n_words[by_set] > 1])


def _stems(grove: Grove, paths: Paths, n_words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the stem of each tree: see chapters.TREE."""
    n_nodes, number = np.diff(grove.offset), np.arange(len(grove.output))
    is_alike = np.diff(n_nodes, prepend=-1) == 0  # as the tree before it
    node = np.flatnonzero(np.repeat(is_alike, n_nodes))
    tree = np.repeat(number, n_nodes)[node]
    other = node - n_nodes[tree]
    is_cut, by_set = (grove.left >= 0) & (n_words == 0), n_words > 0
    heavier = by_set & (paths.weight[paths.left] >= paths.weight[paths.right])  # where unseen go
    cuts = np.where(is_cut, grove.threshold, 0.0)
    asked = grove.left, grove.right, grove.feature, grove.missing_left, n_words, cuts, heavier
    differs = np.zeros(len(node), np.bool_)
    for each in asked:
        differs |= each[node] != each[other]
    for word in range(int(n_words.max(initial=0))):
        here = np.flatnonzero((n_words[node] > word) & ~differs)
        one, two = (
            grove.category_words[grove.category_start[n[here]] + word] for n in (node, other)
        )
        differs[here] = one != two
    is_alike[tree[differs]] = False
    return np.maximum.accumulate(np.where(is_alike, 0, number))


def scratch_for(scorer: Scorer, n_threads: int, n_rows: int, n_outputs: int) -> Scratch:
    """Return the scratch of a team. Lanes begin with a cache line; few rows need none."""
    sums = np.zeros((n_threads, n_outputs, LANE))
    if n_rows < FEW:
        return Scratch(np.empty((n_threads, 0), np.uint8), sums)
    n_fixed = FREE + 2 * (len(scorer.banks) + len(scorer.sets)) * LANE
    n_bytes = n_fixed + BITS * int(np.diff(scorer.chapters.bounds).max(initial=0))
    room = np.zeros(n_threads * n_bytes + _CACHE_LINE, np.uint8)
    first = -room.ctypes.data % _CACHE_LINE
    lanes = room[first : first + n_threads * n_bytes].reshape(n_threads, n_bytes)
    lanes[:, ONE : ONE + LANE], lanes[:, ALL:NONE] = 1, 255
    return Scratch(lanes, sums)
