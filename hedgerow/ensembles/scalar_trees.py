"""A tree for each output of a round: its leaves are numbers."""

import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.bench import Bench
from hedgerow.ensembles.cells import Cells, Peaks, Penalties
from hedgerow.ensembles.sampling import Drawn
from hedgerow.kernels.derivatives import total_steps, write_records
from hedgerow.kernels.errands import Errand, Noted
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import Nodes
from hedgerow.trees.grower import Judge, grows_ahead
from hedgerow.trees.regrower import Regrower
from hedgerow.trees.rules import GrowthRules

Finish = Callable[[int, Nodes, Bench], None]


class Planter:
    """Grows one tree after another, each from the derivatives of one output."""

    grower: Regrower | None = None
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
        self._table, self._growth, self.team, self.codes = table, growth, team, table.codes
        self.cells, self.penalties, self._signs = cells, penalties, signs
        self.bench = Bench(team, penalties[:2])
        self._write, self.scales = Errand(write_records), np.empty(2, np.float32)

    def tree(self, pair: NDArray[np.float32], peak: Peaks, drawn: Drawn, seed: int) -> Nodes:
        """Return the tree of an output, which is there until the next one is asked for."""
        if pair is not self._pair:
            self._pair, (self._g, self._h) = pair, pair
        g, h, team = self._g, self._h, self.team
        self.scales[:] = self.cells.scales(drawn, g, h, peak, team)
        g_steps, h_steps = self.scales.tolist()
        units = 1.0 / g_steps, 1.0 / h_steps
        weights = drawn.weights, drawn.mask
        moments, criterion = self.cells.judged(weights, units, self.penalties, self._signs)
        # A grower asks how many there are, and has its own.
        records = np.broadcast_to(np.int64(0), drawn.n_most if self.grower is None else 0)
        judge = Judge(moments, criterion, records, units[1], 1.0)
        if self.grower is None:
            given = self._table, judge, self._growth, team
            self.grower = Regrower(*given, in_order=not len(drawn.rows))

        def fill(target: NDArray[np.int64]) -> None:
            team.put_off(len(target), self._write, g, h, self.scales, drawn.rows, target)

        return self.grower.grow(judge, fill, seed, drawn.n_records)

    def notes(
        self,
        pair: NDArray[np.float32],
        drawn: Drawn,
        coarse: NDArray[np.float32],
        totals: NDArray[np.int64],
    ) -> list[Noted]:
        """Write down the steps of that, once they have been taken: total, write, grow.

        coarse, totals: as those of `total_steps`.
        """
        assert self.grower is not None
        (g, h), team, records = pair, self.team, self.grower.records
        summed = g, h, drawn.weights, drawn.mask, drawn.rows, coarse, totals
        return [
            team.noted(len(g), Errand(total_steps), *summed),
            team.noted(len(records), Errand(write_records), g, h, self.scales, drawn.rows, records),
            self.grower.note(),
        ]


class ScalarTrees:
    """Grows the trees of a round, one for each output.

    Outputs that are as many as the threads are grown apart, a tree by each thread: they do not
    wait for each other inside a tree. Those that took longest in the last round come first, so that
    threads are done at about the same time. What is left over is grown by all threads together,
    and so are small trees, and the first round, in which the caller compiles.
    """

    _is_first = True
    _derivatives: NDArray[np.float32] | None = None

    def __init__(self, team: Team, table: BinnedTable, growth: GrowthRules, *given: Any) -> None:
        """Take what a Planter does."""
        given = table, growth, *given
        self._is_small = grows_ahead(growth, table.n_rows)
        self.together = Planter(team, *given)
        self._took: dict[int, float] = {}  # seconds of the last tree of an output, grown apart
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
            planter, begun = self._apart.get(), time.perf_counter()
            plant(planter, output)
            self._took[output] = time.perf_counter() - begun
            self._apart.put(planter)

        n_apart, team = self._n_apart(len(seeds)), self.together.team
        order = sorted(range(len(seeds)), key=lambda output: -self._took.get(output, 0.0))
        if n_apart > 0:
            team.run_each(plant_alone, order[:n_apart], team.join)
        for output in order[n_apart:]:
            plant(self.together, output)
        self._is_first = False

    def _n_apart(self, n_outputs: int) -> int:
        """Return how many outputs are grown apart."""
        n_threads = self.together.team.n_threads
        if self._is_first or self._is_small or n_threads == 1:
            return 0
        return n_outputs // n_threads * n_threads

    def are_together(self, n_outputs: int) -> bool:
        """Tell whether all trees of the next round are grown by all threads, one after another."""
        return not self._is_first and self._n_apart(n_outputs) == 0
