"""On small problems without ties, boosted trees are those of XGBoost, LightGBM and scikit-learn.

Features have twelve values each, so that every library looks at every cut; targets are drawn so
that no two splits gain the same. Trees are equal if each node is split by the same feature into
the same rows; thresholds lie between the same neighbouring values then.

Leaf values and scores are compared to 1e-6. All libraries have derivatives in float32, and
XGBoost's leaves and scores are float32 as well.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import GradientBoostingRegressor
from tests.agreement.peers import (
    Problem,
    Split,
    hessian_factor,
    of_classic,
    of_hedgerow,
    of_hist,
    of_lightgbm,
    of_xgboost,
    scaled,
    start_of,
)

pytestmark = pytest.mark.agreement

SHARED = {"n_estimators": 5, "learning_rate": 0.3, "l2": 1.0, "min_child_weight": 5.0}
LEAVES = {"max_leaf_nodes": 6}
DEPTH = {"max_depth": 3, "max_leaf_nodes": None}
SETTINGS = {
    "leaves": LEAVES,
    "depth": DEPTH,
    "l1": {**LEAVES, "l1": 2.0},
    "large l2": {**LEAVES, "l2": 50.0},
    "large leaves": {**LEAVES, "min_child_weight": 12.0},
    "gamma": {"max_leaf_nodes": 31, "gamma": 2.0},
}
# Where a feature cannot gain, LightGBM does not try it in the node's children. With gamma or a
# large l2 it may gain there.
OF_LIGHTGBM = ["leaves", "depth", "l1", "large leaves"]
KINDS = ["squared_error", "2 classes", "3 classes", "poisson", "gamma"]
TABLES = ["plain", "missing", "weighted"]


def problem(kind, table="plain", n_rows=800, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (n_rows, 4)) * 10.0
    f = np.sin(X[:, 0] / 25) + 0.02 * X[:, 1] + (X[:, 2] > 50) * X[:, 3] / 100
    noisy = f + 0.5 * rng.standard_normal(n_rows)
    if "classes" in kind:
        K = int(kind[0])
        y, loss = np.digitize(noisy, np.quantile(noisy, np.arange(1, K) / K)), "log_loss"
    else:
        counts, times = rng.poisson(np.exp(f - 1)), np.exp(f) * rng.gamma(3.0, size=n_rows)
        y, loss = {"poisson": counts, "gamma": times}.get(kind, noisy), kind
    if table == "missing":
        X[rng.random(X.shape) < 0.15] = np.nan
    weights = rng.uniform(0.5, 2.0, n_rows) if table == "weighted" else None
    return Problem(X, y.astype(np.float64), loss, weights)


def parted(split, X):
    """Return which rows go with the first one, then their subtree and that of the others.

    A missing value against the rest can be written in two ways, of which a library chooses one.
    """
    x = X[:, split.feature]
    left = np.where(np.isnan(x), split.missing_left, x <= split.threshold).astype(bool)
    return (left, split.left, split.right) if left[0] else (~left, split.right, split.left)


def assert_same_tree(ours, theirs, X):
    """Assert equal splits of these rows, and equal leaves."""
    assert isinstance(ours, Split) == isinstance(theirs, Split)
    if not isinstance(ours, Split):
        assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
        return
    assert ours.feature == theirs.feature
    together, our_first, our_other = parted(ours, X)
    their_together, their_first, their_other = parted(theirs, X)
    assert_array_equal(together, their_together)
    assert_same_tree(our_first, their_first, X[together])
    assert_same_tree(our_other, their_other, X[~together])


def assert_same(ours, theirs, given):
    assert len(ours.trees) == len(theirs.trees) == 5 * given.n_outputs
    assert sum(isinstance(tree, Split) for tree in ours.trees) > len(ours.trees) / 2
    for our_tree, their_tree in zip(ours.trees, theirs.trees, strict=True):
        assert_same_tree(our_tree, their_tree, given.X)
    assert_allclose(ours.raw, theirs.raw, rtol=1e-6, atol=1e-6)


# ------------------------------------------------------------------ second order


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_trees_are_xgboosts(kind, setting):
    pytest.importorskip("xgboost")
    compare_with_xgboost(problem(kind), SHARED | SETTINGS[setting])


@pytest.mark.parametrize("table", TABLES[1:])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_missing_values_and_weights_are_xgboosts(kind, table):
    pytest.importorskip("xgboost")
    compare_with_xgboost(problem(kind, table), SHARED | DEPTH)


def compare_with_xgboost(given, parameters):
    """XGBoost's multinomial Hessian is 2 p (1 - p)."""
    ours = of_hedgerow(given, **scaled(parameters, hessian_factor(given, 2.0)))
    by_level = parameters["max_leaf_nodes"] is None  # "exact" cannot do the other
    for tree_method in ["hist", "exact"] if by_level else ["hist"]:
        theirs = of_xgboost(given, start_of(given), tree_method, **parameters)
        assert_same(ours, theirs, given)


