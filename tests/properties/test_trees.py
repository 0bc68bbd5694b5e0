"""Laws of trees: what adds up, and what makes no difference."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.trees.grown import Grown
from hedgerow.trees.rules import GrowthRules
from tests.strategies import (
    Problem,
    grown_by,
    growth_rules,
    problems,
    seeded_problem,
    whole_weights,
)

FULL = GrowthRules(min_gain=-math.inf)
# Strictly increasing, also after rounding, on the whole numbers that problems hold.
RESCALINGS = {
    "shifted": lambda x: x + 1000.0,
    "scaled": lambda x: x * 0.37,
    "cubed": lambda x: x**3,
    "squeezed": math.atan,
    "stretched": lambda x: math.exp(x / 4),
}


def criterion_of(problem: Problem) -> str:
    return "gini" if problem.n_classes else "squared_error"


def any_problem(**settings) -> st.SearchStrategy[Problem]:
    return problems(n_classes=3, **settings) | problems(**settings)


def is_categorical(column) -> bool:
    return any(isinstance(value, str) for value in column)


def partition_of(grown: Grown) -> tuple:
    """Return how the tree parts its rows, whatever its thresholds are."""
    return grown.left.tolist(), grown.feature.tolist(), grown.leaf_of_row.tolist()


@given(any_problem(weights=whole_weights()), growth_rules())
def test_a_parent_has_the_sums_of_its_children(problem, rules):
    grown = grown_by(1, problem, criterion_of(problem), rules)
    splits = np.flatnonzero(grown.left >= 0)
    children = grown.sums[grown.left[splits]] + grown.sums[grown.right[splits]]
    assert_array_equal(grown.sums[splits], children)
    rows = grown.n_rows[grown.left[splits]] + grown.n_rows[grown.right[splits]]
    assert_array_equal(grown.n_rows[splits], rows)


@given(any_problem(weights=whole_weights()), growth_rules())
def test_the_rows_of_a_leaf_are_those_it_counts(problem, rules):
    grown = grown_by(1, problem, criterion_of(problem), rules)
    leaves = np.flatnonzero(grown.left < 0)
    counts = np.bincount(grown.leaf_of_row, minlength=len(grown.left))
    assert_array_equal(counts[leaves], grown.n_rows[leaves])
    assert counts.sum() == len(problem.weights)


@given(any_problem(weights=whole_weights()), growth_rules())
def test_no_rule_is_broken(problem, rules):
    grown = grown_by(1, problem, criterion_of(problem), rules)
    leaves = grown.left < 0
    assert rules.max_leaves is None or leaves.sum() <= rules.max_leaves
    depth = np.zeros(len(grown.left), int)
    for node in np.flatnonzero(~leaves):
        depth[[grown.left[node], grown.right[node]]] = depth[node] + 1
    assert rules.max_depth is None or depth.max() <= rules.max_depth
    assert (grown.n_rows[~leaves] >= rules.min_split_rows).all()
    if len(leaves) > 1:
        assert grown.n_rows.min() >= rules.min_leaf_rows
        weights = grown.sums[:, :-1].sum(axis=1) if problem.n_classes else grown.sums[:, -2]
        assert weights.min() >= rules.min_leaf_weight


@pytest.mark.parametrize("rescaling", RESCALINGS)
def test_rescaled_inputs_part_the_rows_alike(rescaling):
    for seed in range(5):
        problem = seeded_problem(seed, 40, 3 * (seed % 2), "fmwc")
        columns = tuple(
            column
            if is_categorical(column)
            else tuple(None if x is None else RESCALINGS[rescaling](x) for x in column)
            for column in problem.columns
        )
        one, other = (
            grown_by(1, part, criterion_of(problem), FULL)
            for part in (problem, problem._replace(columns=columns))
        )
        assert partition_of(one) == partition_of(other), f"seed {seed}"


@given(problems(), st.sampled_from([1.0, -3.5, 1e9, -(2.0**45)]))
def test_shifted_targets_are_split_alike(problem, shift):
    # Targets are multiples of 1/4, so that they are still exact after the shift.
    shifted = problem._replace(targets=tuple(y + shift for y in problem.targets))
    one, other = (grown_by(1, part, "squared_error", FULL) for part in (problem, shifted))
    for name, first, second in zip(Grown._fields, one, other, strict=True):
        assert first.tobytes() == second.tobytes(), name


@given(problems(), st.integers(-100, 100))
def test_targets_times_a_power_of_two_are_split_alike(problem, exponent):
    scaled = problem._replace(targets=tuple(math.ldexp(y, exponent) for y in problem.targets))
    one, other = (grown_by(1, part, "squared_error", FULL) for part in (problem, scaled))
    for name, first, second in zip(Grown._fields, one, other, strict=True):
        assert first.tobytes() == second.tobytes(), name


@given(problems(), st.booleans())
def test_negated_targets_part_numeric_features_alike(problem, limited):
    columns = tuple(column for column in problem.columns if not is_categorical(column))
    problem = problem._replace(columns=(*columns, tuple(map(float, range(len(problem.targets))))))
    negated = problem._replace(targets=tuple(0.0 - y for y in problem.targets))
    rules = GrowthRules(min_gain=-math.inf, max_leaves=4 if limited else None)
    one, other = (grown_by(1, part, "squared_error", rules) for part in (problem, negated))
    assert partition_of(one) == partition_of(other)


@given(any_problem(), st.integers(2, 3))
def test_a_table_of_repeated_rows_makes_the_same_splits(problem, times):
    n_rows = len(problem.weights)
    one = grown_by(1, problem, criterion_of(problem), FULL)
    other = grown_by(1, problem.taken(list(range(n_rows)) * times), criterion_of(problem), FULL)
    for name in ("left", "right", "feature", "missing_left", "category_start", "category_words"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert_array_equal(one.threshold, other.threshold)
    assert_array_equal(times * one.n_rows, other.n_rows)
    assert_array_equal(np.tile(one.leaf_of_row, times), other.leaf_of_row)


@given(any_problem(weights=whole_weights()), st.randoms())
def test_any_order_of_the_rows_grows_the_same_tree(problem, shuffler):
    order = list(range(len(problem.weights)))
    shuffler.shuffle(order)
    one = grown_by(1, problem, criterion_of(problem), FULL)
    other = grown_by(1, problem.taken(order), criterion_of(problem), FULL)
    assert_array_equal(one.leaf_of_row[order], other.leaf_of_row)
    for name in set(Grown._fields) - {"leaf_of_row"}:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


@given(any_problem(), st.data())
def test_other_names_of_the_same_categories_in_the_same_order_make_no_difference(problem, data):
    longer = {name: name * data.draw(st.integers(1, 3)) for name in "abcdefghij"}
    columns = tuple(
        tuple(longer[x] if isinstance(x, str) else x for x in column) for column in problem.columns
    )
    one = grown_by(1, problem, criterion_of(problem), FULL)
    other = grown_by(1, problem._replace(columns=columns), criterion_of(problem), FULL)
    assert partition_of(one) == partition_of(other)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_a_constant_column_makes_no_difference(n_classes):
    for seed in range(5):
        problem = seeded_problem(seed, 40, n_classes)
        for constant in ((4.0,) * 40, (None,) * 40, ("a",) * 40):
            more = problem._replace(columns=(*problem.columns, constant))
            one, other = (
                grown_by(1, part, criterion_of(problem), FULL) for part in (problem, more)
            )
            for name, first, second in zip(Grown._fields, one, other, strict=True):
                assert first.tobytes() == second.tobytes(), f"{name}, seed {seed}"


def test_a_target_of_weight_three_is_three_targets():
    # In tenths two cuts gain the same; how these are rounded must not depend on the weights.
    problem = Problem(
        ((5.0, 4.0, 2.0, 1.0, 3.0, 0.0), (1.0, 2.0, 1.0, 0.0, 1.0, 1.0)),
        (0.3, 0.4, 0.1, 0.3, 0.5, 0.3),
        (4.0, 2.0, 5.0, 1.0, 4.0, 1.0),
    )
    repeats = np.repeat(range(6), np.array(problem.weights, int))
    many = problem.taken(repeats)._replace(weights=(1.0,) * len(repeats))
    rules = GrowthRules(min_gain=-math.inf, max_depth=2)
    one, other = (grown_by(1, part, "squared_error", rules) for part in (problem, many))
    assert one.feature.tolist() == other.feature.tolist()
    assert one.threshold.tobytes() == other.threshold.tobytes()
