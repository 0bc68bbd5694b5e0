"""Finished trees: nodes in preorder, and what they hold."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel, part

# Sums of leaves are kept in three digits of 26 bits: exact for any weights and targets.
N_LIMBS = 3
_STEP_BITS, _LEAST = 52, -1074  # bits of a step beside its sign; exponent of the least float64
_DIGIT_BITS = 26
_DIGIT = (1 << _DIGIT_BITS) - 1


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


class Listed(NamedTuple):
    """Nodes in another order: see trees.grower.Grown."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_start: NDArray[np.int64]
    n_rows: NDArray[np.int64]


def empty_list(n_nodes: int) -> Listed:
    """Allocate a list of nodes."""
    return Listed(
        left=np.empty(n_nodes, np.int32),
        right=np.empty(n_nodes, np.int32),
        feature=np.empty(n_nodes, np.int32),
        threshold=np.empty(n_nodes, np.float64),
        missing_left=np.empty(n_nodes, np.bool_),
        category_start=np.empty(n_nodes, np.int64),
        n_rows=np.empty(n_nodes, np.int64),
    )


@kernel
def list_nodes(table, order, place, listed):
    """Set what is listed of the nodes order[0], order[1], ...

    table  NODE [n_nodes]            read    the right child follows the left
    order  int64 [n_nodes]           read
    place  int32 [n_nodes]           write   where each node stands in the list
    listed Listed, each [n_nodes]    write   category_start is that of the table
    """
    for i in range(order.shape[0]):
        place[order[i]] = i
    for i in range(order.shape[0]):
        node = table[order[i]]
        is_leaf = node.left < 0
        listed.left[i] = -1 if is_leaf else place[node.left]
        listed.right[i] = -1 if is_leaf else place[node.left + 1]
        listed.feature[i], listed.threshold[i] = node.feature, node.threshold
        listed.missing_left[i] = node.missing_left != 0
        listed.category_start[i], listed.n_rows[i] = node.category_start, node.n_rows


@kernel
def renumber(leaf_of_row, place, renumbered):
    """Set each row's leaf to where it stands in the list; rows without one keep -1.

    leaf_of_row, renumbered  int32 [n_rows]   read, write
    """
    for row in range(leaf_of_row.shape[0]):
        leaf = leaf_of_row[row]
        renumbered[row] = place[leaf] if leaf >= 0 else -1


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
def leaf_moments(leaf_of_row, y, weights, centre, unit, power, limbs):
    """Add w (y - centre)^power, in whole units of the leaf, to a leaf; power 0: w |y - centre|.

    weights       int64 [n_rows]              read    below 2^31
    centre, unit  float64 [n_nodes]           read    unit 0: the leaf adds nothing
    limbs         int64 [n_nodes, N_LIMBS]    both    zero on entry

    Whole units add up to the same bits in any order of the rows.
    """
    for row in range(y.shape[0]):
        leaf = leaf_of_row[row]
        if leaf >= 0 and unit[leaf] > 0.0:
            step = y[row] - centre[leaf]
            size = abs(step) if power == 0 else (step if power == 1 else step * step)
            _add_product(limbs, leaf, weights[row], np.int64(np.rint(size / unit[leaf])))


@kernel
def add_products(places, weights, steps, limbs):
    """Add weights * steps, below 2^31 and 2^53, to limbs[places]."""
    for i in range(places.shape[0]):
        _add_product(limbs, places[i], weights[i], steps[i])


@part
def _add_product(limbs, place, w, step):
    """Add w * step to limbs[place], exactly: a sum of 2^26-ary digits, the last one signed."""
    low = limbs[place, 0] + w * (step & _DIGIT)
    middle = limbs[place, 1] + w * (step >> _DIGIT_BITS) + (low >> _DIGIT_BITS)
    limbs[place, 0], limbs[place, 1] = low & _DIGIT, middle & _DIGIT
    limbs[place, 2] += middle >> _DIGIT_BITS


def step_of(peak: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the smallest unit in which numbers up to `peak` are at most 2^52 steps; 0 for 0."""
    exponent = np.frexp(peak)[1] - _STEP_BITS
    return np.where(peak > 0, np.ldexp(1.0, np.maximum(exponent, _LEAST)), 0.0)


def summed_limbs(limbs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums that limbs, or sums of them, hold, rounded once."""
    low, middle, high = limbs.T
    middle = middle + (low >> _DIGIT_BITS)
    high = high + (middle >> _DIGIT_BITS)
    lower = ((middle & _DIGIT) << _DIGIT_BITS) | (low & _DIGIT)
    return np.asarray(high * float(1 << 2 * _DIGIT_BITS) + lower)


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
