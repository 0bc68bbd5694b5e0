"""Growing a tree: (binned table, moments, criterion, rules) -> nodes in preorder."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.kernels.codes import N_BINS, PAIR, Codes
from hedgerow.kernels.desks import Desks, desks_for
from hedgerow.kernels.grower import grow as grow_kernel
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.menu import Menu
from hedgerow.kernels.monotone import Monotone
from hedgerow.kernels.outlook import SPARE, outlook
from hedgerow.kernels.team import Team
from hedgerow.kernels.trimming import move_rows, trim
from hedgerow.kernels.units import least_steps
from hedgerow.kernels.workspace import (
    BY_GAIN,
    N_NODES,
    N_WORDS,
    NEWEST,
    OLDEST,
    OVERFLOW,
    Nodes,
    Problem,
    Rules,
    Size,
    Workspace,
    empty_nodes,
    workspace,
)
from hedgerow.trees.grown import Grown, in_preorder, words_of_sets
from hedgerow.trees.rules import GrowthRules, menu_of

_NO_DEPTH = 2**62
_MAX_ROWS = 2**30
_STACK = 80  # the newest leaves: each at most half of the one below, so log2(n) and some
_SMALL = 8192  # rows below which a subtree is grown by one thread
_COPSE = 8192  # rows of a leaf that are copied into a table of its own
FINE_ROWS = 512  # rows of a node that has finer bins, if a bin has levels
MOST_FINE_ROWS = 2048  # the same if nodes have no histograms to lose by it
_AHEAD = 65_536  # rows below which threads divide leaves each by itself
_HISTOGRAM_BYTES = 256 * 2**20
_TALLIES = 4  # features of a histogram that are summed in the time of one by itself
_MOMENT, _FEW_LEAVES = 4e8, 1024  # updates of cells, about a tenth of a second's; of one tree
_WIDE, _SEARCH = 32, 128  # columns that a wide feature costs; updates, a feature of two leaves
_N_WORDS = 1 << 12  # for sets of categories, to begin with
EMPTY = Size(0, 0, 0, 0, 0, 0, 0, 0)


class Judge(NamedTuple):
    """What a tree is grown by: moments, criterion, and the worth of their integer steps."""

    moments: Any
    criterion: Any
    records: NDArray[np.int64]  # one per training row: row number, and the moments' 32 bits
    weight_unit: float
    score_unit: float
    uses_rows: bool = False  # the criterion looks at a node's rows, not only at its sums

    def row_weights(self, n_rows: int) -> NDArray[np.int64]:
        """Return how many steps of weight each row has: of moments that know weights and mask."""
        rows, weights = self.records & 0xFFFFFFFF, np.zeros(n_rows, np.int64)
        weights[rows] = self.moments.weights[rows & self.moments.mask] * (self.records >> 48)
        return weights

    def held_monotone(self, signs: NDArray[np.int64] | None) -> "Judge":
        """Return the judge of trees whose means do not fall (1) or rise (-1) in features."""
        if signs is None:
            return self
        return self._replace(criterion=Monotone(self.criterion, signs))

    def n_lines(self, max_bins: int) -> int:
        """Return the length of the lines that such a criterion writes, else 0."""
        return max(len(self.records), max_bins, N_BINS) + 4 if self.uses_rows else 0


def grow(table: BinnedTable, judge: Judge, limits: GrowthRules, team: Team) -> Grown:
    """Grow one tree. The result does not depend on the team's size or the order of the rows."""

    def fill(records: NDArray[np.int64]) -> None:
        records[:] = judge.records

    return Grower(table, judge, limits, team).grown(judge, fill, limits)


def grows_ahead(limits: GrowthRules, n_rows: int) -> bool:
    """Tell whether the threads of a team, if it has several, divide leaves each by itself."""
    return limits.max_leaves is not None and n_rows < _AHEAD


