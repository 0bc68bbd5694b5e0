"""Prediction with many trees: the sums of a plain walk, bit for bit."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.kernels.blocks import LANE
from hedgerow.kernels.chapters import MOST_CONDITIONS
from hedgerow.kernels.grove import scorer_of, scratch_for
from hedgerow.kernels.predict import UNSEEN, leaf_numbers
from hedgerow.kernels.scorer import add_stages, add_trees
from hedgerow.kernels.team import hired
from tests.groves import (
    AWKWARD,
    CATEGORICAL,
    N_FEATURES,
    ORDINARY,
    Node,
    goes_left,
    grove_of,
    grown,
    table,
)


def leaf_of(nodes, x):
    """Return the number of the leaf at the end of a row's walk."""
    number = 0
    while nodes[number].left >= 0:
        node = nodes[number]
        number = node.left if goes_left(nodes, node, x[node.feature]) else node.right
    return number


def added(trees, outputs, values, sums):
    """Return the sums after a walk through one tree after another."""
    sums = sums.copy()
    for nodes, output in zip(trees, outputs, strict=True):
        for row, x in enumerate(values.tolist()):
            sums[row, output] += nodes[leaf_of(nodes, x)].value
    return sums


def scored(trees, outputs, values, sums, n_threads=1, parts=(), n_words=2):
    """Return the sums after add_trees."""
    scorer, sums = scorer_of(grove_of(trees, outputs, n_words)), sums.copy()
    with hired(n_threads, 1e9) as team:
        scratch = scratch_for(scorer, team.n_threads, *sums.shape)
        for first, end in parts or [(0, len(trees))]:
            team.run(add_trees, values, scorer, scratch, first, end, sums)
    return sums


def assert_same_bits(actual, expected):
    assert_array_equal(actual.view(np.int64), expected.view(np.int64))


@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    n_rows=st.integers(1, 60),
    numbers=st.sampled_from([ORDINARY, AWKWARD, (*ORDINARY, *AWKWARD), (0.5,)]),
    n_outputs=st.integers(1, 3),
    n_threads=st.integers(1, 3),
)
def test_the_sums_are_those_of_a_walk(seed, sizes, n_rows, numbers, n_outputs, n_threads):
    rng = np.random.default_rng(seed)
    trees = [grown(rng, size, numbers) for size in sizes]
    outputs = rng.integers(n_outputs, size=len(trees)).tolist()
    values, sums = table(rng, n_rows, numbers), rng.normal(size=(n_rows, n_outputs))
    expected = added(trees, outputs, values, sums)
    assert_same_bits(scored(trees, outputs, values, sums, n_threads), expected)


@pytest.mark.parametrize("n_leaves", [1, 31, 32, 33, 64, 65, 256, 257, 300])
@pytest.mark.parametrize("n_features", [CATEGORICAL, N_FEATURES])  # without and with categories
def test_trees_of_any_size_are_added(n_leaves, n_features):
    rng = np.random.default_rng(n_leaves)
    cuts = rng.normal(size=100)
    trees = [grown(rng, size, cuts, n_features) for size in (n_leaves, 5, n_leaves)]
    values, sums = table(rng, 150, cuts), np.zeros((150, 1))
    expected = added(trees, [0, 0, 0], values, sums)
    assert_same_bits(scored(trees, [0, 0, 0], values, sums), expected)


@pytest.mark.parametrize("leans_left", [True, False])
def test_a_chain_of_256_leaves_is_added(leans_left):
    nodes = [Node(value=0.1 * number) for number in range(511)]
    for split in range(255):
        if leans_left:
            nodes[split] = Node(split + 1, 510 - split, 0, threshold=float(-split))
        else:
            nodes[2 * split] = Node(2 * split + 1, 2 * split + 2, 0, threshold=float(split))
    values, sums = np.zeros((600, N_FEATURES)), np.zeros((600, 1))
    values[:, 0] = np.arange(-300, 300)
    assert_same_bits(scored([nodes], [0], values, sums), added([nodes], [0], values, sums))


