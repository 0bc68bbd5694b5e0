"""Leaves that a loss sets itself."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.ensembles.leaves import exact_leaves
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.team import hired
from hedgerow.losses import AbsoluteError, Huber, Quantile
from hedgerow.trees.quantise import quantised_weights


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
        found = exact_leaves(stage, 0, leaves, 5, team)
    expected = np.zeros(5)
    for leaf in (1, 3, 4):
        own = leaves == leaf
        expected[leaf] = loss.leaf((stage.y - stage.raw[0])[own], stage.weights[own])
    assert_array_equal(found, expected)
