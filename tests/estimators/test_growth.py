"""How boosted trees may grow: constraints, counts of rows, drawn features, exact cuts."""

import numpy as np
import pytest
from sklearn.base import clone

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor
from hedgerow.ensembles import cells
from hedgerow.trees import grower
from tests.estimators.tables import census

PLAIN = {"n_estimators": 15, "min_child_weight": 1.0, "early_stopping": False}


def numbers(seed=0, n_rows=600):
    """Make rows of four features; the first two have an effect against which noise works."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    known = np.nan_to_num(X)
    y = known[:, 0] - known[:, 1] + np.sin(3 * known[:, 2]) * known[:, 3]
    return X, y + 2.0 * rng.normal(size=n_rows)


def trees_of(model):
    """Yield the trees, each as a list of (left, right, feature, depth)."""
    grove = model._model.grove
    for begin, end in zip(grove.offset[:-1], grove.offset[1:], strict=True):
        left, right, feature = (
            part[begin:end].tolist() for part in (grove.left, grove.right, grove.feature)
        )
        depth = [0] * len(left)
        for node in range(len(left)):
            if left[node] >= 0:
                depth[left[node]] = depth[right[node]] = depth[node] + 1
        yield list(zip(left, right, feature, depth, strict=True))


def paths_of(tree, node=0, above=frozenset()):
    """Yield the set of features on the way to each leaf."""
    left, right, feature, _ = tree[node]
    if left < 0:
        yield above
    else:
        for child in (left, right):
            yield from paths_of(tree, child, above | {feature})


# ------------------------------------------------------------------ monotone constraints


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"method": "gradient"},
        {"loss": "absolute_error"},
        {"loss": "huber", "l1": 2.0},
        {"loss": "poisson"},
        {"prune": "post", "gamma": 3.0},
        {"min_samples_leaf": 12},
        {"max_leaf_nodes": None, "max_depth": 4, "split_finding": "exact"},
        {"max_features": 2},
    ],
    ids=str,
)
def test_a_monotone_model_never_goes_the_other_way(parameters):
    X, y = numbers()
    y = np.exp(y / 4) if parameters.get("loss") == "poisson" else y
    signs = [1, -1, 0, 0]
    model = GradientBoostingRegressor(**PLAIN, **parameters, monotonic_cst=signs).fit(X, y)
    free = GradientBoostingRegressor(**PLAIN, **parameters).fit(X, y)
    goes_back = []
    for feature, sign in ((0, 1), (1, -1)):
        grid = np.linspace(-4, 4, 161)
        rows = np.repeat(X[:40], len(grid), axis=0)
        rows[:, feature] = np.tile(grid, 40)
        steps, other = (
            sign * np.diff(each.predict(rows).reshape(40, -1), axis=1) for each in (model, free)
        )
        assert (steps >= 0).all()
        assert steps.max() > 0
        goes_back.append(other.min() < 0)
    assert any(goes_back)  # it had to be asked


def test_the_probability_of_the_second_class_is_monotone():
    X, y = numbers(3)
    model = GradientBoostingClassifier(**PLAIN, monotonic_cst=[1, 0, 0, -1]).fit(X, y > 0)
    grid = np.linspace(-4, 4, 81)
    for feature, sign in ((0, 1), (3, -1)):
        rows = np.repeat(X[:40], len(grid), axis=0)
        rows[:, feature] = np.tile(grid, 40)
        steps = np.diff(model.predict_proba(rows)[:, 1].reshape(40, -1), axis=1)
        assert (sign * steps >= 0).all()


def test_constraints_by_name_are_those_by_number():
    pandas = pytest.importorskip("pandas")
    X, y = numbers()
    frame = pandas.DataFrame(X, columns=list("abcd"))
    one = GradientBoostingRegressor(**PLAIN, monotonic_cst={"b": -1, "a": 1}).fit(frame, y)
    other = GradientBoostingRegressor(**PLAIN, monotonic_cst=[1, -1, 0, 0]).fit(X, y)
    assert one.fingerprint_ == other.fingerprint_
    one = GradientBoostingRegressor(**PLAIN, interaction_cst=[["a", "c"]]).fit(frame, y)
    other = GradientBoostingRegressor(**PLAIN, interaction_cst=[{0, 2}]).fit(X, y)
    assert one.fingerprint_ == other.fingerprint_


def test_constraints_of_zero_are_none():
    X, y = numbers()
    none = GradientBoostingRegressor(**PLAIN).fit(X, y)
    zeros = GradientBoostingRegressor(**PLAIN, monotonic_cst=[0, 0, 0, 0]).fit(X, y)
    assert none.fingerprint_ == zeros.fingerprint_


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 0], "has shape (2,), but X has 4 features"),
        ([1, 0, 2, 0], "monotonic_cst has 2"),
        ({"a": 1}, "names 'a', which is not a column of X"),
    ],
)
def test_constraints_that_make_no_sense_are_refused(given, said):
    X, y = numbers()
    with pytest.raises(ValueError, match="monotonic_cst") as caught:
        GradientBoostingRegressor(monotonic_cst=given).fit(X, y)
    assert said in str(caught.value)


def test_categories_and_many_classes_are_not_monotone():
    X = [[1.0, "a"], [2.0, "b"], [3.0, "a"]]
    with pytest.raises(ValueError, match="which has categories"):
        GradientBoostingRegressor(monotonic_cst=[0, 1]).fit(X, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="monotonic_cst is for two classes, but y has 3"):
        GradientBoostingClassifier(monotonic_cst=[1, 0]).fit(X, [0, 1, 2])


# ------------------------------------------------------------------ interactions


@pytest.mark.parametrize(
    ("given", "groups"),
    [
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ("pairwise", [{a, b} for a in range(4) for b in range(4)]),
        ([{0, 1}, {2}], [{0, 1}, {2}, {3}]),
        ([[0, 1, 2], [2, 3]], [{0, 1, 2}, {2, 3}]),
        ([(0, 1)], [{0, 1}, {2, 3}]),
    ],
)
@pytest.mark.parametrize("max_leaf_nodes", [None, 15])
def test_features_meet_only_within_their_groups(given, groups, max_leaf_nodes):
    X, y = numbers()
    model = GradientBoostingRegressor(
        **PLAIN, max_leaf_nodes=max_leaf_nodes, max_depth=6, interaction_cst=given
    ).fit(X, y)
    met = {path for tree in trees_of(model) for path in paths_of(tree)}
    assert all(any(path <= group for group in groups) for path in met)
    # Whatever may meet does, so that nothing else is in the way.
    assert max(map(len, met)) == max(map(len, groups))


def test_groups_of_columns_that_are_not_there_are_refused():
    X, y = numbers()
    for group in ([4], ["a"], [-1]):
        with pytest.raises(ValueError, match="which is not a column of X"):
            GradientBoostingRegressor(interaction_cst=[group]).fit(X, y)


# ------------------------------------------------------------------ drawn features


def test_a_tree_has_as_many_features_as_are_drawn_for_it_and_each_tree_its_own():
    X, y = numbers()
    model = GradientBoostingRegressor(**PLAIN, max_features_tree=2, random_state=0).fit(X, y)
    own = [frozenset(node[2] for node in tree if node[0] >= 0) for tree in trees_of(model)]
    assert max(map(len, own)) == 2
    assert len(set(own)) > 3


def test_a_level_has_as_many_features_as_are_drawn_for_it():
    X, y = numbers()
    model = GradientBoostingRegressor(
        **PLAIN, max_leaf_nodes=None, max_depth=5, max_features_level=0.25, random_state=0
    ).fit(X, y)
    levels = {}
    for number, tree in enumerate(trees_of(model)):
        for left, _, feature, depth in tree:
            if left >= 0:
                levels.setdefault((number, depth), set()).add(feature)
    assert {len(features) for features in levels.values()} == {1}
    assert {max(features) for features in levels.values()} == {0, 1, 2, 3}


def test_a_node_draws_from_its_level_and_a_level_from_its_tree():
    X, y = numbers()
    parameters = {"max_features_tree": 3, "max_features_level": 2, "max_features": 1}
    model = GradientBoostingRegressor(**PLAIN, **parameters, random_state=0).fit(X, y)
    for tree in trees_of(model):
        splits = [(feature, depth) for left, _, feature, depth in tree if left >= 0]
        assert len({feature for feature, _ in splits}) <= 3
        for level in range(5):
            assert len({feature for feature, depth in splits if depth == level}) <= 2


def test_another_seed_draws_other_features():
    X, y = numbers()
    model = GradientBoostingRegressor(**PLAIN, max_features=0.5)
    prints = [clone(model).set_params(random_state=seed).fit(X, y).fingerprint_ for seed in (0, 1)]
    assert prints[0] != prints[1]
    assert clone(model).set_params(random_state=0).fit(X, y).fingerprint_ == prints[0]


@pytest.mark.parametrize("name", ["max_features", "max_features_level", "max_features_tree"])
def test_all_features_are_drawn_by_default(name):
    X, y = numbers()
    everything = GradientBoostingRegressor(**PLAIN).fit(X, y).fingerprint_
    for given in (4, 9, 1.0):
        model = GradientBoostingRegressor(**PLAIN, **{name: given}).fit(X, y)
        assert model.fingerprint_ == everything


# ------------------------------------------------------------------ rows of a leaf


def leaf_sizes(model, X):
    """Count the rows in each leaf of each tree."""
    grove, values = model._model.grove, model._values(X)
    for begin, end in zip(grove.offset[:-1], grove.offset[1:], strict=True):
        sizes = np.zeros(end - begin, int)
        for row in values:
            node = 0
            while grove.left[begin + node] >= 0:
                at = begin + node
                x = row[grove.feature[at]]
                left = grove.missing_left[at] if np.isnan(x) else x <= grove.threshold[at]
                node = grove.left[at] if left else grove.right[at]
            sizes[node] += 1
        yield sizes[grove.left[begin:end] < 0]


@pytest.mark.parametrize("weighted", [False, True])
def test_no_leaf_has_fewer_rows_than_asked_for(weighted):
    X, y = numbers(n_rows=300)
    weights = np.random.default_rng(0).integers(1, 50, 300) if weighted else None
    model = GradientBoostingRegressor(**{**PLAIN, "n_estimators": 4}, min_samples_leaf=17)
    sizes = list(leaf_sizes(model.fit(X, y, sample_weight=weights), X))
    assert min(each.min() for each in sizes) == 17
    assert all(each.sum() == 300 for each in sizes)


@pytest.mark.parametrize("signs", [None, [1, -1, 0, 0]], ids=["free", "monotone"])
def test_trees_of_very_many_rows_are_grown_from_wider_sums(signs, monkeypatch):
    X, y = numbers()
    model = GradientBoostingRegressor(**PLAIN, monotonic_cst=signs)
    packed = clone(model).fit(X, y).fingerprint_
    monkeypatch.setattr(cells, "_MANY_ROWS", 599)
    asked = []
    monkeypatch.setattr(cells, "GradientCounts", noted(cells.GradientCounts, asked))
    assert clone(model).fit(X, y).fingerprint_ == packed
    assert asked


def noted(kind, calls):
    def made(*arguments):
        calls.append(arguments)
        return kind(*arguments)

    return made


# ------------------------------------------------------------------ ways that must not differ


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_features": 2, "random_state": 1},
        {"max_features_tree": 3, "max_features_level": 2, "random_state": 1},
        {"monotonic_cst": [1, -1, 0, 0]},
        {"min_samples_leaf": 9, "interaction_cst": "pairwise"},
        {"min_samples_leaf": 9, "monotonic_cst": [1, -1, 0, 0], "prune": "post", "gamma": 9.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("max_leaf_nodes", [None, 20])
def test_trees_from_histograms_are_those_from_rows_on_any_threads(
    parameters, max_leaf_nodes, monkeypatch
):
    X, y = numbers(n_rows=1500)
    model = GradientBoostingRegressor(
        **PLAIN, **parameters, max_depth=6, max_leaf_nodes=max_leaf_nodes
    )
    prints = {clone(model).set_params(n_jobs=n).fit(X, y).fingerprint_ for n in (1, 2, 3)}
    monkeypatch.setattr(grower, "_HISTOGRAM_BYTES", 0)
    prints.add(clone(model).fit(X, y).fingerprint_)
    assert len(prints) == 1


@pytest.mark.parametrize("prune", ["pre", "post"])
def test_level_by_level_is_best_first_where_leaves_are_not_limited(prune):
    X, y = numbers()
    shared = GradientBoostingRegressor(**PLAIN, max_depth=4, prune=prune, gamma=4.0)
    by_level = clone(shared).set_params(max_leaf_nodes=None).fit(X, y)
    best_first = clone(shared).set_params(max_leaf_nodes=16).fit(X, y)
    assert by_level.fingerprint_ == best_first.fingerprint_
    assert max(node[3] for tree in trees_of(by_level) for node in tree) == 4


def test_exact_cuts_may_be_between_any_two_values():
    X = np.arange(1000.0)[:, None]
    y = (X[:, 0] > 333).astype(float)
    shared = {**PLAIN, "n_estimators": 1, "max_leaf_nodes": 2}
    exact = GradientBoostingRegressor(**shared, split_finding="exact").fit(X, y)
    assert exact._model.grove.threshold[0] == 333.5
    binned = GradientBoostingRegressor(**shared, max_bins=4).fit(X, y)
    assert binned._model.grove.threshold[0] != 333.5


def test_exact_cuts_of_few_values_are_those_of_histograms():
    problem = census(500)
    few = np.log(np.asarray(problem.X[:, :2], float) + 1).round(1)
    exact = GradientBoostingRegressor(**PLAIN, split_finding="exact").fit(few, problem.numbers)
    binned = GradientBoostingRegressor(**PLAIN, split_finding="histogram").fit(few, problem.numbers)
    assert exact.fingerprint_ == binned.fingerprint_
