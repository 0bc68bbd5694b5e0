"""Exact trees are scikit-learn's, wherever the best split is one.

scikit-learn breaks ties by chance (`random_state`) and by order, hedgerow by margin and by
number, so trees can only be compared where there are none. `oracle.best_splits` tries every
split of a node: each of our splits must be among the best, and a tree of which every node
has a single best partition of its rows (and, grown best-first, a single best leaf to split
next) is called clear. A clear tree must be scikit-learn's tree.
"""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import datasets
from sklearn import tree as sklearn_tree

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from tests.agreement.oracle import TIE, best_splits, partition_of

CLASSES = ("iris", "wine", "breast_cancer", "digits")
DEPTHS = [{"max_depth": depth} for depth in (1, 2, 3, 5, None)]
LEAVES = [{"max_leaf_nodes": n_leaves} for n_leaves in range(2, 21)]
CRITERIA = {
    "classifier": ("gini", "entropy"),
    "regressor": ("squared_error", "absolute_error"),
}


@functools.cache
def load(name):
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def kind_of(name):
    return "classifier" if name in CLASSES else "regressor"


def both(name, **parameters):
    """Return a tree of ours and one of scikit-learn's, not fitted."""
    if kind_of(name) == "classifier":
        classes = DecisionTreeClassifier, sklearn_tree.DecisionTreeClassifier
    else:
        classes = DecisionTreeRegressor, sklearn_tree.DecisionTreeRegressor
    ours = classes[0](split_finding="exact", **parameters)
    return ours, classes[1](random_state=0, **parameters)


class Judge:
    """Tells of every node of a fitted tree what could have been split; remembers nodes it saw."""

    def __init__(self, X, y, criterion, weights=None, min_rows=1, min_weight=0.0):
        self.X, self.weights = X, np.ones(len(y)) if weights is None else weights
        regression = criterion.endswith("error")
        self.y = y.reshape(len(y), -1).astype(float) if regression else y
        self.criterion, self.limits, self.seen = criterion, (min_rows, min_weight), {}
        self.rivals = False  # whether another feature would have done as well in any node

    def best(self, rows):
        key = rows.tobytes()
        if key not in self.seen:
            table = self.X[rows], self.y[rows], self.weights[rows]
            self.seen[key] = best_splits(*table, self.criterion, *self.limits)
        return self.seen[key]

    def is_clear(self, model):
        """Assert that each split is one of the best; return whether each is the only best."""
        tree, paths = model.tree_, model.decision_path(self.X).tocsc()
        made, possible, clear = [], [], True
        for node in range(tree.node_count):
            rows = np.sort(paths.indices[paths.indptr[node] : paths.indptr[node + 1]])
            best = self.best(rows) if len(rows) > 1 else None
            if tree.children_left[node] < 0:
                possible += [best.gain] if best and best.partitions else []
                continue
            x = self.X[rows, tree.feature[node]]
            goes_left = np.where(
                np.isnan(x), tree.missing_go_to_left[node], x <= tree.threshold[node]
            )
            assert partition_of(goes_left.astype(bool)) in best.partitions
            made.append(best.gain)
            clear &= len(best.partitions) == 1
            self.rivals |= len(best.features) > 1
        next_best = min(made, default=0.0) - max(possible, default=-np.inf)
        return clear and (model.max_leaf_nodes is None or next_best > TIE * max(made, default=0.0))


def training_loss(model):
    tree = model.tree_
    return (tree.impurity * tree.weighted_n_node_samples)[tree.children_left < 0].sum()


