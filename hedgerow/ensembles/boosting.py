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
from hedgerow.ensembles.bench import Bench
from hedgerow.ensembles.cells import Cells, Peaks, Penalties
from hedgerow.ensembles.dropout import NO_DROPOUT, Dropout, Dropped
from hedgerow.ensembles.leaves import exact_leaves
from hedgerow.ensembles.line_search import line_search
from hedgerow.ensembles.out_of_bag import OutOfBag
from hedgerow.ensembles.sampling import EVERY_ROW, Drawn, Sampling
from hedgerow.ensembles.scalar_trees import ScalarTrees
from hedgerow.ensembles.season import Seasons, is_plain
from hedgerow.ensembles.stage import Stage
from hedgerow.ensembles.vector_trees import VectorTrees
from hedgerow.kernels.bounds import fill_splits, hold_values
from hedgerow.kernels.codes import Codes
from hedgerow.kernels.meanwhile import is_interpreting
from hedgerow.kernels.random import mixed_bits
from hedgerow.kernels.team import Team
from hedgerow.kernels.units import LEAST
from hedgerow.kernels.workspace import Nodes
from hedgerow.trees.rules import GrowthRules

NO_ROWS = np.zeros(0, np.int64)


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
    smooth, rare : float
        Sums of Hessians. `smooth` draws the means of categories to 0 when they are ordered;
        those of less than `rare` have one mean together and are not parted.
    signs : int64 [n_features] or None
        1 or -1: the model must not fall or rise in this feature; 0: it may.
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
    rare: float = 10.0
    signs: NDArray[np.int64] | None = None
    sampling: Sampling = EVERY_ROW
    watches_bag: bool = False
    dropout: Dropout = NO_DROPOUT
    vector_leaves: bool = False

    @property
    def penalties(self) -> tuple[float, float]:
        """l1 and l2; trees that are fitted by least squares have none."""
        return (float(self.l1), float(self.l2)) if self.newton else (0.0, 0.0)