@pytest.mark.parametrize("n_rows", [1, 7, 8, LANE - 1, LANE, LANE + 1, 2 * LANE + 7])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_blocks_and_threads_do_not_change_a_bit(n_rows, n_threads):
    rng = np.random.default_rng(n_rows)
    trees = [grown(rng, size, ORDINARY) for size in (7, 12, 1, 20)]
    values, sums = table(rng, n_rows, ORDINARY), np.zeros((n_rows, 2))
    expected = added(trees, [0, 1, 0, 0], values, sums)
    assert_same_bits(scored(trees, [0, 1, 0, 0], values, sums, n_threads), expected)


@pytest.mark.parametrize("n_cuts", [255, 256, 510, 600])
def test_a_feature_may_have_more_cuts_than_a_byte_can_count(n_cuts):
    rng = np.random.default_rng(n_cuts)
    cuts = np.exp(3 * rng.normal(size=n_cuts))  # most in few buckets
    trees = [[Node(1, 2, 0, cut, missing_left=cut < 1), Node(), Node(value=1.0)] for cut in cuts]
    numbers = np.concatenate([cuts, np.nextafter(cuts, math.inf), [-1.0, 1e9]])
    values, sums = table(rng, 200, numbers), np.zeros((200, 1))
    outputs = [0] * n_cuts
    assert_same_bits(scored(trees, outputs, values, sums), added(trees, outputs, values, sums))


def with_short_sets(trees, values):
    """Return trees and rows whose categories are places in one word."""
    for node in (node for nodes in trees for node in nodes):
        node.members = frozenset(code for code in node.members if code < 64)
    codes = values[:, CATEGORICAL]
    return trees, np.column_stack([values[:, :CATEGORICAL], np.where(codes < 64, codes, 63.0)])


@pytest.mark.parametrize("n_rows", [7, 8, LANE, 3 * LANE + 20])
@pytest.mark.parametrize("has_others", [True, False])  # missing values and unseen categories
@pytest.mark.parametrize("seed", range(6))
def test_sets_of_one_word_part_rows_as_a_walk_does(n_rows, has_others, seed):
    rng = np.random.default_rng(seed)
    trees = [grown(rng, size, ORDINARY) for size in (7, 12, 1, 20, 31)]
    trees, values = with_short_sets(trees, table(rng, n_rows, ORDINARY))
    if not has_others:
        codes = values[:, CATEGORICAL]
        values[:, CATEGORICAL] = np.where(codes >= 0, codes, 1.0)
    sums, outputs = np.zeros((n_rows, 1)), [0] * len(trees)
    grove = grove_of(trees, outputs, n_words=1)
    assert scorer_of(grove).sets.tolist() == [CATEGORICAL]
    expected = added(trees, outputs, values, sums)
    assert_same_bits(scored(trees, outputs, values, sums, n_words=1), expected)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n_rows", [5, 2 * LANE + 9])
@pytest.mark.parametrize("in_vectors", [True, False])
def test_stages_are_the_sums_after_each_round(n_threads, n_outputs, n_rows, in_vectors):
    rng = np.random.default_rng(n_rows)
    trees = [grown(rng, size, ORDINARY) for size in (7, 12, 1, 20, 31, 2)]
    if in_vectors:
        trees = [with_other_values(rng, trees[k - k % n_outputs]) for k in range(6)]
    values, sums = table(rng, n_rows, ORDINARY), rng.normal(size=(n_rows, n_outputs))
    outputs, n_rounds = [k % n_outputs for k in range(6)], 6 // n_outputs
    scorer, out = scorer_of(grove_of(trees, outputs)), sums.copy()
    stages = np.full((n_rounds - 1, n_rows, n_outputs), np.nan)
    with hired(n_threads, 1e9) as team:
        scratch = scratch_for(scorer, team.n_threads, *sums.shape)
        team.run(add_stages, values, scorer, scratch, n_outputs, 6, out, stages)
    for number, stage in enumerate(stages):
        own = slice(n_outputs, (number + 2) * n_outputs)
        assert_same_bits(stage, added(trees[own], outputs[own], values, sums))
    assert_same_bits(out, stages[-1])


