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

A tree is gone through in preorder, and only the way to the present node is kept: a level of
numbers for each of its steps, which stay in a core's cache however large the tree is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.explained import Trees
from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.predict import next_node
from hedgerow.kernels.shap_sums import LANES

_OFF, _LEAVES, _STAYS = 0, 1, 2  # what a row does at a step: has left above, leaves here, stays
_T, _WEIGHT, _OF_LEAVING = 0, 1, 2  # rows of a rule: see gauss_rules
_STAY, _GO, _SLOPE, _SLOPE_GO = 0, 1, 2, 3  # rows of Slate.factors


class Slate(NamedTuple):
    """What a team writes on; garbage on entry. A thread owns its row. Levels are steps so far.

    block    float64 [n_threads, n_features, LANES]             values of the rows at hand
    marks    int64 [n_threads, n_levels, LANES]                 _OFF, _LEAVES or _STAYS
    sides    int64 [n_threads, n_levels, LANES]                 1 where the row goes left there
    busy     int64 [n_threads, n_levels]                        whether a row leaves or stays
    inverse  float64 [n_threads, n_levels, n_points]            1 / p of a row that stays
    factors  float64 [n_threads, 4, n_points]                   of a step: see _step
    reach    float64 [n_threads, n_levels, n_points, LANES]     P
    slopes   float64 [n_threads, n_levels, n_points, LANES]     slope
    flow     float64 [n_threads, n_levels, n_values, n_points, LANES]
    """

    block: NDArray[np.float64]
    marks: NDArray[np.int64]
    sides: NDArray[np.int64]
    busy: NDArray[np.int64]
    inverse: NDArray[np.float64]
    factors: NDArray[np.float64]
    reach: NDArray[np.float64]
    slopes: NDArray[np.float64]
    flow: NDArray[np.float64]


def slate_for(trees: Trees, n_threads: int, n_features: int) -> Slate:
    """Allocate what a team needs for the deepest tree."""
    n_levels = int(trees.ways.level.max(initial=0)) + 1
    n_points, n_values = int(trees.n_points.max(initial=1)), trees.value.shape[1]
    levels, lanes = (n_threads, n_levels), (n_points, LANES)
    return Slate(
        block=np.empty((n_threads, n_features, LANES)),
        marks=np.empty((*levels, LANES), np.int64),
        sides=np.empty((*levels, LANES), np.int64),
        busy=np.empty(levels, np.int64),
        inverse=np.empty((*levels, n_points)),
        factors=np.empty((n_threads, 4, n_points)),
        reach=np.empty((*levels, *lanes)),
        slopes=np.empty((*levels, *lanes)),
        flow=np.empty((*levels, n_values, *lanes)),
    )


def gauss_rules(trees: Trees) -> NDArray[np.float64]:
    """Return rules of 1, 2, ... points, float64 [n_rules, 3, n_points]: t, weight, -1 / (1 - t)."""
    most = int(trees.n_points.max(initial=1))
    rules = np.zeros((most + 1, 3, most))
    for n_points in range(1, most + 1):
        x, weight = np.polynomial.legendre.leggauss(n_points)
        t = (x + 1.0) / 2.0
        rules[n_points, :, :n_points] = t, weight / 2.0, -1.0 / (1.0 - t)
    return rules


@team_kernel
def add_shap(team, values, trees, rules, slate, ledger, out):
    """Add to out the Shapley values of the trees, of features or of pairs as the ledger has it.

    values  float64 [n_rows, n_features]               read    NaN is missing; categories are codes
    trees   Trees                                      read
    rules   float64 [n_rules, 3, n_points]             read    of gauss_rules
    slate   Slate                                      write
    ledger  Singles | Pairs                            both    zero on entry and after
    out     float64 [n_features, (n_features,) n_outputs, n_rows]   both   a thread owns rows

    A row's numbers do not depend on the rows beside it. Cost: n_rows * n_nodes * n_points, and,
    where a value below a node is not 0, once more for each output; of pairs times the depth.
    """
    begin, end = share(team, values.shape[0])
    for first in range(begin, end, LANES):
        if cancelled(team):
            return
        last = min(first + LANES, end)
        block = slate.block[team.thread]
        for feature in range(values.shape[1]):
            for lane in range(LANES):  # lanes beyond the last row repeat it
                block[feature, lane] = values[min(first + lane, last - 1), feature]
        for tree in range(trees.output.shape[0]):
            _explain(team.thread, trees, tree, rules, slate, ledger)
        ledger.settle(team.thread, out[..., first:last])


