"""Packed trees: 16 bytes a node, and nothing is lost."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_array_equal

import hedgerow as h
from hedgerow.ensembles.forest import joined
from hedgerow.ensembles.species import class_tree, mean_tree
from hedgerow.kernels.ballots import Means, Proportions, Votes
from hedgerow.kernels.packed import PACKED
from hedgerow.kernels.team import hired
from hedgerow.kernels.walks import add_leaves, find_leaves, walkers_of
from tests.estimators.tables import census

N_ROWS = 120 if config.DISABLE_JIT else 700


def forest(kind, **parameters):
    problem = census(N_ROWS)
    model = kind(n_estimators=4, **parameters)
    return model.fit(problem.X, problem.target(model)), problem


@pytest.fixture(scope="module", name="classes")
def _classes():
    return forest(h.RandomForestClassifier, min_samples_leaf=3)


@pytest.fixture(scope="module", name="numbers")
def _numbers():
    return forest(h.RandomForestRegressor, min_samples_leaf=3)


def test_a_node_has_16_bytes():
    assert PACKED.itemsize == 16


def test_leaves_of_one_class_need_nothing_beside_their_node():
    model, _ = forest(h.RandomForestClassifier)
    assert all(len(thicket.extra) == 0 for thicket in model._model.thickets)
    words = sum(thicket.words.nbytes + thicket.first.nbytes for thicket in model._model.thickets)
    assert model._model.bytes_used == 16 * model._model.n_nodes + words


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_walk_down_a_packed_tree_is_a_walk_down_the_tree(kind, request):
    model, problem = request.getfixturevalue(kind)
    values = model._values(problem.X)
    leaves = np.empty((len(values), 4), np.int32)
    rows = np.arange(len(values))
    with hired(2, 1e9) as team:
        walkers = walkers_of(team.n_threads)
        for thicket in model._model.thickets:
            team.run(find_leaves, values, rows, thicket, walkers, leaves)
    for number, tree in enumerate(model.estimators_):
        assert_array_equal(leaves[:, number], tree.apply(problem.X))


@pytest.mark.parametrize(("kind", "way"), [("classes", Proportions), ("numbers", Means)])
def test_what_leaves_add_is_what_trees_predict(kind, way, request):
    model, problem = request.getfixturevalue(kind)
    values, n_values = model._values(problem.X), model._n_values
    out, expected = np.zeros((2, len(values), n_values))
    rows = np.arange(0, len(values), 2)
    with hired(2, 1e9) as team:
        walkers = walkers_of(team.n_threads)
        for thicket in model._model.thickets:
            team.run(add_leaves, values, rows, thicket, way(n_values), walkers, out)
    for tree in model.estimators_:
        expected[rows] += tree._tree.value[tree.apply(problem.X)][rows]
    assert_array_equal(out, expected)


def test_a_vote_is_for_the_most_frequent_class_of_the_leaf(classes):
    model, problem = classes
    values = model._values(problem.X)
    out, expected = np.zeros((2, len(values), 3))
    with hired(1, 0.0) as team:
        walkers = walkers_of(1)
        for thicket in model._model.thickets:
            team.run(add_leaves, values, np.arange(len(values)), thicket, Votes(3), walkers, out)
    for tree in model.estimators_:
        chosen = np.argmax(tree.predict_proba(problem.X), axis=1)
        expected[np.arange(len(values)), chosen] += 1
    assert_array_equal(out, expected)


def test_packing_and_unpacking_a_tree_changes_nothing():
    problem = census(N_ROWS)
    whole = {"bootstrap": False, "max_features": None, "split_finding": "exact"}
    tree = h.DecisionTreeClassifier(min_samples_leaf=4, split_finding="exact")
    packed = h.RandomForestClassifier(n_estimators=1, min_samples_leaf=4, **whole)
    tree.fit(problem.X, problem.classes)
    assert packed.fit(problem.X, problem.classes)._tree(0).fingerprint() == tree.fingerprint_
    both = np.column_stack([problem.numbers, -(problem.numbers**2)])
    for y in (problem.numbers, both):
        tree = h.DecisionTreeRegressor(min_samples_leaf=4, split_finding="exact").fit(problem.X, y)
        packed = h.RandomForestRegressor(n_estimators=1, min_samples_leaf=4, **whole)
        again = packed.fit(problem.X, y)._tree(0)
        assert again.fingerprint() == tree.fingerprint_
        assert_array_equal(again.n_rows, tree._tree.n_rows)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_trees_that_are_put_together_can_be_taken_apart(kind, request):
    model, _ = request.getfixturevalue(kind)
    forest = model._model
    apart = [forest.tree(number) for number in range(4)]
    together = joined([*apart[:1], joined(apart[1:3]), *apart[3:]])
    for array, expected in zip(together, forest.thickets[0], strict=True):
        assert_array_equal(np.asarray(array), np.asarray(expected))
    unpacked = (
        class_tree(apart[2], 1.0, "gini", forest.n_categories)
        if kind == "classes"
        else mean_tree(apart[2], forest.n_categories)
    )
    assert unpacked.fingerprint() == model.estimators_[2].fingerprint_
    with pytest.raises(IndexError):
        forest.tree(4)