def with_other_values(rng, nodes, weighed=True):
    """Return a tree of the same splits; weighed: and of the same weights."""
    others = [replace(node, value=rng.normal()) for node in nodes]
    for node in others if not weighed else ():
        node.weight = float(rng.integers(5))
    return others


@pytest.mark.parametrize("n_rows", [7, 8, LANE + 7])
@pytest.mark.parametrize("n_words", [1, 2])  # of sets of categories
@pytest.mark.parametrize("weighed", [True, False])  # unseen categories go the same way, or not
@pytest.mark.parametrize("n_leaves", [1, 31, 40, 300])
def test_vectors_in_leaves_are_added_as_trees_of_the_same_splits(
    n_rows, n_words, weighed, n_leaves
):
    rng = np.random.default_rng(n_rows)
    rounds = [grown(rng, size, ORDINARY) for size in (n_leaves, 5, n_leaves)]
    values = table(rng, n_rows, ORDINARY)
    if n_words == 1:
        rounds, values = with_short_sets(rounds, values)
    trees = [with_other_values(rng, nodes, weighed) for nodes in rounds for _ in range(3)]
    outputs, sums = [0, 1, 2] * 3, rng.normal(size=(n_rows, 3))
    stems = scorer_of(grove_of(trees, outputs, n_words)).chapters.trees.stem.tolist()
    if weighed and n_words == 1:  # of two words, the last set of `grove_of` seems longer
        assert stems == [0, 0, 0, 3, 3, 3, 6, 6, 6]
    whole = scored(trees, outputs, values, sums, n_threads=2, n_words=n_words)
    assert_same_bits(whole, added(trees, outputs, values, sums))
    parts = scored(trees, outputs, values, sums, parts=((1, 5), (5, 6)), n_words=n_words)
    assert_same_bits(parts, added(trees[1:6], outputs[1:6], values, sums))


CHANGES = [
    {"feature": 1},
    {"threshold": 0.25},
    {"missing_left": True},
    {"feature": CATEGORICAL, "members": frozenset({1})},
]


@pytest.mark.parametrize("change", CHANGES)
def test_trees_that_part_rows_otherwise_have_their_own_leaves(change):
    rng = np.random.default_rng(0)
    one = [Node(1, 2, 0, 0.5), Node(value=1.0), Node(value=2.0)]
    trees = [one, [replace(one[0], **change), *one[1:]]]
    values, sums = table(rng, 100, ORDINARY), np.zeros((100, 2))
    assert scorer_of(grove_of(trees, [0, 1])).chapters.trees.stem.tolist() == [0, 1]
    assert_same_bits(scored(trees, [0, 1], values, sums), added(trees, [0, 1], values, sums))


def test_trees_that_part_unseen_categories_otherwise_have_their_own_leaves():
    split = Node(1, 2, CATEGORICAL, members=frozenset({1}))
    trees = [
        [split, Node(value=1.0, weight=left), Node(value=2.0, weight=2.0)] for left in (1.0, 3.0)
    ]
    values, sums = np.full((100, N_FEATURES), UNSEEN), np.zeros((100, 2))
    assert scorer_of(grove_of(trees, [0, 1])).chapters.trees.stem.tolist() == [0, 1]
    assert_array_equal(scored(trees, [0, 1], values, sums)[0], [2.0, 1.0])


