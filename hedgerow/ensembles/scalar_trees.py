"""A tree for each output of a round: its leaves are numbers."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.cells import Cells, Penalties
from hedgerow.ensembles.sampling import Drawn
from hedgerow.kernels.derivatives import write_records
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import Nodes
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.rules import GrowthRules


class ScalarTrees:
    """Grows one tree after another, each from the derivatives of one output."""

    _grower: Grower | None = None

    def __init__(
        self,
        table: BinnedTable,
        growth: GrowthRules,
        cells: Cells,
        penalties: Penalties,
        signs: NDArray[np.int64] | None,
        team: Team,
    ) -> None:
        self._table, self._growth, self._team = table, growth, team
        self._cells, self._penalties, self._signs = cells, penalties, signs

    def grow(
        self, derivatives: NDArray[np.float32], peaks: list[Floats], drawn: Drawn, seeds: list[int]
    ) -> Iterator[Nodes]:
        """Yield the tree of each output; it is there until the next one is asked for.

        derivatives  float32 [n_outputs, 2, n_rows]
        peaks        the largest |g| and h of each output
        """
        for (g, h), peak, seed in zip(derivatives, peaks, seeds, strict=True):
            yield self._tree(g, h, peak, drawn, seed)

    def _tree(
        self,
        g: NDArray[np.float32],
        h: NDArray[np.float32],
        peak: Floats,
        drawn: Drawn,
        seed: int,
    ) -> Nodes:
        team = self._team
        scales = self._cells.scales(drawn, g, h, peak, team)
        units = 1.0 / scales.astype(np.float64)
        weights = drawn.weights, drawn.mask
        moments, criterion = self._cells.judged(weights, units, self._penalties, self._signs)
        records = np.empty(drawn.n_most if self._grower is None else 0, np.int64)
        judge = Judge(moments, criterion, records, float(units[1]), 1.0)
        if self._grower is None:
            self._grower = Grower(self._table, judge, self._growth, team)

        def fill(target: NDArray[np.int64]) -> None:
            team.sweep(len(target), write_records, g, h, scales, drawn.rows, target)

        return self._grower.grow(judge, fill, seed, drawn.n_records)
