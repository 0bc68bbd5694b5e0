"""Gradient vectors, against plain Python and against pairs of one output."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.kernels.derivatives import write_records
from hedgerow.kernels.gradient_vectors import GradientVectors, NewtonVectors, write_vectors
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.newton import Newton
from hedgerow.kernels.team import hired
from hedgerow.kernels.workspace import N_NODES
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.rules import GrowthRules
from tests.estimators.tables import census

pytestmark = pytest.mark.usefixtures("many_hands")

STEPS = st.tuples(st.integers(-(2**15), 2**15 - 1), st.integers(1, 2**16 - 1))


@given(st.lists(st.tuples(STEPS, STEPS, st.integers(1, 5)), min_size=1, max_size=30))
def test_sums_and_scores_are_those_of_python(rows):
    pairs = np.array([[w * ((g << 32) + h) for g, h in both] for *both, w in rows])
    moments, cells = GradientVectors(2, pairs, 0.5), np.zeros(6, np.int64)
    for row in range(len(rows)):
        moments.put(row, cells, 1)
    criterion, expected = NewtonVectors(2, np.array([0.5, 0.25]), 0.125, 3.0, 2.0), 0.0
    mass = 0
    for k, unit in enumerate((0.5, 0.25)):
        G = sum(w * both[k][0] for *both, w in rows)
        H = sum(w * both[k][1] for *both, w in rows)
        expected += max(abs(G * unit) - 3.0, 0.0) ** 2 / (2 * (0.125 * H + 2.0))
        mass += H
        assert math.isclose(moments.key(cells[2:], k), G / (H + 0.5), rel_tol=1e-12)
    assert criterion.mass(cells, 2) == mass
    assert_allclose(criterion.score(cells, 2), expected, rtol=1e-12)
    assert_array_equal(cells[[0, 1, 4, 5]], 0)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("rows", [np.zeros(0, np.int64), np.array([1, 4, 5, 9])])
@pytest.mark.parametrize("weighted", [False, True])
def test_vectors_are_rounded_and_weighted(n_threads, rows, weighted):
    rng = np.random.default_rng(0)
    derivatives = rng.normal(size=(2, 2, 12)).astype(np.float32)
    derivatives[:, 1] = np.abs(derivatives[:, 1])
    scales = np.array([[8.0, 16.0], [32.0, 16.0]], np.float32)
    weights = rng.integers(1, 5, 12) if weighted else np.ones(1, np.int64)
    listed = rows if len(rows) else np.arange(12)
    records, pairs = np.full(len(listed), -7), np.full((12, 2), -7)
    with hired(n_threads, 1e9) as team:
        mask = -1 if weighted else 0
        team.run(write_vectors, derivatives, scales, weights, mask, rows, records, pairs)
    assert_array_equal(records, listed)
    for row in range(12):
        for k in range(2):
            g, h = (float(x) for x in derivatives[k, :, row] * scales[k])
            w = int(weights[row]) if weighted else 1
            step = w * ((math.floor(g + 0.5) << 32) + max(math.floor(h + 0.5), 1))
            assert pairs[row, k] == (step if row in listed else -7)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_vectors_of_one_output_or_of_its_copies_grow_the_tree_of_pairs(n_threads, n_outputs):
    problem = census(700, seed=3)
    g = (problem.numbers - problem.numbers.mean()).astype(np.float32)
    h = np.random.default_rng(0).uniform(0.5, 1.0, 700).astype(np.float32)
    scales, everything = np.array([500.0, 60_000.0], np.float32), np.zeros(0, np.int64)
    units = 1.0 / scales.astype(np.float64)
    one, steps = np.ones(1, np.int64), np.empty((700, n_outputs), np.int64)
    growth = GrowthRules(max_leaves=15, min_leaf_weight=2.0, min_gain=1e-6)
    plain = Judge(
        GradientPairs(one, 0, 9.0), Newton(*units, 0.1, 1.0), np.empty(700, np.int64), units[1], 1.0
    )
    moments = GradientVectors(n_outputs, steps, 9.0)
    criterion = NewtonVectors(n_outputs, np.full(n_outputs, units[0]), float(units[1]), 0.1, 1.0)
    several = Judge(moments, criterion, np.empty(700, np.int64), units[1] / n_outputs, 1.0)
    with hired(n_threads, 1e9) as team:
        table = bin_table(read_table(problem.X), Recipe(64), team)
        derivatives = np.tile(np.stack([g, h]), (n_outputs, 1, 1))

        def fill(records):
            team.run(write_records, g, h, scales, everything, records)

        def fill_vectors(records):
            rates = np.tile(scales, (n_outputs, 1))
            team.run(write_vectors, derivatives, rates, one, 0, everything, records, steps)

        pairs = Grower(table, plain, growth, team).grow(plain, fill, 0)
        vectors = Grower(table, several, growth, team).grow(several, fill_vectors, 0)
    n_nodes = int(pairs.counters[N_NODES])
    assert n_nodes == int(vectors.counters[N_NODES]) == 29
    for name in ("left", "feature", "cut", "missing_left", "n_rows"):
        assert_array_equal(vectors.table[name][:n_nodes], pairs.table[name][:n_nodes])
    for k in range(n_outputs):
        assert_array_equal(vectors.sums[:n_nodes, k], pairs.sums[:n_nodes, 0])
