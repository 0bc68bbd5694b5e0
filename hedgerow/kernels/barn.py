"""A barn: where the trees of a season are kept, one after another."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import part
from hedgerow.kernels.workspace import N_NODES, N_WORDS


class Barn(NamedTuple):
    """Trees as they were grown, side by side.

    first    int64 [n_trees + 1, 2]   first node and first word of each tree; [0] is zero
    table    int64 [n_nodes, n]
    words    int64 [n_words]
    columns  float64 [3 * n_nodes]    of each tree: values, G, H
    """

    first: NDArray[np.int64]
    table: NDArray[np.int64]
    words: NDArray[np.int64]
    columns: NDArray[np.float64]


@part
def keep(barn, tree, counters, table, words, columns):
    """Copy a tree, the nodes of a Nodes as words, into the barn.

    tree     its number, after those that are there
    columns  float64 [3, max_nodes]   read   value, G and H of nodes
    """
    n_nodes, n_words = counters[N_NODES], counters[N_WORDS]
    node, word = barn.first[tree, 0], barn.first[tree, 1]
    barn.first[tree + 1, 0], barn.first[tree + 1, 1] = node + n_nodes, word + n_words
    for i in range(n_nodes):
        for k in range(table.shape[1]):
            barn.table[node + i, k] = table[i, k]
    for i in range(n_words):
        barn.words[word + i] = words[i]
    for k in range(3):
        for i in range(n_nodes):
            barn.columns[3 * node + k * n_nodes + i] = columns[k, i]
