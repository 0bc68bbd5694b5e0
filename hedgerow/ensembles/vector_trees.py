"""One tree for all outputs of a round: its leaves are vectors.

    gain of a split = 1/2 sum_k [G_Lk^2 / (H_Lk + l2) + G_Rk^2 / (H_Rk + l2) - G_k^2 / (H_k + l2)]

The model keeps it as one tree for each output, all of the same splits: everything that reads
a model reads this one too.
"""

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.bench import Bench
from hedgerow.ensembles.cells import Cells, Peaks, Penalties
from hedgerow.ensembles.sampling import Drawn
from hedgerow.ensembles.scalar_trees import Finish
from hedgerow.kernels.gradient_vectors import GradientVectors, NewtonVectors, write_vectors
from hedgerow.kernels.team import Team
from hedgerow.kernels.units import rare_steps
from hedgerow.kernels.workspace import N_NODES, Nodes
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.rules import GrowthRules

_PACKED = Cells(0)


class VectorTrees:
    """Grows one tree after another from the derivatives of several outputs."""

    _grower: Grower | None = None

    def __init__(
        self, table: BinnedTable, growth: GrowthRules, penalties: Penalties, team: Team
    ) -> None:
        self._table, self._growth, self._penalties, self._team = table, growth, penalties, team
        self._pairs, self._bench = np.empty((0, 0), np.int64), Bench(team, penalties[:2])

    def grow(
        self,
        derivatives: NDArray[np.float32],
        peaks: list[Peaks],
        drawn: Drawn,
        seeds: list[int],
        finish: Finish,
    ) -> None:
        """Grow the same tree for each output; arguments are those of ScalarTrees.

        Each has its share of the tree's gain, so that gains add up to it.
        """
        nodes = self._tree(derivatives, peaks, drawn, seeds[0])
        nodes.table.gain[: int(nodes.counters[N_NODES])] /= len(derivatives)
        for output in range(len(derivatives)):
            finish(output, nodes, self._bench)

    def _tree(
        self, derivatives: NDArray[np.float32], peaks: list[Peaks], drawn: Drawn, seed: int
    ) -> Nodes:
        """Grow a tree.

        Hessians have the steps of the coarsest output, so that they can be added up. The
        least leaf is a mean of the outputs' sums of Hessians.
        """
        n_outputs, _, n_rows = derivatives.shape
        scales = np.stack(
            [
                _PACKED.scales(drawn, g, h, peak, self._team)
                for (g, h), peak in zip(derivatives, peaks, strict=True)
            ]
        )
        scales[:, 1] = scales[:, 1].min()
        units = 1.0 / scales.astype(np.float64)
        h_unit, g_units = float(units[0, 1]), np.ascontiguousarray(units[:, 0])
        if self._grower is None:
            self._pairs = np.empty((n_rows, n_outputs), np.int64)
        l1, l2, smooth, rare = self._penalties
        least = rare_steps(n_outputs * rare, h_unit)
        moments = GradientVectors(n_outputs, self._pairs, smooth / h_unit, least)
        criterion = NewtonVectors(n_outputs, g_units, h_unit, l1, l2)
        records = np.empty(drawn.n_most if self._grower is None else 0, np.int64)
        judge = Judge(moments, criterion, records, h_unit / n_outputs, 1.0)
        if self._grower is None:
            self._grower = Grower(self._table, judge, self._growth, self._team)

        def fill(target: NDArray[np.int64]) -> None:
            given = derivatives, scales, drawn.weights, drawn.mask, drawn.rows
            self._team.sweep(len(target), write_vectors, *given, target, self._pairs)

        return self._grower.grow(judge, fill, seed, drawn.n_records)
