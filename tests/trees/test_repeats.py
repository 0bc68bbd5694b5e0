"""Rows that count several times, as in a bootstrap sample: they weigh more, and are one row."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.kernels.class_counts import ClassCounts
from hedgerow.kernels.class_weights import ClassWeights
from hedgerow.trees.classification import class_judge, classification_tree
from hedgerow.trees.grower import grow
from hedgerow.trees.quantise import Steps, quantised_weights, repeated
from hedgerow.trees.regression import regression_tree, target_judge
from hedgerow.trees.rules import GrowthRules
from tests.strategies import seeded_problem, table_of, team_of_one

N_ROWS = 60
FULL = GrowthRules(min_gain=-math.inf)
PROBLEM = seeded_problem(5, N_ROWS, 3, "fmcw")
REPEATS = np.random.default_rng(2).poisson(1.0, N_ROWS)
WEIGHTS = {
    "ones": np.ones(N_ROWS),
    "whole": 1.0 + np.arange(N_ROWS) % 4,
    "real": np.random.default_rng(1).random(N_ROWS) + 0.1,
}


def judged_classes(weights, repeats=None):
    return class_judge(np.array(PROBLEM.targets), 3, weights, "gini", None, repeats)


def judged_targets(weights, repeats=None, n_outputs=1):
    y = np.random.default_rng(7).integers(-8, 9, (N_ROWS, n_outputs)) / 8
    return target_judge(y, weights, repeats)


def judged_vectors(weights, repeats=None):
    return judged_targets(weights, repeats, 2)


def grown_from(judge):
    return grow(table_of(PROBLEM), judge, FULL, team_of_one())


def assert_same_splits(one, other):
    for name in ("left", "feature", "threshold", "missing_left", "category_words", "n_rows"):
        assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert_array_equal(one.sums, other.sums)
    assert_array_equal(one.leaf_of_row, other.leaf_of_row)


@pytest.mark.parametrize("judged", [judged_classes, judged_targets, judged_vectors])
@pytest.mark.parametrize("weights", ["ones", "whole"])
def test_a_row_that_counts_three_times_has_three_times_the_weight(judged, weights):
    steps, drawn = quantised_weights(WEIGHTS[weights], 30), np.flatnonzero(REPEATS)
    by_repeats = judged(steps, REPEATS)
    assert_array_equal(by_repeats.records & 0xFFFFFFFF, drawn)
    heavier = judged(Steps(steps.counts * np.maximum(REPEATS, 1), 1.0, exact=True))
    heavier = heavier._replace(records=heavier.records[drawn])
    assert_same_splits(grown_from(by_repeats), grown_from(heavier))


@pytest.mark.parametrize("judged", [judged_classes, judged_targets, judged_vectors])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_rows_that_count_once_are_all_rows(judged, weights):
    steps = quantised_weights(WEIGHTS[weights], 30)
    once = np.ones(N_ROWS, np.int64)
    assert_same_splits(grown_from(judged(steps)), grown_from(judged(steps, once)))


def test_classes_are_counted_where_weights_are_exact_and_small():
    small, real = quantised_weights(WEIGHTS["whole"]), quantised_weights(WEIGHTS["real"])
    assert isinstance(judged_classes(small).moments, ClassCounts)
    assert isinstance(judged_classes(small, REPEATS).moments, ClassCounts)
    assert isinstance(judged_classes(real, REPEATS).moments, ClassWeights)
    large = Steps(np.full(N_ROWS, 2**31 // N_ROWS + 1), 1.0, exact=True)
    assert isinstance(judged_classes(large).moments, ClassWeights)
    many = class_judge(np.zeros(3, np.int64), 2**16 + 1, quantised_weights(np.ones(3)), "gini")
    assert isinstance(many.moments, ClassWeights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_tree_of_counted_classes_is_that_of_class_weights(n_classes):
    problem = seeded_problem(8, 300, n_classes, "fmcw", most=3)
    table, labels = table_of(problem), np.array(problem.targets)
    counts = quantised_weights(np.array(problem.weights))
    tight = class_judge(labels, n_classes, counts, "gini")
    wide = class_judge(labels, n_classes, counts._replace(exact=False), "gini")
    assert isinstance(tight.moments, ClassCounts)
    assert isinstance(wide.moments, ClassWeights)
    for rules in (FULL, GrowthRules(max_leaves=20), GrowthRules(random_cut=True, n_candidates=2)):
        one, other = (grow(table, judge, rules, team_of_one()) for judge in (tight, wide))
        assert_same_splits(one, other)


@pytest.mark.parametrize("judged", [judged_classes, judged_targets, judged_vectors])
def test_rows_that_count_more_often_than_a_record_can_tell_weigh_more(judged):
    repeats = REPEATS.copy()
    repeats[np.flatnonzero(repeats)[0]] = 2**15
    ones, drawn = quantised_weights(WEIGHTS["ones"]), np.flatnonzero(repeats)
    heavier = judged(Steps(np.maximum(repeats, 1), 1.0, exact=True))
    heavier = heavier._replace(records=heavier.records[drawn])
    assert_same_splits(grown_from(judged(ones, repeats)), grown_from(heavier))


def test_real_weights_that_count_often_still_fit_into_an_integer():
    weights = quantised_weights(WEIGHTS["real"])
    more = repeated(weights, np.full(N_ROWS, 2**20))
    assert float(more.counts.sum()) < 2.0**62
    assert (more.counts > 0).all()
    share = more.counts * more.unit / 2**20 / (weights.counts * weights.unit)
    assert abs(share - 1.0).max() < 1e-9


def test_leaves_of_repeated_rows_are_means_and_shares_of_their_weights():
    ones, table = quantised_weights(WEIGHTS["ones"]), table_of(PROBLEM)
    stump, y = GrowthRules(max_leaves=1), np.arange(N_ROWS, dtype=float)[:, None]
    tree, _ = regression_tree(table, target_judge(y, ones, REPEATS), y, stump, team_of_one())
    assert tree.value[0, 0] == pytest.approx(np.average(y[:, 0], weights=REPEATS), rel=1e-14)
    assert tree.weight[0] == REPEATS.sum()
    assert tree.n_rows[0] == (REPEATS > 0).sum()
    tree, _ = classification_tree(table, judged_classes(ones, REPEATS), stump, team_of_one())
    shares = np.bincount(np.array(PROBLEM.targets), REPEATS) / REPEATS.sum()
    assert_array_equal(tree.value[0], shares)