class Boosting:
    """One fit: grows a round of trees after another."""

    def __init__(self, table: BinnedTable, stage: Stage, rules: BoostingRules, team: Team) -> None:
        self._table, self.stage, self._rules, self._team = table, stage, rules, team
        self._harvest = Harvest()
        self._before: AdditiveModel | None = None
        self._sampler = rules.sampling.sampler(table, stage, rules.growth.seed, team)
        self._trees = self._planted()
        self.n_rounds = 0
        self.improvements: list[float] = []  # of the rows out of the bag, if rows are sampled
        self._scores: Floats | None = None  # what the last round was added to, and its rows
        self._score_rows: list[Floats] = []
        self._seasons: Seasons | None = None

    def _planted(self) -> ScalarTrees | VectorTrees:
        """Return what grows the trees of a round."""
        stage, rules = self.stage, self._rules
        penalties = Penalties(*rules.penalties, rules.smooth, rules.rare)
        if rules.vector_leaves and len(stage.start) > 1:
            return VectorTrees(self._table, rules.growth, penalties, self._team)
        cells = Cells.of(len(stage.y), stage.total_weight, rules.growth)
        given = self._table, rules.growth, cells, penalties, rules.signs
        return ScalarTrees(self._team, *given)

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
            self.some_rounds(number, number + 1).add(values, self._team, 0, 1, out)

    def run(self, go_on: Callable[["Boosting"], bool], asks_often: bool = True) -> AdditiveModel:
        """Boost until all rounds are done, there is nothing to learn, or `go_on` says no.

        asks_often: whether `go_on` is to be asked after each round, or only now and then. An
        interrupt ends the fit with the rounds that are done, if there are any.
        """
        try:
            while (n_left := self._rules.n_rounds - self.n_rounds) > 0:
                if not self.next_rounds(1 if asks_often else n_left) or not go_on(self):
                    break
        except KeyboardInterrupt:
            if not self.n_rounds:
                raise
        return self.model(self.n_rounds)

    def model(self, n_rounds: int) -> AdditiveModel:
        """Return the model of the first rounds."""
        if self._before is None:
            return self.some_rounds(0, n_rounds)
        before = self._before.first(min(self._n_before, n_rounds))
        return before.then(self.some_rounds(self._n_before, n_rounds))

    @property
    def _n_before(self) -> int:
        return 0 if self._before is None else self._before.n_rounds

    def some_rounds(self, first: int, end: int) -> AdditiveModel:
        """Return the rounds first .. end, none of them from before, as a model."""
        start = self.stage.start
        trees = [max(number - self._n_before, 0) * len(start) for number in (end, first)]
        return self._harvest.model(self._table, start, *trees)

    def leaf_keys(self, codes: Codes, n_rows: int, most: int) -> Floats:
        """Return a number for each row of a table, that of rows in the same leaves: see Harvest."""
        return self._harvest.keys(codes, n_rows, most, self._team)

    def next_rounds(self, n_most: int) -> bool:
        """Grow one round or several. Returns False if no gradient is above zero."""
        return self.season(n_most).shape[1] > 0 or self.next_round()

    def season(self, n_most: int, rows: NDArray[np.int64] = NO_ROWS) -> Floats:
        """Grow several rounds in one call, or none if they are not of the kind that can be.

        Returns the scores of some rows after each round, float64 [n_outputs, n_rounds, n].
        """
        seasons = self._seasons_of(self._trees) if n_most > 1 else None
        if seasons is None:
            return np.empty((len(self.stage.raw), 0, len(rows)))
        try:
            return seasons.grow(self.n_rounds, n_most, self._harvest, rows)
        finally:
            self.n_rounds += seasons.n_done

    def _seasons_of(self, trees: ScalarTrees | VectorTrees) -> Seasons | None:
        """Return what grows such trees in seasons, if it can be done; the first round cannot."""
        stage = self.stage
        if not isinstance(trees, ScalarTrees) or not is_plain(stage, self._rules):
            return None
        if is_interpreting():
            return None
        if not Seasons.suit(trees, len(stage.raw)):
            return None
        if self._seasons is None or not self._seasons.fits(stage):
            given = trees.together, self._sampler.drawn(self.n_rounds), self._rules, self._team
            self._seasons = Seasons(stage, *given)
        return self._seasons

    def next_round(self) -> bool:
        """Grow a tree for each output. Returns False if no gradient is above zero."""
        stage, team, rules = self.stage, self._team, self._rules
        out = rules.dropout.rounds(rules.growth.seed, self.n_rounds)
        dropped = Dropped(out, self._harvest, self._table, stage, team)
        stage.derive(team)
        drawn = self._sampler.drawn(self.n_rounds)
        outputs = range(len(stage.pairs))
        peaks = [stage.peaks(output, team, self.n_rounds + 1) for output in outputs]
        if not any(peak[0] > LEAST for peak in peaks):
            return False
        left_out = self._left_out(drawn, dropped)
        rate = 1.0 if rules.rate is None else dropped.rate(rules.rate)
        scores = stage.raw if rules.rate is not None else np.zeros_like(stage.raw)
        seeds = [mixed_bits(rules.growth.seed, self.n_rounds * len(peaks) + k) for k in outputs]
        n_trees, rows_of_scores = len(self._harvest), self._rows_of(scores)

        def finish(output: int, nodes: Nodes, bench: Bench) -> None:
            columns = self._columns(nodes, output, drawn, peaks[output], bench)
            columns[0] *= rate
            self._harvest.take(n_trees + output, nodes, columns)
            bench.router.add(self._table.codes, nodes, bench.values, rows_of_scores[output])

        self._trees.grow(*self._fitted(drawn, peaks), drawn, seeds, finish)
        if rules.rate is None:
            self._search(scores)
        else:
            dropped.put_back(rules.rate)
        self.improvements += [each.improvement() for each in left_out]
        self.n_rounds += 1
        return True

    def _rows_of(self, scores: Floats) -> list[Floats]:
        """Return the rows of an array: the same objects as long as it is the same array."""
        if scores is not self._scores:
            self._scores, self._score_rows = scores, list(scores)
        return self._score_rows

    def _left_out(self, drawn: Drawn, dropped: Dropped) -> list[OutOfBag]:
        """Return the rows out of the bag, if there are any and they are watched."""
        if self._rules.watches_bag and self._rules.sampling is not EVERY_ROW:
            return [OutOfBag(self.stage, drawn, dropped.before, self._team)]
        return []

    def _fitted(self, drawn: Drawn, peaks: list[Peaks]) -> tuple[NDArray[np.float32], list[Peaks]]:
        """Return the derivatives that trees are fitted to, and their peaks.

        Least squares to the gradients is Newton's way with a Hessian of 1, times weights.
        """
        pairs = self.stage.pairs
        if self._rules.newton:
            return pairs, peaks
        pairs = pairs.copy()
        pairs[:, 1] = drawn.factors
        largest = float(pairs[0, 1].max())
        return pairs, [(g, largest) for g, _ in peaks]

    def _search(self, scores: Floats) -> None:
        """Take the step along the newest trees that is best; scores are what they add."""
        step = line_search(self.stage, scores, self._team)
        self.stage.raw += step * scores
        n_trees = len(self._harvest)
        self._harvest.stretch(range(n_trees - len(scores), n_trees), step)

    def _columns(
        self, nodes: Nodes, output: int, drawn: Drawn, peak: Peaks, bench: Bench
    ) -> Floats:
        """Return value, G and H of each node, float64 [3, n_nodes]; values are those of leaves."""
        stage, rules = self.stage, self._rules
        columns = bench.set_columns(nodes, stage.pair_of(output), drawn, peak)
        value, _, H = columns
        if hasattr(stage.loss_of(output), "leaf"):
            value[:] = np.where(H > 0, exact_leaves(stage, output, drawn, nodes, bench.team), 0.0)
        if rules.signs is not None:
            if hasattr(stage.loss_of(output), "leaf"):
                fill_splits(nodes.table, H, value)
            hold_values(nodes.table, rules.signs, value, np.empty((len(value), 2)))
        return columns