@pytest.mark.parametrize("setting", OF_LIGHTGBM)
@pytest.mark.parametrize("kind", KINDS)
def test_trees_are_lightgbms(kind, setting):
    pytest.importorskip("lightgbm")
    given, parameters = problem(kind), SHARED | SETTINGS[setting]
    theirs = of_lightgbm(given, start_of(given), **parameters)
    assert_same(of_hedgerow(given, **parameters), theirs, given)


@pytest.mark.parametrize("table", TABLES[1:])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_missing_values_and_weights_are_lightgbms(kind, table):
    pytest.importorskip("lightgbm")
    given, parameters = problem(kind, table), SHARED | DEPTH
    theirs = of_lightgbm(given, start_of(given), **parameters)
    assert_same(of_hedgerow(given, **parameters), theirs, given)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("setting", ["leaves", "depth", "large l2"])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_are_scikit_learns(kind, setting, table):
    """Their least leaf is a number of rows: ours is, too, for squared error without weights.

    Else both are as good as none. Their multinomial Hessian is p (1 - p).
    """
    given, parameters = problem(kind, table), SHARED | SETTINGS[setting]
    counts = kind == "squared_error" and table != "weighted"
    parameters["min_child_weight"] = 5.0 if counts else 1e-3
    ours = of_hedgerow(given, **scaled(parameters, hessian_factor(given, 1.0)))
    del parameters["min_child_weight"]
    theirs = of_hist(given, min_samples_leaf=5 if counts else 1, **parameters)
    assert_same(ours, theirs, given)


def test_gamma_of_xgboost_and_lightgbm_is_twice_ours():
    """Their gain is without the 1/2: a stump appears at the same gamma if theirs is doubled."""
    xgboost, lightgbm = (pytest.importorskip(name) for name in ("xgboost", "lightgbm"))
    given = problem("squared_error")
    X, y = given.X, given.y - given.y.mean()
    stump = GradientBoostingRegressor(
        n_estimators=1, max_leaf_nodes=2, l2=1.0, min_child_weight=20.0, early_stopping=False
    )
    gain = stump.fit(X, y)._model.gain[0]
    for factor, n_leaves in ((0.999, 2), (1.001, 1)):
        gamma = factor * gain
        ours = stump.set_params(gamma=gamma).fit(X, y)
        assert (ours._model.grove.left < 0).sum() == n_leaves
        shared = {"max_depth": 1, "gamma": 2 * gamma, "lambda": 1.0, "base_score": 0.0}
        rows = xgboost.DMatrix(X, y)
        for tree_method in ("hist", "exact"):
            booster = xgboost.train(shared | {"tree_method": tree_method}, rows, 1)
            assert booster.get_dump()[0].count("leaf") == n_leaves
        shared = {"num_leaves": 2, "min_gain_to_split": 2 * gamma, "lambda_l2": 1.0}
        shared |= {"verbosity": -1, "num_threads": 1}
        booster = lightgbm.train(shared, lightgbm.Dataset(X, y), 1)
        assert booster.dump_model()["tree_info"][0]["num_leaves"] == n_leaves


# ------------------------------------------------------------------ first order


@pytest.mark.parametrize("table", ["plain", "weighted"])
@pytest.mark.parametrize("setting", [LEAVES | {"max_depth": None}, DEPTH], ids=["leaves", "depth"])
@pytest.mark.parametrize("kind", ["squared_error", "2 classes", "3 classes"])
def test_trees_by_gradients_are_those_of_scikit_learns_gradient_boosting(kind, setting, table):
    compare_with_classic(problem(kind, table), setting)


@pytest.mark.parametrize("setting", [LEAVES | {"max_depth": None}, DEPTH], ids=["leaves", "depth"])
def test_trees_of_medians_are_those_of_scikit_learns_gradient_boosting(setting):
    """With weights no median lies between two rows, where libraries choose differently."""
    compare_with_classic(problem("absolute_error", "weighted"), setting)


def compare_with_classic(given, setting):
    """Their least leaf is a number of rows, ours a weight: none where they are not the same."""
    parameters = {"n_estimators": 5, "learning_rate": 0.3, **setting}
    plain = given.weights is None
    ours = of_hedgerow(
        given, method="gradient", min_child_weight=5.0 if plain else 1e-3, **parameters
    )
    assert_same(ours, of_classic(given, min_samples_leaf=5 if plain else 1, **parameters), given)
