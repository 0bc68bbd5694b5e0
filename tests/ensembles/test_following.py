"""Trails: rows that follow them end in the leaves that they would have walked to."""

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_array_equal

from hedgerow.ensembles import flying, following
from hedgerow.ensembles.flying import _CACHED, _groups
from hedgerow.ensembles.following import followed
from hedgerow.ensembles.forest import joined
from hedgerow.ensembles.scaling import Known
from hedgerow.kernels.ballots import Means, Proportions, Votes
from hedgerow.kernels.flights import CHUNK
from hedgerow.kernels.packed import BY_CATEGORY, FEATURE, MISSING_LEFT, PACKED, Thicket
from hedgerow.kernels.stairs import widest
from hedgerow.kernels.team import hired
from hedgerow.kernels.trails import BLOCK
from hedgerow.kernels.walks import add_leaves, walkers_of

N_FEATURES, N_CLASSES = 3, 4
N_MANY = 300 if config.DISABLE_JIT else 1400  # rows of some blocks
ONE = Means(1)
WHOLE = np.array([-5.0, -1.0, 0.0, 1.0, 2.0, 7.0, 60_000.0])
FLOATS = np.array([-3e38, -1.5, -0.0, 0.0, 1e-45, 0.1, 1.0, 7.0, 3e38], np.float32)
DOUBLES = np.array([-np.inf, -1e300, -0.1, -0.0, 1e-60, 0.1, np.nextafter(7.0, 8.0), np.inf])
KINDS = {"whole": WHOLE, "floats": FLOATS.astype(np.float64), "doubles": DOUBLES}
# Thresholds that are values, that lie between a value and the next float, and beyond all floats.
NEAR = [0.1, -0.1, 1e-60, -1e-60, 1e300, -1e300, np.inf, -np.inf, 0.5, -0.5, 1e5, -1e5, 6.9]
CUTS = np.concatenate([WHOLE, FLOATS, DOUBLES, NEAR])
STEPS = following._STEPS


@pytest.fixture(autouse=True, params=[False, True], ids=["steps", "flights"])
def by_flights(request, monkeypatch):
    """Whether rows may take three steps at once; where they cannot, they take one."""
    if request.param and not widest():
        pytest.skip("This machine has no registers that can be permuted.")
    if not request.param:
        monkeypatch.setattr("hedgerow.ensembles.scaling.widest", lambda: 0)
    monkeypatch.setattr("hedgerow.ensembles.following._STEPS", 0.0)  # as few as there are
    return request.param


def tree(rng, n_splits, cuts=CUTS):
    """A tree of random shape, as a thicket; its leaves have numbers, or classes, of their own."""
    nodes, extra = [], []

    def grow(n_splits):
        place = len(nodes)
        nodes.append((float(rng.normal()), -2, int(rng.integers(0, N_CLASSES))))
        if n_splits:
            n_left = int(rng.integers(0, n_splits))
            grow(n_left)
            right = len(nodes)
            grow(n_splits - 1 - n_left)
            feature = int(rng.integers(0, N_FEATURES)) | int(rng.choice([0, MISSING_LEFT]))
            nodes[place] = (float(rng.choice(cuts)), feature, right)

    grow(n_splits)
    packed = np.zeros(len(nodes), PACKED).view(np.recarray)
    packed.number, packed.feature, packed.link = (
        np.array(each) for each in zip(*nodes, strict=True)
    )
    for leaf in np.flatnonzero(packed.feature < 0):
        if rng.random() < 0.3:
            extra.append(rng.integers(1, 9, N_CLASSES))
            packed.link[leaf] = -len(extra)
    extra = np.array(extra, np.int64).reshape(-1, N_CLASSES)
    first = np.array([[0, 0, 0], [len(nodes), 0, len(extra)]])
    return Thicket(packed, np.zeros(0, np.uint64), extra, first)


def of_classes(thicket):
    """The same trees, with whole weights in their leaves."""
    nodes = thicket.nodes.copy()
    nodes.steps[nodes.feature < 0] = 7
    return thicket._replace(nodes=nodes)


def table(rng, n_rows, missing, kinds=("floats",) * N_FEATURES):
    values = np.stack([rng.choice(KINDS[kind], n_rows) for kind in kinds], axis=1)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def forest(rng, n_small=0):
    """Two thickets: of many small trees and of a few, of which one is a leaf."""
    sizes = [30, 0, 1, 12, 5, 5, 40, 2, *[3] * n_small], [0, 9, 4]
    return [joined([tree(rng, n_splits) for n_splits in some]) for some in sizes]


def walked(thickets, values, rows, way=ONE, n_values=1):
    out = np.full((len(values), n_values), 0.1)
    with hired(1, 0.0) as team:
        for each in thickets:
            team.run(add_leaves, values, rows, each, way, walkers_of(1), out)
    return out


