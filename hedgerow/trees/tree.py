"""One fitted tree, as read-only flat arrays."""

import hashlib
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAF = -1  # left, right and feature of a leaf


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree in preorder: node 0 is the root, a node's left child follows it.

    A row with value x in the node's feature goes left if

        x <= threshold              in a numeric feature,
        x is one of left_categories in a categorical feature,
        missing_left                if x is missing.

    Attributes
    ----------
    left, right : int32 [n_nodes]
        Children; -1 in a leaf.
    feature : int32 [n_nodes]
        The feature that is tested; -1 in a leaf.
    threshold : float64 [n_nodes]
        NaN in a leaf and where the feature is categorical.
    missing_left : bool [n_nodes]
        Where rows without a value go.
    category_start : int64 [n_nodes]
        First word of the node's set in `category_words`; -1 if the node has none.
    category_words : uint64 [n_words]
        Sets of category codes that go left, as bits: code c is bit c % 64 of word c // 64.
    n_categories : int32 [n_features]
        Number of categories of each feature; 0 if it is numeric.
    value : float64 [n_nodes, n_values]
        Class proportions, or means (medians) of the outputs.
    impurity : float64 [n_nodes]
        The criterion's impurity per unit of weight, not below 0.
    n_rows : int64 [n_nodes]
        Training rows.
    weight : float64 [n_nodes]
        Their total weight.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_start: NDArray[np.int64]
    category_words: NDArray[np.uint64]
    n_categories: NDArray[np.int32]
    value: NDArray[np.float64]
    impurity: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    weight: NDArray[np.float64]

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.left)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves, bool [n_nodes]."""
        return np.equal(self.left, LEAF)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.is_leaf))

    @property
    def depths(self) -> NDArray[np.int64]:
        """Number of splits above each node, int64 [n_nodes]."""
        depths = np.zeros(self.n_nodes, np.int64)
        for node in np.flatnonzero(~self.is_leaf):  # preorder: a parent precedes its children
            depths[[self.left[node], self.right[node]]] = depths[node] + 1
        return depths

    @property
    def depth(self) -> int:
        """Largest number of splits above a leaf."""
        return int(self.depths.max())

    def left_categories(self, node: int) -> NDArray[np.int64]:
        """Codes of the categories that go left, ascending."""
        codes = np.arange(self.n_categories[self.feature[node]], dtype=np.int64)
        words = self.category_words[self.category_start[node] + codes // 64]
        bits = (words >> (codes % 64).astype(np.uint64)) & np.uint64(1)
        return np.flatnonzero(bits)

    def fingerprint(self) -> str:
        """SHA-256 of everything that prediction depends on, and of the nodes' weights.

        `n_rows` is left out: a row of weight 3 and three rows make the same model.
        """
        digest = hashlib.sha256()
        for field in fields(self):
            if field.name != "n_rows":
                digest.update(np.ascontiguousarray(getattr(self, field.name)).tobytes())
        return digest.hexdigest()
