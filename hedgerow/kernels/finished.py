"""Finished trees: nodes in preorder, and what they hold."""

import numpy as np

from hedgerow.kernels.jit import kernel


@kernel
def preorder(left, order, stack):
    """List the nodes from the root, each before its left subtree, that before its right one.

    left   int32 [n_nodes]   read    -1 in a leaf; the right child follows the left
    order  int64 [n_nodes]   write
    stack  int64 [n_nodes]   write   garbage on entry

    Returns the number of nodes reached.
    """
    n, n_waiting = np.int64(0), np.int64(1)
    stack[0] = 0
    while n_waiting > 0:
        n_waiting -= 1
        node = stack[n_waiting]
        order[n] = node
        n += 1
        if left[node] >= 0:
            stack[n_waiting] = left[node] + 1
            stack[n_waiting + 1] = left[node]
            n_waiting += 2
    return n


@kernel
def class_values(criterion, sums, value, impurity):
    """Set each node's class proportions and impurity = -score / weight from its sums.

    sums      int64 [n_nodes, n_classes + 1]   read
    value     float64 [n_nodes, n_classes]     write
    impurity  float64 [n_nodes]                write
    """
    for node in range(sums.shape[0]):
        W = criterion.mass(sums[node])
        for k in range(value.shape[1]):
            value[node, k] = sums[node, k] / W
        impurity[node] = max(0.0, -criterion.score(sums[node]) / W)


@kernel
def leaf_ranges(leaf_of_row, y, low, high):
    """Set low[leaf], high[leaf] to the smallest and largest y of the leaf's rows.

    low, high  float64 [n_nodes]   both   inf and -inf on entry
    """
    for row in range(y.shape[0]):
        leaf = leaf_of_row[row]
        if leaf >= 0:
            low[leaf] = min(low[leaf], y[row])
            high[leaf] = max(high[leaf], y[row])


@kernel
def leaf_moments(leaf_of_row, y, weights, centre, unit, power, sums):
    """Add w (y - centre)^power, in whole units of the leaf, to sums[leaf]; power 0: w |y - centre|.

    centre, unit  float64 [n_nodes]   read    unit 0: the leaf adds nothing
    sums          int64 [n_nodes]     both    zero on entry

    Whole units add up to the same bits in any order of the rows.
    """
    for row in range(y.shape[0]):
        leaf = leaf_of_row[row]
        if leaf >= 0 and unit[leaf] > 0.0:
            step = y[row] - centre[leaf]
            size = abs(step) if power == 0 else (step if power == 1 else step * step)
            sums[leaf] += weights[row] * np.int64(np.rint(size / unit[leaf]))


@kernel
def join_means(left, right, weight, mean, squares):
    """Set mean and sum of squares of every split from its children's. Nodes are in preorder.

        W m = W_L m_L + W_R m_R,     Q = Q_L + Q_R + (m_L - m_R)^2 W_L W_R / W

    mean, squares  float64 [n_nodes]   both   right in the leaves on entry
    """
    for node in range(left.shape[0] - 1, -1, -1):
        if left[node] >= 0:
            one, two, W = left[node], right[node], weight[node]
            step = mean[two] - mean[one]
            mean[node] = mean[one] + step * (weight[two] / W)
            squares[node] = (
                squares[one] + squares[two] + step * step * (weight[one] * (weight[two] / W))
            )
