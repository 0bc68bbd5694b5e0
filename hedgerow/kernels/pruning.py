"""Weakest-link pruning: the cost of a leaf at which a split no longer pays for itself.

Collapsing a node t of a tree T makes the risk larger by R(t) - R(T_t), which is the sum of
the gains of the splits that are left below and at t, and saves as many leaves as there are
such splits. The effective alpha of t is therefore the mean gain of those splits, and the
order of collapse is a pooling of means along the branches: a split whose gain is not above
that of a split below it disappears together with it.

Each subtree keeps its collapsing nodes in a mergeable heap with the largest alpha on top. A
node takes from the heap those whose alpha is not below its own mean gain: they would not have
collapsed before it. Sums of gains only grow; nothing is ever subtracted.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel, part

NONE = -1  # no heap, no child
TIE = 1e-10  # two alphas closer than this, relatively, are one: gains carry rounding errors
_Node: TypeAlias = int | np.signedinteger[Any]


@kernel
def weakest_links(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    gain: NDArray[np.float64],
    alpha: NDArray[np.float64],
    total: NDArray[np.float64],
    n_splits: NDArray[np.int64],
    heap: NDArray[np.int32],
) -> None:
    """Find the nodes that weakest-link pruning collapses, and what each collapse does.

    left      int32 [n_nodes]     read   a child follows its parent; -1 in a leaf
    right     int32 [n_nodes]     read
    gain      float64 [n_nodes]   read   decrease of the risk by the node's split, >= 0
    alpha     float64 [n_nodes]   write  the node's effective alpha when it collapses
    total     float64 [n_nodes]   write  by how much the risk then increases
    n_splits  int64 [n_nodes]     write  how many splits (so, leaves) are then lost; 0 in a
                                         leaf and in a node that is lost with one above it
    heap      int32 [3, n_nodes]  write  workspace: top of the subtree's heap, two children

    alpha and total are meaningful where n_splits > 0. There a node's alpha exceeds that of
    every such node below it, so sorting by alpha gives the order of collapse.
    Cost: O(n_nodes log n_nodes) whatever the depth; every node is taken at most once.
    """
    tops = heap[0]
    for node in range(left.shape[0] - 1, -1, -1):
        tops[node], n_splits[node] = NONE, 0
        if left[node] == NONE:
            continue
        top = _merged(tops[left[node]], tops[right[node]], alpha, heap)
        risk = gain[node]
        splits = np.int64(1)
        while top != NONE and alpha[top] * splits >= (1.0 - TIE) * risk:
            risk += total[top]
            splits += n_splits[top]
            n_splits[top] = 0
            top = _merged(heap[1, top], heap[2, top], alpha, heap)
        alpha[node], total[node], n_splits[node] = risk / splits, risk, splits
        heap[1, node] = heap[2, node] = NONE
        tops[node] = _merged(top, node, alpha, heap)


@kernel
def mark_kept(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    collapsed: NDArray[np.bool_],
    kept: NDArray[np.bool_],
) -> None:
    """Set kept[node] to whether no node above it is collapsed.

    left       int32 [n_nodes]  read   a child follows its parent; -1 in a leaf
    right      int32 [n_nodes]  read
    collapsed  bool [n_nodes]   read
    kept       bool [n_nodes]   write

    Cost: n_nodes.
    """
    kept[0] = True
    for node in range(left.shape[0]):
        if left[node] != NONE:
            keep = kept[node] and not collapsed[node]
            kept[left[node]] = keep
            kept[right[node]] = keep


@part
def _merged(
    first: _Node, second: _Node, alpha: NDArray[np.float64], heap: NDArray[np.int32]
) -> _Node:
    """Merge two skew heaps (Sleator and Tarjan, 1986), from the top down; return the new top."""
    one = np.int64(first)
    other = np.int64(second)
    top = np.int64(NONE)
    above = np.int64(NONE)
    while one >= 0 and other >= 0:
        if alpha[other] > alpha[one] or (alpha[other] == alpha[one] and other < one):
            one, other = other, one
        if above == NONE:
            top = one
        else:
            heap[1, above] = one
        above = one
        one = np.int64(heap[2, above])
        heap[2, above] = heap[1, above]
    rest = other if one == NONE else one
    if above == NONE:
        return rest
    heap[1, above] = rest
    return top
