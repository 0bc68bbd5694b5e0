"""Shapley values of trees: those of the definition, by all subsets of the features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.ensembles.additive import AdditiveModel
from hedgerow.ensembles.shapley import Shapley
from hedgerow.ensembles.terms import terms_of_model
from hedgerow.kernels.shap_sums import LANES
from hedgerow.kernels.team import hired
from tests.groves import N_FEATURES, ORDINARY, Node, goes_left, grove_of, grown, table
from tests.oracle.shapley import expectation, interactions, shapley

FEATURES = range(N_FEATURES)
EXACT = {"rtol": 0, "atol": 1e-13}  # values are about 1 and a tree has few of them
PROBLEMS = given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=2),
    n_outputs=st.integers(1, 2),
)


def problem(seed, sizes, n_outputs, n_rows=3):
    """Return rounds of trees with their outputs, and rows."""
    rng = np.random.default_rng(seed)
    trees = [grown(rng, size, ORDINARY) for size in sizes for _ in range(n_outputs)]
    outputs = [number % n_outputs for number in range(len(trees))]
    return trees, outputs, table(rng, n_rows, ORDINARY), rng


def model_of(trees, outputs, n_outputs):
    none = np.zeros(0)
    return AdditiveModel(np.zeros(n_outputs), grove_of(trees, outputs), none, none)


def explained(what, trees, outputs, n_outputs, *tables, n_threads=1):
    with hired(n_threads, 1e9) as team:
        shap = Shapley.of_model(model_of(trees, outputs, n_outputs))
        return getattr(shap, what)(*tables, team)


def by_definition(games, outputs, shape, solve):
    """Return solve(v) of each row's game v of each tree, added up by outputs."""
    total = np.zeros(shape)
    for row, of_row in enumerate(games):
        for v, output in zip(of_row, outputs, strict=True):
            for place, phi in solve(v, FEATURES).items():
                total[(row, *np.atleast_1d(place), output)] += phi
    return total


def expectations(trees, values):
    """Return the path-dependent game of each row and tree."""
    return [
        [lambda S, x=x, nodes=nodes: expectation(nodes, goes_left, x, S) for nodes in trees]
        for x in values.tolist()
    ]


def replacements(trees, values, background):
    """Return the interventional game of each row and tree: the mean of its mixtures."""

    def v(S, x, nodes):
        mixed = [[x[j] if j in S else z[j] for j in FEATURES] for z in background.tolist()]
        return np.mean([expectation(nodes, goes_left, row, set(FEATURES)) for row in mixed])

    return [
        [lambda S, x=x, nodes=nodes: v(S, x, nodes) for nodes in trees] for x in values.tolist()
    ]


@PROBLEMS
def test_values_are_those_of_the_definition(seed, sizes, n_outputs):
    trees, outputs, values, _ = problem(seed, sizes, n_outputs)
    shape = len(values), N_FEATURES, n_outputs
    expected = by_definition(expectations(trees, values), outputs, shape, shapley)
    assert_allclose(explained("values", trees, outputs, n_outputs, values), expected, **EXACT)


@PROBLEMS
def test_interactions_are_those_of_the_definition(seed, sizes, n_outputs):
    trees, outputs, values, _ = problem(seed, sizes, n_outputs)
    shape = len(values), N_FEATURES, N_FEATURES, n_outputs
    expected = by_definition(expectations(trees, values), outputs, shape, interactions)
    found = explained("interactions", trees, outputs, n_outputs, values)
    assert_allclose(found, expected, **EXACT)


@PROBLEMS
def test_values_against_a_background_are_those_of_the_definition(seed, sizes, n_outputs):
    trees, outputs, values, rng = problem(seed, sizes, n_outputs)
    background = table(rng, 3, ORDINARY)
    shape = len(values), N_FEATURES, n_outputs
    games = replacements(trees, values, background)
    expected = by_definition(games, outputs, shape, shapley)
    found = explained("contrasts", trees, outputs, n_outputs, values, background)
    assert_allclose(found, expected, **EXACT)


@PROBLEMS
def test_values_and_the_expected_score_add_up_to_the_score(seed, sizes, n_outputs):
    trees, outputs, values, _ = problem(seed, sizes, n_outputs, n_rows=20)
    model = model_of(trees, outputs, n_outputs)
    with hired(1, 0.0) as team:
        shap = Shapley.of_model(model)
        total = shap.expected() + shap.values(values, team).sum(axis=1)
        assert_allclose(total, model.raw(values, team), **EXACT)
        pairs = shap.interactions(values, team)
        assert_allclose(pairs.sum(axis=2), shap.values(values, team), **EXACT)
        assert_array_equal(pairs, pairs.transpose(0, 2, 1, 3))


@pytest.mark.parametrize("what", ["values", "interactions", "contrasts"])
@pytest.mark.parametrize("n_rows", [1, LANES - 1, LANES, 2 * LANES + 3])
def test_blocks_and_threads_do_not_change_a_bit(what, n_rows):
    trees, outputs, values, rng = problem(n_rows, (9, 1, 20), 2, n_rows)
    tables = [values] if what != "contrasts" else [values, table(rng, LANES + 3, ORDINARY)]
    expected = explained(what, trees, outputs, 2, *tables)
    for n_threads in (2, 3):
        found = explained(what, trees, outputs, 2, *tables, n_threads=n_threads)
        assert_array_equal(found.view(np.int64), expected.view(np.int64))
    last = explained(what, trees, outputs, 2, values[-1:], *tables[1:])
    assert_array_equal(last[0].view(np.int64), expected[-1].view(np.int64))


