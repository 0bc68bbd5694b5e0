"""Prediction: which leaf a row reaches, and the mean over both branches for unseen categories."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.predict import UNSEEN, Paths, average_unseen, leaf_indices
from hedgerow.kernels.team import hired
from tests.groves import Node

N_CATEGORIES = 70  # two words of bits
NUMERIC, CATEGORICAL = 0, 1  # the two features


@st.composite
def trees(draw):
    nodes = []

    def grow(depth):
        number, node = len(nodes), Node(weight=float(draw(st.integers(1, 4))))
        nodes.append(node)
        if depth < 3 and draw(st.booleans()):
            node.feature, node.missing_left = draw(st.integers(0, 1)), draw(st.booleans())
            if node.feature == NUMERIC:
                node.threshold = draw(st.sampled_from([-math.inf, -1.0, 0.5, 2.0, math.inf]))
            else:
                node.members = draw(st.frozensets(st.sampled_from([0, 1, 63, 64, 69])))
            node.left, node.right = grow(depth + 1), grow(depth + 1)
            node.weight = nodes[node.left].weight + nodes[node.right].weight
        return number

    grow(0)
    return nodes


@st.composite
def tables(draw):
    """Draw rows of a number and a category: at thresholds, beside them, missing, unseen."""
    number = st.sampled_from(
        [-math.inf, -1.0, 0.5, math.nextafter(0.5, 1), 2.0, math.inf, math.nan]
    )
    category = st.sampled_from([0.0, 1.0, 63.0, 64.0, 69.0, UNSEEN, math.nan])
    rows = draw(st.lists(st.tuples(number, category), min_size=1, max_size=12))
    return np.array(rows)


def paths_of(nodes):
    words, starts = [], []
    for node in nodes:
        starts.append(len(words) if node.feature == CATEGORICAL else -1)
        if node.feature == CATEGORICAL:
            bits = sum(1 << code for code in node.members)
            words += [bits % 2**64, bits >> 64]
    return Paths(
        left=np.array([node.left for node in nodes], np.int32),
        right=np.array([node.right for node in nodes], np.int32),
        feature=np.array([node.feature for node in nodes], np.int32),
        threshold=np.array([node.threshold for node in nodes]),
        missing_left=np.array([node.missing_left for node in nodes]),
        category_start=np.array(starts),
        category_words=np.array([*words, 0], np.uint64),
        weight=np.array([node.weight for node in nodes]),
    )


def goes_left(nodes, node, x):
    if math.isnan(x):
        return node.missing_left
    if node.feature == NUMERIC:
        return x <= node.threshold
    if x == UNSEEN:
        return nodes[node.left].weight >= nodes[node.right].weight
    return int(x) in node.members


def leaf_of(nodes, row, number=0):
    node = nodes[number]
    if node.left < 0:
        return number
    x = row[node.feature]
    return leaf_of(nodes, row, node.left if goes_left(nodes, node, x) else node.right)


def averaged(nodes, row, value, number=0):
    """Return the value of a row; where its category was unseen, the mean of both branches."""
    node = nodes[number]
    if node.left < 0:
        return value[number]
    x = row[node.feature]
    if node.feature == CATEGORICAL and x == UNSEEN:
        return sum(
            nodes[child].weight / node.weight * averaged(nodes, row, value, child)
            for child in (node.left, node.right)
        )
    return averaged(nodes, row, value, node.left if goes_left(nodes, node, x) else node.right)


@given(trees(), tables(), st.integers(1, 3))
def test_a_row_reaches_the_leaf_that_its_values_lead_to(nodes, values, n_threads):
    leaves = np.full(len(values), -7)
    with hired(n_threads, 1e9) as team:
        team.run(leaf_indices, values, paths_of(nodes), leaves)
    assert leaves.tolist() == [leaf_of(nodes, row) for row in values]


def test_more_rows_than_a_chunk_reach_their_leaves():
    nodes = [Node(1, 2, NUMERIC, 0.5), Node(), Node()]
    values = np.zeros((10_000, 2))
    values[::3, 0] = 1.0
    leaves = np.full(len(values), -7)
    with hired(2, 1e9) as team:
        team.run(leaf_indices, values, paths_of(nodes), leaves)
    assert_array_equal(leaves, 1 + (values[:, 0] > 0.5))


@given(trees(), tables())
def test_an_unseen_category_has_the_mean_of_both_branches_by_their_weights(nodes, values):
    value = np.stack([np.arange(len(nodes)) ** 2, -np.arange(len(nodes))], axis=1) + 0.25
    rows = np.flatnonzero(values[:, CATEGORICAL] == UNSEEN)
    out = np.full((len(values), 2), -7.0)
    stack, shares = np.zeros(len(nodes), np.int64), np.zeros(len(nodes))
    average_unseen(values, paths_of(nodes), rows, value, stack, shares, out)
    for row in range(len(values)):
        expected = averaged(nodes, values[row], value) if row in rows else [-7.0, -7.0]
        assert_allclose(out[row], expected, rtol=1e-14, atol=1e-13)  # products are rounded
