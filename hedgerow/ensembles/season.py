"""Seasons of boosting: many rounds in one call, where nothing is asked between them.

`Boosting.next_round` is the definition; a season has the same bits. It is for the plainest rounds:
trees fitted by second order to all rows, multiplied by a constant rate.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats, Harvest
from hedgerow.ensembles.bench import fine_steps
from hedgerow.ensembles.dropout import NO_DROPOUT
from hedgerow.ensembles.sampling import EVERY_ROW, Drawn
from hedgerow.ensembles.scalar_trees import Planter, ScalarTrees
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.barn import Barn
from hedgerow.kernels.errands import Noted
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.routes import MAX_NODES
from hedgerow.kernels.season import TERMS, Season, Sight, grow_season
from hedgerow.kernels.team import Team

if TYPE_CHECKING:
    from hedgerow.ensembles.boosting import BoostingRules

_MOST = 128  # rounds of a season
_OWN_WAYS = ("adapted", "derive", "derivatives", "leaf")  # of losses, that only Python knows


def is_plain(stage: Stage, rules: "BoostingRules") -> bool:
    """Tell whether rounds are of the kind that seasons are for."""
    growth, loss = rules.growth, stage.loss
    is_usual = rules.newton and rules.rate is not None and rules.signs is None
    takes_all = rules.sampling is EVERY_ROW and rules.dropout is NO_DROPOUT
    same_features = growth.features is None and growth.n_tree_features is None
    is_one = len(stage.raw) == 1 or len(stage.labels) > 0
    if (
        not hasattr(grow_season, "is_posted")
        or growth.max_leaves is None
        or growth.keep_gain > -np.inf
    ):
        return False
    if any(hasattr(each, name) for each in (loss, stage.loss_of(0)) for name in _OWN_WAYS):
        return False
    return is_usual and takes_all and same_features and is_one


class Seasons:
    """Grows many rounds at once, from where the first rounds were grown."""

    def __init__(
        self, stage: Stage, planter: Planter, drawn: Drawn, rules: "BoostingRules", team: Team
    ) -> None:
        """Take what a round was grown by: one must have been."""
        assert planter.grower is not None
        self._team, self._raw, self.n_done = team, stage.raw, 0
        self._grower, bench, growth = planter.grower, planter.bench, rules.growth
        nodes, cells, n_outputs = self._grower.nodes, planter.cells, len(stage.raw)
        coarse, totals = np.empty(2, np.float32), np.zeros((team.n_threads, 2), np.int64)
        peaks = np.zeros((n_outputs, team.n_threads, 2), np.uint32)
        derived, found = stage.note(team)
        notes: list[list[Noted]] = []
        for output in range(n_outputs):
            pairs = stage.pair_of(output)
            growing = planter.notes(pairs, drawn, coarse, totals)
            route = bench.router.note(planter.codes, nodes, bench.values, stage.raw[output])
            finishing = *bench.notes(nodes, pairs, drawn), route
            notes.append([stage.note_peaks(output, team, peaks[output]), *growing, *finishing])
        self._alive: Any = derived, notes  # lines are addresses in them
        leaves = min(growth.max_leaves or 0, drawn.n_records)
        whole = drawn.n_records, leaves, growth.seed
        flags = int(cells.may_overflow(drawn.total_weight)), int(len(drawn.rows) > 0)
        least = growth.min_leaf_weight, planter.penalties.smooth, planter.penalties.rare
        steps = fine_steps(drawn.total_weight), float(rules.rate or 0.0)
        terms = *whole, *flags, *cells.rooms(drawn.total_weight), *least, *steps
        self._season = Season(
            derive=np.array([derived[1]], np.int64),
            notes=np.array([[line for _, line in each] for each in notes], np.int64),
            terms=with_fields(np.array([terms], TERMS)),
            found=found,
            peaks=peaks,
            coarse=coarse,
            totals=totals,
            scales=planter.scales,
            fine=bench.fine,
            dials=self._grower.dials,
            waiting=self._grower.waiting,
            counters=nodes.counters,
            table=np.asarray(nodes.table).view(np.int64).reshape(len(nodes.table), -1),
            words=nodes.words,
            columns=bench.columns,
        )

    @staticmethod
    def suit(trees: ScalarTrees, n_outputs: int) -> bool:
        """Tell whether trees of plain rounds, one of which was grown, can be grown in seasons."""
        grower = trees.together.grower
        if grower is None or not trees.are_together(n_outputs) or not grower.never_overflows:
            return False
        return grower.n_in_a_moment > n_outputs and len(grower.nodes.table) < MAX_NODES

    def fits(self, stage: Stage) -> bool:
        """Tell whether the arrays of a stage are still those that were written down."""
        return stage.raw is self._raw

    def grow(self, first: int, n_most: int, harvest: Harvest, rows: NDArray[np.int64]) -> Floats:
        """Grow rounds, of which the first has a number, and keep their trees.

        Sets n_done to how many they are; returns the scores of some rows after each of them,
        [n_outputs, n_done, n].
        """
        n_outputs, season, self.n_done = len(self._raw), self._season, 0
        n_rounds = min(n_most, _MOST, max(self._grower.n_in_a_moment // n_outputs, 1))
        n_trees = n_rounds * n_outputs
        n_nodes, n_done = n_trees * len(season.table), np.zeros(1, np.int64)
        sight = Sight(rows, self._raw, np.empty((n_outputs, n_rounds, len(rows))))
        barn = Barn(
            first=np.zeros((n_trees + 1, 2), np.int64),
            table=np.empty((n_nodes, season.table.shape[1]), np.int64),
            words=np.empty(n_trees * len(season.words), np.int64),
            columns=np.empty(3 * n_nodes),
        )
        try:
            self._team.join(grow_season, first, first + n_rounds, season, barn, sight, n_done)
        finally:
            harvest.gather(barn, int(n_done[0]) * n_outputs)
            self.n_done = int(n_done[0])  # last: a second interrupt must not count lost trees
        return sight.told[:, : self.n_done]