@inlined_part
def _explain(thread, trees, tree, rules, slate, ledger):
    """Go through a tree, down and up, and note what each step adds."""
    paths, ways, root = trees.paths, trees.ways, trees.offset[tree]
    rule = rules[trees.n_points[tree], :, : trees.n_points[tree]]
    _start(thread, rule.shape[1], slate)
    for node in range(root, trees.offset[tree + 1]):
        level = ways.level[node]
        if level > 0:
            _step(thread, trees, node, rule, slate)
        if paths.left[node] >= 0:
            _look(slate.block[thread, paths.feature[node]], paths, node, slate.sides[thread, level])
        _flow(trees, node, rule, slate.reach[thread, level], slate.flow[thread, level])
        done = np.int64(node) if paths.left[node] < 0 else root
        while done != root:
            for k in range(trees.value.shape[1]):
                if trees.is_heard[done, k]:
                    flow = slate.flow[thread, level, k, : rule.shape[1]]
                    column = trees.output[tree] + k
                    if slate.busy[thread, level]:
                        ledger.note(thread, level, column, flow, trees, done, slate)
                    _pass_on(flow, slate.flow[thread, level - 1, k])
            parent = ways.parent[done]
            done, level = (parent if paths.right[parent] == done else root), level - 1


@inlined_part
def _start(thread, n_points, slate):
    """Set the level of a root: every row stays, with p = 1."""
    slate.busy[thread, 0] = 0
    for lane in range(LANES):
        slate.marks[thread, 0, lane] = _STAYS
    for point in range(n_points):
        slate.inverse[thread, 0, point] = 1.0
        for lane in range(LANES):
            slate.reach[thread, 0, point, lane] = 1.0


@inlined_part
def _look(x, paths, node, sides):
    """Set which rows go to the left child of a split."""
    if paths.category_start[node] >= 0:
        for lane in range(LANES):
            sides[lane] = np.int64(next_node(paths, node, x[lane]) == paths.left[node])
        return
    threshold, missing_left = paths.threshold[node], np.int64(paths.missing_left[node])
    for lane in range(x.shape[0]):
        sides[lane] = np.int64(x[lane] <= threshold) | (np.int64(x[lane] != x[lane]) & missing_left)


@inlined_part
def _step(thread, trees, node, rule, slate):
    """Set marks, P and slope of the level of a node.

    From p = t o + (1 - t) r above on the same feature to the p of this step, P is multiplied
    by their ratio, which is the share of this step for a row that has left above.
    """
    ways = trees.ways
    level, above, parent = ways.level[node], ways.above[node], ways.parent[node]
    marks, factors = slate.marks[thread, level], slate.factors[thread]
    _mark(
        slate.marks[thread, ways.level[above]], slate.sides[thread, level - 1], node, parent, marks
    )
    busy = np.int64(0)
    for lane in range(marks.shape[0]):
        busy |= marks[lane]
    slate.busy[thread, level] = busy
    r, r_above = ways.share[node], ways.share[above]
    inverse, inverse_above = slate.inverse[thread, level], slate.inverse[thread, ways.level[above]]
    for point in range(rule.shape[1]):
        t, per_above = rule[_T, point], inverse_above[point]
        p = t + (1.0 - t) * r
        inverse[point] = 1.0 / p
        factors[_STAY, point], factors[_GO, point] = p * per_above, (1.0 - t) * r * per_above
        slope_above = (1.0 - r_above) * per_above
        factors[_SLOPE, point] = (1.0 - r) * inverse[point] - slope_above
        factors[_SLOPE_GO, point] = rule[_OF_LEAVING, point] - slope_above
    off = r / r_above if r_above > 0 else 0.0
    before, reach = slate.reach[thread, level - 1], slate.reach[thread, level]
    slopes = slate.slopes[thread, level]
    for point in range(rule.shape[1]):
        stay, go, slope, slope_go = factors[:, point]
        for lane in range(marks.shape[0]):
            is_on, is_leaving = marks[lane] == _STAYS, marks[lane] == _LEAVES
            ratio = stay if is_on else go if is_leaving else off
            reach[point, lane] = before[point, lane] * ratio
            slopes[point, lane] = slope if is_on else slope_go if is_leaving else 0.0


@inlined_part
def _mark(above, sides, node, parent, marks):
    """Set what rows do at the step to a node: in preorder a left child follows its parent."""
    is_right = np.int64(node != parent + 1)
    for lane in range(marks.shape[0]):
        takes = sides[lane] ^ is_right
        marks[lane] = _LEAVES + takes if above[lane] == _STAYS else _OFF


@inlined_part
def _flow(trees, node, rule, reach, flow):
    """Set the flow of a leaf, or 0 of a split, of the outputs that have a value below the node."""
    is_leaf = trees.paths.left[node] < 0
    for k in range(trees.value.shape[1]):
        if trees.is_heard[node, k]:
            for point in range(rule.shape[1]):
                factor = rule[_WEIGHT, point] * trees.value[node, k]
                for lane in range(reach.shape[1]):
                    flow[k, point, lane] = factor * reach[point, lane] if is_leaf else 0.0


@inlined_part
def _pass_on(flow, above):
    for point in range(flow.shape[0]):
        for lane in range(flow.shape[1]):
            above[point, lane] += flow[point, lane]
