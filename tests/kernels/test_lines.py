"""Lines: the rows of a small node in the order of their codes, and copses of larger ones."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from numpy.testing import assert_array_equal

from hedgerow.kernels.jit import kernel
from hedgerow.kernels.lines import MOST, Line, line_up, lines_for, missing_at_end, move_to_front
from hedgerow.kernels.ranks import FEW, rank
from hedgerow.kernels.tally import Rows
from hedgerow.trees import grower as library
from hedgerow.trees.grower import grow
from hedgerow.trees.rules import GrowthRules
from tests.kernels.test_grow import assert_equals_oracle
from tests.strategies import judge_of, seeded_problem, table_of, team_of_one

FULL = GrowthRules(min_gain=-math.inf)
RANDOM = GrowthRules(min_gain=-math.inf, random_cut=True, n_candidates=2, seed=3)
ROOMY = GrowthRules(min_gain=-math.inf, min_leaf_rows=4, min_leaf_weight=9.0, n_candidates=2)
LOTS = GrowthRules(min_gain=-math.inf, by_lot=True, seed=4)
NAMES = ["full", "random", "roomy", "lots"]
N_ROWS = 80 if config.DISABLE_JIT else 700  # more than stand in a line


@kernel
def ranked(keys, n):
    rank(keys, n)


@kernel
def lined_up(column, rows, line):
    return line_up(column, rows, line)


@kernel
def missing_first(line, n):
    n_missing = missing_at_end(line, n)
    move_to_front(line, n, n_missing)
    return n_missing


def own_line():
    return Line(*(array[0] for array in lines_for(1)))


@given(st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1, max_size=FEW, unique=True))
def test_a_rank_is_how_many_are_smaller(numbers):
    keys = np.full((2, FEW), -7, np.int16)
    keys[0, : len(numbers)] = numbers
    ranked(keys, len(numbers))
    assert keys[1, : len(numbers)].tolist() == [sum(x < y for x in numbers) for y in numbers]


@given(
    st.integers(1, MOST), st.sampled_from([1, 2, 40, 256]), st.integers(0, 9), st.integers(0, 2**31)
)
def test_rows_of_any_segments_stand_in_the_order_of_their_codes(n, n_codes, end, seed):
    random = np.random.default_rng(seed)
    column = random.integers(0, n_codes, 2 * n).astype(np.uint8)
    records = random.permutation(2 * n)[:n] | (random.integers(0, 2**20, n) << 32)
    middle = min(end, n)
    line, bounds = own_line(), np.array([[0, middle], [middle, n]])
    is_constant = lined_up(column, Rows(records, bounds, n), line)
    codes = column[records & 0xFFFFFFFF]
    assert is_constant == (len(set(codes.tolist())) == 1)
    if not is_constant:
        assert_array_equal(line.codes[1, :n], np.sort(codes))
        assert_array_equal(column[line.records[1, :n] & 0xFFFFFFFF], line.codes[1, :n])
        assert_array_equal(np.sort(line.records[1, :n]), np.sort(records))


@given(st.lists(st.sampled_from([0, 3, 254, 255]), min_size=1, max_size=60))
def test_missing_rows_move_from_the_end_of_a_line_to_its_beginning(codes):
    line, codes = own_line(), sorted(codes)
    line.codes[1, : len(codes)] = codes
    line.records[1, : len(codes)] = range(len(codes))
    n_missing = missing_first(line, len(codes))
    values = [code for code in codes if code != 255]
    assert n_missing == len(codes) - len(values)
    assert line.codes[1, : len(codes)].tolist() == [255] * n_missing + values
    order = [*range(len(values), len(codes)), *range(len(values))]
    assert line.records[1, : len(codes)].tolist() == order


@pytest.mark.parametrize("rules", [FULL, RANDOM, ROOMY, LOTS], ids=NAMES)
@pytest.mark.parametrize(("n_classes", "criterion"), [(2, "gini"), (4, "gini"), (3, "entropy")])
def test_a_tree_whose_nodes_are_larger_and_smaller_than_a_line_is_that_of_its_definition(
    n_classes, criterion, rules
):
    problem = seeded_problem(4, N_ROWS, n_classes, "fmmf", most=3)
    assert_equals_oracle(problem, criterion, rules)


@pytest.mark.parametrize("rules", [FULL, RANDOM, ROOMY, LOTS], ids=NAMES)
def test_a_tree_of_targets_is_too(rules):
    assert_equals_oracle(seeded_problem(6, N_ROWS, kinds="fmmf", most=3), "squared_error", rules)


@pytest.mark.parametrize("rules", [FULL, RANDOM, ROOMY, LOTS], ids=NAMES)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_tree_does_not_depend_on_what_is_copied(n_classes, rules, monkeypatch):
    problem = seeded_problem(9, N_ROWS, n_classes, "fmcwf", most=3)
    table = table_of(problem)
    judge = judge_of(problem, "gini" if n_classes else "squared_error")
    whole = grow(table, judge, rules, team_of_one())
    for n_rows in (0, 5, N_ROWS // 3):
        monkeypatch.setattr(library, "_COPSE", n_rows)
        other = grow(table, judge, rules, team_of_one())
        for name in whole._fields:
            assert_array_equal(getattr(other, name), getattr(whole, name), err_msg=name)


@pytest.mark.parametrize("rules", [FULL, RANDOM, ROOMY, LOTS], ids=NAMES)
@pytest.mark.parametrize(("n_classes", "criterion"), [(0, "squared_error"), (3, "entropy")])
def test_a_tree_of_more_values_than_narrow_codes_is_that_of_its_definition(
    n_classes, criterion, rules
):
    problem = seeded_problem(8, N_ROWS // 2, n_classes, "wmw", most=2)
    gaps = np.random.default_rng(1).random(N_ROWS // 2) < 0.1
    gappy = tuple(None if gap else x for gap, x in zip(gaps, problem.columns[0], strict=True))
    problem = problem._replace(columns=(gappy, *problem.columns[1:]))
    assert_equals_oracle(problem, criterion, rules)
