"""What the parameters do, computed by hand or by the plainest loop."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.estimators.folds import content_folds

# ------------------------------------------------------------------ classes and costs


def test_labels_may_be_strings_numbers_or_bools():
    X = np.array([[0.0], [1.0], [2.0]])
    for labels in (["no", "yes", "no"], [-7, 3, -7], [True, False, True], [1.0, 2.0, 1.0]):
        model = DecisionTreeClassifier().fit(X, labels)
        assert model.predict(X).tolist() == labels
        assert model.classes_.dtype == np.asarray(labels).dtype


def test_costs_change_the_name_of_a_leaf_as_computed_by_hand():
    # One leaf of 7 a, 2 b, 1 c. Calling it a costs 2 * 5 + 1 * 1 = 11, b 7 * 1 + 1 * 1 = 8,
    # c 7 * 1 + 2 * 1 = 9: b is cheapest though a is most frequent.
    X, y = np.zeros((10, 1)), ["a"] * 7 + ["b"] * 2 + ["c"]
    cost = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
    for criterion in ("gini", "entropy", "misclassification"):
        plain = DecisionTreeClassifier(criterion=criterion).fit(X, y)
        dear = DecisionTreeClassifier(criterion=criterion, misclassification_cost=cost).fit(X, y)
        assert plain.predict(X[:1]).tolist() == ["a"]
        assert dear.predict(X[:1]).tolist() == ["b"]
        # proportions are those of the rows, whatever the costs
        assert_allclose(dear.predict_proba(X[:1]), [[0.7, 0.2, 0.1]], rtol=1e-12)


def test_the_cost_criterion_splits_where_costs_are_saved():
    # x <= 1 saves calling one b by a (cost 1); x <= 3 saves the c (cost 9).
    X = np.arange(6.0)[:, None]
    y = ["b", "b", "a", "a", "c", "a"]
    cost = np.array([[0, 1, 1], [1, 0, 1], [9, 9, 0]])
    model = DecisionTreeClassifier(
        criterion="misclassification", misclassification_cost=cost, max_depth=1
    ).fit(X, y)
    prices = {}
    for cut in range(1, 6):
        sides = np.array(y[:cut]), np.array(y[cut:])
        counts = [[(side == k).sum() for k in "abc"] for side in sides]
        prices[cut - 0.5] = sum((np.array(c) @ cost).min() for c in counts)
    best = min(prices.values())
    assert prices[float(model.tree_.threshold[0])] == best
    assert_allclose((model.tree_.impurity * model.tree_.n_node_samples)[1:].sum(), best)


def test_unit_costs_are_no_costs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    for criterion in ("gini", "misclassification"):
        plain = DecisionTreeClassifier(criterion=criterion, max_depth=4).fit(X, y)
        unit = clone(plain).set_params(misclassification_cost=1 - np.eye(3)).fit(X, y)
        assert unit.fingerprint_ == plain.fingerprint_


def test_balanced_classes_weigh_the_same():
    X, y = np.zeros((10, 1)), ["rare"] * 2 + ["often"] * 8
    model = DecisionTreeClassifier(class_weight="balanced").fit(X, y)
    assert_allclose(model.predict_proba(X[:1]), [[0.5, 0.5]], rtol=1e-12)


def test_a_tie_between_classes_goes_to_the_first():
    assert DecisionTreeClassifier().fit([[0], [0]], ["z", "b"]).predict([[0]]).tolist() == ["b"]


# ------------------------------------------------------------------ pruning by cross-validation


def noisy(seed, n_rows=120):
    """One feature, so that no two splits part the rows alike, and weights that break ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 1))
    y = np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=n_rows)
    return X, y, rng.uniform(0.5, 2.0, n_rows)


def naive_losses(model, X, y, weights, loss):
    """Refit for every fold and alpha; return the weighted mean loss of each alpha."""
    alphas = model.ccp_path_.ccp_alphas
    codes = np.unique(y, return_inverse=True)[1] if hasattr(model, "classes_") else y[:, None]
    folds = content_folds(X.T, codes, model.ccp_folds)
    total = np.zeros(len(alphas))
    for fold, (k, alpha) in product(range(model.ccp_folds), enumerate(alphas)):
        rest = folds != fold
        pruned = clone(model).set_params(ccp_alpha=float(alpha))
        pruned.fit(X[rest], y[rest], sample_weight=weights[rest])
        total[k] += weights[~rest] @ loss(pruned, X[~rest], y[~rest])
    return total / weights.sum()


def squared(model, X, y):
    return (model.predict(X) - y) ** 2


def absolute(model, X, y):
    return np.abs(model.predict(X) - y)


