"""Criteria: scores of leaves against exact fractions, and as seen from a node."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.kernels.criteria import (
    Cost,
    Entropy,
    Gini,
    Misclassification,
    SquaredError,
    SquaredErrors,
)
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.potential import Exponential
from hedgerow.kernels.targets import Targets
from tests.strategies import COST, class_moments, criterion_of

CLASS_CRITERIA = {
    "gini": Gini(3),
    "entropy": Entropy(3),
    "misclassification": Misclassification(3),
    "exponential": Exponential(3),
    "cost": Cost(3, np.array(COST)),
}
SHARE = Fraction(1, 2**50)  # some rounding errors of 2^-53 each, of numbers as large as the weight


@kernel
def scored(criterion, sums):
    return criterion.score(sums)


@kernel
def massed(criterion, sums):
    return criterion.mass(sums)


@kernel
def score_seen(criterion, moments, total, room, part):
    """Return the score of a part of a node, as the node sees it; its sums are moved into place."""
    own = moments.seen(total, room)
    last = total.shape[0] - 1
    for k in range(last):
        if total[k] > 0 or own.keeps_all:
            part[own.place[k]] = part[k]
    part[own.n_classes] = part[last]
    return criterion.at(own, room[1]).score(part)


@kernel
def gain_seen(criterion, moments, total, left, right):
    own = criterion.at(moments, total)
    return own.score(left) + own.score(right) - own.score(total)


def class_weights(most):
    return st.lists(st.integers(0, most), min_size=3, max_size=3).filter(any)


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@given(class_weights(2**50))
def test_a_score_of_classes_is_minus_the_weight_times_the_impurity(criterion, weights):
    sums = (*weights, 5)
    exact = criterion_of(criterion, 3).exact(sums)
    found = Fraction(float(scored(CLASS_CRITERIA[criterion], np.array(sums))))
    assert abs(found - exact) <= 4 * sum(weights) * SHARE
    assert massed(CLASS_CRITERIA[criterion], np.array(sums)) == sum(weights)


@pytest.mark.parametrize("criterion", ["misclassification", "cost"])
@given(class_weights(2**40))
def test_a_score_of_whole_costs_is_exact(criterion, weights):
    exact = criterion_of(criterion, 3).exact((*weights, 5))
    assert scored(CLASS_CRITERIA[criterion], np.array([*weights, 5])) == exact


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@given(class_weights(2**40), class_weights(2**40))
@example([0, 3, 5], [0, 1, 2])
def test_a_node_without_a_class_sees_the_same_scores(criterion, left, right):
    left, right = np.array([*left, 5]), np.array([*right, 7])
    moments = class_moments([1], keeps_all=int(criterion == "cost"))  # costs know all classes
    expected = scored(CLASS_CRITERIA[criterion], left)
    room = np.full((2, 4), -7)
    seen = score_seen(CLASS_CRITERIA[criterion], moments, left + right, room, left.copy())
    assert seen == expected


def target_sums(most):
    return st.tuples(st.integers(-most, most), st.integers(1, most))


@given(target_sums(2**60))
def test_a_score_of_targets_is_the_square_of_the_sum_by_the_weight(sums):
    exact = criterion_of("squared_error", 0).exact((*sums, 5))
    found = Fraction(float(scored(SquaredError(0), np.array([*sums, 5]))))
    assert abs(found - exact) <= exact * SHARE


@given(st.tuples(*[st.integers(-(2**60), 2**60)] * 2), st.integers(1, 2**60))
def test_a_score_of_several_targets_is_the_sum_of_their_scores(sums, weight):
    exact = criterion_of("squared_errors", 0).exact((*sums, weight, 5))
    found = Fraction(float(scored(SquaredErrors(2), np.array([*sums, weight, 5]))))
    assert abs(found - exact) <= exact * SHARE


@given(target_sums(2**40), target_sums(2**40), st.integers(-(2**15), 2**15))
def test_a_gain_of_targets_does_not_depend_on_where_targets_are_measured_from(left, right, shift):
    # Shifted by whole steps: the same digits, because each node measures from its own mean.
    none = np.zeros(1, np.int64)
    targets = Targets(none, none, -1, none)

    def gain(distance):
        sides = [np.array([S + distance * W, W, 5]) for S, W in (left, right)]
        return gain_seen(SquaredError(0), targets, sides[0] + sides[1], *sides)

    exact = criterion_of("squared_error", 0).exact
    total = (left[0] + right[0], left[1] + right[1])
    expected = exact((*left, 5)) + exact((*right, 5)) - exact((*total, 10))
    # The centre is rounded to a whole step, so up to W / 4 is left of the node's own score.
    assert abs(Fraction(float(gain(shift))) - expected) <= (expected + sum(total[1:])) * SHARE
    assert gain(shift) == gain(0)