class Grower:
    """Grows trees from one table, one after another in the same buffers."""

    _menu: Menu | None = None

    def __init__(
        self,
        table: BinnedTable,
        judge: Judge,
        limits: GrowthRules,
        team: Team,
        keeps_rows: bool = True,
    ) -> None:
        """Make room; keeps_rows: whether anybody asks which leaf a row is in."""
        if table.n_rows > _MAX_ROWS:
            raise ValueError(
                f"The table has {table.n_rows} rows, but one tree takes at most {_MAX_ROWS}: nodes "
                "are numbered in 32 bits. Fit on a sample of the rows."
            )
        self._table, self._limits, self._team = table, limits, team
        self._n_rows, sum_width = len(judge.records), judge.moments.sum_width()
        n_features, self._max_bins = len(table.codes.features), table.max_bins
        self._n_lines = judge.n_lines(self._max_bins)
        n_shared = len(table.codes.shared)
        self._desks = desks_for(
            team.n_threads, n_features, self._max_bins, sum_width, self._n_lines, n_shared
        )
        problem = self._problem(judge, limits, limits.seed, self._n_rows)
        ahead = team.n_threads > 1 and grows_ahead(limits, table.n_rows)
        spare = SPARE if ahead else 0
        size = _size(problem, judge, self._n_rows, spare)
        size = size._replace(masked=self._masks(size))
        self._space, self._records = workspace(team.n_threads, size), np.empty(0, np.int64)
        self._view = outlook(team.n_threads if ahead else 0, size)
        n_words = _N_WORDS if table.codes.features.n_categories.any() else 1
        max_leaves = problem.rules.max_leaves + spare
        n_kept = table.n_rows if keeps_rows else 0
        self._nodes = empty_nodes(max_leaves, n_kept, sum_width, n_words)

    def _problem(self, judge: Judge, limits: GrowthRules, seed: int, n_rows: int) -> Problem:
        codes, has_own = self._table.codes, limits.features is not None
        if self._menu is None or has_own or limits.n_tree_features is not None:
            self._menu = menu_of(limits, seed, len(codes.features))
        rules = _rules(judge, limits, self._menu, n_rows, self._team, seed, codes)
        return Problem(codes, judge.moments, judge.criterion, rules)

    def grown(
        self, judge: Judge, fill: Callable[[NDArray[np.int64]], None], limits: GrowthRules
    ) -> Grown:
        """Grow a tree from the judge's records, by limits that allow no more leaves; return it."""
        return in_preorder(self.regrown(judge, fill, limits), words_of_sets(self._table.codes))

    def regrown(
        self, judge: Judge, fill: Callable[[NDArray[np.int64]], None], limits: GrowthRules
    ) -> Nodes:
        """Grow such a tree; return it as it was grown. The next call overwrites it."""
        self._limits = limits
        return self.grow(judge, fill, limits.seed, len(judge.records))

    def grow(
        self,
        judge: Judge,
        fill: Callable[[NDArray[np.int64]], None],
        seed: int,
        n_rows: int | None = None,
    ) -> Nodes:
        """Grow a tree from the records that `fill` writes; the next call overwrites it.

        The seed of the limits is of no account. n_rows: how many of the records there are
        this time; None: all.
        """
        n_rows = self._n_rows if n_rows is None else n_rows
        problem, space = self._problem(judge, self._limits, seed, n_rows), self._space
        if n_rows < self._n_rows:
            self._nodes.leaf_of_row[:] = -1  # other rows may have been in the last tree
        while True:
            if len(self._records) != n_rows:
                self._records = space.records[2 if len(space.records) > 2 else 0, :n_rows]
            fill(self._records)
            nodes = self._nodes
            self._view.counters[:] = 0
            self._grow_root(problem, n_rows)
            if space.n_tasks[0]:
                self._grow_tasks(problem)
            if not nodes.counters[OVERFLOW]:
                break
            n_words = 4 * max(len(nodes.words), int(nodes.counters[N_WORDS]))
            self._nodes = nodes._replace(words=np.zeros(n_words, np.int64))
        if self._limits.keep_gain > -math.inf:
            place = np.empty(int(nodes.counters[N_NODES]), np.int64)
            trim(nodes, float(self._limits.keep_gain / judge.score_unit), place)
            self._team.sweep(n_rows, move_rows, place, nodes.leaf_of_row)
        return nodes

    def _masks(self, size: Size) -> bool:  # noqa: ARG002  see Regrower
        """Tell whether leaves have masks: see kernels.masks."""
        return False

    def _grow_root(self, problem: Problem, n_rows: int) -> None:
        """Grow the tree of records that are there."""
        call = self._team.join if self._is_brief(n_rows, problem.rules) else self._team.run
        call(grow_kernel, problem, self._space, self._view, self._desks, self._nodes, n_rows)

    def _grow_leaf(self, member: Member, problem: Problem, space: Workspace, desks: Desks) -> None:
        """Grow what is below the first leaf of a space."""
        view = outlook(0, EMPTY)
        grow_kernel(member, problem, space, view, desks, self._nodes, -1)

    def _is_brief(self, n_rows: int, rules: Rules) -> bool:
        """Tell whether a tree is grown in a moment."""
        return self._n_in_a_moment(n_rows, rules) > 0

    def _n_in_a_moment(self, n_rows: int, rules: Rules) -> int:
        """Return how many trees are grown in a moment."""
        codes = self._table.codes
        if rules.max_leaves > _FEW_LEAVES:
            return 0
        n_columns = int(codes.panels.n_columns.sum()) + _WIDE * len(codes.wide)
        searched = _SEARCH * (rules.max_leaves + 1) * len(codes.features)
        return int(_MOMENT / (math.log2(rules.max_leaves + 1) * n_rows * n_columns + searched))

    def _grow_tasks(self, problem: Problem) -> None:
        """Grow the leaves that were put aside, each by one thread, the largest first."""
        space, nodes = self._space, self._nodes
        tasks = space.tasks[:, : int(space.n_tasks[0])]
        alone = problem._replace(rules=problem.rules._replace(small=0))
        width, sum_width = problem.moments.width(), problem.moments.sum_width()
        n_features, n_shared = len(problem.codes.features), len(problem.codes.shared)

        def grow_task(member: Member, task: int) -> None:
            leaf = tasks[:, task]
            own = [space.records[part.side, part.begin : part.end] for part in leaf]
            size = Size(int(leaf[0].n_rows), n_features, width, sum_width, _STACK, 0, 0, 0)
            bench = workspace(1, _with_copse(size, problem))
            bench.records[0] = np.concatenate(own)
            bench.leaves[0, 0] = leaf[0]
            root = bench.leaves[0, 0]
            root.begin, root.end, root.side = 0, root.n_rows, 0
            room = self._max_bins, sum_width, self._n_lines, n_shared
            self._grow_leaf(member, alone, bench, desks_for(1, n_features, *room))

        if not nodes.counters[OVERFLOW]:
            self._team.run_each(grow_task, np.argsort(-tasks[0].n_rows, kind="stable").tolist())