def zero_one(model, X, y):
    return (model.predict(X) != y).astype(float)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (DecisionTreeRegressor(min_samples_leaf=5), squared),
        (DecisionTreeRegressor(criterion="absolute_error", min_samples_leaf=5), absolute),
        (DecisionTreeClassifier(min_samples_leaf=4), zero_one),
        (DecisionTreeClassifier(criterion="entropy", ccp_folds=3, max_leaf_nodes=9), zero_one),
    ],
)
def test_cross_validation_takes_the_alpha_that_a_plain_loop_takes(model, loss, seed):
    X, y, weights = noisy(seed)
    y = y if loss is not zero_one else np.digitize(y, [-0.5, 0.5])
    fitted = clone(model).set_params(ccp_alpha="cv").fit(X, y, sample_weight=weights)
    path, losses = fitted.ccp_path_, naive_losses(fitted, X, y, weights, loss)
    # float weights of medians are rounded to 2^-25 of the largest
    assert_allclose(path.cv_losses, losses, rtol=1e-6)
    choice = path.ccp_alphas[np.flatnonzero(losses <= losses.min() * (1 + 1e-9))[-1]]
    assert path.ccp_alpha == choice
    pruned = clone(model).set_params(ccp_alpha=choice).fit(X, y, sample_weight=weights)
    assert fitted.fingerprint_ == pruned.fingerprint_


