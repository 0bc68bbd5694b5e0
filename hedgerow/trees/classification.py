"""Classification trees: class weights in, class proportions out."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.kernels.class_counts import ClassCounts
from hedgerow.kernels.class_weights import ClassWeights
from hedgerow.kernels.criteria import Cost, Entropy, Gini, Misclassification
from hedgerow.kernels.finished import class_values
from hedgerow.kernels.potential import Exponential
from hedgerow.kernels.team import Team
from hedgerow.trees.grower import Judge, grow
from hedgerow.trees.grown import Grown
from hedgerow.trees.quantise import Steps, fits_record, repeated, row_records
from hedgerow.trees.rules import GrowthRules
from hedgerow.trees.tree import Tree

CRITERIA = {
    "gini": Gini,
    "entropy": Entropy,
    "misclassification": Misclassification,
    "exponential": Exponential,
}
_MAX_CLASSES = 1 << 16


def class_judge(
    labels: NDArray[np.int64],
    n_classes: int,
    weights: Steps,
    criterion: str,
    cost: NDArray[np.float64] | None = None,
    repeats: NDArray[np.int64] | None = None,
) -> Judge:
    """Judge leaves by the impurity of their classes.

    Parameters
    ----------
    labels : int64 [n_rows]
        Class of each row, 0..n_classes - 1.
    weights : Steps
        Of each row, above zero.
    criterion : {"gini", "entropy", "misclassification", "exponential"}
    cost : float64 [n_classes, n_classes], optional
        With "misclassification": the cost of calling class k by the name j.
    repeats : int64 [n_rows], optional
        How often each row counts, as in a bootstrap sample; rows of 0 are left out. A row
        that counts three times weighs three times as much, and is one row.
    """
    keeps_all = int(cost is not None)  # a cost matrix has rows for all classes
    judge = CRITERIA[criterion](n_classes) if cost is None else Cost(n_classes, cost)
    place, total = np.arange(n_classes), repeated(weights, repeats)
    if _is_small(total) and n_classes <= _MAX_CLASSES and fits_record(total.counts):
        counts = ClassCounts(n_classes, keeps_all, place)
        records = row_records(total.counts, labels)
        return Judge(counts, judge, records, total.unit, total.unit)
    rows = np.flatnonzero(np.ones(len(labels)) if repeats is None else repeats)
    records = rows | (labels[rows].astype(np.int64) << 32)
    moments = ClassWeights(n_classes, keeps_all, place, total.counts)
    return Judge(moments, judge, records, total.unit, total.unit)


def _is_small(weights: Steps) -> bool:
    """Tell whether sums of the weights are exact and fit into half of an integer."""
    return weights.exact and int(weights.counts.sum()) < 1 << 31


def classification_tree(
    table: BinnedTable, judge: Judge, rules: GrowthRules, team: Team
) -> tuple[Tree, Grown]:
    """Grow a classification tree; also return how it was grown."""
    grown = grow(table, judge, rules, team)
    return finished_tree(table, grown, *class_columns(grown.sums, judge)), grown


def class_columns(
    sums: NDArray[np.int64], judge: Judge
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return proportions, float64 [n_nodes, n_classes], impurity and weight of nodes."""
    n_classes = judge.moments.n_classes
    value, impurity = np.empty((len(sums), n_classes)), np.empty(len(sums))
    class_values(judge.criterion, sums, value, impurity)
    return value, impurity, sums[:, :n_classes].sum(axis=1) * judge.weight_unit


def finished_tree(
    table: BinnedTable,
    grown: Grown,
    value: NDArray[np.float64],
    impurity: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> Tree:
    """Put together what was grown and what its leaves hold."""
    return Tree(
        left=grown.left,
        right=grown.right,
        feature=grown.feature,
        threshold=grown.threshold,
        missing_left=grown.missing_left,
        category_start=grown.category_start,
        category_words=grown.category_words,
        n_categories=table.codes.features.n_categories.astype(np.int32),
        value=value,
        impurity=impurity,
        n_rows=grown.n_rows,
        weight=weight,
    )