def output(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def assert_same(ours, theirs, X, rtol=1e-9):
    """Assert equal losses and predictions, whatever the leaves are called.

    Leaves are not counted: with float weights scikit-learn finds pure nodes impure by 1e-16,
    and goes on splitting them.
    """
    assert_allclose(training_loss(ours), training_loss(theirs), rtol=rtol, atol=1e-9)
    assert_allclose(output(ours, X), output(theirs, X), rtol=rtol, atol=1e-9)


def tolerance(criterion, weights):
    """Regression trees round float weights to 2^-30 of the largest; medians, to 2^-23 here."""
    if weights is None or not criterion.endswith("error"):
        return 1e-9
    return 1e-8 if criterion == "squared_error" else 1e-6


def compare(name, settings, weights=None, **limits):
    """Compare trees of one data set under many settings; return the share that was clear."""
    X, y = load(name)
    judges, n_clear = {}, 0
    for parameters in settings:
        ours, theirs = (
            model.fit(X, y, sample_weight=weights) for model in both(name, **parameters)
        )
        criterion = ours.criterion
        if criterion not in judges:
            judges[criterion] = Judge(X, y, criterion, weights, **limits)
        if judges[criterion].is_clear(ours):
            assert_same(ours, theirs, X, tolerance(criterion, weights))
            n_clear += 1
    return n_clear / len(settings)


QUICK = [(name, c) for name in ("iris", "wine") for c in CRITERIA["classifier"]]
QUICK += [("diabetes", "squared_error")]
SLOW = [(name, c) for name in ("breast_cancer", "digits") for c in CRITERIA["classifier"]]
SLOW += [("diabetes", "absolute_error")]
ALL = [*QUICK, *(pytest.param(*case, marks=pytest.mark.agreement) for case in SLOW)]


@pytest.mark.parametrize(("name", "criterion"), ALL)
def test_clear_trees_of_any_depth_are_scikit_learns(name, criterion):
    settings = [{"criterion": criterion, **depth} for depth in DEPTHS]
    if criterion == "absolute_error":  # the oracle needs n^2 steps a node
        settings = settings[:-1]
    assert compare(name, settings) >= 0.2  # the least of all data sets: a stump is clear


@pytest.mark.parametrize(("name", "criterion"), ALL)
def test_clear_trees_of_any_number_of_leaves_are_scikit_learns(name, criterion):
    settings = [{"criterion": criterion, **leaves} for leaves in LEAVES]
    if criterion == "absolute_error":
        settings = settings[:9]
    assert compare(name, settings) >= 0.15


def test_log_loss_is_entropy():
    X, y = load("iris")
    one, two = (DecisionTreeClassifier(criterion=c).fit(X, y) for c in ("log_loss", "entropy"))
    assert one.fingerprint_ == two.fingerprint_


# ------------------------------------------------------------------ weights and limits


@pytest.mark.parametrize(("name", "criterion"), ALL)
def test_clear_trees_of_weighted_rows_are_scikit_learns(name, criterion):
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(load(name)[1]))
    settings = [{"criterion": criterion, **p} for p in (*DEPTHS[1:3], *LEAVES[3:8:2])]
    assert compare(name, settings, weights) >= 0.4


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
@pytest.mark.parametrize("given", ["balanced", {0: 1.0, 1: 2.5, 2: 0.3}])
def test_clear_trees_of_weighted_classes_are_scikit_learns(name, given):
    X, y = load(name)
    given = given if given == "balanced" else {k: given[k] for k in np.unique(y)}
    counts = np.bincount(y)
    shares = len(y) / (len(counts) * counts) if given == "balanced" else np.array([*given.values()])
    judge, n_clear = Judge(X, y, "gini", shares[y]), 0
    for parameters in (*DEPTHS[:3], *LEAVES[1:6]):
        ours, theirs = (m.fit(X, y) for m in both(name, class_weight=given, **parameters))
        if judge.is_clear(ours):
            assert_same(ours, theirs, X)
            n_clear += 1
    assert n_clear >= 2


@pytest.mark.parametrize(("name", "criterion"), [*QUICK, ("breast_cancer", "entropy")])
@pytest.mark.parametrize("least", [3, 10, 0.08])
def test_clear_trees_of_large_leaves_are_scikit_learns(name, criterion, least):
    n_rows = len(load(name)[1])
    settings = [{"criterion": criterion, "min_samples_leaf": least, **p} for p in DEPTHS[:4]]
    min_rows = least if least >= 1 else int(np.ceil(least * n_rows))
    assert compare(name, settings, min_rows=min_rows) >= 0.25


@pytest.mark.parametrize(("name", "criterion"), [*QUICK, ("breast_cancer", "entropy")])
@pytest.mark.parametrize("weighted", [False, True])
def test_clear_trees_of_heavy_leaves_are_scikit_learns(name, criterion, weighted):
    n_rows = len(load(name)[1])
    weights = np.random.default_rng(1).uniform(0.1, 3.0, n_rows) if weighted else None
    total = n_rows if weights is None else weights.sum()
    share = {"criterion": criterion, "min_weight_fraction_leaf": 0.06}
    settings = [{**share, **p} for p in DEPTHS[1:4]]
    assert compare(name, settings, weights, min_weight=0.06 * total) >= 0.3


@pytest.mark.parametrize(("name", "criterion"), QUICK)
def test_clear_trees_of_small_nodes_left_alone_are_scikit_learns(name, criterion):
    settings = [{"criterion": criterion, "min_samples_split": n} for n in (20, 60, 0.3)]
    assert compare(name, settings) >= 0.3


@pytest.mark.parametrize(("name", "criterion"), QUICK)
def test_splits_of_little_decrease_are_left_out_as_in_scikit_learn(name, criterion):
    X, y = load(name)
    grown = both(name, criterion=criterion, max_depth=4)[0].fit(X, y)
    tree = grown.tree_
    burden = tree.impurity * tree.weighted_n_node_samples / len(y)
    splits = np.flatnonzero(tree.children_left >= 0)
    gains = (
        burden[splits] - burden[tree.children_left[splits]] - burden[tree.children_right[splits]]
    )
    decreases = np.sort(gains)
    between = (decreases[1:] + decreases[:-1]) / 2
    settings = [
        {"criterion": criterion, "max_depth": 4, "min_impurity_decrease": least}
        for least in between[np.diff(decreases) > 1e-9][-3:]
    ]
    assert compare(name, settings) >= 0.6
    n_leaves = [both(name, **p)[0].fit(X, y).get_n_leaves() for p in settings]
    assert n_leaves[0] > n_leaves[-1]


# ------------------------------------------------------------------ what a tree tells


