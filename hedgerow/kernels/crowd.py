"""A background of rows at the nodes of trees, as Shapley values against it are found.

A leaf knows of a row the set of features on which the row takes all steps to it; sets are bits.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.explained import Trees

MAX_FEATURES = 62  # of a leaf: as many as there are bits
_SMALL = 64  # leaves of trees, on average, whose sets are worth counting


class Room(NamedTuple):
    """What a team writes on; garbage on entry. A thread owns its row. Levels are steps so far.

    sets      int64 [n_threads, n_levels, n_others]   of rows of the background, on their way
    sides     int64 [n_threads, n_levels, n_others]   1 where a row goes left
    alive     int64 [n_threads, n_levels, n_words]    rows of the background that may get here
    features  int64 [n_threads, MAX_FEATURES]         of the way to a leaf, by bits
    gains     float64 [n_threads, MAX_FEATURES]       of a leaf's features, by bits
    """

    sets: NDArray[np.int64]
    sides: NDArray[np.int64]
    alive: NDArray[np.int64]
    features: NDArray[np.int64]
    gains: NDArray[np.float64]


class Crowd(NamedTuple):
    """The rows of a background at the nodes and leaves of some trees.

    takes  int64 [n_nodes, n_words]   bits: rows that take all steps on the node's feature
    leaf   int64 [n_nodes]            number of a leaf among those of the trees
    start  int64 [n_leaves + 1]       first set of each leaf
    sets   int64 [n_sets]
    share  float64 [n_sets]           of the background's rows
    is_counted  bool                  whether equal sets of a leaf are counted together; if not,
                                      each row has its own, in the order of rows
    """

    takes: NDArray[np.int64]
    leaf: NDArray[np.int64]
    start: NDArray[np.int64]
    sets: NDArray[np.int64]
    share: NDArray[np.float64]
    is_counted: bool


def room_for(trees: Trees, n_others: int, n_threads: int) -> Room:
    """Allocate what a team needs for the deepest tree."""
    n_levels = int(trees.ways.level.max(initial=0)) + 1
    sets, sides = np.empty((2, n_threads, n_levels, n_others), np.int64)
    alive = np.empty((n_threads, n_levels, n_others // 64 + 1), np.int64)
    features = np.empty((n_threads, MAX_FEATURES), np.int64)
    return Room(sets, sides, alive, features, np.empty((n_threads, MAX_FEATURES)))


def empty_crowd(trees: Trees, first: int, end: int, n_others: int) -> Crowd:
    """Return room for a background at the trees first .. end, each row a set of its own."""
    is_leaf = trees.paths.left[trees.offset[first] : trees.offset[end]] < 0
    n_leaves = int(np.count_nonzero(is_leaf))
    return Crowd(
        takes=np.zeros((len(is_leaf), n_others // 64 + 1), np.int64),
        leaf=np.cumsum(is_leaf) - 1,
        start=np.arange(n_leaves + 1) * n_others,
        sets=np.empty(n_leaves * n_others, np.int64),
        share=np.full(n_leaves * n_others, 1.0 / n_others),
        is_counted=False,
    )


def counted(crowd: Crowd, n_trees: int) -> Crowd:
    """Count equal sets of a leaf together, if the trees are small."""
    n_leaves = len(crowd.start) - 1
    if n_leaves > _SMALL * n_trees:
        return crowd
    sets = crowd.sets.reshape(n_leaves, -1)
    sets.sort(axis=1)
    is_new = np.ones(sets.shape, np.bool_)
    np.not_equal(sets[:, 1:], sets[:, :-1], out=is_new[:, 1:])
    start = np.append(0, np.cumsum(is_new.sum(axis=1)))
    counts = np.diff(np.append(np.flatnonzero(is_new), sets.size))
    share_of_rows = counts / sets.shape[1]
    return crowd._replace(start=start, sets=sets[is_new], share=share_of_rows, is_counted=True)


def chances_for(trees: Trees) -> NDArray[np.float64]:
    """Return (a - 1)! b! / (a + b)! at [a, b], for as many features as a leaf of the trees has."""
    n = int(trees.ways.n_features.max(initial=0))
    chances = np.zeros((n + 1, n + 1))
    for a in range(1, n + 1):
        for b in range(n + 1 - a):
            chances[a, b] = 1.0 / (a * comb(a + b, a))
    return chances
