"""Gradient pairs: packed sums, bins searched, and trees grown by them, against definitions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.kernels.bins import search_bins
from hedgerow.kernels.bounds import Bounded
from hedgerow.kernels.counted import CountedNewton, GradientCounts
from hedgerow.kernels.desks import desk_of, desks_for
from hedgerow.kernels.histogram import build
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.menu import Menu
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.newton import Newton
from hedgerow.kernels.search import forget
from hedgerow.kernels.split import SPLIT, Node
from hedgerow.kernels.tally import Rows
from hedgerow.kernels.team import hired
from hedgerow.kernels.workspace import Problem as KernelProblem
from hedgerow.kernels.workspace import Rules
from hedgerow.trees.grower import Judge, grow
from hedgerow.trees.rules import GrowthRules
from tests.oracle import criteria
from tests.oracle import grow as oracle
from tests.oracle.split import Data, Limits, best_split, sums_of
from tests.strategies import (
    Problem,
    _feature_of,
    growth_rules,
    judge_of,
    oracle_rules,
    problems,
    seeded_problem,
    table_of,
    team_of_one,
    whole_weights,
)

pytestmark = pytest.mark.usefixtures("many_hands")

G_UNIT, H_UNIT, SMOOTH, RARE = 0.125, 0.0625, 3.0, 30_000


@st.composite
def pairs(draw, weights=None):
    """Draw a problem whose rows have a gradient and a Hessian in whole steps."""
    problem = draw(problems(weights=weights))
    n_rows = len(problem.weights)
    g = draw(st.lists(st.integers(-(2**15), 2**15 - 1), min_size=n_rows, max_size=n_rows))
    h = draw(st.lists(st.integers(1, 2**16 - 1), min_size=n_rows, max_size=n_rows))
    return problem, np.array(g), np.array(h)


def pair_judge(problem: Problem, g, h, l1: float, l2: float, bits=0, signs=None) -> Judge:
    weights = np.array(problem.weights, np.int64)
    mask = -1 if (weights > 1).any() else 0
    known = weights if mask else np.ones(1, np.int64)
    moments = GradientCounts(known, mask, SMOOTH, bits, RARE) if bits else None
    moments = moments or GradientPairs(known, mask, SMOOTH, RARE)
    criterion = CountedNewton(G_UNIT, H_UNIT, l1, l2, bits) if bits else None
    criterion = criterion or Newton(G_UNIT, H_UNIT, l1, l2)
    if signs is not None:
        criterion = Bounded(criterion, np.array(signs), 0, -math.inf, math.inf)
    records = (g.astype(np.int64) << 48) | (h.astype(np.int64) << 32) | np.arange(len(g))
    return Judge(moments, criterion, records, H_UNIT, 1.0)


def pair_data(problem: Problem, table, g, h, l1: float, l2: float, signs=None) -> Data:
    weights = [int(w) for w in problem.weights]
    rows = [(w * int(a), w * int(b), 1) for w, a, b in zip(weights, g, h, strict=True)]
    features = tuple(
        _feature_of(column, table, number) for number, column in enumerate(problem.columns)
    )
    newton = criteria.Newton(G_UNIT, H_UNIT, l1, l2, SMOOTH, RARE)
    return Data(features, rows, newton if signs is None else criteria.Bounded(newton, signs))


def cells_of(sums, bits):
    """Return the sums (G, H, n) as the library keeps them."""
    G, H, n = (int(number) for number in sums)
    return [G, (H << bits) + n] if bits else [(G << 32) + H]


@pytest.mark.parametrize("penalties", [(0.0, 0.0), (0.0, 1.0), (700.0, 3.5)])
@given(drawn=pairs() | pairs(whole_weights()), rules=growth_rules())
def test_a_tree_of_pairs_is_that_of_its_definition(penalties, drawn, rules):
    problem, g, h = drawn
    rules = replace(rules, min_leaf_rows=1)  # rows are not counted
    table, judge = table_of(problem), pair_judge(*drawn, *penalties)
    data = pair_data(problem, table, g, h, *penalties)
    assert_tree_equals_oracle(table, judge, data, rules)


@pytest.mark.parametrize("bits", [4, 30])
@given(drawn=pairs() | pairs(whole_weights()), rules=growth_rules())
def test_a_tree_of_counted_pairs_is_that_of_its_definition(bits, drawn, rules):
    problem, g, h = drawn
    bits += 1  # up to 16 rows
    table, judge = table_of(problem), pair_judge(*drawn, 0.5, 1.0, bits)
    data = pair_data(problem, table, g, h, 0.5, 1.0)
    assert_tree_equals_oracle(table, judge, data, rules, bits)


@pytest.mark.parametrize("bits", [0, 20])
@given(
    drawn=pairs() | pairs(whole_weights()),
    rules=growth_rules(),
    signs=st.lists(st.integers(-1, 1), min_size=3, max_size=3),
)
def test_a_monotone_tree_is_that_of_its_definition(bits, drawn, rules, signs):
    problem, g, h = drawn
    rules = rules if bits else replace(rules, min_leaf_rows=1)
    table, judge = table_of(problem), pair_judge(*drawn, 0.5, 1.0, bits, signs)
    data = pair_data(problem, table, g, h, 0.5, 1.0, signs)
    assert_tree_equals_oracle(table, judge, data, rules, bits)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize(
    "rules", [GrowthRules(), GrowthRules(max_leaves=9), GrowthRules(max_leaves=9, n_candidates=6)]
)
def test_a_tree_of_features_that_share_columns_is_that_of_its_definition(n_threads, rules):
    problem, rng = seeded_problem(0, 150, kinds="fcmffcffcf"), np.random.default_rng(1)
    g, h = rng.integers(-(2**15), 2**15, 150), rng.integers(1, 2**16, 150)
    table, judge = table_of(problem, 255), pair_judge(problem, g, h, 0.0, 1.0)
    assert sorted(table.codes.features.column) == [0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    data = pair_data(problem, table, g, h, 0.0, 1.0)
    with hired(n_threads, 1e9) as team:
        assert_tree_equals_oracle(table, judge, data, rules, team=team)


def assert_tree_equals_oracle(table, judge, data, rules, bits=0, team=None):
    grown = grow(table, judge, rules, team or team_of_one())
    expected = oracle.grow(data, range(len(data.moments)), oracle_rules(rules, judge))
    assert grown.left.tolist() == expected.left
    assert grown.sums.tolist() == [cells_of(sums, bits) for sums in expected.sums]
    for node, split in enumerate(expected.splits):
        assert grown.feature[node] == (-1 if split is None else split.feature)
        if split is not None:
            assert grown.missing_left[node] == split.missing_left
            if split.threshold is not None:
                assert grown.threshold[node] == split.threshold


# ------------------------------------------------------------------ bins of a histogram


@kernel
def searched(problem, records, total, desks, hist, found):
    desk = desk_of(desks, 0)
    build(problem.codes, records, problem.moments, hist, hist[:0])
    node = Node(total, np.int64(0), Rows(records, desk.bounds, np.int64(records.shape[0])))
    forget(found[0])
    n_cells = 256 * problem.moments.width()
    return search_bins(problem, np.int64(0), hist[:n_cells], node, desk.scratch, found[0])


def assert_bins_equal_oracle(problem: Problem, judge: Judge, data: Data, limits: Limits, bits=0):
    table, width = table_of(problem, most_codes=0), judge.moments.width()
    n_rows = len(problem.weights)
    none = np.zeros(0, np.int64)
    menu = Menu(np.arange(1), 1, none, none)
    rules = Rules(
        2,
        99,
        2,
        limits.min_rows,
        limits.min_weight,
        -math.inf,
        1,
        0,
        int(limits.by_lot),
        0,
        0,
        0,
        0,
        menu,
    )
    total = np.array(sums_of(data, range(n_rows)), np.int64)
    criterion = judge.criterion.at(judge.moments, total)
    if width < 3:
        total = np.array(cells_of(total, bits))
    whole = KernelProblem(table.codes, judge.moments, criterion, rules)
    found = np.zeros(1, SPLIT).view(np.recarray)
    hist = np.zeros(4 * 256 * width, np.int64)
    constant = searched(whole, judge.records, total, desks_for(1, 1, 255, width), hist, found)
    assert constant == (len(set(data.features[0].codes)) < 2)
    split = best_split(data, range(n_rows), [0], limits)
    assert (found.gain[0] > -math.inf) == (split is not None)
    if split is not None:
        assert (found.gain[0], found.margin[0]) == (split.gain, split.margin)
        assert found.threshold[0] == split.threshold
        assert found.missing_left[0] == split.missing_left
        codes = [255 if code is None else code for code in data.features[0].codes]
        left = {row for row, code in enumerate(codes) if code <= found.cut[0]}
        left |= {row for row, code in enumerate(codes) if code == 255 and found.missing_left[0]}
        missing_right = {r for r, c in enumerate(codes) if c == 255 and not found.missing_left[0]}
        assert left - missing_right == split.left


def is_numeric(problem: Problem) -> bool:
    return not any(isinstance(x, str) for x in problem.columns[0])


LIMITS = st.builds(Limits, st.just(1), st.integers(1, 200_000), st.just(False))


@given(drawn=pairs() | pairs(whole_weights()), limits=LIMITS)
def test_the_best_cut_of_the_bins_of_pairs_is_that_of_its_definition(drawn, limits):
    problem, g, h = drawn
    if is_numeric(problem):
        table = table_of(problem)
        judge, data = pair_judge(problem, g, h, 0.5, 1.0), pair_data(problem, table, g, h, 0.5, 1.0)
        assert_bins_equal_oracle(problem, judge, data, limits)


@pytest.mark.parametrize("bits", [0, 20])
@given(drawn=pairs(), limits=LIMITS, sign=st.sampled_from([-1, 1]), least=st.integers(1, 3))
def test_the_best_cut_of_monotone_and_counted_bins_is_that_of_its_definition(
    bits, drawn, limits, sign, least
):
    problem, g, h = drawn
    if is_numeric(problem):
        limits = limits._replace(min_rows=least if bits else 1)
        judge = pair_judge(problem, g, h, 0.5, 1.0, bits, [sign])
        judge = judge._replace(criterion=judge.criterion.toward(0))
        data = pair_data(problem, table_of(problem), g, h, 0.5, 1.0, [sign])
        assert_bins_equal_oracle(problem, judge, data, limits, bits)


@given(problem=problems(weights=whole_weights()), min_rows=st.integers(1, 3))
def test_the_best_cut_of_the_bins_of_targets_is_that_of_its_definition(problem, min_rows):
    if is_numeric(problem):
        judge, table = judge_of(problem, "squared_error"), table_of(problem)
        rows = [
            (int(p), int(w), 1)
            for p, w in zip(
                judge.moments.products, judge.row_weights(len(problem.targets)), strict=True
            )
        ]
        data = Data((_feature_of(problem.columns[0], table, 0),), rows, criteria.SquaredError())
        assert_bins_equal_oracle(problem, judge, data, Limits(min_rows, 1))


def test_rules_about_weights_are_about_hessians():
    problem = Problem(((0.0, 1.0, 2.0),), (0, 0, 0), (1.0, 1.0, 1.0))
    g, h = np.array([-9, 1, 8]), np.array([16, 16, 32])
    judge = pair_judge(problem, g, h, 0.0, 1.0)
    rules = GrowthRules(max_leaves=2, min_gain=-math.inf)
    for least, threshold in ((1.0, 0.5), (1.5, 1.5)):
        grown = grow(table_of(problem), judge, replace(rules, min_leaf_weight=least), team_of_one())
        assert grown.threshold[0] == threshold
    assert_array_equal(judge.moments.weights, [1])
