"""Features that are drawn for trees, levels and nodes, and groups that may meet: the definition."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.kernels.menu import TREE
from hedgerow.kernels.random import chosen, mixed_bits
from hedgerow.trees import grower as library
from hedgerow.trees.rules import GrowthRules
from tests.kernels.test_grow import assert_equals_oracle, assert_same
from tests.oracle import random as oracle
from tests.strategies import grown_by, growth_rules, problems, seeded_problem

pytestmark = pytest.mark.usefixtures("many_hands")

FULL = GrowthRules(min_gain=-math.inf)
GROUPS = [(), ((0, 1), (1, 2)), ((0,), (1,), (2,)), ((0, 1, 2),), ((2, 0), (1,)), ((1,),)]


@st.composite
def menus(draw):
    counts = st.none() | st.integers(1, 3)
    return {
        "n_tree_features": draw(counts),
        "n_level_features": draw(counts),
        "n_candidates": draw(counts),
        "seed": draw(st.integers(-(2**63), 2**63 - 1)),
    }


def within(groups, n_features):
    """Return the groups without features that are not there."""
    kept = (tuple(number for number in group if number < n_features) for group in groups)
    return tuple(group for group in kept if group)


@given(
    problem=problems(n_classes=2),
    rules=growth_rules(),
    menu=menus(),
    groups=st.sampled_from(GROUPS),
)
def test_a_tree_of_drawn_and_grouped_features_is_that_of_its_definition(
    problem, rules, menu, groups
):
    groups = within(groups, len(problem.columns))
    assert_equals_oracle(problem, "gini", replace(rules, groups=groups, **menu))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "menu",
    [
        {"n_tree_features": 3},
        {"n_level_features": 2},
        {"n_tree_features": 4, "n_level_features": 3, "n_candidates": 2},
        {"n_level_features": 3, "groups": ((0, 1), (2, 3, 4), (4, 0))},
        {"groups": ((0, 1), (1, 2), (3,), (4, 3))},
    ],
    ids=str,
)
def test_a_large_tree_of_drawn_features_is_that_of_its_definition(menu, seed):
    problem = seeded_problem(seed, 40, 3, kinds="fmcmw")
    rules = replace(FULL, seed=seed, **menu)
    assert_equals_oracle(problem, "gini", rules)
    assert_equals_oracle(problem, "gini", replace(rules, max_leaves=9))


@pytest.mark.parametrize("max_leaves", [None, 30])
@pytest.mark.parametrize("menu", [{"n_candidates": 2}, {"n_level_features": 3}], ids=str)
def test_drawn_features_are_the_same_for_any_team_and_with_histograms(
    menu, max_leaves, monkeypatch
):
    problem = seeded_problem(1, 2000, 2, kinds="fmfmc")
    rules = replace(FULL, max_depth=7, max_leaves=max_leaves, seed=3, **menu)
    alone = grown_by(1, problem, "gini", rules, 20)
    assert len(set(alone.feature.tolist())) == 6
    for n_threads in (2, 3):
        assert_same(alone, grown_by(n_threads, problem, "gini", rules, 20))
    monkeypatch.setattr(library, "_HISTOGRAM_BYTES", 0)
    assert_same(alone, grown_by(1, problem, "gini", rules, 20))


@given(seed=st.integers(-(2**63), 2**63 - 1), n=st.integers(1, 30), data=st.data())
def test_the_features_of_a_tree_are_those_of_the_highest_draws(seed, n, data):
    n_wanted = data.draw(st.integers(1, n))
    state = mixed_bits(seed, TREE)
    draws = [oracle.uniform(oracle.mixed(state, number)) for number in range(n)]
    expected = sorted(range(n), key=lambda number: (-draws[number], -number))[:n_wanted]
    assert chosen(state, n, n_wanted).tolist() == sorted(expected)


def test_each_feature_is_drawn_as_often_as_any_other():
    counts = np.bincount(
        np.concatenate([chosen(mixed_bits(seed, TREE), 6, 2) for seed in range(3000)]), minlength=6
    )
    # 1000 are expected of each; the deviation of such a count is below 26.
    assert abs(counts - 1000).max() < 110
