"""Arranging: nodes as they were grown, in any order, are written in preorder."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel


class Arranged(NamedTuple):
    """Trees in preorder: see trees.tree.Tree. place: where a node was, int64 [n_nodes]."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_start: NDArray[np.int64]
    category_words: NDArray[np.uint64]
    place: NDArray[np.int64]


def empty_arrangement(n_nodes: int, n_words: int) -> Arranged:
    """Return room for so many nodes, and words of sets of categories."""
    return Arranged(
        left=np.empty(n_nodes, np.int32),
        right=np.empty(n_nodes, np.int32),
        feature=np.empty(n_nodes, np.int32),
        threshold=np.empty(n_nodes),
        missing_left=np.empty(n_nodes, np.bool_),
        category_start=np.empty(n_nodes, np.int64),
        category_words=np.empty(n_words, np.uint64),
        place=np.empty(n_nodes, np.int64),
    )


@kernel
def arrange(table, first, words, first_word, n_words, grove, stack):
    """Write trees in preorder, one after another, with their sets of categories.

    table        NODE [n_nodes]          read    trees as they were grown, one after another
    first        int64 [n_trees + 1]     read    first node of each
    words        int64 [..]              read    their sets
    first_word   int64 [n_trees]         read    first word of each tree
    n_words      int64 [n_features]      read    words of a set of each feature
    grove        Arranged                write
    stack        int64 [2, n_nodes + 1]  write   garbage

    Returns the number of words written.
    """
    n_written = np.int64(0)
    for tree in range(first.shape[0] - 1):
        base, n_waiting, number = first[tree], np.int64(1), np.int64(0)
        stack[0, 0], stack[1, 0] = 0, -1
        while n_waiting > 0:
            n_waiting -= 1
            old, parent = stack[0, n_waiting], stack[1, n_waiting]
            node, new = table[base + old], base + number
            if parent >= 0:
                grove.right[base + parent] = number
            grove.place[new], grove.threshold[new] = base + old, node.threshold
            grove.feature[new], grove.missing_left[new] = node.feature, node.missing_left
            grove.left[new], grove.right[new], grove.category_start[new] = -1, -1, -1
            if node.left >= 0:
                grove.left[new] = number + 1
                stack[0, n_waiting], stack[1, n_waiting] = node.left + 1, number
                stack[0, n_waiting + 1], stack[1, n_waiting + 1] = node.left, -1
                n_waiting += 2
                if node.category_start >= 0:
                    grove.category_start[new] = n_written
                    for word in range(n_words[node.feature]):
                        here = first_word[tree] + node.category_start + word
                        grove.category_words[n_written] = words[here]
                        n_written += 1
            number += 1
    return n_written
