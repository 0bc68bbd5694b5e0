"""Ranking: a split's mark is 1 more than how many thresholds of its column are below its own."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_array_equal

from hedgerow.ensembles.ranking import ranking_of
from hedgerow.kernels.packed import FEATURE, MISSING_LEFT, PACKED, Thicket
from hedgerow.kernels.team import hired

N_NODES = 600 if config.DISABLE_JIT else 40_000
LEAF, N_FEATURES = -2, 5
RNG = np.random.default_rng(0)
NUMBERS = {
    "few": np.array([-np.inf, -1e300, -0.5, -0.0, 0.0, 1e-310, 0.1, 7.0, np.inf]),
    "some": RNG.normal(size=700),
    "more than are remembered": np.exp(RNG.normal(size=30_000) * 3.0),
}


def thicket(rng, numbers):
    """Nodes as they come: which is below which does not matter here."""
    nodes = np.zeros(N_NODES, PACKED).view(np.recarray)
    nodes.feature = rng.integers(0, N_FEATURES, N_NODES)
    nodes.feature |= rng.choice([0, MISSING_LEFT], N_NODES)
    nodes.feature[rng.random(N_NODES) < 0.5] = LEAF
    nodes.number = rng.choice(numbers, N_NODES)
    first = np.array([[0, 0, 0], [N_NODES, 0, 0]])
    return Thicket(nodes, np.zeros(0, np.uint64), np.zeros((0, 1)), first)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("gathered", [1, 1 << 22])
def test_marks_are_ranks_among_all_thresholds_of_the_column(monkeypatch, name, n_threads, gathered):
    monkeypatch.setattr("hedgerow.ensembles.ranking._GATHERED", gathered)
    rng, columns = np.random.default_rng(1), np.array([1, 2, 4])
    thickets = [thicket(rng, NUMBERS[name]) for _ in range(2)]
    with hired(n_threads, 1e9) as team:
        ranking = ranking_of(columns, N_FEATURES, thickets, team)
    nodes = np.concatenate([np.asarray(each.nodes) for each in thickets])
    marks = np.concatenate(ranking.marks)
    feature = np.where(nodes["feature"] < 0, -1, nodes["feature"] & FEATURE)
    for column in columns:
        own = feature == column
        different = np.unique(nodes["number"][own])
        assert_array_equal(marks[own], 1 + np.searchsorted(different, nodes["number"][own]))
    assert not marks[~np.isin(feature, columns)].any()
    assert_array_equal(ranking.columns, columns)


def test_a_forest_without_splits_of_a_column_has_no_thresholds_there():
    one = thicket(np.random.default_rng(2), NUMBERS["few"])
    one.nodes.feature[:] = LEAF
    with hired(2, 1e9) as team:
        ranking = ranking_of(np.array([0, 3]), N_FEATURES, [one], team)
    assert not ranking.marks[0].any()
    assert len(ranking.rungs.first) == 3