def _size(problem: Problem, judge: Judge, n_rows: int, spare: int) -> Size:
    """Return the size of the buffers; histograms only of sums, and if most features are tried."""
    rules, codes, width = problem.rules, problem.codes, problem.moments.width()
    n_columns, n_features = int(codes.features.column.max()) + 1, len(codes.features)
    max_open = _STACK if rules.order == NEWEST else rules.max_leaves + spare
    n_cells = -(-n_columns // PAIR) * PAIR * N_BINS
    n_hists = min(max_open, _HISTOGRAM_BYTES // (8 * n_cells * width)) if n_cells else 0
    if not _sums_all(judge, rules.n_candidates, rules.random_cut, rules.menu, n_features):
        n_hists = 0
    max_tasks = 4 * (n_rows // rules.small) + 64 if rules.small else 0
    sum_width = problem.moments.sum_width()
    size = Size(n_rows, n_features, width, sum_width, max_open, max_tasks, n_hists, n_cells)
    size = size._replace(n_kinds=int(codes.panels.n_kinds.max(initial=0)))
    return _with_copse(size, problem) if rules.order == NEWEST and not rules.small else size


def _sums_all(
    judge: Judge, n_candidates: int, random_cut: int, menu: Menu, n_features: int
) -> bool:
    """Tell whether nodes have histograms: only of sums, and if most features are tried."""
    n_tried = min(n_candidates, menu.n_level)
    return _TALLIES * n_tried >= n_features and not random_cut and not judge.uses_rows


def _with_copse(size: Size, problem: Problem) -> Size:
    """Make room for a copse."""
    codes = problem.codes
    n_narrow, n_wide, n_blocks = len(codes.columns), len(codes.wide), len(codes.blocks)
    size = size._replace(n_narrow=n_narrow, n_wide=n_wide, n_blocks=n_blocks)
    n_fine = int(codes.features.fine.max()) + 1
    n_copse = problem.rules.fine_rows if n_fine else _COPSE
    return size._replace(n_copse=n_copse, n_shared=len(codes.shared), n_fine=n_fine)


def _rules(
    judge: Judge, limits: GrowthRules, menu: Menu, n_rows: int, team: Team, seed: int, codes: Codes
) -> Rules:
    """Translate limits into what the kernels compare: whole steps and plain numbers."""
    limited = OLDEST if limits.level_by_level else BY_GAIN
    order = NEWEST if limits.max_leaves is None else limited
    n_candidates, random_cut = limits.n_candidates or len(menu.own), int(limits.random_cut)
    fine_rows = FINE_ROWS
    if not _sums_all(judge, n_candidates, random_cut, menu, len(codes.features)):
        fine_rows = MOST_FINE_ROWS
    return Rules(
        max_leaves=min(limits.max_leaves or n_rows, n_rows),
        max_depth=_NO_DEPTH if limits.max_depth is None else limits.max_depth,
        min_split_rows=max(limits.min_split_rows, 2),
        min_rows=limits.min_leaf_rows,
        min_weight=least_steps(limits.min_leaf_weight, judge.weight_unit),
        min_gain=float(limits.min_gain / judge.score_unit),
        n_candidates=n_candidates,
        random_cut=random_cut,
        by_lot=int(limits.by_lot),
        seed=seed,
        order=order,
        small=_SMALL if limits.max_leaves is None and team.n_threads > 1 else 0,
        fine_rows=fine_rows if order == NEWEST and codes.n_levels > 1 else 0,
        menu=menu,
    )
