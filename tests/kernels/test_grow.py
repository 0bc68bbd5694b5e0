"""The grower against its definition, and against itself with other threads, rows and paths."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.trees.grower import Grown, grow
from hedgerow.trees.rules import GrowthRules
from tests import strategies as problems_of
from tests.oracle import grow as oracle
from tests.strategies import (
    CLASS_CRITERIA,
    Problem,
    data_of,
    grown_by,
    growth_rules,
    judge_of,
    oracle_rules,
    problems,
    real_weights,
    table_of,
    team_of_one,
    whole_weights,
)

FULL = GrowthRules(min_gain=-math.inf)


def categories_of(grown: Grown, node: int, n_categories: int) -> frozenset[int]:
    start = int(grown.category_start[node])
    words = grown.category_words
    return frozenset(
        code for code in range(n_categories) if int(words[start + code // 64]) >> code % 64 & 1
    )


def assert_equals_oracle(problem: Problem, criterion: str, rules: GrowthRules, max_bins=None):
    table, judge = table_of(problem, max_bins), judge_of(problem, criterion)
    grown = grow(table, judge, rules, team_of_one())
    data = data_of(problem, table, judge, criterion)
    expected = oracle.grow(data, problem.targets, oracle_rules(rules, judge))
    assert grown.left.tolist() == expected.left
    assert grown.right.tolist() == expected.right
    assert grown.sums.tolist() == [list(sums) for sums in expected.sums]
    assert grown.n_rows.tolist() == [len(rows) for rows in expected.rows]
    for node, split in enumerate(expected.splits):
        if split is None:
            assert grown.feature[node] == -1
            assert (grown.leaf_of_row[expected.rows[node]] == node).all()
            continue
        assert grown.feature[node] == split.feature
        assert grown.missing_left[node] == split.missing_left
        if split.threshold is None:
            n_categories = data.features[split.feature].n_categories
            assert categories_of(grown, node, n_categories) == split.categories
            assert np.isnan(grown.threshold[node])
        else:
            assert grown.category_start[node] == -1
            assert grown.threshold[node] == split.threshold


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@given(problem=problems(n_classes=2, weights=whole_weights()), rules=growth_rules(limited=False))
def test_a_tree_of_two_classes_is_that_of_its_definition(criterion, problem, rules):
    assert_equals_oracle(problem, criterion, rules)


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@given(problem=problems(n_classes=3, weights=whole_weights()), rules=growth_rules(limited=False))
def test_a_tree_of_three_classes_is_that_of_its_definition(criterion, problem, rules):
    assert_equals_oracle(problem, criterion, rules)


@given(problem=problems(weights=whole_weights()), rules=growth_rules(limited=False))
def test_a_tree_of_targets_is_that_of_its_definition(problem, rules):
    assert_equals_oracle(problem, "squared_error", rules)


@given(problem=problems(n_classes=3), rules=growth_rules(limited=True))
def test_a_tree_of_few_leaves_is_that_of_its_definition(problem, rules):
    assert_equals_oracle(problem, "gini", rules)
