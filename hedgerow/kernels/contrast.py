"""Shapley values against a background: what a row's features add, put in place of another row's.

Of a row x and a row z of the background, with the features of a set S taken from x,

    v(S) = value of the leaf that is reached with x_j for j in S, z_j for the others.

A leaf counts if at each of its features x or z takes all steps to it. Of the features at which
only one of them does, say a of x and b of z, all a must be in S and no b, which happens as each
enters with chances that have a closed form: Lundberg et al. (2020), "interventional";

    phi_i = + value (a - 1)! b! / (a + b)!    if only x takes the steps on i,
            - value a! (b - 1)! / (a + b)!    if only z does.

The result is the mean over z.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.shap import Trees
from hedgerow.kernels.team import cancelled, share
from hedgerow.kernels.ways import LANES, STAYS, mark

_NOBODY, _X, _Z, _BOTH = 0, 1, 2, 3  # who takes the steps on a feature


class Chances(NamedTuple):
    """What a leaf's value is multiplied by, at place a * stride + b.

    stride  int                     more than the features of any leaf
    of_x    float64 [stride^2 + 1]  for features that only x takes
    of_z    float64 [stride^2 + 1]  for features that only z takes

    The last place is for leaves that do not count: 0.
    """

    stride: int
    of_x: NDArray[np.float64]
    of_z: NDArray[np.float64]


def chances_for(trees: Trees, n_others: int) -> Chances:
    """Return the chances for trees, divided by the number of rows of the background."""
    stride = int(trees.ways.n_features.max(initial=0)) + 1
    of_x, of_z = np.zeros((2, stride**2 + 1))
    for a in range(1, stride):
        for b in range(stride - a):
            of_x[a * stride + b] = of_z[b * stride + a] = 1.0 / (a * comb(a + b, a) * n_others)
    return Chances(stride, of_x, of_z)


class Contrast(NamedTuple):
    """What a thread writes on; garbage on entry.

    row     uint8 [n_nodes, 1]         see ways.mark
    others  uint8 [n_nodes, LANES]     of rows of the background
    who     uint8 [n_nodes, LANES]     of both; nobody where a leaf does not count
    place   int64 [n_nodes, LANES]     see Chances
    of_x    float64 [n_nodes, LANES]   sums of value * chance over the leaves below
    of_z    float64 [n_nodes, LANES]
    """

    row: NDArray[np.uint8]
    others: NDArray[np.uint8]
    who: NDArray[np.uint8]
    place: NDArray[np.int64]
    of_x: NDArray[np.float64]
    of_z: NDArray[np.float64]


def contrast_for(trees: Trees, n_threads: int) -> Contrast:
    """Allocate what a team needs for the largest tree, each array with an axis of threads first."""
    shape = n_threads, int(np.diff(trees.offset).max(initial=1)), LANES
    row, others, who = (np.empty((*shape[:2], n), np.uint8) for n in (1, LANES, LANES))
    return Contrast(row, others, who, np.empty(shape, np.int64), np.empty(shape), np.empty(shape))


@kernel
def add_contrasts(team, values, background, trees, chances, slates, out):
    """Add to out[feature, output, row] the Shapley values against a background.

    values      float64 [n_rows, n_features]              read
    background  float64 [n_others, n_features]            read
    trees       Trees                                     read
    chances     Chances                                   read
    slates      Contrast                                  write   of contrast_for
    out         float64 [n_features, n_outputs, n_rows]   both    a thread owns a range of rows

    Rows of the background are added in their order. Cost: n_rows * n_others * n_nodes.
    """
    begin, end = share(team, values.shape[0])
    paths, ways, me = trees.paths, trees.ways, team.thread
    slate = Contrast(
        slates.row[me],
        slates.others[me],
        slates.who[me],
        slates.place[me],
        slates.of_x[me],
        slates.of_z[me],
    )
    for tree in range(trees.output.shape[0]):
        root, last = trees.offset[tree], trees.offset[tree + 1]
        for first in range(0, background.shape[0], LANES):
            if cancelled(team):
                return
            others = background[first : first + LANES]
            mark(others, paths, ways, root, last, slate.others)
            for row in range(begin, end):
                mark(values[row : row + 1], paths, ways, root, last, slate.row)
                _descend(ways, root, last, others.shape[0], chances.stride, slate)
                sums = out[:, trees.output[tree], row]
                _ascend(trees, root, last, others.shape[0], chances, slate, sums)


@part
def _descend(ways, root, end, n_others, stride, slate):
    """Set who takes the steps to each node, and its place: a * stride + b so far."""
    nowhere = stride * stride
    for lane in range(n_others):
        slate.who[0, lane], slate.place[0, lane] = _BOTH, 0
    for node in range(root + 1, end):
        here, parent, above = node - root, ways.parent[node] - root, ways.above[node] - root
        by_x = _X if slate.row[here, 0] == STAYS else _NOBODY
        for lane in range(n_others):
            who = by_x + (_Z if slate.others[here, lane] == STAYS else _NOBODY)
            was, place = slate.who[above, lane], slate.place[parent, lane]
            more = stride if who == _X else 1 if who == _Z else 0
            less = stride if was == _X else 1 if was == _Z else 0
            counts = who != _NOBODY and place < nowhere
            slate.who[here, lane] = who
            slate.place[here, lane] = place + more - less if counts else nowhere


@part
def _ascend(trees, root, end, n_others, chances, slate, sums):
    """Add each step's part of its feature's value: what it changes of the step above."""
    paths, ways = trees.paths, trees.ways
    for node in range(end - 1, root, -1):
        here, above, left = node - root, ways.above[node] - root, np.int64(paths.left[node])
        value, total = trees.value[node], 0.0
        for lane in range(n_others):
            if left < 0:
                place = slate.place[here, lane]
                of_x, of_z = value * chances.of_x[place], value * chances.of_z[place]
            else:
                right = np.int64(paths.right[node]) - root
                of_x = slate.of_x[left - root, lane] + slate.of_x[right, lane]
                of_z = slate.of_z[left - root, lane] + slate.of_z[right, lane]
            slate.of_x[here, lane], slate.of_z[here, lane] = of_x, of_z
            who, was = slate.who[here, lane], slate.who[above, lane]
            total += of_x if who == _X else -of_z if who == _Z else 0.0
            total -= of_x if was == _X else -of_z if was == _Z else 0.0
        sums[paths.feature[ways.parent[node]]] += total
