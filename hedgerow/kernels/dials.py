"""Dials: the numbers of a problem that change from one tree of boosting to the next.

A tree is then an errand: its arrays are those of the tree before, and are not unpacked again.
"""

import numpy as np

from hedgerow.kernels.calling import helped_kernel
from hedgerow.kernels.grower import grow_root
from hedgerow.kernels.jit import part
from hedgerow.kernels.workspace import Problem, Rules

# n_rows: of the tree, -1 of a leaf that was put aside; max_leaves, min_weight, seed: of the Rules;
# g_unit, h_unit: of the criterion; smooth, least: of the moments.
DIALS = np.dtype(
    [(name, "i8") for name in ("n_rows", "max_leaves", "min_weight", "seed", "least")]
    + [(name, "f8") for name in ("g_unit", "h_unit", "smooth")],
    align=True,
)


@helped_kernel
def grow_by(team, problem, dials, space, view, desks, nodes):
    """Grow a tree as `grow` does, by the numbers of dials[0] in the place of the problem's.

    dials  DIALS [1]   read
    """
    dial = dials[0]
    grow_root(team, _turned(problem, dial), space, view, desks, nodes, dial.n_rows)


@part
def _turned(problem, dial):
    """Return the problem with the numbers of a dial."""
    rules = Rules(
        dial.max_leaves,
        problem.rules.max_depth,
        problem.rules.min_split_rows,
        problem.rules.min_rows,
        dial.min_weight,
        problem.rules.min_gain,
        problem.rules.n_candidates,
        problem.rules.random_cut,
        problem.rules.by_lot,
        dial.seed,
        problem.rules.order,
        problem.rules.small,
        problem.rules.fine_rows,
        problem.rules.menu,
    )
    return Problem(
        problem.codes, problem.moments.turned(dial), problem.criterion.turned(dial), rules
    )
