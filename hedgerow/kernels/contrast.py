"""Shapley values against a background: a row's features put in place of another row's.

Of a row x and a row z of the background, with the features of a set S taken from x,

    v(S) = value of the leaf that is reached with x_j for j in S and z_j for the others.

A leaf counts if x or z takes all steps on each of its features. If only x does on a of them,
and only z on b, then the leaf is reached when S has all the a and none of the b, and

    phi_i = + value (a - 1)! b! / (a + b)!    if only x takes the steps on i
            - value a! (b - 1)! / (a + b)!    if only z does

(Lundberg et al., 2020, "interventional"). The result is the mean over z. All that a leaf knows
of a row is a set of features: those on which the row takes all steps to it. Rows z of the same
set are counted together, and there are few sets. Sets are bits; bit k is the k-th feature on
the way from the root.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import part
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.predict import next_node
from hedgerow.kernels.shap import Trees

MAX_FEATURES = 62  # of a leaf: as many as there are bits


class Room(NamedTuple):
    """What a team writes on; garbage on entry. A thread owns its row.

    sets      int64 [n_threads, n_nodes]        of a row, at each node of a tree
    features  int64 [n_threads, MAX_FEATURES]   of the way to a leaf, by bits
    """

    sets: NDArray[np.int64]
    features: NDArray[np.int64]


class Crowd(NamedTuple):
    """Sets of the rows of a background at the leaves of some trees.

    start     int64 [n_leaves + 1]   first of each leaf
    sets      int64 [n_sets]         ascending in each leaf, each but once
    share     float64 [n_sets]       of the background's rows
    """

    start: NDArray[np.int64]
    sets: NDArray[np.int64]
    share: NDArray[np.float64]


def room_for(trees: Trees, n_threads: int) -> Room:
    """Allocate what a team needs for the largest tree."""
    n_nodes = int(np.diff(trees.offset).max(initial=1))
    features = np.empty((n_threads, MAX_FEATURES), np.int64)
    return Room(np.empty((n_threads, n_nodes), np.int64), features)


def crowd_of(sets: NDArray[np.int64]) -> Crowd:
    """Count equal sets of each leaf; sets, int64 [n_leaves, n_rows], is sorted in place."""
    sets.sort(axis=1)
    is_new = np.ones(sets.shape, np.bool_)
    np.not_equal(sets[:, 1:], sets[:, :-1], out=is_new[:, 1:])
    start = np.append(0, np.cumsum(is_new.sum(axis=1)))
    counts = np.diff(np.append(np.flatnonzero(is_new), sets.size))
    return Crowd(start, sets[is_new], counts / sets.shape[1])


def chances_for(trees: Trees) -> NDArray[np.float64]:
    """Return (a - 1)! b! / (a + b)! at [a, b], for as many features as a leaf of the trees has."""
    n = int(trees.ways.n_features.max(initial=0))
    chances = np.zeros((n + 1, n + 1))
    for a in range(1, n + 1):
        for b in range(n + 1 - a):
            chances[a, b] = 1.0 / (a * comb(a + b, a))
    return chances


@team_kernel
def find_sets(team, values, trees, first, end, room, sets):
    """Set sets[leaf, row] to the features on which the row takes all steps to the leaf.

    values      float64 [n_rows, n_features]   read
    trees       Trees                          read    first .. end of them
    room        Room                           write
    sets        int64 [n_leaves, n_rows]       write   of these trees' leaves, one after another;
                                                       a thread owns a range of rows
    """
    begin, last = share(team, values.shape[0])
    own = room.sets[team.thread]
    for row in range(begin, last):
        if cancelled(team):
            return
        leaf = 0
        for tree in range(first, end):
            root = trees.offset[tree]
            _descend(trees, root, trees.offset[tree + 1], values[row], own)
            for node in range(root, trees.offset[tree + 1]):
                if trees.paths.left[node] < 0:
                    sets[leaf, row] = own[node - root]
                    leaf += 1


@team_kernel
def add_contrasts(team, values, trees, first, crowd, chances, room, out):
    """Add to out[feature, output, row] the Shapley values of trees against a background.

    values   float64 [n_rows, n_features]              read
    trees    Trees                                     read    from `first` on, as many as
    crowd    Crowd                                     read    has leaves of
    chances  float64 [n + 1, n + 1]                    read    of chances_for
    room     Room                                      write
    out      float64 [n_features, n_outputs, n_rows]   both    a thread owns a range of rows

    Cost: n_rows * n_sets. Neither the order of rows nor that of the background matters.
    """
    begin, last = share(team, values.shape[0])
    sets, features = room.sets[team.thread], room.features[team.thread]
    paths, ways = trees.paths, trees.ways
    for row in range(begin, last):
        if cancelled(team):
            return
        leaf, tree = 0, first
        while leaf < crowd.start.shape[0] - 1:
            root, sums = trees.offset[tree], out[:, trees.output[tree], row]
            _descend(trees, root, trees.offset[tree + 1], values[row], sets)
            for node in range(root, trees.offset[tree + 1]):
                # In preorder a way's features are in their places when its leaf comes.
                if node > root:
                    features[ways.bit[node]] = paths.feature[ways.parent[node]]
                if paths.left[node] < 0:
                    held = sets[node - root], ways.n_features[node]
                    _compare(held, crowd, leaf, trees.value[node], chances, features, sums)
                    leaf += 1
            tree += 1


@part
def _descend(trees, root, end, x, sets):
    """Set the features on which a row takes all steps to each node of a tree."""
    paths, ways = trees.paths, trees.ways
    sets[0] = 0
    for node in range(root, end):
        left, right = np.int64(paths.left[node]), np.int64(paths.right[node])
        if left < 0:
            continue
        bit = np.int64(1) << ways.bit[left]
        is_on = ways.above[left] == root or sets[node - root] & bit != 0
        child = np.int64(next_node(paths, node, x[paths.feature[node]]))
        without = sets[node - root] & ~bit
        sets[left - root] = without | (bit if is_on and child == left else 0)
        sets[right - root] = without | (bit if is_on and child == right else 0)


@part
def _compare(held, crowd, leaf, value, chances, features, sums):
    """Add a leaf's part: held, the features that x takes, and the number of all."""
    of_x, n_features = held
    every = (np.int64(1) << n_features) - 1
    lacking = every & ~of_x
    b = _size(lacking)
    loss = 0.0
    for place in range(crowd.start[leaf], crowd.start[leaf + 1]):
        of_z = crowd.sets[place]
        if of_z & lacking != lacking:
            continue
        only_x, weight = every & ~of_z, value * crowd.share[place]
        a = _size(only_x)
        loss += weight * chances[b, a]
        for bit in range(n_features):
            if (only_x >> bit) & 1:
                sums[features[bit]] += weight * chances[a, b]
    for bit in range(n_features):
        if (lacking >> bit) & 1:
            sums[features[bit]] -= loss


@part
def _size(bits):
    """Return the number of bits that are set."""
    number = 0
    while bits != 0:
        bits &= bits - 1
        number += 1
    return number