def test_cross_validation_counts_each_cost_once():
    X, y, weights = noisy(5)
    y, cost = np.digitize(y, [-0.5, 0.5]), np.array([[0, 1, 4], [1, 0, 1], [20, 6, 0]])

    def price(model, X, y):
        return cost[y, model.predict(X)]

    model = DecisionTreeClassifier(misclassification_cost=cost, ccp_alpha="cv", min_samples_leaf=4)
    model.fit(X, y, sample_weight=weights)
    losses = naive_losses(model, X, y, weights, price)
    assert_allclose(model.ccp_path_.cv_losses, losses, rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_rule_of_one_standard_error_never_takes_a_larger_tree(seed):
    X, y, _ = noisy(seed)
    best = DecisionTreeRegressor(ccp_alpha="cv").fit(X, y)
    small = DecisionTreeRegressor(ccp_alpha="cv", ccp_rule="one_standard_error").fit(X, y)
    assert small.get_n_leaves() <= best.get_n_leaves()
    path = small.ccp_path_
    lowest = int(np.argmin(path.cv_losses))
    allowed = path.cv_losses <= path.cv_losses[lowest] + path.cv_errors[lowest]
    assert path.ccp_alpha == path.ccp_alphas[allowed][-1]


def test_the_standard_error_is_that_of_the_folds_means():
    X, y, _ = noisy(7)
    model = DecisionTreeRegressor(ccp_alpha="cv", ccp_folds=4, min_samples_leaf=5).fit(X, y)
    folds = content_folds(X.T, y[:, None], 4)
    alpha = float(model.ccp_path_.ccp_alphas[-1])
    means = []
    for fold in range(4):
        pruned = DecisionTreeRegressor(ccp_alpha=alpha, min_samples_leaf=5)
        pruned.fit(X[folds != fold], y[folds != fold])
        means.append(squared(pruned, X[folds == fold], y[folds == fold]).mean())
    assert_allclose(model.ccp_path_.cv_errors[-1], np.std(means, ddof=1) / 2, rtol=1e-9)


@pytest.mark.parametrize("n_values", [4, 99])
def test_folds_share_out_classes_evenly_and_never_part_equal_values(n_values):
    rng = np.random.default_rng(8)
    X, y = rng.integers(0, n_values, (300, 3)).astype(float), rng.integers(0, 2, 300)
    folds = content_folds(X.T, y, 5)
    _, same = np.unique(X, axis=0, return_inverse=True)
    assert all(len(set(folds[same == row])) == 1 for row in range(same.max() + 1))
    distinct = np.array(
        [(y[same == row].min(), folds[same == row][0]) for row in range(same.max() + 1)]
    )
    per_class = [np.bincount(distinct[distinct[:, 0] == k, 1], minlength=5) for k in (0, 1)]
    assert max(np.ptp(counts) for counts in per_class) <= 1


# ------------------------------------------------------------------ chance


def test_random_cuts_lie_between_the_smallest_and_the_largest_value_of_the_node():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    for parameters in ({}, {"split_finding": "histogram", "max_bins": 9}):
        model = DecisionTreeRegressor(splitter="random", random_state=1, **parameters).fit(X, y)
        tree, paths = model.tree_, model.decision_path(X).tocsc()
        for node in np.flatnonzero(tree.children_left >= 0):
            rows = paths.indices[paths.indptr[node] : paths.indptr[node + 1]]
            values = X[rows, tree.feature[node]]
            assert values.min() <= tree.threshold[node] < values.max()


def test_random_cuts_are_uniform_between_the_smallest_and_the_largest_value():
    X, y = np.linspace(0, 1, 500)[:, None], np.arange(500.0)
    cuts = [
        DecisionTreeRegressor(splitter="random", random_state=seed, max_depth=1)
        .fit(X, y)
        .tree_.threshold[0]
        for seed in range(300)
    ]
    assert stats.kstest(cuts, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("parameters", [{"splitter": "random"}, {"max_features": 1}])
def test_chance_is_named_by_the_seed(parameters):
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)

    def grown(seed):
        return DecisionTreeClassifier(random_state=seed, **parameters).fit(X, y).fingerprint_

    assert len({grown(seed) for seed in range(5)}) == 5
    assert grown(3) == grown(3)
    one, two = np.random.RandomState(3), np.random.RandomState(3)
    assert grown(one) == grown(two)
    assert grown(one) != grown(3)  # the generator has moved on


def test_without_chance_the_seed_changes_nothing():
    rng = np.random.default_rng(11)
    X, y = rng.integers(0, 3, (100, 4)), rng.integers(0, 2, 100)  # full of ties
    trees = {DecisionTreeClassifier(random_state=s).fit(X, y).fingerprint_ for s in (None, 0, 1, 2)}
    assert len(trees) == 1


def all_bits(n_features):
    X = np.array(list(product([0.0, 1.0], repeat=n_features)))
    return X, X.sum(axis=1)  # every feature gains the same


@pytest.mark.parametrize("n_drawn", [1, 3])
def test_features_are_drawn_uniformly(n_drawn):
    # All tie, so of the drawn ones the first is split: P(first = i) = C(7 - i, n - 1) / C(8, n).
    X, y = all_bits(8)
    roots = [
        DecisionTreeRegressor(max_features=n_drawn, random_state=seed, max_depth=1, n_jobs=1)
        .fit(X, y)
        .tree_.feature[0]
        for seed in range(300)
    ]
    rest = np.array([7, 6, 5, 4, 3, 2, 1, 0])
    ways = np.ones(8) if n_drawn == 1 else rest * (rest - 1) / 2
    possible = ways > 0
    seen = np.bincount(roots, minlength=8)
    assert not seen[~possible].any()
    expected = 300 * ways[possible] / ways.sum()
    assert stats.chisquare(seen[possible], expected).pvalue > 1e-3


def test_draws_of_different_nodes_are_independent():
    X, y = all_bits(8)
    pairs = []
    for seed in range(250):
        tree = DecisionTreeRegressor(max_features=1, random_state=seed, max_depth=2).fit(X, y).tree_
        pairs.append((tree.feature[1], tree.feature[4]))  # the two children of the root
    both = np.histogram2d(*np.array(pairs).T, bins=[[0, 4, 8], [0, 4, 8]])[0]
    assert stats.chi2_contingency(both).pvalue > 1e-3


def test_features_that_are_constant_in_a_node_are_not_drawn():
    X = np.column_stack([np.zeros(50), np.arange(50.0), np.ones(50)])
    for seed in range(20):
        model = DecisionTreeRegressor(max_features=1, random_state=seed).fit(X, np.arange(50.0))
        assert model.get_n_leaves() == 50


@pytest.mark.parametrize(
    ("given", "tried"),
    [("sqrt", 3), ("log2", 3), (0.5, 5), (4, 4), (99, 10), (None, 10), (0.01, 1)],
)
def test_the_number_of_features_tried_is_scikit_learns(given, tried):
    X, y = np.random.default_rng(12).normal(size=(30, 10)), np.arange(30.0)
    assert DecisionTreeRegressor(max_features=given).fit(X, y).max_features_ == tried


# ------------------------------------------------------------------ histograms


def test_with_enough_bins_a_histogram_is_exact():
    rng = np.random.default_rng(13)
    X, y = rng.integers(0, 200, (800, 3)).astype(float), rng.normal(size=800)
    exact = DecisionTreeRegressor(split_finding="exact").fit(X, y)
    assert (
        DecisionTreeRegressor(split_finding="histogram").fit(X, y).fingerprint_
        == exact.fingerprint_
    )


def test_few_bins_leave_few_thresholds():
    X, y = np.random.default_rng(14).normal(size=(500, 1)), np.arange(500.0)
    model = DecisionTreeRegressor(split_finding="histogram", max_bins=8).fit(X, y)
    assert model.get_n_leaves() == 8
    assert_array_equal(
        np.sort(model.tree_.n_node_samples[model.tree_.children_left < 0])[[0, -1]], [62, 63]
    )


def test_auto_is_exact_up_to_a_hundred_thousand_rows():
    rng = np.random.default_rng(15)
    X, y = rng.normal(size=(100_001, 1)), rng.normal(size=100_001)
    leaves = [
        DecisionTreeRegressor(max_leaf_nodes=400).fit(X[:n], y[:n]).get_n_leaves()
        for n in (100_000, 100_001)
    ]
    assert leaves[1] <= 255 < leaves[0]


@pytest.mark.parametrize("n_rows", [30, 400, 3000])  # small nodes, and such as would be summed
def test_the_first_cut_of_absolute_error_is_the_best_of_all(n_rows):
    rng = np.random.default_rng(n_rows)
    X = rng.integers(0, 12, (n_rows, 3)).astype(float)
    y = np.abs(X[:, 1] - 4) + rng.normal(size=n_rows) + 9 * (rng.random(n_rows) < 0.1)
    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y)

    def error(part):
        return np.abs(part - np.median(part)).sum() if len(part) else np.inf

    best = min(
        error(y[X[:, j] <= cut]) + error(y[X[:, j] > cut]) for j in range(3) for cut in range(11)
    )
    assert_allclose(np.abs(y - tree.predict(X)).sum(), best, rtol=1e-9)
