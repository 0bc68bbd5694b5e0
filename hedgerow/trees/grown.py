"""Grown trees: nodes in preorder, with the sums that they were judged by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.arranging import arrange, empty_arrangement
from hedgerow.kernels.codes import Codes
from hedgerow.kernels.workspace import N_NODES, N_WORDS, Nodes


class Grown(NamedTuple):
    """A grown tree in preorder: see trees.tree.Tree for the arrays it shares with it.

    sums         int64 [n_nodes, sum_width]  the moments' sums
    leaf_of_row  int32 [n_rows]            where each training row ended
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_start: NDArray[np.int64]
    category_words: NDArray[np.uint64]
    n_rows: NDArray[np.int64]
    sums: NDArray[np.int64]
    leaf_of_row: NDArray[np.int32]


def words_of_sets(codes: Codes) -> NDArray[np.int64]:
    """Return how many words a set of categories of each feature has, int64 [n_features]."""
    return np.asarray(codes.features.n_categories // 64 + 1)


def in_preorder(nodes: Nodes, n_words: NDArray[np.int64]) -> Grown:
    """Renumber the nodes from the root, left before right, and drop the room not used.

    n_words, int64 [n_features]: of a set of categories of each feature.
    """
    n_nodes, n_used = int(nodes.counters[N_NODES]), int(nodes.counters[N_WORDS])
    table, whole = nodes.table[:n_nodes], np.array([0, n_nodes])
    tree, stack = empty_arrangement(n_nodes, n_used), np.empty((2, n_nodes + 1), np.int64)
    n_written = arrange(table, whole, nodes.words, np.zeros(1, np.int64), n_words, tree, stack)
    place = np.empty(n_nodes + 1, np.int32)
    place[tree.place], place[-1] = np.arange(n_nodes, dtype=np.int32), -1
    return Grown(
        left=tree.left,
        right=tree.right,
        feature=tree.feature,
        threshold=tree.threshold,
        missing_left=tree.missing_left,
        category_start=tree.category_start,
        category_words=tree.category_words[:n_written].copy(),
        n_rows=table.n_rows[tree.place],
        sums=nodes.sums[tree.place],
        leaf_of_row=place[nodes.leaf_of_row],  # a row of no leaf, -1, has the last place
    )
