"""Routes by codes end in the leaves that a walk ends in."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.kernels.criteria import SquaredError
from hedgerow.kernels.routes import Router
from hedgerow.kernels.targets import Targets
from hedgerow.kernels.team import hired
from hedgerow.kernels.workspace import N_NODES
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.rules import GrowthRules
from tests.estimators.tables import census
from tests.strategies import repeated_rows

N_ROWS = 500


def _leaf(codes, nodes, row):
    """Walk one row down a tree by its codes."""
    node = 0
    while nodes.table[node].left >= 0:
        split = nodes.table[node]
        about = codes.features[split.feature]
        column = codes.columns[about.place] if about.place >= 0 else codes.wide[-1 - about.place]
        code = int(column[row])
        if code == about.missing:
            left = split.missing_left
        elif about.n_categories > 0:
            left = int(nodes.words[split.category_start + code // 64]) >> (code % 64) & 1
        else:
            left = code <= split.cut
        node = split.left if left else split.left + 1
    return node


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_own", [N_ROWS, 150, 1])
@pytest.mark.parametrize(("max_leaves", "max_bins"), [(2, 255), (20, 255), (20, None), (400, None)])
def test_every_row_gets_the_value_of_the_leaf_that_a_walk_finds(
    n_threads, n_own, max_leaves, max_bins
):
    problem = census(N_ROWS, seed=2)
    steps = np.rint(1000 * problem.numbers).astype(np.int64)
    moments = Targets(steps, np.ones(1, np.int64), 0, steps)
    own = np.sort(np.random.default_rng(0).permutation(N_ROWS)[:n_own])
    judge = Judge(moments, SquaredError(0), repeated_rows(np.arange(N_ROWS)), 1.0, 1.0)

    def fill(records):
        records[:] = repeated_rows(own)

    with hired(n_threads, 1e9) as team:
        table = bin_table(read_table(problem.X), Recipe(max_bins), team)
        grower = Grower(table, judge, GrowthRules(max_leaves=max_leaves), team)
        nodes = grower.grow(judge, fill, 0, n_own)
        n_nodes = int(nodes.counters[N_NODES])
        values, raw = np.arange(n_nodes) + 0.5, np.ones(N_ROWS)
        Router(team).add(table.codes, nodes, values, raw)
        walked = [_leaf(table.codes, nodes, row) for row in range(N_ROWS)]
    assert n_nodes == 1 if n_own == 1 else n_nodes > 2 or max_leaves == 2
    assert_array_equal(raw, 1.0 + values[walked])
    known = np.flatnonzero(nodes.leaf_of_row >= 0)
    assert_array_equal(known, own)  # rows of an earlier tree are forgotten
    assert_array_equal(nodes.leaf_of_row[own], np.array(walked)[own])
