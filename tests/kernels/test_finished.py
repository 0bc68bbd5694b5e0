"""Finished trees: the order of their nodes, and what they hold."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hedgerow.kernels.arranging import arrange, empty_arrangement
from hedgerow.kernels.criteria import Cost, Entropy, Gini, Misclassification
from hedgerow.kernels.finished import (
    N_LIMBS,
    add_products,
    class_values,
    join_means,
    leaf_moments,
    leaf_ranges,
    step_of,
    summed_limbs,
)
from hedgerow.kernels.workspace import NODE
from tests.oracle import criteria as oracle

COST = [[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 4.0, 0.0]]
IMPURITIES = {
    "gini": (Gini(3), oracle.gini),
    "entropy": (Entropy(3), oracle.entropy),
    "misclassification": (Misclassification(3), oracle.misclassification),
    "cost": (Cost(3, np.array(COST)), lambda weights: oracle.cheapest(weights, COST)),
}


@st.composite
def shapes(draw):
    """Draw the left children of a tree in the order its nodes were made; right = left + 1."""
    left, open_leaves = [-1], [0]
    for _ in range(draw(st.integers(0, 12))):
        leaf = open_leaves.pop(draw(st.integers(0, len(open_leaves) - 1)))
        left[leaf] = len(left)
        open_leaves += [len(left), len(left) + 1]
        left += [-1, -1]
    return left


def walked(left, node=0):
    """List a node, then its left subtree, then its right one."""
    if left[node] < 0:
        return [node]
    return [node, *walked(left, left[node]), *walked(left, left[node] + 1)]


@given(shapes())
def test_nodes_are_listed_from_the_root_left_before_right(left):
    n_nodes = len(left)
    table = np.zeros(n_nodes, NODE).view(np.recarray)
    table.left, table.category_start, table.threshold = left, -1, np.arange(n_nodes)
    tree, none = empty_arrangement(n_nodes, 0), np.zeros(1, np.int64)
    stack = np.full((2, n_nodes + 1), -7)
    assert arrange(table, np.array([0, n_nodes]), none, none, none, tree, stack) == 0
    order = walked(left)
    assert tree.place.tolist() == tree.threshold.tolist() == order
    places = {node: place for place, node in enumerate(order)} | {-1: -1}
    assert tree.left.tolist() == [places[left[node]] for node in order]
    assert tree.right.tolist() == [
        places[left[node] + 1] if left[node] >= 0 else -1 for node in order
    ]


@pytest.mark.parametrize("criterion", IMPURITIES)
@given(
    st.lists(
        st.lists(st.integers(0, 2**48), min_size=3, max_size=3).filter(any), min_size=1, max_size=6
    )
)
def test_a_node_holds_the_proportions_and_the_impurity_of_its_classes(criterion, weights):
    kernel_criterion, impurity_of = IMPURITIES[criterion]
    sums = np.array([[*row, 1] for row in weights])
    value, impurity = np.empty((len(sums), 3)), np.empty(len(sums))
    class_values(kernel_criterion, sums, value, impurity)
    expected = [[float(p) for p in oracle.proportions(row)] for row in weights]
    assert value.tolist() == expected  # sums below 2^53: one division, rounded once
    # A score is a difference of numbers as large as the weight: an impurity near 0 has an
    # error of some 2^-52, not a relative one.
    assert_allclose(impurity, [float(impurity_of(row)) for row in weights], rtol=0, atol=4e-15)
    assert (impurity >= 0).all()


@st.composite
def leaves(draw):
    """Draw rows in up to three leaves, some in none."""
    n_rows = draw(st.integers(1, 20))
    leaf = draw(st.lists(st.integers(-1, 2), min_size=n_rows, max_size=n_rows))
    y = draw(st.lists(st.integers(-1000, 1000), min_size=n_rows, max_size=n_rows))
    weights = draw(st.lists(st.integers(1, 9), min_size=n_rows, max_size=n_rows))
    return np.array(leaf, np.int32), np.array(y) / 8, np.array(weights)


@given(leaves())
def test_a_leaf_has_the_range_of_its_rows(problem):
    leaf, y, _ = problem
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    leaf_ranges(leaf, y, low, high)
    for number in range(3):
        own = y[leaf == number]
        assert low[number] == min(own, default=np.inf)
        assert high[number] == max(own, default=-np.inf)


@pytest.mark.parametrize("power", [1, 2])
@given(leaves())
def test_a_leaf_has_the_moments_of_its_rows_in_whole_units(power, problem):
    leaf, y, weights = problem
    centre, unit = np.array([0.0, 1.5, 9.0]), np.array([0.015625, 1.0, 0.0])
    limbs = np.zeros((3, N_LIMBS), np.int64)
    leaf_moments(leaf, y, weights, centre, unit, power, limbs)
    sums = summed_limbs(limbs)
    for number in (0, 1):
        expected = sum(
            int(w) * round(Fraction(x - centre[number]) ** power / Fraction(unit[number]))
            for x, w, own in zip(y, weights, leaf, strict=True)
            if own == number
        )
        assert sums[number] == expected
    assert sums[2] == 0  # without a unit nothing is added


WEIGHTS = st.integers(-(2**31), 2**31)
STEPS = st.integers(-(2**53), 2**53)


@given(st.lists(st.tuples(st.integers(0, 2), WEIGHTS, STEPS), max_size=40))
def test_sums_in_limbs_are_exact_and_rounded_once(terms):
    places, weights, steps = np.array(terms, np.int64).reshape(-1, 3).T.copy()
    limbs = np.zeros((3, N_LIMBS), np.int64)
    add_products(places, weights, steps, limbs)
    exact = [sum(w * step for p, w, step in terms if p == place) for place in range(3)]
    digits = [[int(digit) << 26 * k for k, digit in enumerate(row)] for row in limbs]
    assert [sum(row) for row in digits] == exact
    assert summed_limbs(limbs).tolist() == [float(number) for number in exact]
    running = [float(number) for number in np.cumsum(np.array(exact, object))]
    assert summed_limbs(np.cumsum(limbs, axis=0)).tolist() == running


@pytest.mark.parametrize("peak", [0.0, 5e-324, 1e-310, 1e-300, 0.75, 1.0, 1e300])
def test_a_step_is_the_smallest_that_leaves_52_bits(peak):
    unit = float(step_of(np.array([peak]))[0])
    assert (unit > 0) == (peak > 0)
    if peak > 0:
        assert Fraction(peak) / Fraction(unit) < 2**52
        assert Fraction(peak) / Fraction(unit) >= 2**51 or unit == 5e-324


@given(shapes(), st.randoms())
def test_means_and_squares_of_a_split_are_those_of_all_rows_below(shape, random):
    # Each leaf stands for rows: (targets, weights), from which its parents are computed exactly.
    order = walked(shape)
    place = {node: i for i, node in enumerate(order)}
    left = [place[shape[node]] if shape[node] >= 0 else -1 for node in order]
    right = [place[shape[node] + 1] if shape[node] >= 0 else -1 for node in order]
    rows = [[] for _ in order]
    for node in reversed(range(len(order))):
        if left[node] < 0:
            size = random.randint(1, 4)
            rows[node] = [(random.randint(-9, 9), random.randint(1, 5)) for _ in range(size)]
        else:
            rows[node] = rows[left[node]] + rows[right[node]]
    weight = np.array([float(sum(w for _, w in own)) for own in rows])
    expected_mean = [float(oracle.mean(*zip(*own, strict=True))) for own in rows]
    expected_squares = [
        float(oracle.squared_error(*zip(*own, strict=True))) * total
        for own, total in zip(rows, weight, strict=True)
    ]
    is_leaf = np.array(left) < 0
    mean = np.where(is_leaf, expected_mean, np.nan)
    squares = np.where(is_leaf, expected_squares, np.nan)
    join_means(np.array(left, np.int32), np.array(right, np.int32), weight, mean, squares)
    # Some rounding per level of the tree, of numbers up to 9 (mean) and 81 times the weight.
    assert_allclose(mean, expected_mean, rtol=0, atol=1e-13)
    assert_allclose(squares, expected_squares, rtol=1e-13, atol=1e-11)
