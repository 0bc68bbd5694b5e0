"""Packed trees: 16 bytes a node, for forests of many large trees.

Nodes are in preorder, so that a split's left child follows it.

    split   number   the threshold; of a split by categories `steps`, the first word of its set
            feature  its number, and three bits: see below
            link     its right child
    leaf    feature  -1 - (number of training rows)
            link     of classes: the class of all its rows, or -1 - (its row of `extra`)
                     of numbers: its row of `extra`
            number   of numbers: the mean of the first output
            steps    of classes: the weight in whole steps

`extra` has what does not fit: of classes, int64 [n, n_classes], the steps of each class in a
leaf that has several; of numbers, float64 [n_leaves, 1 + 2 n_outputs], weight, means and sums
of squares. What splits hold follows from what leaves hold: integers add up exactly.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import Records
from hedgerow.kernels.jit import kernel, part

PACKED = np.dtype(
    {
        "names": ["number", "steps", "feature", "link"],
        "formats": ["f8", "i8", "i4", "i4"],
        "offsets": [0, 0, 8, 12],
        "itemsize": 16,
    }
)
MAX_FEATURES = 1 << 28
HEAVIER_LEFT, BY_CATEGORY, MISSING_LEFT = 1 << 28, 1 << 29, 1 << 30
FEATURE = MAX_FEATURES - 1


class Thicket(NamedTuple):
    """Packed trees, one after another.

    nodes   PACKED [n_nodes]    children are counted from the tree's first node
    words   uint64 [n_words]    sets of categories, counted from the tree's first word
    extra   [n, ..]             see the module; counted from the tree's first row
    first   int64 [n_trees + 1, 3]   first node, first word, first row of `extra` of each tree
    """

    nodes: Records
    words: NDArray[np.uint64]
    extra: NDArray[Any]
    first: NDArray[np.int64]


@kernel
def pack(paths, n_rows, nodes):
    """Pack the shape of a tree in preorder.

    paths   Paths               read
    n_rows  int64 [n_nodes]     read
    nodes   PACKED [n_nodes]    write   number, steps and link of leaves are left alone
    """
    for node in range(nodes.shape[0]):
        packed, left, right = nodes[node], paths.left[node], paths.right[node]
        if left < 0:
            packed.feature = -1 - n_rows[node]
            continue
        flags = MISSING_LEFT if paths.missing_left[node] else 0
        flags |= HEAVIER_LEFT if paths.weight[left] >= paths.weight[right] else 0
        if paths.category_start[node] >= 0:
            flags |= BY_CATEGORY
            packed.steps = paths.category_start[node]
        else:
            packed.number = paths.threshold[node]
        packed.feature = paths.feature[node] | flags
        packed.link = right


@kernel
def pack_classes(sums, nodes, extra):
    """Pack what the leaves of a classification tree hold.

    sums    int64 [n_nodes, n_classes or more]   read
    nodes   PACKED [n_nodes]                     both    steps and link of leaves
    extra   int64 [n, n_classes]                 write   in the order of the leaves

    Returns how many rows of `extra` are used.
    """
    n_used, n_classes = np.int64(0), extra.shape[1]
    for node in range(nodes.shape[0]):
        if nodes[node].feature < 0:
            n_used = _pack_leaf(sums[node], n_classes, nodes[node], extra, n_used)
    return n_used


@part
def _pack_leaf(sums, n_classes, leaf, extra, n_used):
    """Set steps and link of a leaf of classes; return how many rows of `extra` are then used."""
    total, n_seen, last = np.int64(0), np.int64(0), np.int64(0)
    for k in range(n_classes):
        total += sums[k]
        if sums[k] > 0:
            n_seen, last = n_seen + 1, np.int64(k)
    leaf.steps, leaf.link = total, last
    if n_seen > 1:
        for k in range(n_classes):
            extra[n_used, k] = sums[k]
        n_used += 1
        leaf.link = -n_used
    return n_used


@kernel
def n_mixed(table, sums, n_classes):
    """Return how many leaves have rows of several classes: they need a row of `extra`.

    table  NODE [n_nodes]                       read
    sums   int64 [n_nodes, n_classes or more]   read
    """
    n_found = np.int64(0)
    for node in range(table.shape[0]):
        if table[node].left < 0:
            n_seen = np.int64(0)
            for k in range(n_classes):
                n_seen += np.int64(sums[node, k] > 0)
            n_found += np.int64(n_seen > 1)
    return n_found


@kernel
def pack_grown(table, sums, words, n_words, thicket, stack):
    """Pack a tree of classes as it was grown, its nodes in any order.

    table    NODE [n_nodes]                       read
    sums     int64 [n_nodes, n_classes or more]   read
    words    int64 [..]                           read    its sets of categories
    n_words  int64 [n_features]                   read    words of a set of each feature
    thicket  Thicket of one tree                  write
    stack    int64 [2, n_nodes + 1]               write   garbage

    The thicket is that of `pack` and `pack_classes` for the tree in preorder.
    """
    nodes, n_waiting, n_written, n_used = thicket.nodes, np.int64(1), np.int64(0), np.int64(0)
    stack[0, 0], stack[1, 0], n_classes = 0, -1, thicket.extra.shape[1]
    for place in range(nodes.shape[0]):
        n_waiting -= 1
        node, packed = table[stack[0, n_waiting]], nodes[place]
        if stack[1, n_waiting] >= 0:
            nodes[stack[1, n_waiting]].link = place
        if node.left < 0:
            packed.feature = -1 - node.n_rows
            n_used = _pack_leaf(sums[stack[0, n_waiting]], n_classes, packed, thicket.extra, n_used)
            continue
        left = _total(sums, node.left, n_classes)
        flags = MISSING_LEFT if node.missing_left else 0
        flags |= HEAVIER_LEFT if left >= _total(sums, node.left + 1, n_classes) else 0
        packed.number = node.threshold
        if node.category_start >= 0:
            flags |= BY_CATEGORY
            packed.steps = n_written
            for word in range(n_words[node.feature]):
                thicket.words[n_written] = words[node.category_start + word]
                n_written += 1
        packed.feature = node.feature | flags
        stack[0, n_waiting], stack[1, n_waiting] = node.left + 1, place
        stack[0, n_waiting + 1], stack[1, n_waiting + 1] = node.left, -1
        n_waiting += 2


@part
def _total(sums, node, n_classes):
    total = np.int64(0)
    for k in range(n_classes):
        total += sums[node, k]
    return total


@kernel
def pack_means(columns, nodes, extra):
    """Pack what the leaves of a regression tree hold.

    columns  float64 [n_nodes, 1 + 2 n_outputs]    read    weight, means, sums of squares
    nodes    PACKED [n_nodes]                      both    number and link of leaves
    extra    float64 [n_leaves, 1 + 2 n_outputs]   write
    """
    leaf = np.int64(0)
    for node in range(nodes.shape[0]):
        if nodes[node].feature < 0:
            nodes[node].number, nodes[node].link = columns[node, 1], leaf
            for k in range(extra.shape[1]):
                extra[leaf, k] = columns[node, k]
            leaf += 1


@kernel
def unpack(nodes, paths, n_rows):
    """Set the shape of a tree from its nodes; weights are left alone.

    paths   Paths              write
    n_rows  int64 [n_nodes]    write
    """
    for node in range(nodes.shape[0] - 1, -1, -1):
        packed = nodes[node]
        is_leaf, by_category = packed.feature < 0, (packed.feature & BY_CATEGORY) != 0
        paths.left[node], paths.right[node], paths.feature[node] = -1, -1, -1
        paths.threshold[node], paths.category_start[node] = np.nan, -1
        paths.missing_left[node] = False
        if is_leaf:
            n_rows[node] = -1 - packed.feature
            continue
        paths.left[node], paths.right[node] = node + 1, packed.link
        n_rows[node] = n_rows[node + 1] + n_rows[packed.link]
        paths.feature[node] = packed.feature & FEATURE
        paths.missing_left[node] = (packed.feature & MISSING_LEFT) != 0
        if by_category:
            paths.category_start[node] = packed.steps
        else:
            paths.threshold[node] = packed.number


@kernel
def unpack_classes(nodes, extra, sums):
    """Set the sums of every node of a classification tree.

    sums  int64 [n_nodes, n_classes]   write
    """
    for node in range(nodes.shape[0] - 1, -1, -1):
        packed = nodes[node]
        for k in range(sums.shape[1]):
            if packed.feature >= 0:
                sums[node, k] = sums[node + 1, k] + sums[packed.link, k]
            elif packed.link < 0:
                sums[node, k] = extra[-1 - packed.link, k]
            else:
                sums[node, k] = packed.steps if k == packed.link else 0


@kernel
def unpack_means(nodes, extra, columns):
    """Set what leaves of a regression tree hold, and the weights of its splits.

    columns  float64 [1 + 2 n_outputs, n_nodes]   write   of splits only the weight
    """
    for node in range(nodes.shape[0] - 1, -1, -1):
        packed = nodes[node]
        if packed.feature >= 0:
            columns[0, node] = columns[0, node + 1] + columns[0, packed.link]
        else:
            for k in range(columns.shape[0]):
                columns[k, node] = extra[packed.link, k]