SINGLE = [("wine", "gini", 2), ("wine", "entropy", 2), ("diabetes", "squared_error", 3)]


@pytest.mark.parametrize(("name", "criterion", "depth"), SINGLE)
def test_nodes_importances_and_paths_are_scikit_learns(name, criterion, depth):
    X, y = load(name)
    ours, theirs = (m.fit(X, y) for m in both(name, criterion=criterion, max_depth=depth))
    judge = Judge(X, y, criterion)
    assert judge.is_clear(ours)
    assert not judge.rivals
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    assert_array_equal(ours.apply(X), theirs.apply(X))
    assert (ours.decision_path(X) != theirs.decision_path(X)).nnz == 0
    for array in ("children_left", "children_right", "feature", "n_node_samples"):
        assert_array_equal(getattr(ours.tree_, array), getattr(theirs.tree_, array))
    for array in ("impurity", "value", "weighted_n_node_samples"):
        assert_allclose(getattr(ours.tree_, array), getattr(theirs.tree_, array), rtol=1e-9)
    # scikit-learn rounds values to float32 before it takes the middle of two of them.
    assert_allclose(ours.tree_.threshold, theirs.tree_.threshold, rtol=1e-6)


def last_of_equal(alphas, impurities):
    """One entry per distinct alpha: scikit-learn orders equally weak branches by rounding."""
    last = np.append(np.diff(alphas) > 1e-9 * alphas[1:] + 1e-15, True)
    return alphas[last], impurities[last]


PATHS = [("iris", "gini"), ("iris", "entropy"), ("wine", "gini"), ("wine", "entropy")]


@pytest.mark.parametrize(("name", "criterion"), [*PATHS, ("diabetes", "squared_error")])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_pruning_path_is_scikit_learns(name, criterion, weighted):
    X, y = load(name)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y)) if weighted else None
    limits = {"max_depth": 6} if name == "diabetes" else {}
    ours, theirs = both(name, criterion=criterion, **limits)
    assert Judge(X, y, criterion, weights).is_clear(ours.fit(X, y, sample_weight=weights))
    mine = ours.cost_complexity_pruning_path(X, y, sample_weight=weights)
    yours = theirs.cost_complexity_pruning_path(X, y, sample_weight=weights)
    pairs = zip(
        last_of_equal(mine.ccp_alphas, mine.impurities),
        last_of_equal(yours.ccp_alphas, yours.impurities),
        strict=True,
    )
    for one, other in pairs:
        assert_allclose(one, other, rtol=tolerance(criterion, weights), atol=1e-12)


@pytest.mark.parametrize(("name", "criterion"), [*PATHS, ("diabetes", "squared_error")])
def test_pruned_trees_are_scikit_learns(name, criterion):
    X, y = load(name)
    limits = {"max_depth": 6} if name == "diabetes" else {}
    alphas = np.unique(both(name, criterion=criterion, **limits)[1]
                       .cost_complexity_pruning_path(X, y).ccp_alphas)  # fmt: skip
    between = (alphas[1:] + alphas[:-1])[np.diff(alphas) > 1e-9 * alphas[1:]] / 2
    for alpha in between[-6:]:
        pair = both(name, criterion=criterion, ccp_alpha=alpha, **limits)
        assert_same(*(m.fit(X, y) for m in pair), X)


def test_several_outputs_are_fitted_as_scikit_learn_does():
    X, y = load("diabetes")
    Y = np.column_stack([y, 40 * X[:, 2] + np.sin(y), -y * X[:, 3]])
    judge, n_clear = Judge(X, Y, "squared_error"), 0
    for parameters in (*DEPTHS[:4], *LEAVES[:8]):
        ours, theirs = (m.fit(X, Y) for m in both("diabetes", **parameters))
        if judge.is_clear(ours):
            assert ours.predict(X).shape == Y.shape
            # impurity is the mean over the outputs in both
            assert_same(ours, theirs, X)
            assert_allclose(ours.tree_.impurity[0], theirs.tree_.impurity[0], rtol=1e-9)
            n_clear += 1
    assert n_clear >= 8


# ------------------------------------------------------------------ missing values


def with_holes(X, share, seed):
    holed = X.copy()
    holed[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return holed


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_clear_trees_of_tables_with_holes_are_scikit_learns(name, share):
    X, y = load(name)
    n_clear = 0
    for seed in range(5):
        holed = with_holes(X, share, seed)
        for depth in (1, 2, 3):
            ours, theirs = (m.fit(holed, y) for m in both(name, max_depth=depth))
            if Judge(holed, y, ours.criterion).is_clear(ours):
                assert_same(ours, theirs, holed)
                n_clear += 1
    assert n_clear >= 8


def test_a_value_missing_only_at_prediction_goes_to_the_larger_child_as_in_scikit_learn():
    X, y = load("diabetes")
    ours, theirs = (m.fit(X, y) for m in both("diabetes", max_depth=3))
    judge = Judge(X, y, "squared_error")
    assert judge.is_clear(ours)
    assert not judge.rivals
    holed = with_holes(X, 0.3, 0)
    assert_allclose(ours.predict(holed), theirs.predict(holed), rtol=1e-9)
