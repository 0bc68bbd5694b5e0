"""A bench: where the trees of a team are finished, one after another in the same buffers."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.cells import Peaks
from hedgerow.ensembles.sampling import Drawn
from hedgerow.kernels.errands import Errand, Noted
from hedgerow.kernels.routes import Router
from hedgerow.kernels.steps import CHUNK, TURNS, set_columns, sum_leaves
from hedgerow.kernels.team import Team
from hedgerow.kernels.units import fine_scale
from hedgerow.kernels.workspace import N_NODES, Nodes

_FINE_BITS = 61


class Bench:
    """Values of a new tree's nodes, and what they add to raw scores."""

    def __init__(self, team: Team, penalties: tuple[float, float]) -> None:
        self.team, self.router, self._penalties = team, Router(team), penalties
        self.fine, self._steps = np.empty(2), np.empty((team.n_threads, 2, CHUNK), np.int64)
        self._sum, self._set = Errand(sum_leaves), Errand(set_columns)
        self._make_room(0)

    def _make_room(self, n_nodes: int) -> None:
        self._sums = np.zeros((TURNS * self.team.n_threads, 2 * (n_nodes + 1)), np.int64)
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
        fine = fine_steps(drawn.total_weight)
        self.fine[:] = [fine_scale(fine, most) for most in peak]
        self.team.put_off(*self._summing(self._sum, nodes, pairs, drawn))
        self.team.repeat(*self._setting(self._set, nodes))
        return self.columns[:, : int(nodes.counters[N_NODES])]

    def notes(self, nodes: Nodes, pairs: NDArray[np.float32], drawn: Drawn) -> list[Noted]:
        """Write down both steps of that, once they have been taken."""
        summing = self._summing(Errand(sum_leaves), nodes, pairs, drawn)
        return [self.team.noted(*summing), self.team.noted(*self._setting(self._set, nodes))]

    def _summing(
        self, errand: Errand, nodes: Nodes, pairs: NDArray[np.float32], drawn: Drawn
    ) -> tuple[Any, ...]:
        rows, weights = (nodes.leaf_of_row, drawn.rows), (drawn.weights, drawn.mask)
        buffers = self.fine, self._steps, self._sums
        return len(nodes.leaf_of_row), errand, *rows, pairs, *weights, *buffers

    def _setting(self, errand: Errand, nodes: Nodes) -> tuple[Any, ...]:
        return 0, errand, nodes, self._sums, self.fine, *self._penalties, self.columns


def fine_steps(total_weight: int) -> float:
    """Return how many fine steps the largest derivative has, so that a sum is below 2^61."""
    return math.ldexp(1.0, min(_FINE_BITS - math.frexp(total_weight)[1], 40))
