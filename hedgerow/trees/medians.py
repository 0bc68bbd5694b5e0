"""Regression trees by absolute error: medians in the leaves."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.kernels.absolute import AbsoluteError
from hedgerow.kernels.finished import N_LIMBS, leaf_moments, step_of, summed_limbs
from hedgerow.kernels.targets import Targets
from hedgerow.kernels.team import Team
from hedgerow.trees.classification import finished_tree
from hedgerow.trees.grower import Judge, grow
from hedgerow.trees.grown import Grown
from hedgerow.trees.quantise import Steps, row_records, target_bits
from hedgerow.trees.rules import GrowthRules
from hedgerow.trees.tree import Tree


def median_judge(y: NDArray[np.float64], weights: Steps) -> Judge:
    """Judge leaves by absolute error. y is float64 [n_rows, 1]."""
    values, ranks = np.unique(y[:, 0], return_inverse=True)
    centre = 0.5 * values[0] + 0.5 * values[-1]
    peak = max(values[-1] - centre, centre - values[0])
    shift = target_bits(weights) - int(np.frexp(peak if peak > 0 else 1.0)[1])
    steps = np.rint(np.ldexp(values - centre, shift)).astype(np.int64)
    ranks = ranks.astype(np.int64)
    moments = Targets(weights.counts * steps[ranks], weights.counts, -1, ranks)
    criterion = AbsoluteError(ranks, steps, weights.counts)
    score_unit = float(np.ldexp(weights.unit, -shift))
    records = row_records(np.ones(len(y), np.int64))
    return Judge(moments, criterion, records, weights.unit, score_unit, uses_rows=True)


def median_tree(
    table: BinnedTable,
    judge: Judge,
    y: NDArray[np.float64],
    rules: GrowthRules,
    team: Team,
) -> tuple[Tree, Grown]:
    """Grow a regression tree by absolute error; also return how it was grown."""
    grown = grow(table, judge, rules, team)
    n_nodes, counts = len(grown.left), judge.moments.weights
    target = np.ascontiguousarray(y[:, 0])
    value, errors = np.zeros(n_nodes), np.zeros(n_nodes)
    parent, depth = _parents(grown)
    node_of_row = grown.leaf_of_row.copy()
    for level in range(int(depth.max()), -1, -1):
        rows = np.flatnonzero((node_of_row >= 0) & (depth[node_of_row] == level))
        nodes = node_of_row[rows]
        _set_medians(nodes, target[rows], counts[rows], value)
        _set_errors(nodes, target[rows], counts[rows], value, errors)
        node_of_row[rows] = parent[nodes]
    mass = grown.sums[:, 1]
    weight = np.asarray(mass * judge.weight_unit, np.float64)
    return finished_tree(table, grown, value[:, None], errors / mass, weight), grown


def _parents(grown: Grown) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the parent of each node, -1 of the root, and its depth."""
    splits = np.flatnonzero(grown.left >= 0)
    parent = np.full(len(grown.left), -1, np.int32)
    parent[grown.left[splits]] = parent[grown.right[splits]] = splits
    depth = np.zeros(len(grown.left), np.int64)
    for node in range(1, len(depth)):
        depth[node] = depth[parent[node]] + 1
    return parent, depth


def _set_medians(
    nodes: NDArray[np.int32],
    y: NDArray[np.float64],
    counts: NDArray[np.int64],
    value: NDArray[np.float64],
) -> None:
    """Set value[node] to the weighted median of its rows, half-way if two values share it."""
    order = np.lexsort((y, nodes))
    nodes, y, running = nodes[order], y[order], np.cumsum(counts[order])
    first = np.flatnonzero(np.concatenate([[True], nodes[1:] != nodes[:-1]]))
    last = np.append(first[1:], len(nodes)) - 1
    before = np.concatenate([[0], running])[first]
    total = running[last] - before
    low = np.searchsorted(running, before + (total + 1) // 2)
    high = np.searchsorted(running, before + total // 2 + 1)
    value[nodes[first]] = 0.5 * y[low] + 0.5 * y[np.minimum(high, last)]


def _set_errors(
    nodes: NDArray[np.int32],
    y: NDArray[np.float64],
    counts: NDArray[np.int64],
    value: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> None:
    """Set errors[node] to the sum of w |y - value| of its rows, the same in any order of them."""
    peak, limbs = np.zeros(len(value)), np.zeros((len(value), N_LIMBS), np.int64)
    np.maximum.at(peak, nodes, np.abs(y - value[nodes]))
    unit = step_of(peak)
    leaf_moments(nodes, y, counts, value, unit, 0, limbs)
    reached = np.unique(nodes)
    errors[reached] = (summed_limbs(limbs) * unit)[reached]
