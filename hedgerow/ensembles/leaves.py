"""Leaves that a loss sets itself: what minimises it for the rows in each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.selection import count_leaves, group_rows
from hedgerow.kernels.team import Team


def exact_leaves(
    stage: Stage, output: int, leaf_of_row: NDArray[np.int32], n_nodes: int, team: Team
) -> Floats:
    """Return `loss.leaf` of the residuals and weights of each leaf's rows, 0 in other nodes.

    Rows are brought together by leaf; threads then share the leaves.
    """
    counts = np.zeros((team.n_threads, n_nodes), np.int64)
    team.run(count_leaves, leaf_of_row, counts)
    sizes = counts.sum(axis=0)
    ends = np.cumsum(sizes)
    places = (ends - sizes) + np.cumsum(counts, axis=0) - counts
    residual, weights = np.empty((2, int(ends[-1])))
    rows_of = leaf_of_row, stage.y, stage.raw[output], stage.weights
    team.run(group_rows, *rows_of, places, residual, weights)
    value, loss = np.zeros(n_nodes), stage.loss_of(output)

    def set_leaf(_: Any, leaf: int) -> None:
        rows = slice(ends[leaf] - sizes[leaf], ends[leaf])
        value[leaf] = loss.leaf(residual[rows], weights[rows])

    leaves = np.flatnonzero(sizes)
    team.run_each(set_leaf, leaves[np.argsort(-sizes[leaves], kind="stable")].tolist())
    return value