def along(thickets, values, rows, n_threads=1, way=ONE, n_values=1):
    out = np.full((len(values), n_values), 0.1)
    with hired(n_threads, 1e9) as team:
        assert followed((thickets, Known()), values, rows, way, team, out)
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


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "kinds",
    [
        ("whole",) * 3,
        ("doubles",) * 3,
        ("whole", "floats", "doubles"),
        ("doubles", "whole", "whole"),
    ],
)
def test_rows_follow_trails_whatever_numbers_columns_have(kinds, missing):
    rng = np.random.default_rng(5)
    thickets, values = forest(rng), table(rng, 300, missing, kinds)
    rows = np.arange(300)
    assert_array_equal(along(thickets, values, rows), walked(thickets, values, rows))


@pytest.mark.parametrize("way", [Proportions(N_CLASSES), Votes(N_CLASSES)])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_leaves_of_one_class_and_of_several_add_what_they_add_to_rows_that_walk(way, n_threads):
    rng = np.random.default_rng(6)
    thickets, values = [of_classes(each) for each in forest(rng)], table(rng, 100, 0.1)
    rows = np.arange(100)
    sums = along(thickets, values, rows, n_threads, way, N_CLASSES)
    assert_array_equal(sums, walked(thickets, values, rows, way, N_CLASSES))


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_rows_that_are_arranged_by_the_first_tree_have_the_same_sums(n_threads):
    rng = np.random.default_rng(7)
    thickets, values = forest(rng, n_small=16), table(rng, BLOCK + 90, 0.1)
    rows = rng.permutation(len(values))[: BLOCK + 50]
    sums = along(thickets, values, rows, n_threads)
    assert_array_equal(sums, walked(thickets, values, rows))


@pytest.mark.parametrize("kind", ["floats", "whole"])
def test_more_rows_than_have_keys_at_once_have_the_same_sums(monkeypatch, kind):
    monkeypatch.setattr("hedgerow.ensembles.following._SLAB", 64)
    monkeypatch.setattr("hedgerow.ensembles.flying._SLAB", 64)
    rng = np.random.default_rng(8)
    thickets, values = forest(rng, n_small=16), table(rng, 150, 0.1, (kind,) * N_FEATURES)
    rows = np.arange(150)
    assert_array_equal(along(thickets, values, rows), walked(thickets, values, rows))


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_rows_of_whole_blocks_and_of_parts_of_them_have_the_sums_of_walks(n_threads):
    rng = np.random.default_rng(11)
    thickets = [of_classes(each) for each in forest(rng)]
    values, rows = table(rng, N_MANY, 0.1, ("whole", "doubles", "whole")), np.arange(N_MANY)
    way = Proportions(N_CLASSES)
    sums = along(thickets, values, rows, n_threads, way, N_CLASSES)
    assert_array_equal(sums, walked(thickets, values, rows, way, N_CLASSES))


def spread_out(thickets, values, n_features):
    """The same trees and rows, with columns far apart and nothing between them."""
    places = np.linspace(0, n_features - 1, N_FEATURES).astype(int)
    wide = np.zeros((len(values), n_features))
    wide[:, places] = values
    for each in thickets:
        is_split = each.nodes.feature >= 0
        about = each.nodes.feature[is_split]
        each.nodes.feature[is_split] = about & ~FEATURE | places[about & FEATURE]
    return thickets, wide


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_features", [15, 16, 31, 32, 63, 64, 70])
def test_rows_of_many_columns_have_the_sums_of_walks(n_features, missing):
    rng = np.random.default_rng(12)
    values, rows = table(rng, 100, missing, ("whole", "doubles", "whole")), np.arange(100)
    thickets, wide = spread_out(forest(rng), values, n_features)
    assert_array_equal(along(thickets, wide, rows), walked(thickets, wide, rows))


def test_rows_fly_if_registers_hold_all_of_their_keys(by_flights, monkeypatch):
    rng, flown = np.random.default_rng(13), []

    def watched(thickets, reading, *others):
        flown.append(reading.n_columns)
        flying.flown(thickets, reading, *others)

    monkeypatch.setattr(following, "flown", watched)
    for n_features, kind in ((31, "whole"), (63, "whole"), (64, "whole"), (31, "floats")):
        values = table(rng, 60, 0.0, (kind,) * N_FEATURES)
        thickets, wide = spread_out(forest(rng), values, n_features)
        along(thickets, wide, np.arange(60))
    assert flown == [n for n in (32, 64) if n <= widest() and by_flights]


def test_some_rows_follow_and_others_are_left_alone():
    rng = np.random.default_rng(1)
    thickets, values = forest(rng), table(rng, 90, 0.1)
    rows = rng.permutation(90)[:50]
    assert_array_equal(along(thickets, values, rows), walked(thickets, values, rows))


