"""Trees in the notes: impurities, splits and the first step of the worked example.

Pages are those of notes 0 (boosting, by hand) and the slides of notes 1 (trees) and
notes 4 (gradient boosting).
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracle import criteria


def impurity_of(criterion, y, sample_weight=None):
    """Return the impurity that the root of a tree of these classes has."""
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=1)
    return float(tree.fit(np.zeros((len(y), 1)), y, sample_weight=sample_weight).tree_.impurity[0])


# T11, notes 1, the figure of impurities: misclassification, Gini and cross-entropy at p.
@pytest.mark.parametrize(
    ("y", "misclassification", "gini", "cross_entropy"),
    [([1] + [0] * 9, 0.1, 0.18, 0.32508), ([0, 1], 0.5, 0.5, 0.69315)],
)
def test_impurities_of_a_proportion(y, misclassification, gini, cross_entropy):
    assert_allclose(impurity_of("misclassification", y), misclassification, rtol=1e-15)
    assert_allclose(impurity_of("gini", y), gini, rtol=1e-15)
    # The notes take natural logarithms and print five digits; ours is in bits.
    assert_allclose(impurity_of("entropy", y) * math.log(2), cross_entropy, rtol=0, atol=5e-6)


@pytest.mark.parametrize("counts", [(1, 1, 1), (3, 2, 5), (7, 1, 1), (4, 4, 0)])
def test_impurities_are_the_formulas_of_the_notes(counts):  # notes 0, page 10; notes 1
    y = np.repeat([0, 1, 2], counts)
    p = [Fraction(count, sum(counts)) for count in counts]
    pairs = sum(p[k] * p[j] for k in range(3) for j in range(3) if k != j)
    assert criteria.gini(counts) == pairs == sum(q * (1 - q) for q in p)
    assert_allclose(impurity_of("gini", y), float(pairs), rtol=1e-15)
    assert_allclose(impurity_of("misclassification", y), float(1 - max(p)), rtol=1e-15)
    natural = -sum(float(q) * math.log(q) for q in p if q > 0)
    assert_allclose(impurity_of("entropy", y) * math.log(2), natural, rtol=1e-14)


def test_the_weighted_misclassification_is_the_weight_outside_the_majority():  # notes 0, page 10
    y, w = [0, 0, 1, 1, 1], [0.5, 0.25, 0.125, 0.0625, 0.0625]
    assert impurity_of("misclassification", y, w) == 0.25  # the weights add up to 1


def test_the_impurity_of_regression_is_the_mean_squared_distance_from_the_mean():  # notes 1
    y = [1.0, 3.0, 2.0, 0.0, 0.0]
    tree = DecisionTreeRegressor(max_depth=1).fit(np.zeros((5, 1)), y)
    assert_allclose(tree.tree_.impurity, [6.8 / 5], rtol=1e-15)
    assert_allclose(tree.predict([[0.0]]), [1.2], rtol=1e-15)


@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_row_goes_left_if_its_value_is_at_most_the_split_point(Tree):
    # R_1(j, s) = {x_j <= s}, R_2(j, s) = {x_j > s}: notes 0, page 9; notes 1.
    tree = Tree(max_depth=1).fit([[0.0], [1.0]], [0, 1])
    s = tree.tree_.threshold[0]
    assert s == 0.5  # half-way between the two values
    assert_array_equal(tree.predict([[s], [math.nextafter(s, 1)]]), [0, 1])


def test_a_classification_split_minimises_the_summed_impurity_of_both_sides():  # notes 1
    # min over (j, s) of n_L Q(L) + n_R Q(R), by trying all.
    x = np.array([[0, 1], [1, 0], [2, 1], [3, 3], [4, 2], [5, 0], [6, 1]], float)
    y = np.array([0, 0, 1, 0, 1, 2, 2])
    for criterion, impurity in (("gini", criteria.gini), ("entropy", criteria.entropy)):
        costs = {}
        for j in range(2):
            for s in np.unique(x[:, j])[:-1]:
                sides = x[:, j] <= s
                costs[j, s] = sum(
                    side.sum() * float(impurity(np.bincount(y[side], minlength=3).tolist()))
                    for side in (sides, ~sides)
                )
        tree = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(x, y).tree_
        found = float(tree.impurity[1:] @ tree.weighted_n_node_samples[1:])
        assert_allclose(found, min(costs.values()), rtol=1e-14)


def test_the_weighted_error_of_adaboost_chooses_the_split():  # notes 0, page 9
    # Rows 0..3 and classes 0, 1, 0, 1: the heavy last row must be on its own side.
    x, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    light = DecisionTreeClassifier(criterion="misclassification", max_depth=1)
    light.fit(x, y, sample_weight=[0.1, 0.1, 0.2, 0.6])
    assert light.tree_.threshold[0] == 2.5
    error = sum(
        w for w, a, b in zip([0.1, 0.1, 0.2, 0.6], light.predict(x), y, strict=True) if a != b
    )
    assert_allclose(error, 0.1, rtol=1e-15)


def test_the_first_stump_of_the_five_row_example():  # T01, notes 4, table of step 1
    x = np.array([[0, 0], [0, 2], [1, 2], [2, 3], [0, 1]], float)
    tree = DecisionTreeRegressor(max_depth=1).fit(x, [1, 3, 2, 0, 0])
    # x1 > 1.5 and x2 > 2.5 gain the same: predictions, not features.
    assert_array_equal(tree.predict(x), [1.5, 1.5, 1.5, 0.0, 1.5])
    # The gain that the notes leave out: 6.8 - 5 = 1.8 of squared error.
    t = tree.tree_
    squares = t.impurity * t.weighted_n_node_samples
    assert_allclose(squares[0] - squares[1] - squares[2], 1.8, rtol=1e-14)


def test_exclusive_or_is_split_though_no_single_split_gains():  # T06, notes 3
    x, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    grown = DecisionTreeClassifier().fit(x, y)
    assert grown.get_n_leaves() == 4
    assert_array_equal(grown.predict(x), y)
    assert DecisionTreeClassifier(min_impurity_decrease=1e-9).fit(x, y).get_n_leaves() == 1
