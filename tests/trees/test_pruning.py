"""Weakest-link pruning against its definition, exact arithmetic and scikit-learn."""

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hedgerow.trees.pruning import PruningPath, pruned, pruning_path, subtree
from hedgerow.trees.tree import Tree
from tests.oracle import pruning as oracle
from tests.trees.converter import chain, from_lists, from_sklearn


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    pruned(from_lists([1, -1, -1], [2, -1, -1]), 1.0)


@st.composite
def problems(draw):
    """Draw a small tree with whole gains from 0 to 3, so that ties and zeros abound."""
    splits = draw(st.lists(st.booleans(), max_size=15))
    left, right = [], []

    def grow(depth):
        node = len(left)
        left.append(-1)
        right.append(-1)
        if splits and splits.pop() and depth < 4:
            left[node] = grow(depth + 1)
            right[node] = grow(depth + 1)
        return node

    grow(0)
    n_rows, cost = [0] * len(left), [0] * len(left)
    for node in reversed(range(len(left))):
        number = draw(st.integers(0, 3))  # of a leaf its cost, of a split its gain
        children = [child for child in (left[node], right[node]) if child != -1]
        cost[node] = number + sum(cost[child] for child in children)
        n_rows[node] = sum(n_rows[child] for child in children) or draw(st.integers(1, 7))
    return left, right, n_rows, cost


def tree_of(problem):
    left, right, n_rows, cost = problem
    impurity = [c / n for c, n in zip(cost, n_rows, strict=True)]
    weight = [0.1 * n for n in n_rows]  # so that products are rounded
    return from_lists(left, right, impurity=impurity, weight=weight, n_rows=n_rows)


def risk_of(problem):
    return [Fraction(cost, problem[2][0]) for cost in problem[3]]


def leaf_values(tree):
    return set(tree.value[tree.is_leaf, 0].astype(int).tolist())


@given(problems())
def test_the_path_is_that_of_exact_arithmetic(problem):
    alphas, impurities, n_leaves = zip(*oracle.path(*problem[:2], risk_of(problem)), strict=True)
    path = pruning_path(tree_of(problem))
    assert_array_equal(path.n_leaves, n_leaves)
    # the risks were rounded when they were divided by the rows and multiplied again
    assert_allclose(path.alphas, np.array(alphas, float), rtol=1e-12)
    assert_allclose(path.impurities, np.array(impurities, float), rtol=1e-12)


@given(problems(), st.integers(0, 20))
def test_the_pruned_tree_is_the_smallest_subtree_of_least_cost(problem, step):
    risk, tree = risk_of(problem), tree_of(problem)
    path = oracle.path(*problem[:2], risk)
    alpha = path[min(step, len(path) - 1)][0]
    if alpha > 0:  # exactly at a tie, where the smaller tree is the answer
        at = float(pruning_path(tree).alphas[min(step, len(path) - 1)])
        assert leaf_values(pruned(tree, at)) == oracle.smallest_minimiser(*problem[:2], risk, alpha)
    between = alpha + Fraction(1, 10**6)
    best = oracle.smallest_minimiser(*problem[:2], risk, between)
    assert leaf_values(pruned(tree, float(between))) == best


@given(problems())
def test_alpha_zero_prunes_nothing_even_splits_without_gain(problem):
    tree = tree_of(problem)
    assert pruned(tree, 0.0) is tree


