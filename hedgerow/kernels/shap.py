"""Shapley values of trees: what each feature adds to a row's score, and each pair of features.

If only the features of a set S are known, a row goes both ways at splits on the others, by
the shares of the training weight (Lundberg et al., 2020, "path-dependent"):

    v(S) = sum over leaves of  value * product over the leaf's features j of  o_j if j in S else r_j
    o_j  = 1 if the row takes all steps on j to the leaf, else 0
    r_j  = product of the shares of these steps

A Shapley value is the mean of v(S + i) - v(S) over all orders in which features enter S. By
Owen (1972) they may enter at random moments t instead, those before i with probability t:

    phi_i  = integral over t of  sum over leaves of  value (o_i - r_i) product over j != i of p_j
    phi_ij = 1/2 integral of  sum of  value (o_i - r_i) (o_j - r_j) product over the others of p
    p_j    = t o_j + (1 - t) r_j

These are polynomials in t, so Gauss's rule is exact: n points are enough for 2 n features of a
leaf. At each point all leaves below a step share its part of the work:

    P      product of p_j of the steps to a node                           downwards
    flow   sum of weight * value * P over the leaves below a node          upwards
    slope  d log p_i / dt = (o_i - r_i) / p_i, less that at the step above on the same feature
    phi_i  = sum over points and steps on i of  flow * slope
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import part
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.predict import Paths
from hedgerow.kernels.ways import LANES, LEAVES, STAYS, Ways, mark


class Trees(NamedTuple):
    """Trees to be explained.

    paths   Paths                 children are counted over all trees
    ways    Ways
    value   float64 [n_nodes]     what a leaf adds
    offset  int64 [n_trees + 1]   first node of each tree
    output  int32 [n_trees]       the column that it adds to
    """

    paths: Paths
    ways: Ways
    value: NDArray[np.float64]
    offset: NDArray[np.int64]
    output: NDArray[np.int32]


class Slate(NamedTuple):
    """What a team writes on; garbage on entry. A thread owns its row.

    marks   uint8 [n_threads, n_nodes, LANES]               see ways.mark
    flow    float64 [n_threads, n_nodes, n_points, LANES]   P, then sums of weight value P
    slopes  float64 [n_threads, n_nodes, n_points, LANES]   s
    """

    marks: NDArray[np.uint8]
    flow: NDArray[np.float64]
    slopes: NDArray[np.float64]


def slate_for(trees: Trees, n_threads: int, n_points: int) -> Slate:
    """Allocate what a team needs for the largest tree."""
    n_nodes = int(np.diff(trees.offset).max(initial=1))
    shape = n_threads, n_nodes, n_points, LANES
    return Slate(np.empty((n_threads, n_nodes, LANES), np.uint8), np.empty(shape), np.empty(shape))


def gauss_points(trees: Trees) -> NDArray[np.float64]:
    """Return t and weights, float64 [2, n_points]: enough points for any leaf of the trees."""
    n_points = (int(trees.ways.n_features.max(initial=1)) + 1) // 2
    points, weights = np.polynomial.legendre.leggauss(max(n_points, 1))
    return np.stack([(points + 1.0) / 2.0, weights / 2.0])


@team_kernel
def add_shap(team, values, trees, gauss, slate, out):
    """Add to out[feature, output, row] the Shapley values of the trees.

    values  float64 [n_rows, n_features]              read    NaN is missing; categories are codes
    trees   Trees                                     read
    gauss   float64 [2, n_points]                     read    of gauss_points
    slate   Slate                                     write
    out     float64 [n_features, n_outputs, n_rows]   both    a thread owns a range of rows

    A row's numbers do not depend on the rows beside it. Cost: n_rows * n_nodes * n_points.
    """
    begin, end = share(team, values.shape[0])
    marks, flow, slopes = (
        slate.marks[team.thread],
        slate.flow[team.thread],
        slate.slopes[team.thread],
    )
    for first in range(begin, end, LANES):
        if cancelled(team):
            return
        block, sums = (
            values[first : min(first + LANES, end)],
            out[:, :, first : min(first + LANES, end)],
        )
        for tree in range(trees.output.shape[0]):
            root, last = trees.offset[tree], trees.offset[tree + 1]
            own = sums[:, trees.output[tree]]
            mark(block, trees.paths, trees.ways, root, last, marks)
            _descend(trees.ways, root, last, gauss[0], marks, flow, slopes)
            for node in range(last - 1, root, -1):
                _gather(trees, root, node, gauss[1], flow)
                feature = trees.paths.feature[trees.ways.parent[node]]
                _add(flow[node - root], slopes[node - root], own[feature])


@team_kernel
def add_interactions(team, values, trees, gauss, slate, out):
    """Add to out[feature, other, output, row] the Shapley interaction values of the trees.

    out  float64 [n_features, n_features, n_outputs, n_rows]   both   zero on entry

    The rest is as in add_shap. phi_ii is phi_i less all phi_ij. Cost: n_rows * n_nodes *
    n_points * depth, and n_features^2 a row.
    """
    begin, end = share(team, values.shape[0])
    marks, flow, slopes = (
        slate.marks[team.thread],
        slate.flow[team.thread],
        slate.slopes[team.thread],
    )
    for first in range(begin, end, LANES):
        if cancelled(team):
            return
        block = values[first : min(first + LANES, end)]
        sums = out[:, :, :, first : min(first + LANES, end)]
        for tree in range(trees.output.shape[0]):
            root, last = trees.offset[tree], trees.offset[tree + 1]
            own = sums[:, :, trees.output[tree]]
            mark(block, trees.paths, trees.ways, root, last, marks)
            _descend(trees.ways, root, last, gauss[0], marks, flow, slopes)
            for node in range(last - 1, root, -1):
                _gather(trees, root, node, gauss[1], flow)
                _add_pairs(trees, root, node, flow[node - root], slopes, own)
        _mirror(sums)


@part
def _descend(ways, root, end, points, marks, flow, slopes):
    """Set P and s of each node: see the formulas above.

    From p = t o + (1 - t) r above on the same feature to the p of this step, P is multiplied
    by their ratio, which is the share of this step for a row that has left above.
    """
    for point in range(points.shape[0]):
        for lane in range(marks.shape[1]):
            flow[0, point, lane] = 1.0
    for node in range(root + 1, end):
        here, parent = node - root, ways.parent[node] - root
        r, r_above = ways.share[node], ways.share[ways.above[node]]
        off = r / r_above if r_above > 0 else 0.0
        for point in range(points.shape[0]):
            t = points[point]
            p, p_above = t + (1.0 - t) * r, t + (1.0 - t) * r_above
            stays, leaves = p / p_above, (1.0 - t) * r / p_above
            slope_above = (1.0 - r_above) / p_above
            slope, slope_off = (1.0 - r) / p - slope_above, -1.0 / (1.0 - t) - slope_above
            for lane in range(marks.shape[1]):
                is_on, is_leaving = marks[here, lane] == STAYS, marks[here, lane] == LEAVES
                ratio = stays if is_on else leaves if is_leaving else off
                flow[here, point, lane] = flow[parent, point, lane] * ratio
                slopes[here, point, lane] = slope if is_on else slope_off if is_leaving else 0.0


@part
def _gather(trees, root, node, weights, flow):
    """Replace P of a node by the sum over the leaves below it of weight value P."""
    here, left = node - root, np.int64(trees.paths.left[node]) - root
    right = np.int64(trees.paths.right[node]) - root
    for point in range(flow.shape[1]):
        factor = weights[point] * trees.value[node]
        for lane in range(flow.shape[2]):
            if trees.paths.left[node] < 0:
                flow[here, point, lane] *= factor
            else:
                flow[here, point, lane] = flow[left, point, lane] + flow[right, point, lane]


@part
def _add(flow, slopes, sums):
    for point in range(flow.shape[0]):
        for lane in range(sums.shape[0]):
            sums[lane] += flow[point, lane] * slopes[point, lane]


@part
def _add_pairs(trees, root, node, flow, slopes, sums):
    """Add a step's phi_i to sums[i, i], and its half phi_ij with each step before to sums[i, j]."""
    parent, feature = trees.ways.parent, trees.paths.feature
    here, own = node - root, feature[parent[node]]
    _add(flow, slopes[here], sums[own, own])
    before = parent[node]
    while before != root:
        other = feature[parent[before]]
        if other != own:
            pair, there = sums[own, other], before - root
            for point in range(flow.shape[0]):
                for lane in range(pair.shape[0]):
                    both = slopes[here, point, lane] * slopes[there, point, lane]
                    pair[lane] += 0.5 * flow[point, lane] * both
        before = parent[before]


@part
def _mirror(sums):
    """Make a block's pairs symmetric, and take them off the diagonal."""
    for i in range(sums.shape[0]):
        for j in range(i):
            for output in range(sums.shape[2]):
                for lane in range(sums.shape[3]):
                    pair = sums[i, j, output, lane] + sums[j, i, output, lane]
                    sums[i, j, output, lane] = sums[j, i, output, lane] = pair
                    sums[i, i, output, lane] -= pair
                    sums[j, j, output, lane] -= pair
