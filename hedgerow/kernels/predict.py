"""Prediction: from raw values to leaves and their values."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.meeting import cancelled, share

UNSEEN = (
    -1.0
)  # stands for a category that was not there at fit, if both branches are to be averaged
_CHUNK = 4096


class Paths(NamedTuple):
    """What prediction reads of a tree: see trees.tree.Tree."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_start: NDArray[np.int64]
    category_words: NDArray[np.uint64]
    weight: NDArray[np.float64]


@part
def next_node(tree, node, x):
    """Return the child that a value goes to; an unseen category goes to the heavier child."""
    left, right = tree.left[node], tree.right[node]
    if np.isnan(x):
        goes_left = tree.missing_left[node]
    elif tree.category_start[node] < 0:
        goes_left = x <= tree.threshold[node]
    elif x < 0:
        goes_left = tree.weight[left] >= tree.weight[right]
    else:
        code = np.int64(x)
        word = np.int64(tree.category_words[tree.category_start[node] + (code >> 6)])
        goes_left = (word >> (code & 63)) & 1 == 1
    return left if goes_left else right


@team_kernel
def leaf_indices(team, values, tree, leaves):
    """Set leaves[row] to the leaf that the row reaches.

    values  float64 [n_rows, n_features]   read    NaN is missing; categories are codes
    tree    Paths                          read
    leaves  int64 [n_rows]                 write   a thread owns a range of rows
    """
    begin, end = share(team, values.shape[0])
    for first in range(begin, end, _CHUNK):
        if cancelled(team):
            return
        for row in range(first, min(first + _CHUNK, end)):
            node = np.int32(0)
            while tree.left[node] >= 0:
                node = next_node(tree, node, values[row, tree.feature[node]])
            leaves[row] = node


@team_kernel
def leaf_numbers(team, values, tree, offset, numbers):
    """Set numbers[row, k] to the leaf that the row reaches in tree k, counted in its tree.

    values   float64 [n_rows, n_features]   read
    tree     Paths                          read    of all trees; children are counted over all
    offset   int64 [n_trees + 1]            read    first node of each tree
    numbers  int64 [n_rows, n_trees]        write   a thread owns a range of rows
    """
    begin, end = share(team, values.shape[0])
    for row in range(begin, end):
        if cancelled(team):
            return
        for k in range(numbers.shape[1]):
            node = offset[k]
            while tree.left[node] >= 0:
                node = np.int64(next_node(tree, node, values[row, tree.feature[node]]))
            numbers[row, k] = node - offset[k]


@kernel
def average_unseen(values, tree, rows, value, stack, shares, out):
    """Set out[row] to the mean over both branches wherever a category was unseen.

    rows    int64 [n]                     read    rows with at least one unseen category
    value   float64 [n_nodes, n_values]   read
    stack   int64 [n_nodes], shares float64 [n_nodes]   write   nodes to visit and their share
    out     float64 [n_rows, n_values]    write   only `rows`

    A branch counts by the training weight that went there.
    """
    for i in range(rows.shape[0]):
        row, n_waiting = rows[i], np.int64(1)
        stack[0], shares[0] = 0, 1.0
        for k in range(out.shape[1]):
            out[row, k] = 0.0
        while n_waiting > 0:
            n_waiting -= 1
            node, part_of_row = stack[n_waiting], shares[n_waiting]
            if tree.left[node] < 0:
                for k in range(out.shape[1]):
                    out[row, k] += part_of_row * value[node, k]
                continue
            x = values[row, tree.feature[node]]
            if x != UNSEEN or tree.category_start[node] < 0:
                stack[n_waiting] = next_node(tree, node, x)
                n_waiting += 1
                continue
            for which in range(2):
                child = tree.left[node] if which else tree.right[node]
                stack[n_waiting] = child
                shares[n_waiting] = part_of_row * tree.weight[child] / tree.weight[node]
                n_waiting += 1
