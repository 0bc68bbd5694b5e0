"""Regression trees: targets in, means out.

Splits are chosen from integer sums. The leaves' means and squared errors are then summed
once more from the rows, leaf by leaf, in steps so small that nothing visible is lost.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.kernels.criteria import SquaredError, SquaredErrors
from hedgerow.kernels.finished import (
    N_LIMBS,
    join_means,
    leaf_moments,
    leaf_ranges,
    step_of,
    summed_limbs,
)
from hedgerow.kernels.targets import Targets, TargetVectors
from hedgerow.kernels.team import Team
from hedgerow.trees.classification import finished_tree
from hedgerow.trees.grower import Judge, grow
from hedgerow.trees.grown import Grown
from hedgerow.trees.quantise import (
    Steps,
    fits_record,
    looked_up,
    quantised_targets,
    repeated,
    row_records,
)
from hedgerow.trees.rules import GrowthRules
from hedgerow.trees.tree import Tree

Floats: TypeAlias = NDArray[np.float64]
_TINY = 1e-300  # squares of smaller steps are 0, and gains are divided by them


def target_judge(y: Floats, weights: Steps, repeats: NDArray[np.int64] | None = None) -> Judge:
    """Judge leaves by squared error.

    Parameters
    ----------
    y : float64 [n_rows, n_outputs]
    weights : Steps
        Of each row, above zero.
    repeats : int64 [n_rows], optional
        How often each row counts, as in a bootstrap sample; rows of 0 are left out.
    """
    n_rows, n_outputs = y.shape
    times = np.ones(n_rows, np.int64) if repeats is None else repeats.astype(np.int64)
    if not fits_record(times):
        weights, times = repeated(weights, times), (times > 0).astype(np.int64)
    steps = quantised_targets(y, weights, times)
    labels, records = _labels(y), row_records(times)
    counts, mask = looked_up(weights.counts)
    if n_outputs == 1:
        products = np.ascontiguousarray(steps.products[:, 0])
        score_unit = max(float(steps.unit[0] ** 2 / weights.unit), _TINY)
        moments = Targets(products, counts, mask, labels)
        return Judge(moments, SquaredError(0), records, weights.unit, score_unit)
    # All outputs in the same step, so that their squares add up.
    unit = steps.unit.max()
    products = np.rint(steps.products * (steps.unit / unit)).astype(np.int64)
    vectors = TargetVectors(n_outputs, products, counts, mask, labels)
    score_unit = max(
        float(unit**2 / weights.unit / n_outputs), _TINY
    )  # impurity is a mean over outputs
    return Judge(vectors, SquaredErrors(n_outputs), records, weights.unit, score_unit)


def _labels(y: Floats) -> NDArray[np.int64]:
    """Number the rows so that two rows have the same number if all their targets are equal."""
    if y.shape[1] == 1:
        return np.ascontiguousarray(y[:, 0]).view(np.int64)  # there is no -0.0
    labels = np.zeros(len(y), np.int64)
    for column in y.T:
        values, places = np.unique(column, return_inverse=True)
        labels = np.unique(labels * len(values) + places, return_inverse=True)[1]
    return labels


def regression_tree(
    table: BinnedTable,
    judge: Judge,
    y: Floats,
    rules: GrowthRules,
    team: Team,
) -> tuple[Tree, Grown]:
    """Grow a regression tree; also return how it was grown."""
    grown = grow(table, judge, rules, team)
    return tree_of_means(table, grown, mean_columns(grown, judge, y)), grown


def mean_columns(grown: Grown, judge: Judge, y: Floats) -> Floats:
    """Return weight, means and sums of squared errors, float64 [n_nodes, 1 + 2 n_outputs]."""
    n_outputs, counts = y.shape[1], judge.row_weights(len(y))
    weight = np.asarray(grown.sums[:, -2] * judge.weight_unit, np.float64)
    columns = np.empty((len(weight), 1 + 2 * n_outputs))
    columns[:, 0] = weight
    for output in range(n_outputs):
        target = np.ascontiguousarray(y[:, output])
        means, errors = _means(grown, target, counts, weight, judge.weight_unit)
        columns[:, 1 + output], columns[:, 1 + n_outputs + output] = means, errors
    return columns


def tree_of_means(table: BinnedTable, grown: Grown, columns: Floats) -> Tree:
    """Put together what was grown and what `mean_columns` says of its nodes."""
    weight, n_outputs = np.ascontiguousarray(columns[:, 0]), columns.shape[1] // 2
    value = np.ascontiguousarray(columns[:, 1 : 1 + n_outputs])
    impurity = total_squares(columns) / (weight * n_outputs)
    return finished_tree(table, grown, value, impurity, weight)


def total_squares(columns: Floats) -> Floats:
    """Return each node's squared error, summed over outputs one after another."""
    n_outputs, squares = columns.shape[1] // 2, np.zeros(len(columns))
    for output in range(n_outputs):
        squares += columns[:, 1 + n_outputs + output]
    return squares


def _means(
    grown: Grown,
    y: Floats,
    counts: NDArray[np.int64],
    weight: Floats,
    weight_unit: float,
) -> tuple[Floats, Floats]:
    """Return each node's mean of one output and its sum of squared errors."""
    n_nodes = len(grown.left)
    low, high = np.full(n_nodes, np.inf), np.full(n_nodes, -np.inf)
    leaf_ranges(grown.leaf_of_row, y, low, high)
    is_leaf = grown.left < 0
    low[~is_leaf] = high[~is_leaf] = 0.0
    middle = 0.5 * low + 0.5 * high
    mass = grown.sums[:, -2].astype(np.float64)

    def summed(centre: Floats, peak: Floats, power: int) -> Floats:
        unit, limbs = step_of(peak), np.zeros((n_nodes, N_LIMBS), np.int64)
        leaf_moments(grown.leaf_of_row, y, counts, centre, unit, power, limbs)
        return summed_limbs(limbs) * unit

    peak = np.maximum(high - middle, middle - low)
    mean = np.clip(middle + summed(middle, peak, 1) / mass, low, high)
    peak = np.maximum(high - mean, mean - low)
    squares = summed(mean, peak * peak, 2) * weight_unit
    join_means(grown.left, grown.right, weight, mean, squares)
    return mean, squares
