"""One tree for all outputs of a round: its leaves are vectors.

    gain of a split = 1/2 sum_k [G_Lk^2 / (H_Lk + l2) + G_Rk^2 / (H_Rk + l2) - G_k^2 / (H_k + l2)]

The model keeps it as one tree for each output, all of the same splits: everything that reads
a model reads this one too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.sampling import Drawn
from hedgerow.kernels.gradient_vectors import GradientVectors, NewtonVectors, write_vectors
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import Nodes
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.rules import GrowthRules


class Penalties(NamedTuple):
    """What the gain is made with: see BoostingRules."""

    l1: float
    l2: float
    smooth: float


class VectorTrees:
    """Grows one tree after another from the derivatives of several outputs."""

    def __init__(self, table: BinnedTable, growth: GrowthRules, n_records: int, team: Team) -> None:
        self._table, self._growth, self._team = table, growth, team
        self._n_records, self._grower = n_records, None
        self._pairs = np.empty((0, 0), np.int64)

    _grower: Grower | None

    def grow(
        self,
        derivatives: NDArray[np.float32],
        scales: NDArray[np.float32],
        penalties: Penalties,
        drawn: Drawn,
    ) -> tuple[Nodes, Floats]:
        """Grow a tree; also return the worth of the steps of each output's g and h.

        derivatives  float32 [n_outputs, 2, n_rows]
        scales       float32 [n_outputs, 2]           steps per 1.0 that g and h may have

        Hessians have the steps of the coarsest output, so that they can be added up. The
        least leaf is a mean of the outputs' sums of Hessians.
        """
        n_outputs, _, n_rows = derivatives.shape
        scales = np.column_stack([scales[:, 0], np.full(n_outputs, scales[:, 1].min())])
        units = 1.0 / scales.astype(np.float64)
        h_unit = float(units[0, 1])
        if self._grower is None:
            self._pairs = np.empty((n_rows, n_outputs), np.int64)
        moments = GradientVectors(n_outputs, self._pairs, penalties.smooth / h_unit)
        g_units = np.ascontiguousarray(units[:, 0])
        criterion = NewtonVectors(n_outputs, g_units, h_unit, penalties.l1, penalties.l2)
        records = np.empty(self._n_records if self._grower is None else 0, np.int64)
        judge = Judge(moments, criterion, records, h_unit / n_outputs, 1.0)
        if self._grower is None:
            self._grower = Grower(self._table, judge, self._growth, self._team)

        def fill(target: NDArray[np.int64]) -> None:
            given = derivatives, scales, drawn.weights, drawn.mask, drawn.rows
            self._team.run(write_vectors, *given, target, self._pairs)

        return self._grower.grow(judge, fill, drawn.n_records), units