def test_a_column_without_values_is_followed():
    rng = np.random.default_rng(2)
    thickets, values = forest(rng), table(rng, 60, 0.1)
    values[:, 1] = np.nan
    rows = np.arange(60)
    assert_array_equal(along(thickets, values, rows), walked(thickets, values, rows))


def declines(thickets, values):
    out = np.full((len(values), 1), 0.1)
    with hired(1, 0.0) as team:
        done = followed((thickets, Known()), values, np.arange(len(values)), Means(1), team, out)
    assert done or (out == 0.1).all()
    return not done


def many_cuts():
    """Trees of thousands of different thresholds of each column, and a table to go with them."""
    rng = np.random.default_rng(4)
    cuts = rng.normal(size=100_000)
    many = joined([tree(rng, 260, cuts) for _ in range(9 * N_FEATURES)])
    return many, rng.normal(size=(100, N_FEATURES)), table(rng, 100, 0.1)


@pytest.mark.parametrize("gathered", [1, 5000, 1 << 22])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_columns_of_any_numbers_and_of_many_thresholds_are_followed(
    monkeypatch, n_threads, gathered
):
    monkeypatch.setattr("hedgerow.ensembles.ranking._GATHERED", gathered)
    many, doubles, _ = many_cuts()
    sums = along([many], doubles, np.arange(100), n_threads)
    assert_array_equal(sums, walked([many], doubles, np.arange(100)))


def test_columns_of_any_numbers_and_too_many_thresholds_are_walked(monkeypatch):
    monkeypatch.setattr("hedgerow.ensembles.ranking._MOST_CUTS", 1 << 11)
    many, doubles, floats = many_cuts()
    assert len(np.unique(many.nodes.number)) > N_FEATURES * (1 << 11)
    assert declines([many], doubles)
    assert not declines([many], floats)


def test_columns_that_needed_ranks_keep_them_and_others_may_need_them_later():
    rng = np.random.default_rng(9)
    thickets, known, rows = forest(rng), Known(), np.arange(80)
    for kinds, n_ranked in (
        (("whole", "doubles", "whole"), 1),
        (("whole",) * 3, 1),
        (("doubles", "whole", "floats"), 2),
        (("floats",) * 3, 2),
    ):
        values = table(rng, 80, 0.1, kinds)
        out = np.full((80, 1), 0.1)
        with hired(1, 1e9) as team:
            assert followed((thickets, known), values, rows, ONE, team, out)
        assert len(known.ranking.columns) == n_ranked
        assert_array_equal(out, walked(thickets, values, rows))


def test_few_rows_and_sets_of_categories_are_walked():
    rng = np.random.default_rng(3)
    thickets, values = forest(rng), table(rng, 60, 0.0)
    assert declines(thickets, values[:1])
    with_sets = thickets[0]._replace(words=np.zeros(1, np.uint64))
    with_sets.nodes.feature[0] |= BY_CATEGORY
    assert declines([with_sets], values)


def test_trees_of_few_steps_for_many_columns_are_walked(monkeypatch):
    monkeypatch.setattr("hedgerow.ensembles.following._STEPS", STEPS)
    rng = np.random.default_rng(3)
    values, stumps = table(rng, 60, 0.0), joined([tree(rng, 1), tree(rng, 1)])
    assert declines([stumps], values)
    deep = joined([tree(rng, 40), tree(rng, 40)])
    assert not declines([deep], values)
    (deep,), wide = spread_out([deep], values, 40)
    assert declines([deep], wide)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("cached", [1, 100])
def test_trees_that_are_laid_in_groups_and_rows_in_chunks_have_the_sums_of_walks(
    monkeypatch, n_threads, cached
):
    monkeypatch.setattr("hedgerow.ensembles.flying._CACHED", cached)
    rng, n_rows = np.random.default_rng(14), CHUNK + 90 if not config.DISABLE_JIT else 90
    thickets = [of_classes(each) for each in forest(rng)]
    values, rows = table(rng, n_rows, 0.1, ("whole", "doubles", "whole")), rng.permutation(n_rows)
    way = Proportions(N_CLASSES)
    sums = along(thickets, values, rows[20:], n_threads, way, N_CLASSES)
    assert_array_equal(sums, walked(thickets, values, rows[20:], way, N_CLASSES))


def test_groups_have_a_tree_for_each_thread_and_as_many_nodes_as_stay_in_the_cache():
    sizes = np.array([_CACHED, _CACHED, _CACHED // 2, _CACHED // 2, 1, 3])
    assert _groups(sizes, 1) == [0, 1, 2, 4, 6]
    assert _groups(sizes, 2) == [0, 2, 4, 6]
    assert _groups(sizes, 8) == [0, 6]
