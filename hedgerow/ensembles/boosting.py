"""Tree boosting, by gradients or by Newton steps: the loop of the notes.

    f_0 = argmin_c sum w l(y, c)
    f_m = f_(m-1) + rate * tree fitted to the derivatives (g, h) of the loss at f_(m-1)

Notes 0, part III; notes 3, XGBoost; notes 4. Friedman (2001); Chen and Guestrin (2016).

Splits are chosen from derivatives rounded to 16 bits. What a leaf adds is summed once more
from the derivatives as they are, in whole steps so fine that nothing visible is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.additive import AdditiveModel, Floats, Harvest
from hedgerow.ensembles.cells import Cells, Penalties
from hedgerow.ensembles.leaves import exact_leaves
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.bounds import fill_splits, hold_values
from hedgerow.kernels.derivatives import total_steps, write_records
from hedgerow.kernels.random import mixed_bits
from hedgerow.kernels.steps import add_values, join_sums, sum_leaves
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import N_NODES, Nodes
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.rules import GrowthRules

_G_STEPS, _H_STEPS = 2**15 - 1, 2**16 - 1
_COARSE = 2.0**20
_FINE_BITS = 61


@dataclass(frozen=True)
class BoostingRules:
    """How a model is boosted.

    Attributes
    ----------
    n_rounds : int
    rate : float
        What the values of a tree are multiplied by.
    growth : GrowthRules
        Of each tree. min_leaf_weight is a sum of Hessians, min_gain is in units of the loss.
    newton : bool
        Fit trees by second order, score G^2 / (2 (H + l2)), or by least squares to g.
    l1, l2 : float
    smooth : float
        Draws the means of rare categories to 0 when categories are ordered.
    signs : int64 [n_features] or None
        1 or -1: the model must not fall or rise in this feature; 0: it may.
    """

    n_rounds: int
    rate: float
    growth: GrowthRules
    newton: bool = True
    l1: float = 0.0
    l2: float = 1.0
    smooth: float = 10.0
    signs: NDArray[np.int64] | None = None


class Boosting:
    """One fit: grows a round of trees after another."""

    def __init__(self, table: BinnedTable, stage: Stage, rules: BoostingRules, team: Team) -> None:
        self._table, self.stage, self._rules, self._team = table, stage, rules, team
        self._cells = Cells.of(len(stage.y), stage.total_weight, rules.growth)
        self._grower: Grower | None = None
        self._harvest = Harvest()
        self._before: AdditiveModel | None = None
        self.n_rounds = 0

    def resume(
        self, before: AdditiveModel, values: Floats, out: Floats, seen: Callable[["Boosting"], Any]
    ) -> None:
        """Go on from a model: add its rounds to the scores, and let `seen` look at each.

        values, float64 [n_rows, n_features], are those of the table; out, float64 [n_rows,
        n_outputs], are the rows' scores before the first round. Trees are added in the order
        of training, so that scores have the bits that they had then.
        """
        self._before, self.stage.start = before, before.start
        for number in range(before.n_rounds):
            before.add(values, self._team, number, number + 1, out)
            self.stage.raw, self.n_rounds = np.ascontiguousarray(out.T), number + 1
            seen(self)

    def add_round(self, number: int, values: Floats, out: Floats) -> None:
        """Add what a round adds to the scores of any rows, float64 [n_rows, n_outputs]."""
        if self._before is not None and number < self._n_before:
            self._before.add(values, self._team, number, number + 1, out)
        else:
            self._rounds(number, number + 1).add(values, self._team, 0, 1, out)

    def run(self, go_on: Callable[["Boosting"], bool]) -> AdditiveModel:
        """Boost until all rounds are done, there is nothing to learn, or `go_on` says no.

        An interrupt ends the fit with the rounds that are done, if there are any.
        """
        try:
            while self.n_rounds < self._rules.n_rounds and self.next_round():
                if not go_on(self):
                    break
        except KeyboardInterrupt:
            if not self.n_rounds:
                raise
        return self.model(self.n_rounds)

    def model(self, n_rounds: int) -> AdditiveModel:
        """Return the model of the first rounds."""
        if self._before is None:
            return self._rounds(0, n_rounds)
        before = self._before.first(min(self._n_before, n_rounds))
        return before.then(self._rounds(self._n_before, n_rounds))

    @property
    def _n_before(self) -> int:
        return 0 if self._before is None else self._before.n_rounds

    def _rounds(self, first: int, end: int) -> AdditiveModel:
        """Return the rounds first .. end, none of them from before, as a model."""
        start = self.stage.start
        trees = [max(number - self._n_before, 0) * len(start) for number in (end, first)]
        return self._harvest.model(self._table, start, *trees)

    def next_round(self) -> bool:
        """Grow a tree for each output. Returns False if all gradients are zero."""
        stage, team = self.stage, self._team
        stage.derive(team)
        number = self.n_rounds + 1
        peaks = [stage.peaks(output, team, number) for output in range(len(stage.pairs))]
        if not any(peak[0] > 0 for peak in peaks):
            return False
        for output, peak in enumerate(peaks):
            nodes = self._grown(output, peak)
            columns = self._node_columns(nodes, output, peak)
            self._harvest.take(nodes, columns)
            values = np.ascontiguousarray(columns[:, 0])
            team.run(add_values, self._table.codes, nodes, values, stage.raw[output])
        self.n_rounds += 1
        return True

    def _grown(self, output: int, peak: Floats) -> Nodes:
        """Grow a tree from the derivatives of an output."""
        stage, rules, team = self.stage, self._rules, self._team
        g, h = stage.pairs[output]
        if not rules.newton:
            h = self._unit_hessians()
            peak = np.array([peak[0], float(h.max())])
        scales = _scales(stage, g, h, peak, self._cells, team)
        units = 1.0 / scales.astype(np.float64)
        l1, l2 = (rules.l1, rules.l2) if rules.newton else (0.0, 0.0)
        penalties = Penalties(float(l1), float(l2), rules.smooth)
        weights = stage.whole, stage.mask
        moments, criterion = self._cells.judged(weights, units, penalties, rules.signs)
        rows = stage.rows
        records = np.empty(len(rows) or len(g), np.int64) if self._grower is None else rows
        judge = Judge(moments, criterion, records, float(units[1]), 1.0)
        if self._grower is None:
            self._grower = Grower(self._table, judge, rules.growth, team)

        def fill(target: NDArray[np.int64]) -> None:
            team.run(write_records, g, h, scales, rows, target)

        number = self.n_rounds * len(stage.pairs) + output
        return self._grower.grow(judge, fill, mixed_bits(rules.growth.seed, number))

    def _unit_hessians(self) -> NDArray[np.float32]:
        ones = self.stage.ones
        return self.stage.real.astype(np.float32) if ones is None else ones

    def _node_columns(self, nodes: Nodes, output: int, peak: Floats) -> Floats:
        """Return value, G and H of each node; values are those of leaves."""
        stage, rules, team = self.stage, self._rules, self._team
        n_nodes = int(nodes.counters[N_NODES])
        bits = min(_FINE_BITS - int(np.frexp(float(stage.total_weight))[1]), 40)
        fine = np.ldexp(1.0, bits) / np.where(peak > 0, peak, 1.0)
        sums = np.zeros((team.n_threads, n_nodes, 2), np.int64)
        pairs = stage.pairs[output]
        team.run(sum_leaves, nodes.leaf_of_row, pairs, stage.whole, stage.mask, fine, sums)
        join_sums(nodes.table, sums)
        G, H = (sums[0] / fine).T
        if hasattr(stage.loss_of(output), "leaf"):
            value = exact_leaves(stage, output, nodes.leaf_of_row, n_nodes, team)
        elif rules.newton:
            value = -np.sign(G) * np.maximum(np.abs(G) - rules.l1, 0.0) / (H + rules.l2)
        else:
            value = -G / np.maximum(H, np.finfo(float).tiny)
        value = np.where(H > 0, value, 0.0)
        if rules.signs is not None:
            if hasattr(stage.loss, "leaf"):
                fill_splits(nodes.table, H, value)
            hold_values(nodes.table, rules.signs, value, np.empty((n_nodes, 2)))
        return np.column_stack([rules.rate * value, G, H])


def _scales(
    stage: Stage,
    g: NDArray[np.float32],
    h: NDArray[np.float32],
    peak: Floats,
    cells: Cells,
    team: Team,
) -> NDArray[np.float32]:
    """Return steps per 1.0 of g and h: as many as 16 bits a row, and the cells, allow.

    The largest magnitude is a whole number of steps, so that equal numbers stay exact.
    """
    peak = np.where(peak > 0, peak, 1.0)
    coarse = (_COARSE / peak).astype(np.float32)
    totals = np.zeros((team.n_threads, 2), np.int64)
    team.run(total_steps, g, h, stage.whole, stage.mask, coarse, totals)
    total = totals.sum(axis=0) / coarse.astype(np.float64)
    room = cells.largest - 1.5 * stage.total_weight  # rounding and the least Hessian add to a sum
    steps = np.minimum([_G_STEPS, _H_STEPS], np.floor(room * peak / total))
    return np.asarray(np.maximum(steps, 1.0) / peak, np.float32)
