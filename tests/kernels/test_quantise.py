"""Whole steps: what is exact, what is rounded, and that no sum can overflow."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.estimators.checks import check_weights
from hedgerow.trees.quantise import grouped_weights, quantised_targets, quantised_weights
from hedgerow.trees.regression import target_judge

LIMIT = 2**61
POSITIVE = st.floats(1e-300, 1e300)


def arrays(elements, max_size=20):
    return st.lists(elements, min_size=1, max_size=max_size).map(np.array)


def total_of(counts):
    return sum(abs(int(count)) for count in np.ravel(counts))


@given(arrays(st.integers(1, 2**26).map(float)))
def test_whole_weights_stay_as_they_are(weights):
    steps = quantised_weights(weights)
    assert steps.unit == 1.0
    assert steps.counts.tolist() == weights.tolist()


@given(arrays(st.integers(1, 2**26).map(float)), st.integers(-200, 200), st.sampled_from([9, 52]))
def test_weights_that_a_power_of_two_makes_whole_are_exact(weights, exponent, max_bits):
    scaled = np.ldexp(weights, exponent)
    steps = quantised_weights(scaled, max_bits)
    assert steps.exact
    assert total_of(steps.counts) <= 2**31
    assert [int(count) * Fraction(steps.unit) for count in steps.counts] == [
        Fraction(weight) for weight in scaled
    ]


@given(arrays(POSITIVE), st.sampled_from([30, 52]))
def test_a_weight_is_off_by_half_a_step_of_the_largest_and_never_zero(weights, max_bits):
    steps = quantised_weights(weights, max_bits)
    bits = min(max_bits, 61 - int(np.ceil(np.log2(len(weights) + 1))))
    if not steps.exact:
        assert steps.unit <= weights.max() * 2.0 ** (1 - bits)
    for count, weight in zip(steps.counts.tolist(), weights.tolist(), strict=True):
        assert count >= 1
        rounding = abs(count * Fraction(steps.unit) - Fraction(weight))
        assert count == 1 or rounding <= Fraction(steps.unit) / 2


@given(arrays(POSITIVE), st.integers(-20, 20))
def test_a_power_of_two_times_all_real_weights_is_the_same_steps(weights, exponent):
    weights = np.append(weights, math.pi)  # at least one of them is no whole number
    one, other = quantised_weights(weights), quantised_weights(np.ldexp(weights, exponent))
    assert_array_equal(one.counts, other.counts)
    assert other.unit == np.ldexp(one.unit, exponent)


@given(st.integers(1, 3000), POSITIVE)
def test_the_sum_of_equal_weights_has_room(n_rows, weight):
    for max_bits in (30, 52):
        steps = quantised_weights(np.full(n_rows, weight), max_bits)
        assert total_of(steps.counts) <= LIMIT


@given(arrays(POSITIVE))
def test_the_sum_of_weights_has_room(weights):
    assert total_of(quantised_weights(weights).counts) <= LIMIT


@given(arrays(st.integers(1, 9)), st.lists(st.floats(0.01, 99), min_size=3, max_size=3))
def test_a_group_times_three_rows_is_three_times_the_group(repeats, factors):
    groups, factors = np.arange(len(repeats)) % 3, np.array(factors)
    one = grouped_weights(repeats.astype(float), factors, groups)
    many = grouped_weights(np.ones(repeats.sum()), factors, np.repeat(groups, repeats))
    assert one.unit == many.unit
    starts = np.cumsum(repeats) - repeats
    assert_array_equal(np.add.reduceat(many.counts, starts), one.counts)
    assert_allclose(one.counts * one.unit, repeats * factors[groups], rtol=1e-10)


def exact_targets(y, weights, steps):
    """Return w (y - centre) of each row and output, exactly."""
    unit = Fraction(weights.unit)
    return [
        [
            int(w) * unit * (Fraction(x) - Fraction(c))
            for x, c in zip(row, steps.centre, strict=True)
        ]
        for row, w in zip(y.tolist(), weights.counts, strict=True)
    ]


def values_of(steps):
    return [
        [int(p) * Fraction(u) for p, u in zip(row, steps.unit, strict=True)]
        for row in steps.products
    ]


def columns(elements):
    return arrays(elements).map(lambda y: y.astype(float)[:, None])


@given(columns(st.integers(-(2**20), 2**20)), st.integers(-300, 300), st.integers(1, 9))
def test_targets_that_a_power_of_two_makes_whole_are_exact(y, exponent, weight):
    y = np.ldexp(y, exponent)
    weights = quantised_weights(np.full(len(y), float(weight)))
    steps = quantised_targets(y, weights)
    assert values_of(steps) == exact_targets(y, weights, steps)


def test_targets_beside_exact_weights_of_halves_are_in_steps_of_halves():
    y, weights = np.array([[0.0], [1.0]]), quantised_weights(np.array([1.0, 1.5]))
    assert (weights.unit, weights.exact) == (0.5, True)
    steps = quantised_targets(y, weights)
    assert values_of(steps) == [[Fraction(-1, 2)], [Fraction(3, 4)]]


@given(columns(st.floats(-1e150, 1e150)), st.data())
def test_weighted_targets_have_room_and_most_of_their_digits(y, data):
    n_rows = len(y)
    kind = data.draw(st.sampled_from(["one", "whole", "real"]))
    some = {
        "one": st.just(1.0),
        "whole": st.integers(1, 99).map(float),
        "real": st.floats(0.01, 99),
    }
    drawn = data.draw(st.lists(some[kind], min_size=n_rows, max_size=n_rows))
    weights = quantised_weights(np.array(drawn), 30)
    steps = quantised_targets(y, weights)
    assert total_of(steps.products) <= LIMIT
    scale = max(
        int(weights.counts.max()) * Fraction(weights.unit) * Fraction(np.ptp(y)), Fraction(0)
    )
    for found, exact in zip(values_of(steps), exact_targets(y, weights, steps), strict=True):
        assert abs(found[0] - exact[0]) <= scale / 2**39


@given(st.integers(1, 3000), st.floats(-1e150, 1e150), st.sampled_from([1.0, 99.0, 0.1]))
def test_the_sum_of_equal_targets_but_one_has_room(n_rows, extreme, weight):
    y = np.full((n_rows, 1), extreme)
    y[0] = -extreme
    weights = quantised_weights(np.full(n_rows, weight), 30)
    assert total_of(quantised_targets(y, weights).products) <= LIMIT


def test_the_products_of_a_weight_of_three_are_those_of_three_rows():
    y, repeats = np.array([[0.1], [0.2], [0.4]]), [1, 3, 2]
    one = quantised_targets(y, quantised_weights(np.array(repeats, float)))
    many = np.repeat(y, repeats, axis=0)
    other = quantised_targets(many, quantised_weights(np.ones(len(many))))
    assert one.unit == other.unit
    assert_array_equal(np.add.reduceat(other.products, [0, 1, 4], axis=0), one.products)


@pytest.mark.parametrize("y", [[3.0, 3.0], [0.0]])
def test_equal_targets_have_no_steps(y):
    steps = quantised_targets(np.array(y)[:, None], quantised_weights(np.ones(len(y))))
    assert not steps.products.any()
    assert steps.centre == y[0]


# ---------------------------------------------------------------- the ends of the range


@pytest.mark.parametrize("weights", [[5e-324, 1e-323], [1e-310, 3e-310], [8e307, 1.6e308]])
def test_weights_of_any_size_keep_their_ratios(weights):
    steps = quantised_weights(check_weights(weights, 2))
    assert steps.unit > 0
    assert Fraction(int(steps.counts[0]), int(steps.counts[1])) == Fraction(weights[0]) / Fraction(
        weights[1]
    )


@pytest.mark.parametrize("size", [1e-150, 1e-300])
def test_the_smallest_targets_have_a_step_and_so_have_their_gains(size):
    judge = target_judge(np.array([[0.0], [size]]), quantised_weights(np.ones(2)))
    assert judge.score_unit > 0


def test_the_largest_targets_have_a_step_and_so_have_their_gains():
    judge = target_judge(np.array([[-1e150], [1e150]]), quantised_weights(np.ones(2)))
    assert 0 < judge.score_unit < math.inf