def test_sets_of_other_categories_part_rows_otherwise():
    leaves, sums = [Node(value=1.0), Node(value=2.0)], np.zeros((100, 1))
    trees = [
        [Node(1, 2, CATEGORICAL, members=frozenset({code})), *leaves] for code in (1, 63, 64, 69)
    ]
    values = table(np.random.default_rng(0), 100, ORDINARY)
    outputs = [0] * len(trees)
    assert_same_bits(scored(trees, outputs, values, sums), added(trees, outputs, values, sums))


def test_a_model_of_many_cuts_has_several_chapters():
    rng = np.random.default_rng(3)
    cuts = rng.normal(size=5000)
    trees = [grown(rng, 250, cuts, CATEGORICAL) for _ in range(40)]
    values, sums = table(rng, 20, rng.choice(cuts, 200)), np.zeros((20, 3))
    outputs = [number % 3 for number in range(40)]
    sizes = np.diff(scorer_of(grove_of(trees, outputs)).chapters.bounds)
    assert len(sizes) > 1
    assert sizes.max() <= MOST_CONDITIONS
    assert_same_bits(scored(trees, outputs, values, sums), added(trees, outputs, values, sums))
    some = scored(trees, outputs, values, sums, parts=((12, 31),))
    assert_same_bits(some, added(trees[12:31], outputs[12:31], values, sums))


def test_what_splits_ask_is_answered_once():
    one = [Node(1, 2, 0, 0.5), Node(), Node()]
    asked = [{}, {"value": 3.0}, {"missing_left": True}, {"threshold": 0.25}, {"feature": 1}, {}]
    trees = [[replace(one[0], **change), *one[1:]] for change in asked]
    assert len(scorer_of(grove_of(trees, [0] * len(trees))).chapters.marks) == 4


def test_trees_may_be_added_in_parts():
    rng = np.random.default_rng(1)
    trees = [grown(rng, 6, ORDINARY) for _ in range(5)]
    values, sums = table(rng, 40, ORDINARY), rng.normal(size=(40, 1))
    outputs = [0] * 5
    in_parts = scored(trees, outputs, values, sums, parts=((0, 2), (2, 2), (2, 5)))
    assert_same_bits(in_parts, scored(trees, outputs, values, sums))
    only_some = scored(trees, outputs, values, sums, parts=((1, 3),))
    assert_same_bits(only_some, added(trees[1:3], [0, 0], values, sums))


def test_a_grove_without_trees_adds_nothing():
    sums = np.ones((20, 1))
    assert_same_bits(scored([], [], np.zeros((20, N_FEATURES)), sums), sums)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_leaves_are_numbered_in_their_trees(n_threads):
    rng = np.random.default_rng(2)
    trees, values = [grown(rng, size, ORDINARY) for size in (7, 1, 20)], table(rng, 50, ORDINARY)
    grove = grove_of(trees, [0, 0, 0])
    numbers = np.empty((50, 3), np.int64)
    with hired(n_threads, 1e9) as team:
        team.run(leaf_numbers, values, scorer_of(grove).paths, grove.offset, numbers)
    for nodes, found in zip(trees, numbers.T.tolist(), strict=True):
        assert found == [leaf_of(nodes, x) for x in values.tolist()]


def test_nothing_is_done_for_a_team_that_is_cancelled():
    scorer = scorer_of(grove_of([[Node(value=1.0)]], [0]))
    sums = np.zeros((20, 1))
    with hired(1, 0) as team:
        team.cancel()
        given = np.zeros((20, N_FEATURES)), scorer, scratch_for(scorer, 1, 20, 1)
        team.run(add_trees, *given, 0, 1, sums)
        team.run(add_stages, *given, 0, 1, sums, np.zeros((1, 20, 1)))
        numbers = np.full((20, 1), 7)
        team.run(leaf_numbers, np.zeros((20, N_FEATURES)), scorer.paths, np.array([0, 1]), numbers)
    assert_array_equal(sums, 0.0)
    assert_array_equal(numbers, 7)
