"""Leaves that a loss sets itself."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.ensembles.leaves import exact_leaves
from hedgerow.ensembles.sampling import EVERY_ROW, Drawn
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.team import hired
from hedgerow.kernels.workspace import N_NODES, empty_nodes
from hedgerow.losses import AbsoluteError, Huber, Quantile
from hedgerow.trees.quantise import quantised_weights


def test_leaves_of_a_sample_are_those_of_its_weights():
    rng = np.random.default_rng(0)
    leaves = rng.choice(np.array([-1, 1, 2], np.int32), 200)
    y, none = rng.normal(size=(200, 2)), np.zeros(0, np.int64)
    stage = Stage(y, quantised_weights(np.ones(200)), np.ones(1), Quantile(0.3), none)
    nodes = empty_nodes(2, 200, 1, 1)._replace(leaf_of_row=leaves)
    nodes.counters[N_NODES] = 3
    repeats, factors = rng.integers(1, 4, 200), rng.uniform(1.0, 2.0, 200)
    drawn = Drawn(none, 200, 200, repeats, -1, factors, int(repeats.sum()))
    with hired(1, 1e9) as team:
        found = exact_leaves(stage, 1, drawn, nodes, team)
    for leaf in (1, 2):
        own = leaves == leaf
        residual = (y[:, 1] - stage.raw[1])[own]
        assert found[leaf] == Quantile(0.3).leaf(residual, (repeats * factors)[own])


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("loss", [AbsoluteError(), Quantile(0.3), Huber(0.7)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_each_leaf_is_that_of_its_rows(n_threads, loss, weighted):
    rng = np.random.default_rng(0)
    leaves = rng.choice(np.array([-1, 1, 3, 4], np.int32), 600)
    weights = rng.uniform(0.1, 1.0, 600) if weighted else np.ones(600)
    none = np.zeros(0, np.int64)
    stage = Stage(rng.normal(size=600), quantised_weights(weights, 30), np.ones(1), loss, none)
    stage.raw[0] = rng.normal(size=600)
    with hired(n_threads, 1e9) as team:
        nodes = empty_nodes(3, 600, 1, 1)._replace(leaf_of_row=leaves)
        nodes.counters[N_NODES] = 5
        drawn = EVERY_ROW.sampler(None, stage, 0, team).drawn(0)
        found = exact_leaves(stage, 0, drawn, nodes, team)
    expected = np.zeros(5)
    for leaf in (1, 3, 4):
        own = leaves == leaf
        expected[leaf] = loss.leaf((stage.y - stage.raw[0])[own], stage.weights[own])
    assert_array_equal(found, expected)
