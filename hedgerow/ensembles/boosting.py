"""Tree boosting, by gradients or by Newton steps: the loop of the notes.

    f_0 = argmin_c sum w l(y, c)
    f_m = f_(m-1) + rate * tree fitted to the derivatives (g, h) of the loss at f_(m-1)

Notes 0, part III; notes 3, XGBoost; notes 4. Friedman (2001); Chen and Guestrin (2016).

Splits are chosen from derivatives rounded to 16 bits. What a leaf adds is summed once more
from the derivatives as they are, in whole steps so fine that nothing visible is lost.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.additive import AdditiveModel, Floats, Harvest
from hedgerow.ensembles.dropout import NO_DROPOUT, Dropout, Dropped
from hedgerow.ensembles.line_search import line_search
from hedgerow.ensembles.out_of_bag import OutOfBag
from hedgerow.ensembles.sampling import EVERY_ROW, Drawn, Sampling
from hedgerow.ensembles.stage import Stage
from hedgerow.ensembles.vector_trees import Penalties, VectorTrees
from hedgerow.kernels.criteria import Newton
from hedgerow.kernels.derivatives import total_steps, write_records
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.routes import add_tree
from hedgerow.kernels.steps import join_sums, sum_leaves
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import N_NODES, Nodes
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.rules import GrowthRules

Cells = NDArray[np.int64]

_G_STEPS, _H_STEPS = 2**15 - 1, 2**16 - 1
_SUM = 2**31 - 1
_COARSE = 2.0**20
_FINE_BITS = 61
_LEAST = 2.0**-100  # derivatives below are zero: steps of smaller ones are beyond float32


@dataclass(frozen=True)
class BoostingRules:
    """How a model is boosted.

    Attributes
    ----------
    n_rounds : int
    rate : float or None
        What the values of a tree are multiplied by; None: in each round by the step that
        minimises the loss along its trees.
    growth : GrowthRules
        Of each tree. min_leaf_weight is a sum of Hessians, min_gain is in units of the loss.
    newton : bool
        Fit trees by second order, score G^2 / (2 (H + l2)), or by least squares to g.
    l1, l2 : float
    smooth : float
        Draws the means of rare categories to 0 when categories are ordered.
    sampling : Sampling
        The rows that a round's trees are grown from.
    watches_bag : bool
        Measure what each round does for the rows that are not.
    dropout : Dropout
        Earlier rounds that a round takes the place of; not with rate None.
    vector_leaves : bool
        Grow one tree for all outputs of a round, not one for each.
    """

    n_rounds: int
    rate: float | None
    growth: GrowthRules
    newton: bool = True
    l1: float = 0.0
    l2: float = 1.0
    smooth: float = 10.0
    sampling: Sampling = EVERY_ROW
    watches_bag: bool = False
    dropout: Dropout = NO_DROPOUT
    vector_leaves: bool = False


class Boosting:
    """One fit: grows a round of trees after another."""

    def __init__(self, table: BinnedTable, stage: Stage, rules: BoostingRules, team: Team) -> None:
        self._table, self.stage, self._rules, self._team = table, stage, rules, team
        self._grower: Grower | None = None
        self._harvest = Harvest()
        n_records, several = len(stage.rows) or len(stage.y), len(stage.start) > 1
        self._vectors = None
        if rules.vector_leaves and several:
            self._vectors = VectorTrees(table, rules.growth, n_records, team)
        self._sampler = rules.sampling.sampler(table, stage, rules.growth.seed, team)
        self.n_rounds = 0
        self.improvements: list[float] = []  # of the rows out of the bag, if rows are sampled

    def run(self, go_on: Callable[["Boosting"], bool]) -> AdditiveModel:
        """Boost until all rounds are done, there is nothing to learn, or `go_on` says no.

        An interrupt ends the fit with the rounds that are done, if there are any.
        """
        try:
            while self.n_rounds < self._rules.n_rounds and self._next_round():
                if not go_on(self):
                    break
        except KeyboardInterrupt:
            if not self.n_rounds:
                raise
        return self.model(self.n_rounds)

    def model(self, n_rounds: int) -> AdditiveModel:
        """Return the model of the first rounds."""
        start = self.stage.start
        return self._harvest.model(self._table, start, n_rounds * len(start))

    def _next_round(self) -> bool:
        """Grow a tree for each output. Returns False if no gradient is above zero."""
        stage, team, rules = self.stage, self._team, self._rules
        out = rules.dropout.rounds(rules.growth.seed, self.n_rounds)
        dropped = Dropped(out, self._harvest, self._table, stage, team)
        stage.derive(team)
        drawn = self._sampler.drawn(self.n_rounds)
        peaks = [stage.peaks(output, team) for output in range(len(stage.pairs))]
        if not any(peak[0] > _LEAST for peak in peaks):
            return False
        left_out = self._left_out(drawn)
        rate = 1.0 if rules.rate is None else dropped.rate(rules.rate)
        scores = stage.raw if rules.rate is not None else np.zeros_like(stage.raw)
        for output, (nodes, cells, units) in enumerate(self._trees(drawn, peaks)):
            columns = self._node_columns(nodes, output, drawn, peaks[output])
            columns[:, 0] *= rate
            self._harvest.take(nodes, columns, self._gains(nodes, cells, units))
            values = np.ascontiguousarray(columns[:, 0])
            add_tree(self._table.codes, nodes, values, scores[output], team)
        if rules.rate is None:
            step = line_search(stage, scores, team)
            stage.raw += step * scores
            n_trees = len(self._harvest)
            self._harvest.stretch(range(n_trees - len(scores), n_trees), step)
        else:
            dropped.put_back(rules.rate)
        self.improvements += [each.improvement() for each in left_out]
        self.n_rounds += 1
        return True

    def _trees(self, drawn: Drawn, peaks: list[Floats]) -> Iterator[tuple[Nodes, Cells, Floats]]:
        """Yield each output's tree, its packed sums in the nodes, and the worth of their steps.

        A tree is there until the next one is asked for.
        """
        if self._vectors is None:
            for output, peak in enumerate(peaks):
                nodes, units = self._grown(output, drawn, peak)
                yield nodes, nodes.sums[:, 0], units
            return
        rules, derivatives = self._rules, self.stage.pairs
        if not rules.newton:
            derivatives = derivatives.copy()
            derivatives[:, 1] = self._unit_hessians(drawn)
            peaks = [np.array([peak[0], float(derivatives[0, 1].max())]) for peak in peaks]
        scales = np.stack(
            [
                _scales(drawn, g, h, peak, self._team)
                for (g, h), peak in zip(derivatives, peaks, strict=True)
            ]
        )
        penalties = Penalties(*self._l1_l2, rules.smooth)
        nodes, worths = self._vectors.grow(derivatives, scales, penalties, drawn)
        for output, units in enumerate(worths):
            yield nodes, nodes.sums[:, output], units

    @property
    def _l1_l2(self) -> tuple[float, float]:
        """The penalties of the gain: none in a tree that is fitted by least squares."""
        return (float(self._rules.l1), float(self._rules.l2)) if self._rules.newton else (0.0, 0.0)

    def _left_out(self, drawn: Drawn) -> list[OutOfBag]:
        """Return the rows out of the bag, if there are any and they are watched."""
        if self._rules.watches_bag and self._rules.sampling is not EVERY_ROW:
            return [OutOfBag(self.stage, drawn, self._team)]
        return []

    def _grown(self, output: int, drawn: Drawn, peak: Floats) -> tuple[Nodes, Floats]:
        """Grow a tree from the derivatives of an output; also return the worth of their steps."""
        stage, rules, team = self.stage, self._rules, self._team
        g, h = stage.pairs[output]
        if not rules.newton:
            h = self._unit_hessians(drawn)
            peak = np.array([peak[0], float(h.max())])
        scales = _scales(drawn, g, h, peak, team)
        units = 1.0 / scales.astype(np.float64)
        moments = GradientPairs(drawn.weights, drawn.mask, float(rules.smooth / units[1]))
        criterion = Newton(float(units[0]), float(units[1]), *self._l1_l2)
        n_records = len(stage.rows) or len(g)
        records = np.empty(n_records if self._grower is None else 0, np.int64)
        judge = Judge(moments, criterion, records, float(units[1]), 1.0)
        if self._grower is None:
            self._grower = Grower(self._table, judge, rules.growth, team)

        def fill(target: NDArray[np.int64]) -> None:
            team.run(write_records, g, h, scales, drawn.rows, target)

        return self._grower.grow(judge, fill, drawn.n_records), units

    def _unit_hessians(self, drawn: Drawn) -> NDArray[np.float32]:
        ones = self.stage.ones
        if len(drawn.factors) == 1 and ones is not None:
            return ones
        return drawn.factors.astype(np.float32)

    def _node_columns(self, nodes: Nodes, output: int, drawn: Drawn, peak: Floats) -> Floats:
        """Return value, G and H of each node; values are those of leaves."""
        stage, rules, team = self.stage, self._rules, self._team
        n_nodes = int(nodes.counters[N_NODES])
        bits = min(_FINE_BITS - int(np.frexp(float(drawn.total_weight))[1]), 40)
        fine = np.ldexp(1.0, bits) / np.where(peak > 0, peak, 1.0)
        sums = np.zeros((team.n_threads, n_nodes, 2), np.int64)
        leaves, weights = (nodes.leaf_of_row, drawn.rows), (drawn.weights, drawn.mask)
        team.run(sum_leaves, *leaves, stage.pairs[output], *weights, fine, sums)
        join_sums(nodes.table, sums)
        G, H = (sums[0] / fine).T
        if hasattr(stage.loss, "leaf"):
            value = _exact_leaves(stage, output, drawn, nodes.leaf_of_row, n_nodes)
        elif rules.newton:
            value = -np.sign(G) * np.maximum(np.abs(G) - rules.l1, 0.0) / (H + rules.l2)
        else:
            value = -G / np.maximum(H, np.finfo(float).tiny)
        value = np.where(H > 0, value, 0.0)
        return np.column_stack([value, G, H])

    def _gains(self, nodes: Nodes, cells: Cells, units: Floats) -> Floats:
        """Return what each split gained, by the sums that it was chosen from."""
        n_nodes = int(nodes.counters[N_NODES])
        cells, left = cells[:n_nodes], nodes.table.left[:n_nodes]
        G, H = (cells >> 32) * units[0], (cells & 0x7FFFFFFF) * units[1]
        l1, l2 = self._l1_l2
        score = np.maximum(np.abs(G) - l1, 0.0) ** 2 / (2.0 * (H + l2))
        gains, splits = np.zeros(n_nodes), np.flatnonzero(left >= 0)
        gains[splits] = score[left[splits]] + score[left[splits] + 1] - score[splits]
        return gains


def _scales(
    drawn: Drawn,
    g: NDArray[np.float32],
    h: NDArray[np.float32],
    peak: Floats,
    team: Team,
) -> NDArray[np.float32]:
    """Return steps per 1.0 of g and h: as many as 16 bits a row and 31 bits a sum allow.

    The largest magnitude is a whole number of steps, so that equal numbers stay exact.
    """
    peak = np.where(peak > 0, np.maximum(peak, _LEAST), 1.0)
    coarse = (_COARSE / peak).astype(np.float32)
    totals = np.zeros((team.n_threads, 2), np.int64)
    team.run(total_steps, g, h, drawn.weights, drawn.mask, drawn.rows, coarse, totals)
    total = totals.sum(axis=0) / coarse.astype(np.float64)
    room = _SUM - 1.5 * drawn.total_weight  # rounding and the least Hessian add to a sum
    steps = np.minimum([_G_STEPS, _H_STEPS], np.floor(room * peak / total))
    return np.asarray(np.maximum(steps, 1.0) / peak, np.float32)


def _exact_leaves(
    stage: Stage, output: int, drawn: Drawn, leaf_of_row: NDArray[np.int32], n_nodes: int
) -> Floats:
    """Return what minimises the loss in each leaf."""
    rows = np.flatnonzero(leaf_of_row >= 0)
    if not len(rows):
        return np.zeros(n_nodes)
    rows = rows[np.argsort(leaf_of_row[rows], kind="stable")]
    leaves = leaf_of_row[rows]
    residual = stage.targets[output, rows] - stage.raw[output, rows]
    factors = drawn.factors if len(drawn.factors) == 1 else drawn.factors[rows]
    weights = drawn.weights[rows & drawn.mask] * factors
    value = np.zeros(n_nodes)
    bounds = np.flatnonzero(np.diff(leaves)) + 1
    for part, w, leaf in zip(
        np.split(residual, bounds),
        np.split(weights, bounds),
        leaves[np.concatenate([[0], bounds])],
        strict=True,
    ):
        value[leaf] = stage.loss.leaf(part, w)
    return value
