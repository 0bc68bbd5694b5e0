"""Seedlings: small nodes of Gini trees, which grow as all nodes do by the definition."""

import math

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_array_equal

from hedgerow.kernels.lanes import MOST_CLASSES, N_LANES
from hedgerow.trees.grower import Grower, grow
from hedgerow.trees.rules import GrowthRules
from tests.kernels.test_grow import assert_equals_oracle
from tests.strategies import Problem, judge_of, table_of, team_of_one

N_ROWS = 90 if config.DISABLE_JIT else N_LANES + 200  # all lanes are used
FULL = GrowthRules(min_gain=-math.inf)
SOME = GrowthRules(n_candidates=2, seed=5)
HEAVY = GrowthRules(min_gain=-math.inf, min_leaf_weight=7.0, n_candidates=3, seed=1)
SHALLOW = GrowthRules(max_depth=6, min_split_rows=9, n_candidates=1, seed=2)
GAINFUL = GrowthRules(min_gain=0.8, n_candidates=2, seed=9)
RANDOM = GrowthRules(random_cut=True, n_candidates=2, seed=3)
RANDOM_HEAVY = GrowthRules(random_cut=True, min_leaf_weight=5.0, seed=4)
LOTS = GrowthRules(by_lot=True, seed=6)
RANDOM_LOTS = GrowthRules(random_cut=True, by_lot=True, seed=7)
ALL = {
    "full": FULL,
    "some": SOME,
    "heavy": HEAVY,
    "shallow": SHALLOW,
    "gainful": GAINFUL,
    "random": RANDOM,
    "random, heavy": RANDOM_HEAVY,
    "lots": LOTS,
    "random, lots": RANDOM_LOTS,
}


def problem_of(seed, n_classes, n_rows=N_ROWS, n_features=5, most=3, gaps=0.0):
    """Return a problem of values, some features of two values; gaps: share of missing ones."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 200, (n_features, n_rows)).astype(float)
    X[-2:] = X[-2:] > 120
    X[1] = np.minimum(X[1], 30)
    noise = random.integers(0, 90, n_rows)
    targets = (X[0] + X[1] + noise).astype(int) // 7 % n_classes
    is_gap = random.random(X.shape) < gaps
    columns = tuple(
        tuple(None if gap else x for gap, x in zip(holes, column, strict=True))
        for holes, column in zip(is_gap.tolist(), X.tolist(), strict=True)
    )
    weights = random.integers(1, most + 1, n_rows).astype(float)
    return Problem(columns, tuple(targets.tolist()), tuple(weights.tolist()), n_classes)


@pytest.mark.parametrize("rules", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("n_classes", [2, 3, MOST_CLASSES])
def test_a_tree_of_seedlings_is_that_of_its_definition(n_classes, rules):
    assert_equals_oracle(problem_of(n_classes, n_classes), "gini", rules)


@pytest.mark.parametrize("rules", [SOME, RANDOM], ids=["some", "random"])
def test_a_node_with_missing_values_is_left_to_others(rules):
    assert_equals_oracle(problem_of(7, 3, gaps=0.01), "gini", rules)


@pytest.mark.parametrize("rules", [SOME, RANDOM], ids=["some", "random"])
def test_nodes_of_many_classes_become_seedlings_once_they_have_few(rules):
    assert_equals_oracle(problem_of(8, 3 * MOST_CLASSES), "gini", rules)


@pytest.mark.parametrize("rules", [SOME, RANDOM], ids=["some", "random"])
def test_heavy_nodes_become_seedlings_once_they_are_light(rules):
    assert_equals_oracle(problem_of(9, 2, most=4000), "gini", rules)


@pytest.mark.parametrize("rules", [SOME, RANDOM], ids=["some", "random"])
def test_a_random_cut_between_infinite_values_is_left_to_others(rules):
    problem = problem_of(10, 2)
    ends = (math.inf, -math.inf, *problem.columns[0][2:])
    assert_equals_oracle(problem._replace(columns=(ends, *problem.columns[1:])), "gini", rules)


@pytest.mark.parametrize("n_features", [62, 63, 70])
def test_more_features_than_a_word_has_bits_do_no_harm(n_features):
    problem = problem_of(11, 2, n_rows=60, n_features=n_features)
    assert_equals_oracle(problem, "gini", GrowthRules(n_candidates=8, seed=1))


def test_a_tree_is_the_same_whether_or_not_leaves_of_rows_are_kept():
    problem = problem_of(12, 3)
    table, judge = table_of(problem), judge_of(problem, "gini")
    whole = grow(table, judge, SOME, team_of_one())

    def fill(records):
        records[:] = judge.records

    other = Grower(table, judge, SOME, team_of_one(), keeps_rows=False).grown(judge, fill, SOME)
    assert len(other.leaf_of_row) == 0
    for name in set(whole._fields) - {"leaf_of_row"}:
        assert_array_equal(getattr(other, name), getattr(whole, name), err_msg=name)
