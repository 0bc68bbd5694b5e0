"""Leaves that a loss sets itself: what minimises it for the rows in each."""

from typing import Any

import numpy as np

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.sampling import Drawn
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.selection import count_leaves, group_rows
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import N_NODES, Nodes


def exact_leaves(stage: Stage, output: int, drawn: Drawn, nodes: Nodes, team: Team) -> Floats:
    """Return `loss.leaf` of the residuals and weights of each leaf's rows, 0 in other nodes.

    Rows are brought together by leaf; threads then share the leaves.
    """
    leaf_of_row, n_nodes = nodes.leaf_of_row, int(nodes.counters[N_NODES])
    counts = np.zeros((team.n_threads, n_nodes), np.int64)
    team.sweep(len(stage.y), count_leaves, leaf_of_row, counts)
    sizes = counts.sum(axis=0)
    ends = np.cumsum(sizes)
    places = (ends - sizes) + np.cumsum(counts, axis=0) - counts
    residual, weights = np.empty((2, int(ends[-1])))
    given = stage.target_of(output), stage.raw[output], drawn.weights * drawn.factors
    team.sweep(len(stage.y), group_rows, leaf_of_row, *given, places, residual, weights)
    value, loss = np.zeros(n_nodes), stage.loss_of(output)

    def set_leaf(_: Any, leaf: int) -> None:
        rows = slice(ends[leaf] - sizes[leaf], ends[leaf])
        value[leaf] = loss.leaf(residual[rows], weights[rows])

    leaves = np.flatnonzero(sizes)
    team.run_each(set_leaf, leaves[np.argsort(-sizes[leaves], kind="stable")].tolist())
    return value