@given(problems())
def test_alphas_and_impurities_ascend_and_leaves_descend_to_one(problem):
    path = pruning_path(tree_of(problem))
    assert (np.diff(path.alphas) >= 0).all()
    assert (np.diff(path.impurities) >= 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert path.n_leaves[-1] == 1


@given(problems(), st.floats(0, 3), st.floats(0, 3))
def test_pruned_trees_are_nested(problem, one, other):
    tree = tree_of(problem)
    low, high = sorted((one, other))
    assert pruned(pruned(tree, low), high).fingerprint() == pruned(tree, high).fingerprint()


def test_a_path_of_one_leaf_has_one_entry():
    path = pruning_path(from_lists([-1], [-1], impurity=[0.3]))
    assert path.alphas.tolist() == [0.0]
    assert path.impurities.tolist() == [0.3]
    assert path.n_leaves.tolist() == [1]


def test_a_negative_alpha_is_refused():
    with pytest.raises(AssertionError, match=r"alpha=-1\.0 is the cost of a leaf"):
        pruned(from_lists([-1], [-1]), -1.0)


def test_small_gains_count_in_full_beside_a_leaf_of_huge_risk():
    # R(root) - R(T) as a difference of numbers near 1e16 would be 2, and alpha 1.
    risk = [1e16 + 3, 1e16, 3.0, 1.0, 1.0]
    path = pruning_path(from_lists([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], impurity=risk))
    assert path.alphas.tolist() == [0.0, 0.5]
    assert path.n_leaves.tolist() == [3, 1]


def test_of_branches_that_are_equal_up_to_rounding_the_first_collapses_first():
    # Node 1 loses one leaf at 0.1 + 0.2 = 0.30000000000000004, node 4 two at 0.3.
    left, right = [1, 2, -1, -1, 5, 6, -1, -1, -1], [4, 3, -1, -1, 8, 7, -1, -1, -1]
    risk = [9.0, 0.1 + 0.2, 0, 0, 0.6, 0.3, 0, 0, 0]
    path = pruning_path(from_lists(left, right, impurity=risk))
    assert path.n_leaves.tolist() == [5, 4, 2, 1]
    assert path.alphas[1] == path.alphas[2] == 0.3


# ------------------------------------------------------------------ subtree


def categorical_tree():
    """Three splits: on 100 categories (two words), a number, and 3 categories (one word)."""
    return from_lists(
        [1, 2, -1, -1, 5, -1, -1],
        [4, 3, -1, -1, 6, -1, -1],
        feature=[0, 1, -1, -1, 2, -1, -1],
        threshold=[np.nan, 1.5, np.nan, np.nan, np.nan, np.nan, np.nan],
        missing_left=[True, True, False, False, True, False, False],
        category_start=[1, -1, -1, -1, 0, -1, -1],
        category_words=[0b101, 0b11, 1 << 35],
        n_categories=[100, 0, 3],
    )


def test_a_subtree_keeps_the_category_sets_of_its_splits_only():
    tree = categorical_tree()
    cut = subtree(tree, np.arange(7) == 4)
    assert cut.left.tolist() == [1, 2, -1, -1, -1]
    assert cut.right.tolist() == [4, 3, -1, -1, -1]
    assert cut.left_categories(0).tolist() == tree.left_categories(0).tolist() == [0, 1, 99]
    assert cut.category_start.tolist() == [0, -1, -1, -1, -1]
    assert cut.category_words.tolist() == [0b11, 1 << 35]
    assert cut.missing_left.tolist() == [True, True, False, False, False]
    assert cut.value[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_a_subtree_renumbers_its_nodes_in_preorder():
    tree = categorical_tree()
    cut = subtree(tree, np.isin(np.arange(7), [1, 3]))
    assert cut.left.tolist() == [1, -1, 3, -1, -1]
    assert cut.right.tolist() == [2, -1, 4, -1, -1]
    assert cut.feature.tolist() == [0, -1, 2, -1, -1]
    assert cut.left_categories(2).tolist() == [0, 2]
    assert np.isnan(cut.threshold).all()
    assert cut.value[:, 0].tolist() == [0, 1, 4, 5, 6]


def test_a_subtree_of_all_splits_is_the_same_tree():
    tree = from_sklearn(DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True)))
    same = subtree(tree, np.zeros(tree.n_nodes, np.bool_))
    assert same.fingerprint() == tree.fingerprint()
    for name in ("left", "feature", "category_start", "category_words", "n_rows", "missing_left"):
        assert getattr(same, name).dtype == getattr(tree, name).dtype


# ------------------------------------------------------------------ scikit-learn

MODELS = [
    *((DecisionTreeClassifier, load, c) for load in (load_iris, load_breast_cancer)
      for c in ("gini", "entropy")),
    *((DecisionTreeRegressor, load_diabetes, c)
      for c in ("squared_error", "absolute_error", "poisson")),
]  # fmt: skip


def last_of_equal(alphas, impurities):
    """One entry per distinct alpha.

    scikit-learn breaks ties by rounding errors: a node and one below it that are equally
    weak are one step or two, and of equally weak branches either comes first.
    """
    last = np.append(np.diff(alphas) > 1e-9 * alphas[1:] + 1e-15, True)
    return alphas[last], impurities[last]


