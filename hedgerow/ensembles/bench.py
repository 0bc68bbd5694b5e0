"""A bench: where the trees of a team are finished, one after another in the same buffers."""

import math

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.cells import Peaks
from hedgerow.ensembles.sampling import Drawn
from hedgerow.kernels.errands import Errand
from hedgerow.kernels.routes import Router
from hedgerow.kernels.steps import CHUNK, set_columns, sum_leaves
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import N_NODES, Nodes

_FINE_BITS = 61


class Bench:
    """Values of a new tree's nodes, and what they add to raw scores."""

    def __init__(self, team: Team, penalties: tuple[float, float]) -> None:
        self.team, self.router, self._penalties = team, Router(team), penalties
        self._fine, self._steps = np.empty(2), np.empty((team.n_threads, 2, CHUNK), np.int64)
        self._sum, self._set = Errand(sum_leaves), Errand(set_columns)
        self._make_room(0)

    def _make_room(self, n_nodes: int) -> None:
        self._sums = np.zeros((2 * self.team.n_threads, 2 * (n_nodes + 1)), np.int64)
        self.columns = np.empty((3, n_nodes))
        self.values = self.columns[0]

    def set_columns(
        self, nodes: Nodes, pairs: NDArray[np.float32], drawn: Drawn, peak: Peaks
    ) -> Floats:
        """Set self.columns, and return those of the nodes: value, G and H, float64 [3, n_nodes].

        pairs, float32 [2, n_rows], are the derivatives of the rows; values are those of leaves.
        """
        if self.columns.shape[1] != len(nodes.table):
            self._make_room(len(nodes.table))
        bits = min(_FINE_BITS - math.frexp(drawn.total_weight)[1], 40)
        self._fine[:] = [math.ldexp(1.0, bits) / (most or 1.0) for most in peak]
        rows, weights = (nodes.leaf_of_row, drawn.rows), (drawn.weights, drawn.mask)
        buffers = self._fine, self._steps, self._sums
        self.team.put_off(len(nodes.leaf_of_row), self._sum, *rows, pairs, *weights, *buffers)
        reckoned = nodes, self._sums, self._fine, *self._penalties, self.columns
        self.team.repeat(0, self._set, *reckoned)
        return self.columns[:, : int(nodes.counters[N_NODES])]
