"""Sampling: how many rows are drawn, which, and what for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.ensembles.out_of_bag import OutOfBag
from hedgerow.ensembles.sampling import EveryRow, OneSided, Subsample
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.team import hired
from hedgerow.losses import SquaredError
from hedgerow.trees.quantise import quantised_weights

pytestmark = pytest.mark.usefixtures("many_hands")

ALL = np.zeros(0, np.int64)


def drawn(sampling, X, y, weights=None, rows=ALL, number=0, seed=7, n_threads=1):
    """Return the draw of one round, and the stage that it was made from."""
    weights = np.ones(len(y)) if weights is None else weights
    with hired(n_threads, 1e9) as team:
        table = bin_table(read_table(X), Recipe(255), team)
        stage = Stage(y, quantised_weights(weights), np.ones(1), SquaredError(), rows)
        stage.derive(team)
        return sampling.sampler(table, stage, seed, team).drawn(number), stage


def problem(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_share_of_rows_is_drawn(share):
    X, y = problem()
    draw, _ = drawn(Subsample(share), X, y)
    assert abs(draw.n_records - share * 4000) < 4 * np.sqrt(4000 * share * (1 - share))
    assert len(np.unique(draw.rows)) == draw.n_records == draw.total_weight


def test_rounds_and_seeds_draw_other_rows():
    X, y = problem()
    draws = [drawn(Subsample(0.5), X, y, number=n, seed=s)[0] for n, s in ((0, 7), (1, 7), (0, 8))]
    member = np.zeros((3, 4000))
    for which, draw in enumerate(draws):
        member[which, draw.rows] = 1.0
    correlation = np.corrcoef(member)
    assert np.abs(correlation[np.triu_indices(3, 1)]).max() < 0.07  # 4 / sqrt(4000)


@pytest.mark.parametrize("sampling", [Subsample(0.3), OneSided(0.2, 0.1)], ids=repr)
def test_the_same_rows_are_drawn_wherever_they_stand(sampling):
    X, y = problem()
    order = np.random.default_rng(1).permutation(4000)
    one, _ = drawn(sampling, X, y)
    other, _ = drawn(sampling, X[order], y[order], n_threads=3)
    assert_array_equal(np.sort(order[other.rows]), one.rows)


@pytest.mark.parametrize("sampling", [Subsample(0.3), OneSided(0.2, 0.3)], ids=repr)
def test_a_row_of_weight_three_is_drawn_as_three_rows(sampling):
    X, y = np.arange(200.0)[:, None] // 2, np.arange(200.0) // 2 % 7
    weights = np.random.default_rng(2).integers(1, 6, 200)
    where = np.repeat(np.arange(200), weights)
    one, stage = drawn(sampling, X, y, weights.astype(float))
    many, repeated = drawn(sampling, X[where], y[where])
    kinds = X[:, 0].astype(int)  # two rows of each kind are equals
    of_one = np.bincount(kinds[one.rows], one.weights[one.rows], minlength=100)
    of_many = np.bincount(kinds[where[many.rows]], minlength=100)
    assert_array_equal(of_one, of_many)
    assert 0 < one.total_weight == many.total_weight < weights.sum()
    assert_array_equal(stage.pairs[0, 0, one.rows[:1]], repeated.pairs[0, 0, many.rows[:1]])


def test_rows_held_out_are_not_drawn():
    X, y = problem(600)
    rows = np.arange(0, 600, 3)
    for sampling in (EveryRow(), Subsample(0.5), OneSided(0.3, 0.2)):
        draw, _ = drawn(sampling, X, y, rows=rows)
        assert draw.n_records > 0
        assert set(draw.rows.tolist()) <= set(rows.tolist())


def test_the_largest_derivatives_are_kept_and_the_rest_stands_for_the_rest():
    X, y = problem(20_000)
    before = (y.mean() - y).astype(np.float32)
    draw, stage = drawn(OneSided(0.2, 0.1), X, y)
    factors = np.rint(draw.factors[draw.rows] * 1e6) / 1e6
    assert set(factors.tolist()) == {1.0, 8.0}  # (1 - 0.2) / 0.1
    top, others = draw.rows[factors == 1.0], draw.rows[factors == 8.0]
    assert abs(len(top) - 4000) < 100
    assert abs(len(others) - 2000) < 4 * np.sqrt(2000)
    assert np.abs(before[others]).max() < 1.01 * np.abs(before[top]).min()
    assert_allclose(stage.pairs[0, 0, draw.rows], before[draw.rows] * factors, rtol=1e-5)
    assert abs(stage.pairs[0, 1, draw.rows].sum() - 20_000) < 4 * 8 * np.sqrt(2000)


def test_equal_derivatives_are_parted_by_lot():
    X, _ = problem()
    draw, _ = drawn(OneSided(0.5, 0.25), X, np.where(X[:, 0] > 0, 1.0, -1.0))
    top = np.count_nonzero(draw.factors[draw.rows] == 1.0)
    assert abs(top - 2000) < 4 * np.sqrt(1000)


def test_what_is_out_of_the_bag_is_all_that_was_not_drawn():
    X, y = problem(500)
    weights = np.random.default_rng(3).integers(1, 4, 500)
    draw, stage = drawn(Subsample(0.4), X, y, weights.astype(float))
    with hired(1, 0.0) as team:
        bag = OutOfBag(stage, draw, stage.raw, team)
        before = (y - stage.raw[0]) ** 2 / 2
        stage.raw[0] += 0.1 * (y > 0)
        after = (y - stage.raw[0]) ** 2 / 2
        found = bag.improvement()
    left = weights.copy()
    left[draw.rows] -= draw.weights[draw.rows]
    assert_allclose(found, np.average(before - after, weights=left), rtol=1e-10)


def test_nothing_is_out_of_the_bag_if_everything_was_drawn():
    X, y = problem(50)
    draw, stage = drawn(Subsample(1.0), X, y)
    with hired(1, 0.0) as team:
        assert np.isnan(OutOfBag(stage, draw, stage.raw, team).improvement())