@pytest.mark.parametrize(("model", "load", "criterion"), MODELS)
@pytest.mark.parametrize("max_leaf_nodes", [None, 20])
def test_the_path_is_scikit_learns(model, load, criterion, max_leaf_nodes):
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    fitted = model(criterion=criterion, random_state=0, max_leaf_nodes=max_leaf_nodes)
    theirs = fitted.cost_complexity_pruning_path(X, y, weight)
    ours = pruning_path(from_sklearn(fitted.fit(X, y, weight)))
    assert len(ours.alphas) == len(theirs.ccp_alphas)
    assert_allclose(ours.alphas, theirs.ccp_alphas, rtol=1e-9, atol=1e-15)
    assert_allclose(ours.impurities, theirs.impurities, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("seed", range(60))
def test_the_path_is_scikit_learns_up_to_the_order_of_ties(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(5, 300))
    X = rng.integers(0, int(rng.integers(2, 50)), (n_rows, 3)).astype(float)
    y = rng.integers(0, 3, n_rows)
    model = DecisionTreeRegressor if seed % 3 == 2 else DecisionTreeClassifier
    fitted = model(random_state=0).fit(X, y)
    theirs = fitted.cost_complexity_pruning_path(X, y)
    ours = pruning_path(from_sklearn(fitted))
    for mine, yours in zip(
        last_of_equal(*ours[:2]), last_of_equal(theirs.ccp_alphas, theirs.impurities), strict=True
    ):
        assert_allclose(mine, yours, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("model", "load", "criterion"), MODELS)
def test_the_pruned_tree_is_scikit_learns(model, load, criterion):
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    grown = from_sklearn(model(criterion=criterion, random_state=0).fit(X, y, weight))
    alphas = np.unique(pruning_path(grown).alphas)
    for alpha in (alphas[1:] + alphas[:-1])[:: len(alphas) // 5] / 2:
        theirs = model(criterion=criterion, random_state=0, ccp_alpha=alpha).fit(X, y, weight)
        assert pruned(grown, alpha).fingerprint() == from_sklearn(theirs).fingerprint()


# ------------------------------------------------------------------ size


def timed_path(tree: Tree) -> tuple[PruningPath, float]:
    start = time.perf_counter()
    path = pruning_path(tree)
    return path, time.perf_counter() - start


def with_gains(left, right, gain):
    cost = gain.copy()
    for node in reversed(range(len(left))):
        if left[node] != -1:
            cost[node] += cost[left[node]] + cost[right[node]]
    return from_lists(left, right, impurity=cost)


def test_a_chain_of_ten_thousand_splits_is_pruned():
    n_splits = 10_000
    shape = chain(n_splits)
    gain = np.where(shape.is_leaf, 0.0, 1.0 + np.arange(shape.n_nodes)[::-1])
    tree = with_gains(shape.left, shape.right, gain)
    path, seconds = timed_path(tree)
    assert_allclose(path.alphas[1:], np.sort(gain[:n_splits]), rtol=1e-9)
    assert pruned(tree, float(path.alphas[n_splits // 2])).depth == n_splits // 2
    assert seconds < 2


def test_a_chain_of_ascending_gains_collapses_at_once():
    n_splits = 10_000
    shape = chain(n_splits)
    gain = np.where(shape.is_leaf, 0.0, np.arange(shape.n_nodes) + 1.0)
    path, _ = timed_path(with_gains(shape.left, shape.right, gain))
    assert path.n_leaves.tolist() == [n_splits + 1, 1]
    assert_allclose(path.alphas[1], (n_splits + 1) / 2, rtol=1e-9)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="a statement about compiled code")
def test_two_hundred_thousand_nodes_take_less_than_two_seconds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_500, 2)), rng.normal(size=100_500)
    tree = from_sklearn(DecisionTreeRegressor(random_state=0, splitter="random").fit(X, y))
    assert tree.n_nodes > 200_000
    path, seconds = timed_path(tree)
    assert path.n_leaves[0] == tree.n_leaves
    assert_allclose(path.impurities[-1], tree.impurity[0], rtol=1e-9)
    assert seconds < 2
