"""A tree for each output of a round: its leaves are numbers."""

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.bench import Bench
from hedgerow.ensembles.cells import Cells, Peaks, Penalties
from hedgerow.ensembles.sampling import Drawn
from hedgerow.kernels.derivatives import write_records
from hedgerow.kernels.errands import Errand
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import Nodes
from hedgerow.trees.grower import Judge, grows_ahead
from hedgerow.trees.regrower import Regrower
from hedgerow.trees.rules import GrowthRules

Finish = Callable[[int, Nodes, Bench], None]


class Planter:
    """Grows one tree after another, each from the derivatives of one output."""

    _grower: Regrower | None = None
    _pair: NDArray[np.float32] | None = None

    def __init__(
        self,
        team: Team,
        table: BinnedTable,
        growth: GrowthRules,
        cells: Cells,
        penalties: Penalties,
        signs: NDArray[np.int64] | None,
    ) -> None:
        self._table, self._growth, self.team = table, growth, team
        self._cells, self._penalties, self._signs = cells, penalties, signs
        self.bench = Bench(team, penalties[:2])
        self._write, self._scales = Errand(write_records), np.empty(2, np.float32)

    def tree(self, pair: NDArray[np.float32], peak: Peaks, drawn: Drawn, seed: int) -> Nodes:
        """Return the tree of an output, which is there until the next one is asked for."""
        if pair is not self._pair:
            self._pair, (self._g, self._h) = pair, pair
        g, h, team = self._g, self._h, self.team
        self._scales[:] = self._cells.scales(drawn, g, h, peak, team)
        g_steps, h_steps = self._scales.tolist()
        units = 1.0 / g_steps, 1.0 / h_steps
        weights = drawn.weights, drawn.mask
        moments, criterion = self._cells.judged(weights, units, self._penalties, self._signs)
        records = np.empty(drawn.n_most if self._grower is None else 0, np.int64)
        judge = Judge(moments, criterion, records, units[1], 1.0)
        if self._grower is None:
            given = self._table, judge, self._growth, team
            self._grower = Regrower(*given, in_order=not len(drawn.rows))

        def fill(target: NDArray[np.int64]) -> None:
            team.put_off(len(target), self._write, g, h, self._scales, drawn.rows, target)

        return self._grower.grow(judge, fill, seed, drawn.n_records)


class ScalarTrees:
    """Grows the trees of a round, one for each output.

    Outputs that are as many as the threads are grown apart, a tree by each thread: they do not
    wait for each other inside a tree. What is left over is grown by all threads together, and
    so are small trees, and the first round, in which the caller compiles.
    """

    _is_first = True
    _derivatives: NDArray[np.float32] | None = None

    def __init__(self, team: Team, table: BinnedTable, growth: GrowthRules, *given: Any) -> None:
        """Take what a Planter does."""
        given = table, growth, *given
        self._is_small = grows_ahead(growth, table.n_rows)
        self._together = Planter(team, *given)
        self._apart: SimpleQueue[Planter] = SimpleQueue()
        for _ in range(team.n_threads):
            self._apart.put(Planter(Team(1), *given))

    def grow(
        self,
        derivatives: NDArray[np.float32],
        peaks: list[Peaks],
        drawn: Drawn,
        seeds: list[int],
        finish: Finish,
    ) -> None:
        """Grow the tree of each output, and call finish(output, tree, bench) while it is there.

        derivatives  float32 [n_outputs, 2, n_rows]
        peaks        the largest |g| and h of each output
        """
        if derivatives is not self._derivatives:
            self._derivatives, self._pairs = derivatives, list(derivatives)

        def plant(planter: Planter, output: int) -> None:
            nodes = planter.tree(self._pairs[output], peaks[output], drawn, seeds[output])
            finish(output, nodes, planter.bench)

        def plant_alone(_: Any, output: int) -> None:
            planter = self._apart.get()
            plant(planter, output)
            self._apart.put(planter)

        team = self._together.team
        n_apart = len(seeds) // team.n_threads * team.n_threads
        if self._is_first or self._is_small or team.n_threads == 1:
            n_apart = 0
        if n_apart > 0:
            team.run_each(plant_alone, range(n_apart))
        for output in range(n_apart, len(seeds)):
            plant(self._together, output)
        self._is_first = False
