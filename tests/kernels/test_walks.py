"""Walks: however many rows go abreast, each ends where it would have ended alone."""

import math

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_array_equal

from hedgerow.ensembles.forest import joined
from hedgerow.kernels.ballots import Means
from hedgerow.kernels.lone import find_leaves_of_one, lay_one, room_for_one
from hedgerow.kernels.packed import (
    BY_CATEGORY,
    FEATURE,
    HEAVIER_LEFT,
    MISSING_LEFT,
    PACKED,
    Thicket,
)
from hedgerow.kernels.predict import Paths
from hedgerow.kernels.team import hired
from hedgerow.kernels.walks import (
    _CACHED,
    BLOCK,
    add_leaves,
    find_leaves,
    walkers_of,
)

N_CATEGORIES = 150  # of the last feature: its sets have three words
N_FEATURES = 4
NUMBERS = np.array([-math.inf, -1.5, -1.0, 0.0, 0.5, 1.0, 2.5, math.inf])
SIZES = [1, 2, 11, 12, 31, 32, 33, 64, 100]
MANY = [] if config.DISABLE_JIT else [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 50]


def grown(rng, n_splits, by_category):
    """A tree of random shape; some of its splits are by categories."""
    nodes, words = [], []

    def grow(n_splits):
        place = len(nodes)
        nodes.append(None)
        if n_splits == 0:
            nodes[place] = (float(rng.normal()), -1 - int(rng.integers(1, 9)), 0)
            return
        n_left = int(rng.integers(0, n_splits))
        grow(n_left)
        right = len(nodes)
        grow(n_splits - 1 - n_left)
        flags = int(rng.choice([0, MISSING_LEFT])) | int(rng.choice([0, HEAVIER_LEFT]))
        if by_category and rng.random() < 0.4:
            flags |= BY_CATEGORY
            number = np.int64(len(words)).view(np.float64)
            words.extend(rng.integers(0, 2**64, 3, dtype=np.uint64))
            feature = N_FEATURES - 1
        else:
            number, feature = rng.choice(NUMBERS), int(rng.integers(0, N_FEATURES - 1))
        nodes[place] = (number, feature | flags, right)

    grow(n_splits)
    packed = np.zeros(len(nodes), PACKED).view(np.recarray)
    packed.number, packed.feature, packed.link = (
        np.array(each) for each in zip(*nodes, strict=True)
    )
    return packed, np.array(words, np.uint64)


def thicket_of(trees):
    """Trees that share a thicket."""
    none = np.zeros((0, 3))
    return joined(
        [
            Thicket(nodes, words, none, np.array([[0, 0, 0], [len(nodes), len(words), 0]]))
            for nodes, words in trees
        ]
    )


def table(rng, n_rows):
    """Ties with cuts, infinities, missing values, categories that were seen and that were not."""
    values = rng.choice(np.append(NUMBERS, [np.nan, 0.25, -3.0]), (n_rows, N_FEATURES))
    values[:, -1] = rng.integers(-1, N_CATEGORIES, n_rows)
    values[rng.random(n_rows) < 0.1, -1] = np.nan
    return values


