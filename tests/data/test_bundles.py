"""Bundles: columns of which few rows differ; rows are summed by their kinds, to the same sums."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import hedgerow
from hedgerow.data import bundles
from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.kernels.codes import N_BINS, no_kinds
from hedgerow.kernels.helping import _sum_some
from hedgerow.kernels.histogram import build
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.kinds import meet, refine
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.targets import Targets
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import Problem, Size, workspace
from tests.strategies import repeated_rows


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch):
    for name, number in ("_FEWEST_ROWS", 100), ("_SAMPLE", 64), ("_DIFFERENT", 24):
        monkeypatch.setattr(bundles, name, number)


def purchases(n_rows=400, seed=0):
    """Return what 12 customers bought: 7 columns of their own, 18 of each customer, 30 flags."""
    rng = np.random.default_rng(seed)
    customer = rng.integers(0, 12, n_rows)
    own, theirs = rng.normal(size=(n_rows, 7)), rng.normal(size=(12, 18))[customer]
    flags = rng.random((n_rows, 30)) < 0.01
    theirs[rng.random((12, 18))[customer] < 0.1] = np.nan
    X = np.hstack([own, theirs, flags])[:, rng.permutation(55)]
    return X, own[:, 0] + np.nansum(theirs[:, :3], axis=1) + flags[:, 0]


def codes_of_purchases(**recipe):
    return bin_table(read_table(purchases()[0]), Recipe(255, **recipe), Team(1)).codes


def column_of(blocks, about):
    block, lane = divmod(about.column, blocks.shape[2])
    return blocks[block, :, lane]


@kernel
def built(codes, records, moments, hist, pile):
    build(codes, records, moments, hist, pile)


def histogram_of(codes, records, moments):
    """Return the sums of each feature; what is in memory before must not matter."""
    width = moments.width()
    hist = np.full(len(codes.blocks) * 16 * N_BINS * width, -7)
    pile = np.full(int(codes.panels.n_kinds.max(initial=0)) * width, -7)
    built(codes, records, moments, hist, pile)
    return hist.reshape(-1, N_BINS * width)[codes.features.column]


def test_columns_of_one_thing_are_bundled_and_others_are_not():
    codes = codes_of_purchases(has_kinds=True)
    n_kinds = codes.panels.n_kinds
    assert n_kinds.max() > 0
    assert (n_kinds[n_kinds > 0] <= 400 // 8).all()
    alone = np.unique(codes.columns, axis=1).shape[1]
    assert alone == 400  # no two rows are equal
    of_one = codes.panels.n_kinds[codes.features.column // codes.blocks.shape[2]] > 0
    distinct = np.array([len(np.unique(column)) for column in codes.columns])
    assert not of_one[distinct > 100].any()
    assert of_one.sum() >= 18


def test_a_kind_has_the_codes_of_its_rows():
    codes = codes_of_purchases(has_kinds=True)
    for block, panel in zip(codes.blocks, codes.panels, strict=True):
        if panel.n_kinds:
            keys, n = codes.keys[panel.keys], panel.n_columns
            assert_array_equal(np.unique(keys), np.arange(panel.n_kinds))
            assert_array_equal(codes.kinds[panel.keys][keys][:, :n], block[:, :n])


def test_features_keep_their_codes_wherever_their_columns_are_put():
    codes, plain = codes_of_purchases(has_kinds=True), codes_of_purchases()
    assert not plain.panels.n_kinds.any()
    assert_array_equal(codes.columns, plain.columns)
    for one, other in zip(codes.features, plain.features, strict=True):
        assert_array_equal(column_of(codes.blocks, one), column_of(plain.blocks, other))


@pytest.mark.parametrize("n", [1, 5, 30, 100, 400])
def test_sums_by_kinds_are_those_by_rows(n):
    codes, plain = codes_of_purchases(has_kinds=True), codes_of_purchases()
    rng = np.random.default_rng(n)
    rows = rng.permutation(400)[:n]
    g, h = rng.integers(-900, 900, n), rng.integers(1, 900, n)
    pairs = GradientPairs(np.ones(1, np.int64), 0, 0.0)
    records = (g << 48) | (h << 32) | rows
    targets = Targets(*rng.integers(1, 99, (2, 400)), -1, np.zeros(400, np.int64))
    for given, moments in (records, pairs), (repeated_rows(rows), targets):
        by_kinds, by_rows = (histogram_of(each, given, moments) for each in (codes, plain))
        assert_array_equal(by_kinds, by_rows)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_models_have_the_same_bits_with_kinds_and_without(monkeypatch, n_jobs):
    X, y = purchases()
    settings = {"n_estimators": 5, "min_child_weight": 1.0, "early_stopping": False}
    found = []
    monkeypatch.setattr(bundles, "no_kinds", lambda *given: found.append(given) or no_kinds(*given))
    model = hedgerow.GradientBoostingRegressor(**settings, n_jobs=n_jobs).fit(X, y)
    assert not found  # there are kinds
    monkeypatch.setattr(bundles, "_bundled", lambda _: [])
    plain = hedgerow.GradientBoostingRegressor(**settings, n_jobs=1).fit(X, y)
    assert found
    assert model.fingerprint_ == plain.fingerprint_


def test_rows_that_are_taken_or_moved_keep_their_kinds():
    table = bin_table(read_table(purchases()[0]), Recipe(255, has_kinds=True), Team(1))
    order = np.random.default_rng(1).permutation(400)
    some = table.some(order[:50], Team(1)).codes
    codes = table.codes
    blocks, keys, shared = codes.blocks.copy(), codes.keys.copy(), codes.shared.copy()
    table.move(order, Team(1))
    for own, rows in (some, order[:50]), (codes, order):
        assert_array_equal(own.keys, keys[:, rows])
        assert_array_equal(own.shared, shared[:, rows])
        for about in own.features:
            assert_array_equal(column_of(own.blocks, about), column_of(blocks, about)[rows])


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_numbered_as_they_first_occur(seed):
    rng = np.random.default_rng(seed)
    column, ids = rng.integers(0, 4, 50).astype(np.uint8), rng.integers(0, 5, 50).astype(np.int32)
    pairs = list(zip(ids.tolist(), column.tolist(), strict=True))
    known = list(dict.fromkeys(pairs))
    slots, refined = np.zeros((2, 256 * 30), np.int32), np.zeros(50, np.int32)
    assert refine(column, ids, 30, slots, refined) == len(known)
    assert refined.tolist() == [known.index(pair) for pair in pairs]
    assert not slots.any()
    assert refine(column, ids, len(known) - 1, slots[:, : 256 * 5], refined) == len(known)
    assert not slots.any()
    assert refine(column, ids, 30, slots, ids) == len(known)
    assert ids.tolist() == [known.index(pair) for pair in pairs]


@pytest.mark.parametrize("row", [0, 511, 512, 1299])
def test_flags_meet_if_one_row_has_both(row):
    one, other = np.arange(1300, dtype=np.uint8) % 2, (np.arange(1300, dtype=np.uint8) + 1) % 2
    assert not meet(one, other)
    one[row] = other[row] = 1
    assert meet(one, other)


@kernel
def sum_some(problem, space, first, step, end):
    for ticket in range(first, end, step):
        _sum_some(problem, space, 0, ticket)


def test_of_the_tickets_of_a_block_of_kinds_one_is_good_for_all_columns():
    codes, moments = codes_of_purchases(has_kinds=True), GradientPairs(np.ones(1, np.int64), 0, 0.0)
    n_blocks, rows = len(codes.blocks), np.arange(400)
    records = (rows % 7 - 3 << 48) | (rows % 5 + 1 << 32) | rows
    n_kinds = codes.panels.n_kinds
    size = Size(400, 55, 1, 1, 1, 0, 1, n_blocks * 16 * N_BINS, n_kinds=int(n_kinds.max()))
    space, problem = workspace(1, size), Problem(codes, moments, None, None)
    space.records[0], space.hists[:] = records, -7
    space.leaves[0, 0].end = 400
    sum_some(problem, space, 1, 2, 2 * n_blocks)
    found = space.hists[0].reshape(n_blocks, -1)
    assert [(block == -7).all() for block in found] == (n_kinds > 0).tolist()
    sum_some(problem, space, 0, 2, 2 * n_blocks)
    found = space.hists[0].reshape(-1, N_BINS)[codes.features.column]
    assert_array_equal(found, histogram_of(codes, records, moments))
