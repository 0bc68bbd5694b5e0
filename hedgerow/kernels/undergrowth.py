"""Undergrowth: all that is below a small leaf, grown by one thread in one loop.

Moments that deep trees are grown by are `with_undergrowth`. Others decline: their kernels need
not compile it.
"""

from typing import TypeVar

import numpy as np

from hedgerow.kernels.division import divide
from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.lanes import N_LANES
from hedgerow.kernels.leaves import adopt, search_leaf, write_leaf
from hedgerow.kernels.lines import line_up
from hedgerow.kernels.meeting import cancelled
from hedgerow.kernels.nodes import CLOSED, OPEN, close
from hedgerow.kernels.random_cuts import judge_drawn, judge_wide
from hedgerow.kernels.search import search_codes
from hedgerow.kernels.split import judge_line
from hedgerow.kernels.workspace import Problem

GROWN, NO_ROOM, DECLINED = 1, 0, -1

Moments = TypeVar("Moments")


def with_undergrowth(moments: type[Moments]) -> type[Moments]:
    """Give moments the loop below."""
    moments.grow_below = grow_below  # type: ignore[attr-defined]
    return moments


def grow_below(self, team, problem, space, desk, nodes, origin, floor):  # noqa: ARG001
    """Grow all that is below leaf `floor`, the newest leaf first; return GROWN or NO_ROOM.

    origin: rows of a copse, or [0]. The problem has these moments.
    """
    me, top, turn = team.thread, floor, np.int64(0)
    while top >= floor and not cancelled(team):
        own = space.leaves[me, top]
        if own.feature == OPEN and own.n_rows <= N_LANES:
            few = problem.criterion.grow_few(team, problem, space, desk, nodes, origin, top)
            top += few - 1
            if few == 0:
                continue
            own = space.leaves[me, top]
        if own.feature == OPEN:
            search_leaf(team, problem, space, desk, nodes, top, turn, 0, _search_line)
            adopt(problem.rules, space.found[turn, :, 0], own)
        if own.feature == CLOSED:
            close(nodes, own.node, space.records[own.side, own.begin : own.end], origin)
            top -= 1
            continue
        if not write_leaf(team, problem, space, desk, nodes, top):
            return NO_ROOM
        divide(team, problem, space, nodes, top + 1, top, space.told[0], True)
        top += 1
    return GROWN


@inlined_part
def _search_line(whole, number, column, node, desk, found):
    """Search one feature of few rows along a line, if it has values and their codes are narrow.

    A random cut needs no line: codes may be wide. A criterion that looks at rows itself needs
    them by code.
    """
    about, scratch, drawn = whole.codes.features[number], desk.scratch, whole.rules.random_cut
    if about.n_categories > 0 or scratch.lines.shape[0] > 0 or (about.place < 0 and not drawn):
        return search_codes(whole, number, column, node, desk, found)
    problem = Problem(whole.codes, whole.moments, whole.criterion.toward(number), whole.rules)
    if drawn:
        if about.place < 0:
            is_constant = judge_wide(problem, number, node, scratch, found)
        else:
            is_constant = judge_drawn(problem, number, node, scratch, found)
        if is_constant < 0:
            return search_codes(whole, number, column, node, desk, found)
        return is_constant
    if line_up(problem.codes.columns[about.place], node.rows, scratch.line):
        return np.int64(1)
    judge_line(problem, number, node.rows.n_rows, node, scratch, found)
    return np.int64(0)
