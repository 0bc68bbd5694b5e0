"""Growing one tree of boosting after another: each from the arrays of the one before."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.desks import Desks
from hedgerow.kernels.dials import DIALS, grow_by
from hedgerow.kernels.errands import Errand, Noted
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.masks import MOST_CATEGORIES
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.outlook import outlook
from hedgerow.kernels.workspace import Nodes, Problem, Size, Workspace
from hedgerow.trees.grower import EMPTY, Grower, grows_ahead
from hedgerow.trees.grown import words_of_sets

_FEWEST, _MASKED = 1024, 65_536  # rows of a table whose leaves have masks; a root has a histogram


class Regrower(Grower):
    """A grower of trees whose problems differ in numbers, and seldom in arrays."""

    _problem_of_arrays: Problem | None = None

    def __init__(self, *given: Any, in_order: bool) -> None:
        """Take what a Grower does. in_order: records are those of all rows, in their order."""
        self._in_order = in_order
        super().__init__(*given)
        self._errand, self.dials = Errand(grow_by), with_fields(np.zeros(1, DIALS))

    def _masks(self, size: Size) -> bool:
        codes, alone = self._table.codes, self._team.n_threads == 1
        if not self._in_order or size.n_hists < size.max_open or len(codes.wide):
            return False
        if codes.features.n_categories.max() > MOST_CATEGORIES or self._limits.max_leaves is None:
            return False
        is_apart = alone or grows_ahead(self._limits, size.n_rows)
        return is_apart and _FEWEST <= size.n_rows <= _MASKED

    def _grow_root(self, problem: Problem, n_rows: int) -> None:
        known = self._problem_of_arrays
        if known is None or not _share_arrays(problem, known):
            known = self._problem_of_arrays = problem
        self.dials[0] = _dial(problem, n_rows)
        if self._is_brief(n_rows, problem.rules):
            self._team.repeat(math.inf, self._errand, *self._given(known))
        else:
            self._team.run(grow_by, *self._given(known))

    def _given(self, problem: Problem) -> tuple[Any, ...]:
        return problem, self.dials, self._space, self._view, self._desks, self._nodes

    @property
    def n_in_a_moment(self) -> int:
        """Trees as the last one that are grown in a moment."""
        assert self._problem_of_arrays is not None
        return self._n_in_a_moment(len(self.records), self._problem_of_arrays.rules)

    @property
    def nodes(self) -> Nodes:
        """Where trees are grown."""
        return self._nodes

    @property
    def records(self) -> NDArray[np.int64]:
        """Where the records of trees are."""
        return self._records

    @property
    def waiting(self) -> NDArray[np.int64]:
        """What must be zero before a tree is grown."""
        return self._view.counters

    def note(self) -> Noted:
        """Write down how a tree is grown from records by dials, once one has been."""
        assert self._problem_of_arrays is not None
        return self._team.noted(math.inf, self._errand, *self._given(self._problem_of_arrays))

    @property
    def never_overflows(self) -> bool:
        """Whether there is room for the sets of categories of any tree."""
        codes, n_splits = self._table.codes, len(self._nodes.table) // 2
        of_sets = words_of_sets(codes)[codes.features.n_categories > 0]
        return n_splits * int(of_sets.max(initial=0)) <= len(self._nodes.words)

    def _grow_leaf(self, member: Member, problem: Problem, space: Workspace, desks: Desks) -> None:
        dials = with_fields(np.array([_dial(problem, -1)], DIALS))
        grow_by(member, problem, dials, space, outlook(0, EMPTY), desks, self._nodes)


def _share_arrays(one: Problem, other: Problem) -> bool:
    """Tell whether two problems of a grower have the same arrays."""
    return one.rules.menu is other.rules.menu and one.moments.weights is other.moments.weights


def _dial(problem: Problem, n_rows: int) -> tuple[Any, ...]:
    """Return the numbers of a problem that may be others than those of the last one."""
    rules, moments = problem.rules, problem.moments
    newton = getattr(problem.criterion, "newton", problem.criterion)
    units = newton.g_unit, newton.h_unit, moments.smooth
    return n_rows, rules.max_leaves, rules.min_weight, rules.seed, moments.least, *units
