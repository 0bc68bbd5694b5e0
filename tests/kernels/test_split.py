"""Splits: the best of all cuts, in exact arithmetic; of two classes, the best of all subsets."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from hedgerow.trees.grower import grow
from hedgerow.trees.grown import Grown
from hedgerow.trees.rules import GrowthRules
from tests.oracle.split import Limits, exact_gain, half_way, scans, subsets
from tests.strategies import (
    CLASS_CRITERIA,
    Problem,
    data_of,
    grown_by,
    judge_of,
    problems,
    seeded_problem,
    table_of,
    team_of_one,
    whole_weights,
)

STUMP = GrowthRules(max_leaves=2, min_gain=-math.inf)
ANY = Limits(min_rows=1, min_weight=1)
# Gains are differences of scores as large as the weights, each rounded to 53 bits.
ROUNDING = Fraction(1, 2**46)


def stump_and_data(problem: Problem, criterion: str):
    table, judge = table_of(problem), judge_of(problem, criterion)
    grown = grow(table, judge, STUMP, team_of_one())
    return grown, data_of(problem, table, judge, criterion)


def left_rows(grown: Grown) -> frozenset[int]:
    return frozenset(np.flatnonzero(grown.leaf_of_row == 1).tolist())


def assert_best_of(grown, data, ways, scale):
    """Check that no other way to part the root gains more than the stump."""
    rows = range(len(data.moments))
    if len(grown.left) == 1:
        assert not ways
        return
    best = max(exact_gain(data, rows, left) for left in ways)
    assert exact_gain(data, rows, left_rows(grown)) >= best - scale * ROUNDING


def weight_of(data):
    return sum(data.criterion.mass(row) for row in data.moments)


def score_scale(data):
    """Return how large scores are: their rounding errors are in proportion."""
    if data.criterion.mass(data.moments[0]) == sum(data.moments[0][:-1]):
        return 4 * weight_of(data)
    return sum(Fraction(row[0] ** 2, row[1]) for row in data.moments)


def cuts_of(data):
    rows = range(len(data.moments))
    return [
        cut.left
        for number in range(len(data.features))
        for scan in scans(data, rows, number, ANY)
        for cut in scan
    ]


def is_pure(problem):
    return len(set(problem.targets)) == 1


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@given(problem=problems(n_classes=2, weights=whole_weights()).filter(lambda p: not is_pure(p)))
def test_no_cut_of_two_classes_gains_more_than_the_one_that_is_found(criterion, problem):
    grown, data = stump_and_data(problem, criterion)
    assert_best_of(grown, data, cuts_of(data), score_scale(data))


@given(problem=problems(weights=whole_weights()).filter(lambda p: not is_pure(p)))
def test_no_cut_of_targets_gains_more_than_the_one_that_is_found(problem):
    grown, data = stump_and_data(problem, "squared_error")
    assert_best_of(grown, data, cuts_of(data), score_scale(data))


def category_problem(seed: int, n_classes: int) -> Problem:
    """Make one column of five categories and missing values, which count as a sixth."""
    problem = seeded_problem(seed, 24, n_classes, "c", most=3)
    return problem._replace(columns=((None, *"abcde", *problem.columns[0][6:]),))


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
def test_no_subset_of_categories_parts_two_classes_better(criterion):
    for seed in range(10):
        grown, data = stump_and_data(category_problem(seed, 2), criterion)
        ways = list(subsets(data.features[0], range(24)))
        assert len(ways) == 2**6 - 2
        assert_best_of(grown, data, ways, score_scale(data))


def test_no_subset_of_categories_parts_targets_better():
    for seed in range(10):
        grown, data = stump_and_data(category_problem(seed, 0), "squared_error")
        assert_best_of(grown, data, list(subsets(data.features[0], range(24))), score_scale(data))


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
def test_no_class_by_itself_orders_the_categories_of_three_classes_better(criterion):
    for seed in range(10):
        grown, data = stump_and_data(category_problem(seed, 3), criterion)
        assert_best_of(grown, data, cuts_of(data), score_scale(data))


def threshold_of(values, targets):
    problem = Problem((tuple(values),), tuple(targets), (1.0,) * len(values), 2)
    return float(grown_by(1, problem, "gini", STUMP).threshold[0])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1.0, 2.0),
        (1.0, math.nextafter(1.0, 2.0)),
        (-1.7e308, 1.7e308),
        (5e-324, 1e-323),
        (0.0, math.inf),
        (-math.inf, 0.0),
    ],
)
def test_a_threshold_is_half_way_between_the_neighbours_in_the_node(left, right):
    assert threshold_of([left, right, left], [0, 1, 0]) == half_way(left, right)


def test_a_threshold_looks_at_the_values_of_the_node_and_of_no_other():
    # The root parts x1 at 0.5; on its right there are only 0 and 10 of x0, not 4.
    columns = (0.0, 4.0, 0.0, 10.0), (0.0, 0.0, 1.0, 1.0)
    problem = Problem(columns, (0, 0, 1, 2), (1.0,) * 4, 3)
    grown = grown_by(1, problem, "gini", GrowthRules())
    assert grown.threshold[grown.feature >= 0].tolist() == [0.5, 5.0]


def test_missing_values_alone_on_the_right_have_an_infinite_threshold():
    assert threshold_of([1.0, 2.0, None], [0, 0, 1]) == math.inf


@pytest.mark.parametrize(("targets", "expected"), [((0, 0, 1, 0), True), ((0, 1, 1, 1), False)])
def test_missing_values_go_to_the_side_that_gains_more(targets, expected):
    problem = Problem(((1.0, 1.0, 2.0, None),), targets, (1.0,) * 4, 2)
    if not expected:
        problem = problem._replace(columns=((1.0, 2.0, 2.0, None),))
    assert bool(grown_by(1, problem, "gini", STUMP).missing_left[0]) is expected


@pytest.mark.parametrize(
    ("weights", "expected"), [((1.0, 2.0), False), ((2.0, 1.0), True), ((1.0, 1.0), True)]
)
def test_where_nothing_is_missing_missing_values_go_to_the_heavier_side(weights, expected):
    problem = Problem(((1.0, 2.0),), (0, 1), weights, 2)
    assert bool(grown_by(1, problem, "gini", STUMP).missing_left[0]) is expected


def test_of_equal_gains_the_widest_margin_wins():
    # The first and the last cut gain the same: {0} | {1, 1, 0} or {0, 1, 1} | {0}.
    targets = (0, 1, 1, 0)
    assert threshold_of([1.0, 2.0, 3.0, 4.0], targets) == 1.5
    # The last leaves the bins of two values empty in the node that the first column makes.
    columns = (1.0,) * 4 + (0.0,) * 2, (1.0, 2.0, 3.0, 6.0, 4.0, 5.0)
    problem = Problem(columns, (*targets, 2, 2), (1.0,) * 6, 3)
    grown = grown_by(1, problem, "gini", GrowthRules(min_gain=-math.inf, max_depth=2))
    assert grown.threshold[grown.feature >= 0].tolist() == [0.5, 4.5]


def test_of_equal_gains_and_margins_the_lower_feature_wins():
    problem = Problem(((0.0, 1.0), (1.0, 0.0), (0.0, 1.0)), (0, 1), (1.0, 1.0), 2)
    assert grown_by(1, problem, "gini", STUMP).feature[0] == 0
    backwards = problem._replace(columns=problem.columns[1:])
    assert grown_by(1, backwards, "gini", STUMP).feature[0] == 0


def test_of_equal_gains_and_margins_missing_values_go_right():
    problem = Problem(((1.0, 2.0, None, None),), (0, 1, 0, 1), (1.0,) * 4, 2)
    assert not grown_by(1, problem, "misclassification", STUMP).missing_left[0]