def leaf_of(nodes, words, row):
    """The leaf that a row reaches, by the definition."""
    place = 0
    while nodes[place].feature >= 0:
        node = nodes[place]
        x, flags = row[node.feature & FEATURE], int(node.feature)
        if math.isnan(x):
            goes_left = bool(flags & MISSING_LEFT)
        elif not flags & BY_CATEGORY:
            goes_left = x <= node.number
        elif x < 0:
            goes_left = bool(flags & HEAVIER_LEFT)
        else:
            goes_left = bool(int(words[node.steps + int(x) // 64]) >> (int(x) % 64) & 1)
        place = place + 1 if goes_left else int(node.link)
    return place


def chain(n_splits):
    """A tree in which a row of value k goes right k times; its leaves hold their places."""
    nodes = np.zeros(2 * n_splits + 1, PACKED).view(np.recarray)
    nodes.number, nodes.feature = np.arange(len(nodes)), -2
    splits = nodes[:-1:2]
    splits.number, splits.feature = np.arange(n_splits), 0
    splits.link = 2 * np.arange(n_splits) + 2
    return nodes, np.zeros(0, np.uint64)


def found(thicket, values, rows, n_threads):
    leaves = np.full((len(rows), len(thicket.first) - 1), -7, np.int32)
    with hired(n_threads, 1e9) as team:
        walkers = walkers_of(team.n_threads)
        team.run(find_leaves, values, rows, thicket, walkers, leaves)
    return leaves


def expected(trees, values, rows):
    return np.array([[leaf_of(*tree, values[row]) for tree in trees] for row in rows])


@pytest.mark.parametrize("by_category", [False, True])
@pytest.mark.parametrize("n_rows", SIZES + MANY)
def test_each_row_ends_where_it_would_alone(n_rows, by_category):
    rng = np.random.default_rng(n_rows)
    trees = [grown(rng, n_splits, by_category) for n_splits in (40, 0, 1, 12)]
    values = table(rng, n_rows)
    rows = np.arange(n_rows)
    leaves = found(thicket_of(trees), values, rows, 1)
    assert_array_equal(leaves, expected(trees, values, rows))


def laid(nodes):
    """A packed tree made ready for rows that go down it alone."""
    is_leaf, n_nodes = nodes.feature < 0, len(nodes)
    paths = Paths(
        left=np.where(is_leaf, -1, 1 + np.arange(n_nodes)).astype(np.int32),
        right=np.where(is_leaf, -1, nodes.link).astype(np.int32),
        feature=np.where(is_leaf, -1, nodes.feature & FEATURE).astype(np.int32),
        threshold=np.array(nodes.number),
        missing_left=nodes.feature & MISSING_LEFT > 0,
        category_start=np.full(n_nodes, -1),
        category_words=np.zeros(0, np.uint64),
        weight=np.ones(n_nodes),
    )
    lone = room_for_one(n_nodes)
    lay_one(paths, np.empty(n_nodes, np.int64), lone)
    return lone


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 100, *MANY])
def test_each_row_of_four_ends_where_it_would_alone(n_rows, n_threads):
    rng = np.random.default_rng(n_rows)
    for n_splits in (40, 0, 1):
        tree, values = grown(rng, n_splits, by_category=False), table(rng, n_rows)
        leaves = np.full(n_rows, -7)
        with hired(n_threads, 1e9) as team:
            team.run(find_leaves_of_one, values, laid(tree[0]), leaves)
        assert_array_equal(leaves, expected([tree], values, range(n_rows))[:, 0])


def test_a_tree_without_sets_may_stand_behind_one_that_has_some():
    rng = np.random.default_rng(0)
    trees = [grown(rng, 15, by_category=True), grown(rng, 15, by_category=False)]
    values, rows = table(rng, 40), np.arange(40)
    leaves = found(thicket_of(trees), values, rows, 1)
    assert_array_equal(leaves, expected(trees, values, rows))


def test_some_rows_walk_and_in_any_order():
    rng = np.random.default_rng(1)
    trees = [grown(rng, 30, by_category=True)]
    values = table(rng, 90)
    rows = rng.permutation(90)[:70]
    leaves = found(thicket_of(trees), values, rows, 2)
    assert_array_equal(leaves, expected(trees, values, rows))


def test_rows_that_go_far_do_not_hold_up_or_overtake_others():
    n_splits = 60
    values = np.arange(0.0, n_splits + 1)[:, None]
    leaves = found(thicket_of([chain(n_splits)]), values, np.arange(n_splits + 1), 1)
    assert_array_equal(leaves[:, 0], np.append(2 * np.arange(n_splits) + 1, 2 * n_splits))


def test_trees_that_do_not_fit_into_the_cache_together_are_added_up_in_their_order():
    rng = np.random.default_rng(3)
    large = chain(_CACHED // 3)
    trees = [large, grown(rng, 5, False), large, grown(rng, 9, False), large]
    values, out = np.zeros((20, N_FEATURES)), np.full((20, 1), 0.1)
    values[:, 0] = np.arange(20)
    with hired(1, 0.0) as team:
        team.run(add_leaves, values, np.arange(20), thicket_of(trees), Means(1), walkers_of(1), out)
    sums = np.full(20, 0.1)
    for nodes, words in trees:
        sums += [nodes[leaf_of(nodes, words, row)].number for row in values]
    assert_array_equal(out[:, 0], sums)


def test_rows_that_do_not_walk_are_left_alone():
    rng = np.random.default_rng(2)
    trees = [grown(rng, 20, by_category=True) for _ in range(2)]
    values, out = table(rng, 60), np.full((60, 1), 0.5)
    rows = np.arange(0, 60, 2)
    with hired(2, 1e9) as team:
        walkers = walkers_of(team.n_threads)
        team.run(add_leaves, values, rows, thicket_of(trees), Means(1), walkers, out)
    sums = np.full(60, 0.5)
    for nodes, words in trees:
        for row in rows:
            sums[row] += nodes[leaf_of(nodes, words, values[row])].number
    assert_array_equal(out[:, 0], sums)


@pytest.mark.parametrize("by_category", [False, True])
@pytest.mark.parametrize("n_trees", [1, 3, 4, 6, 9])
@pytest.mark.parametrize("n_rows", [1, 2, 11])
def test_few_rows_add_up_the_leaves_of_all_trees_in_their_order(n_rows, n_trees, by_category):
    rng = np.random.default_rng(n_trees)
    trees = [grown(rng, n_splits, by_category) for n_splits in (25, 0, 1, 9, 40, 3, 0, 7, 2)]
    trees = trees[:n_trees]
    values, out = table(rng, n_rows), np.full((n_rows, 1), 0.1)
    rows = np.arange(n_rows)
    with hired(1, 0.0) as team:
        team.run(add_leaves, values, rows, thicket_of(trees), Means(1), walkers_of(1), out)
    sums = np.full(n_rows, 0.1)
    for nodes, words in trees:
        sums += [nodes[leaf_of(nodes, words, row)].number for row in values]
    assert_array_equal(out[:, 0], sums)
