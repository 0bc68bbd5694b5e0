"""Finer bins of small nodes against their definition, and what must not depend on anything else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.kernels.codes import BIN
from hedgerow.kernels.levels import fill_levels, find_levels
from hedgerow.kernels.team import hired
from hedgerow.trees import grower as library
from hedgerow.trees.grower import grow
from hedgerow.trees.rules import GrowthRules
from tests.oracle import grow as oracle
from tests.oracle.levels import refined
from tests.strategies import (
    Problem,
    data_of,
    judge_of,
    oracle_rules,
    seeded_problem,
    table_of,
    team_of_one,
)

pytestmark = pytest.mark.usefixtures("many_hands")

FULL = GrowthRules(min_gain=-math.inf)
SMALL = 20  # rows of a node that has finer bins, here


@pytest.fixture(autouse=True)
def _small_nodes(monkeypatch):
    monkeypatch.setattr(library, "FINE_ROWS", SMALL)
    monkeypatch.setattr(library, "MOST_FINE_ROWS", SMALL)


def table_with_levels(problem: Problem, max_bins: int, n_levels: int):
    return table_of(problem, max_bins, most_codes=0, n_levels=n_levels)


def assert_equals_oracle(
    problem: Problem, rules: GrowthRules, max_bins: int, n_levels: int, small: int = SMALL
):
    criterion = "gini" if problem.n_classes else "squared_error"
    table, judge = table_with_levels(problem, max_bins, n_levels), judge_of(problem, criterion)
    data = data_of(problem, table, judge, criterion)

    def of_small(rows):
        if len(rows) > small:
            return None
        weights = [round(weight) for weight in problem.weights]
        columns = zip(data.features, problem.columns, strict=True)
        finer = [refined(each, column, weights, rows, n_levels) for each, column in columns]
        return data._replace(features=finer)

    expected = oracle.grow(data, problem.targets, oracle_rules(rules, judge), None, of_small)
    grown = grow(table, judge, rules, team_of_one())
    assert grown.n_rows.tolist() == [len(rows) for rows in expected.rows]
    assert grown.left.tolist() == expected.left
    for node, split in enumerate(expected.splits):
        if split is None:
            assert (grown.leaf_of_row[expected.rows[node]] == node).all()
        else:
            assert grown.feature[node] == split.feature
            assert split.threshold is None or grown.threshold[node] == split.threshold
            assert grown.missing_left[node] == split.missing_left


@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize(("max_bins", "n_levels"), [(3, 2), (6, 4), (12, 8), (30, 4)])
def test_a_tree_with_finer_bins_is_that_of_its_definition(max_bins, n_levels, n_classes):
    for seed in range(4):
        problem = seeded_problem(seed, 60, n_classes, "wmfwc"[seed:] + "w", most=1 + seed)
        assert_equals_oracle(problem, FULL, max_bins, n_levels)


@pytest.mark.parametrize("n_candidates", [1, 2])
def test_what_has_one_bin_may_have_several_pieces_of_it(n_candidates):
    for seed in range(6):
        rules = GrowthRules(min_gain=-math.inf, n_candidates=n_candidates, seed=seed)
        assert_equals_oracle(seeded_problem(seed, 60, 0, "wwmw"), rules, 3, 16)


def test_an_offer_that_varies_from_level_to_level_is_of_all_features():
    rules = GrowthRules(min_gain=-math.inf, n_level_features=2, seed=3)
    assert_equals_oracle(seeded_problem(5, 60, 0, "wwmw"), rules, 4, 8)


def test_features_that_vary_by_pieces_only_are_not_on_offer_to_larger_nodes():
    # With two bins most features are constant in most nodes, until there are pieces.
    for seed in range(2):
        assert_equals_oracle(seeded_problem(seed, 100, 0, "www"), FULL, 2, 16)


def test_a_node_with_finer_bins_has_no_histogram(monkeypatch):
    # Alone, a thread would make histograms of nodes of 384 rows; put aside, they have none.
    monkeypatch.setattr(library, "FINE_ROWS", 450)
    monkeypatch.setattr(library, "_SMALL", 470)
    problem = seeded_problem(1, 1000, 0, "wwm")
    # Bins have 50 rows, so that the second step is in the middle of one.
    rows = zip(problem.columns[0], problem.targets, strict=True)
    targets = tuple(y + 9.0 * (x >= 400) + 5.0 * (x >= 225) for x, y in rows)
    problem = problem._replace(targets=targets)
    alone, aside = (grown_by_threads(n_threads, problem, FULL) for n_threads in (1, 2))
    assert alone.threshold[:2].tolist() == [399.5, 224.5]
    assert alone.threshold.tobytes() == aside.threshold.tobytes()


def test_nodes_without_histograms_have_finer_bins_sooner(monkeypatch):
    # Of 600 rows: more than a line has.
    monkeypatch.setattr(library, "MOST_FINE_ROWS", 600)
    rules = GrowthRules(min_gain=-math.inf, n_candidates=1, seed=1)
    for n_classes in (0, 2):
        problem = seeded_problem(3, 700, n_classes, "wwwww")
        assert_equals_oracle(problem, rules, 20, 4, small=600)


def test_finer_bins_part_what_bins_cannot():
    x = tuple(float(i) for i in range(200))
    steps = Problem((x,), tuple(float(i // 5) for i in range(200)), (1.0,) * 200)
    judge = judge_of(steps, "squared_error")
    coarse = grow(table_of(steps, 16, most_codes=0), judge, FULL, team_of_one())
    fine = grow(table_with_levels(steps, 16, 8), judge, FULL, team_of_one())
    assert len(coarse.left) == 2 * 16 - 1
    assert len(fine.left) > 2 * 30


@pytest.mark.parametrize("n_candidates", [None, 2])
def test_threads_and_the_order_of_rows_make_no_difference(n_candidates, monkeypatch):
    monkeypatch.setattr(library, "_SMALL", 70)
    problem = seeded_problem(8, 400, 0, "wwmfw")
    rules = GrowthRules(min_gain=-math.inf, n_candidates=n_candidates, seed=2)
    order = np.random.default_rng(0).permutation(400).tolist()
    trees = []
    for own, n_threads in ((problem, 1), (problem, 2), (problem, 3), (problem.taken(order), 2)):
        trees.append(grown_by_threads(n_threads, own, rules))
    for tree in trees[1:]:
        assert tree.threshold.tobytes() == trees[0].threshold.tobytes()
        assert tree.feature.tolist() == trees[0].feature.tolist()
        assert tree.n_rows.tolist() == trees[0].n_rows.tolist()


def grown_by_threads(n_threads, problem, rules):
    judge = judge_of(problem, "squared_error")
    if n_threads == 1:
        return grow(table_with_levels(problem, 20, 8), judge, rules, team_of_one())
    with hired(n_threads, 1e9) as team:
        assert team.n_threads == n_threads
        return grow(table_with_levels(problem, 20, 8), judge, rules, team)


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=60),
    st.sampled_from([2, 4, 16]),
)
def test_a_level_holds_the_values_between_the_ends(numbers, n_levels):
    values = np.array(numbers, float)
    ordered = np.sort(values)
    places = -(-np.arange(1, n_levels + 1) * len(values) // n_levels) - 1
    ends, lane = ordered[places], np.empty(len(values), np.uint8)
    find_levels(values, np.zeros(len(values), np.uint8), ends[None, :], lane)
    levels = np.zeros(n_levels, BIN).view(np.recarray)
    fill_levels(ordered, ends, levels)
    for x, own in zip(values, lane.tolist(), strict=True):
        assert own == sum(end < x for end in ends[:-1])
        assert levels[own].low <= x <= levels[own].high
    for level in range(n_levels):
        later = values[lane >= level]
        assert levels[level].low == (later.min() if len(later) else math.inf)
        assert levels[level].high == values[lane <= level].max()
