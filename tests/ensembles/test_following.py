"""Trails: rows that follow them end in the leaves that they would have walked to."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.ensembles.following import followed
from hedgerow.ensembles.forest import joined
from hedgerow.kernels.ballots import Means
from hedgerow.kernels.packed import BY_CATEGORY, MISSING_LEFT, PACKED, Thicket
from hedgerow.kernels.team import hired
from hedgerow.kernels.trails import BLOCK
from hedgerow.kernels.walks import add_leaves, walkers_of

N_FEATURES = 3
FLOATS = np.array([-3e38, -1.5, -0.0, 0.0, 1e-45, 0.1, 1.0, 7.0, 3e38], np.float32)
# Thresholds that are values, that lie between a value and the next float, and beyond all floats.
CUTS = np.concatenate([FLOATS, [0.1, -0.1, 1e-60, -1e-60, 1e300, -1e300, np.inf, -np.inf]])


def tree(rng, n_splits):
    """A tree of random shape, as a thicket; its leaves hold numbers of their own."""
    nodes = []

    def grow(n_splits):
        place = len(nodes)
        nodes.append((float(rng.normal()), -2, 0))
        if n_splits:
            n_left = int(rng.integers(0, n_splits))
            grow(n_left)
            right = len(nodes)
            grow(n_splits - 1 - n_left)
            feature = int(rng.integers(0, N_FEATURES)) | int(rng.choice([0, MISSING_LEFT]))
            nodes[place] = (float(rng.choice(CUTS)), feature, right)

    grow(n_splits)
    packed = np.zeros(len(nodes), PACKED).view(np.recarray)
    packed.number, packed.feature, packed.link = (
        np.array(each) for each in zip(*nodes, strict=True)
    )
    return Thicket(
        packed, np.zeros(0, np.uint64), np.zeros((0, 3)), np.array([[0, 0, 0], [len(nodes), 0, 0]])
    )


def table(rng, n_rows, missing):
    values = rng.choice(FLOATS, (n_rows, N_FEATURES)).astype(np.float64)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def forest(rng):
    """Two thickets: of many small trees and of a few, of which one is a leaf."""
    sizes = [30, 0, 1, 12, 5, 5, 40, 2], [0, 9]
    return [joined([tree(rng, n_splits) for n_splits in some]) for some in sizes]


def walked(thickets, values, rows):
    out = np.full((len(values), 1), 0.1)
    with hired(1, 0.0) as team:
        for each in thickets:
            team.run(add_leaves, values, rows, each, Means(1), walkers_of(1), out)
    return out


def along(thickets, values, rows, n_threads=1):
    out = np.full((len(values), 1), 0.1)
    with hired(n_threads, 1e9) as team:
        assert followed(thickets, values, rows, Means(1), team, out)
    return out


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_rows", [20, 61, BLOCK + 1])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_what_rows_meet_along_trails_is_what_they_meet_walking(n_rows, missing, n_threads):
    rng = np.random.default_rng(n_rows)
    thickets, values = forest(rng), table(rng, n_rows, missing)
    rows = np.arange(n_rows)
    sums = along(thickets, values, rows, n_threads)
    assert_array_equal(sums, walked(thickets, values, rows))
    assert len(np.unique(sums)) > 1


def test_some_rows_follow_and_others_are_left_alone():
    rng = np.random.default_rng(1)
    thickets, values = forest(rng), table(rng, 90, 0.1)
    rows = rng.permutation(90)[:50]
    assert_array_equal(along(thickets, values, rows), walked(thickets, values, rows))


def declines(thickets, values):
    out = np.full((len(values), 1), 0.1)
    with hired(1, 0.0) as team:
        done = followed(thickets, values, np.arange(len(values)), Means(1), team, out)
    assert done or (out == 0.1).all()
    return not done


def test_values_that_are_no_floats_of_single_precision_are_walked():
    rng = np.random.default_rng(2)
    thickets, values = forest(rng), table(rng, 60, 0.1)
    assert not declines(thickets, values)
    for value in (0.1, np.nextafter(7.0, 8.0), 1e300, np.inf, -np.inf):
        values[59, 2] = value
        assert declines(thickets, values)


def test_few_trees_few_rows_and_sets_of_categories_are_walked():
    rng = np.random.default_rng(3)
    thickets, values = forest(rng), table(rng, 60, 0.0)
    assert declines(thickets[1:], values)
    assert declines(thickets, values[:1])
    with_sets = thickets[0]._replace(words=np.zeros(1, np.uint64))
    with_sets.nodes.feature[0] |= BY_CATEGORY
    assert declines([with_sets], values)
