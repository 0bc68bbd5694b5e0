"""Growing one tree of boosting after another: each from the arrays of the one before."""

import math
from typing import Any

import numpy as np

from hedgerow.kernels.desks import Desks
from hedgerow.kernels.dials import DIALS, grow_by
from hedgerow.kernels.errands import Errand
from hedgerow.kernels.masks import MOST_CATEGORIES
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.outlook import outlook
from hedgerow.kernels.workspace import Problem, Size, Workspace
from hedgerow.trees.grower import EMPTY, Grower, grows_ahead

_FEWEST, _MASKED = 1024, 65_536  # rows of a table whose leaves have masks; a root has a histogram


class Regrower(Grower):
    """A grower of trees whose problems differ in numbers, and seldom in arrays."""

    _problem_of_arrays: Problem | None = None

    def __init__(self, *given: Any, in_order: bool) -> None:
        """Take what a Grower does. in_order: records are those of all rows, in their order."""
        self._in_order = in_order
        super().__init__(*given)
        self._errand, self._dials = Errand(grow_by), np.zeros(1, DIALS).view(np.recarray)

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
        self._dials[0] = _dial(problem, n_rows)
        given = known, self._dials, self._space, self._view, self._desks, self._nodes
        if self._is_brief(n_rows, problem.rules):
            self._team.repeat(math.inf, self._errand, *given)
        else:
            self._team.run(grow_by, *given)

    def _grow_leaf(self, member: Member, problem: Problem, space: Workspace, desks: Desks) -> None:
        dials = np.array([_dial(problem, -1)], DIALS).view(np.recarray)
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