def test_leaves_of_several_values_are_explained_one_by_one():
    trees, _, values, rng = problem(5, (9, 20, 1), 1, LANES + 3)
    terms = terms_of_model(model_of(trees, [0, 0, 0], 1))
    several = rng.normal(size=(len(terms.value), 3))
    several[rng.random(several.shape) < 0.5] = 0.0  # as in pure leaves of classes
    others = table(rng, 70, ORDINARY)
    with hired(2, 1e9) as team:
        for what, tables in (
            ("values", [values]),
            ("interactions", [values]),
            ("contrasts", [values, others]),
        ):
            whole = getattr(Shapley([terms._replace(value=several)], np.zeros(3)), what)
            found = whole(*tables, team)
            for k in range(3):
                alone = terms._replace(value=several[:, k : k + 1])
                expected = getattr(Shapley([alone], np.zeros(1)), what)(*tables, team)
                assert_allclose(found[..., k], expected[..., 0], **EXACT)


@PROBLEMS
def test_sets_of_large_trees_need_not_be_counted(seed, sizes, n_outputs):
    trees, outputs, values, rng = problem(seed, sizes, n_outputs)
    others = table(rng, 70, ORDINARY)
    expected = explained("contrasts", trees, outputs, n_outputs, values, others)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hedgerow.kernels.crowd._SMALL", 0)
        found = explained("contrasts", trees, outputs, n_outputs, values, others)
        again = explained("contrasts", trees, outputs, n_outputs, values, rng.permutation(others))
    assert_allclose(found, expected, **EXACT)
    assert_array_equal(found, again)


def test_trees_may_come_some_at_a_time():
    trees, _, values, _ = problem(2, (9, 20, 5), 1, 20)
    terms = terms_of_model(model_of(trees, [0, 0, 0], 1))
    parts = [terms_of_model(model_of([tree], [0], 1)) for tree in trees]
    with hired(1, 0.0) as team:
        found = Shapley(parts, np.ones(1)).values(values, team)
        assert_allclose(found, Shapley([terms], np.ones(1)).values(values, team), **EXACT)
    assert_allclose(Shapley(parts, np.ones(1)).expected(), Shapley([terms], np.ones(1)).expected())


def chain(n):
    """Return a way through n features; its last leaf is as rare as 2^-n."""
    nodes = []
    for k in range(n):
        nodes.append(Node(2 * k + 1, 2 * k + 2, k, 0.0, weight=2.0 ** (n - k)))
        nodes.append(Node(weight=2.0 ** (n - k - 1), value=float(k)))
    return [*nodes, Node(weight=1.0, value=1e6)]


def test_a_long_way_through_many_features_is_explained():
    model, rng = model_of([chain(62)], [0], 1), np.random.default_rng(0)
    values, others = np.where(rng.random((2, 5, 62)) < 0.03, -1.0, 1.0)
    values[0] = 1.0
    with hired(1, 0.0) as team:
        shap, raw = Shapley.of_model(model), model.raw(values, team)
        total = shap.expected() + shap.values(values, team).sum(axis=1)
        assert_allclose(total, raw, rtol=1e-12, atol=1e-9)
        total = model.raw(others, team).mean() + shap.contrasts(values, others, team).sum(axis=1)
        assert_allclose(total, raw, rtol=1e-12, atol=1e-9)


def test_more_features_than_bits_are_refused():
    shap, values = Shapley.of_model(model_of([chain(63)], [0], 1)), np.ones((1, 63))
    with hired(1, 0.0) as team, pytest.raises(ValueError, match="tests 63 different features"):
        shap.contrasts(values, values, team)


def test_neither_the_order_nor_the_parting_of_a_background_matters(monkeypatch):
    trees, outputs, values, rng = problem(1, (9, 20, 5), 1, 20)
    others = table(rng, 50, ORDINARY)
    expected = explained("contrasts", trees, outputs, 1, values, others)
    shuffled = explained("contrasts", trees, outputs, 1, values, rng.permutation(others))
    assert_array_equal(shuffled, expected)
    monkeypatch.setattr("hedgerow.ensembles.shapley._MANY_SETS", 1)
    assert_array_equal(explained("contrasts", trees, outputs, 1, values, others), expected)


@pytest.mark.parametrize("what", ["values", "interactions", "contrasts"])
def test_a_model_without_trees_explains_nothing_and_needs_no_features(what):
    values = np.ones((3, N_FEATURES))
    tables = [values] if what != "contrasts" else [values, values]
    assert_array_equal(explained(what, [], [], 1, *tables), 0.0)


@pytest.mark.parametrize("what", ["values", "interactions", "contrasts"])
def test_nothing_is_explained_for_a_team_that_is_cancelled(what):
    trees, outputs, values, _ = problem(0, (9,), 1)
    with hired(1, 0.0) as team:
        team.cancel()
        shap = Shapley.of_model(model_of(trees, outputs, 1))
        tables = [values] if what != "contrasts" else [values, values]
        assert_array_equal(getattr(shap, what)(*tables, team), 0.0)
