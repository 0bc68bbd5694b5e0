"""Random trees as lists of plain nodes, the groves that kernels read, and rows for them."""

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.kernels.grove import Grove
from hedgerow.kernels.predict import UNSEEN

N_FEATURES = 4
CATEGORICAL = 3  # the last feature; the others are numbers
CATEGORIES = (0, 1, 63, 64, 69)  # two words of bits
ORDINARY = (-1.0, 0.25, 0.5, math.nextafter(0.5, 1), 2.0)
AWKWARD = (-math.inf, -1.7e308, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1.7e308, math.inf)


@dataclass
class Node:
    """A node in preorder; a leaf has no children."""

    left: int = -1
    right: int = -1
    feature: int = -1
    threshold: float = math.nan
    members: frozenset[int] = frozenset()  # categories that go left
    missing_left: bool = False
    weight: float = 0.0
    value: float = 0.0


def inner(rng, feature, cuts):
    """Return an inner node with a random test of a feature."""
    node = Node(feature=feature, missing_left=bool(rng.integers(2)))
    if feature == CATEGORICAL:
        node.members = frozenset(c for c in CATEGORIES if rng.integers(2))
    else:
        node.threshold = float(rng.choice(cuts))
    return node


def grown(rng, n_leaves, cuts, n_features=N_FEATURES):
    """Return a random tree as a list of nodes in preorder."""
    if n_leaves == 1:
        return [Node(weight=float(rng.integers(5)), value=rng.normal())]
    n_left = int(rng.integers(1, n_leaves))
    root = inner(rng, int(rng.integers(n_features)), cuts)
    left, right = (grown(rng, n, cuts, n_features) for n in (n_left, n_leaves - n_left))
    root.weight = left[0].weight + right[0].weight
    root.left, root.right = 1, 1 + len(left)
    for shift, side in ((1, left), (1 + len(left), right)):
        for node in side:
            if node.left >= 0:
                node.left, node.right = node.left + shift, node.right + shift
    return [root, *left, *right]


def grove_of(trees, outputs, n_words=2):
    """Return trees as kernels read them; n_words: of a set of categories."""
    nodes = [node for tree in trees for node in tree]
    words, starts = [], []
    for node in nodes:
        starts.append(len(words) if node.feature == CATEGORICAL else -1)
        if node.feature == CATEGORICAL:
            bits = sum(1 << code for code in node.members)
            words += [bits % 2**64, bits >> 64][:n_words]
    return Grove(
        offset=np.append(0, np.cumsum([len(tree) for tree in trees])).astype(np.int64),
        left=np.array([node.left for node in nodes], np.int32),
        right=np.array([node.right for node in nodes], np.int32),
        feature=np.array([node.feature for node in nodes], np.int32),
        threshold=np.array([node.threshold for node in nodes]),
        missing_left=np.array([node.missing_left for node in nodes], np.bool_),
        category_start=np.array(starts, np.int64),
        category_words=np.array([*words, 0] if n_words > 1 else words, np.uint64),
        weight=np.array([node.weight for node in nodes]),
        value=np.array([node.value for node in nodes]),
        output=np.array(outputs, np.int32),
    )


def goes_left(nodes, node, x):
    if math.isnan(x):
        return node.missing_left
    if node.feature != CATEGORICAL:
        return x <= node.threshold
    if x == UNSEEN:
        return nodes[node.left].weight >= nodes[node.right].weight
    return int(x) in node.members


def table(rng, n_rows, numbers):
    """Return rows of numbers at and beside the cuts, missing values and unseen categories."""
    values = rng.choice([*numbers, math.nan], size=(n_rows, N_FEATURES))
    values[:, CATEGORICAL] = rng.choice([*CATEGORIES, UNSEEN, math.nan], size=n_rows)
    return values
