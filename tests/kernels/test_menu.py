"""Features that are drawn for trees, levels and nodes, and groups that may meet: the definition."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.kernels.desks import desk_of, desks_for
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.menu import TREE
from hedgerow.kernels.random import chosen, mixed_bits
from hedgerow.kernels.search import _draw
from hedgerow.trees import grower as library
from hedgerow.trees.rules import GrowthRules
from tests.kernels.test_grow import assert_equals_oracle, assert_same
from tests.oracle import random as oracle
from tests.strategies import Problem, grown_by, growth_rules, problems, seeded_problem

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


@kernel
def drawn(desks, bits, offered, n_wanted, n_active):
    return _draw(desk_of(desks, 0), bits, offered, n_wanted, n_active)


def drawn_of(active, bits, offered, n_wanted):
    """Return the active features that are drawn from those on offer."""
    desks = desks_for(1, 9, 255, 1)
    desks.active[0, : len(active)] = active
    n_drawn = drawn(desks, bits, np.array(offered), n_wanted, len(active))
    after = desks.active[0, : len(active)].tolist()
    assert sorted(after) == sorted(active)
    assert not desks.marks.any()
    return set(after[len(active) - n_drawn :])


@given(bits=st.integers(-(2**63), 2**63 - 1), order=st.permutations([1, 2, 4, 5, 8]))
def test_what_a_node_draws_does_not_depend_on_what_is_known_to_be_constant(bits, order):
    everything = drawn_of([1, 2, 4, 5, 8], bits, [1, 2, 4, 5, 8], 3)
    assert len(everything) == 3
    for n_active in range(6):
        active = order[:n_active]
        assert drawn_of(active, bits, [1, 2, 4, 5, 8], 3) == everything & set(active)


def test_each_set_of_features_is_drawn_for_a_node_as_often_as_any_other():
    offered, n_sets = [0, 2, 3, 5, 6, 8], 15
    counts = {frozenset(pair): 0 for pair in combinations(offered, 2)}
    for seed in range(3000):
        counts[frozenset(drawn_of(offered, mixed_bits(seed, 7), offered, 2))] += 1
    expected = 3000 / n_sets
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < 36.1  # one in a thousand is above it, of 14 degrees of freedom


def test_features_that_are_constant_in_a_node_are_drawn_and_not_replaced():
    # The last column separates the classes; the second is as good as nothing.
    columns = (1.0,) * 8, (0.0, 1.0) * 4, (0.0,) * 4 + (1.0,) * 4
    problem = Problem(columns, (0,) * 4 + (1,) * 4, (1.0,) * 8, 2)
    n_last = 0
    for seed in range(600):
        rules = GrowthRules(min_gain=-math.inf, max_leaves=2, n_candidates=2, seed=seed)
        n_last += int(grown_by(1, problem, "gini", rules).feature[0] == 2)
    # In two of three draws it is there: 400, with a deviation below 12.
    assert abs(n_last - 400) < 50


def test_if_all_drawn_features_are_constant_others_are_drawn_alike():
    columns = ((1.0,) * 4, (0.0, 1.0) * 2, (2.0,) * 4, (0.0, 1.0) * 2, (None,) * 4)
    problem = Problem(columns, (0, 1) * 2, (1.0,) * 4, 2)
    n_first = 0
    for seed in range(600):
        rules = GrowthRules(max_leaves=2, n_candidates=1, seed=seed)
        feature = int(grown_by(1, problem, "gini", rules).feature[0])
        assert feature in (1, 3)
        n_first += feature == 1
    # Both are as likely: 300, with a deviation below 13.
    assert abs(n_first - 300) < 50
