"""The ways from roots to nodes, as Shapley values see them: one feature after another.

A node's *step* leads to it from its parent and tests the parent's feature. Steps on the same
feature along a way belong together: `above` leads from one to the next.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.predict import Paths, next_node

LANES = 16  # rows that are worked on together
OFF, LEAVES, STAYS = 0, 1, 2  # what a row does at a step: see mark


class Ways(NamedTuple):
    """Steps to the nodes of all trees; nodes are counted over all trees.

    parent      int64 [n_nodes]     of a root: itself
    above       int64 [n_nodes]     end of the last step on the same feature, or the root
    share       float64 [n_nodes]   of weight, product over the steps on this feature so far
    reach       float64 [n_nodes]   of weight, product over all steps so far
    n_features  int64 [n_nodes]     different features of the steps so far
    bit         int64 [n_nodes]     number of the step's feature among them
    """

    parent: NDArray[np.int64]
    above: NDArray[np.int64]
    share: NDArray[np.float64]
    reach: NDArray[np.float64]
    n_features: NDArray[np.int64]
    bit: NDArray[np.int64]


def ways_of(paths: Paths, offset: NDArray[np.int64]) -> Ways:
    """Trace the ways to all nodes; offset, int64 [n_trees + 1], is the first node of each tree."""
    parent, above, n_features, bit = np.zeros((4, len(paths.left)), np.int64)
    share, reach = np.ones((2, len(paths.left)))
    ways = Ways(parent, above, share, reach, n_features, bit)
    _trace(paths, offset, ways)
    return ways


@kernel
def _trace(paths, offset, ways):
    """Set the steps of all trees.

    paths   Paths                   read    children are counted over all trees
    offset  int64 [n_trees + 1]     read
    ways    Ways                    both    of roots: share 1, reach 1, n_features 0

    Where no weight went, both children have a half. Cost: n_nodes * depth.
    """
    for tree in range(offset.shape[0] - 1):
        root = offset[tree]
        ways.parent[root], ways.above[root] = root, root
        for node in range(root, offset[tree + 1]):
            left, right = np.int64(paths.left[node]), np.int64(paths.right[node])
            if left < 0:
                continue
            above = np.int64(node)
            while above != root and paths.feature[ways.parent[above]] != paths.feature[node]:
                above = ways.parent[above]
            is_new, n_features = above == root, ways.n_features[node]
            total = paths.weight[left] + paths.weight[right]
            for side in range(2):
                child = right if side else left
                share = paths.weight[child] / total if total > 0 else 0.5
                ways.parent[child], ways.above[child] = node, above
                ways.share[child] = ways.share[above] * share
                ways.reach[child] = ways.reach[node] * share
                ways.n_features[child] = n_features + np.int64(is_new)
                ways.bit[child] = n_features if is_new else ways.bit[above]


@part
def mark(block, paths, ways, root, end, marks):
    """Set what each row of a block does at the step to each node of a tree.

    block  float64 [n_lanes, n_features]   read
    marks  uint8 [n_nodes, n_lanes]        write

    STAYS: it takes this step and all above on its feature, LEAVES: all above but not this,
    OFF: it has left above. It stays at the root.
    """
    for lane in range(block.shape[0]):
        marks[0, lane] = STAYS
    for node in range(root, end):
        left, right = np.int64(paths.left[node]), np.int64(paths.right[node])
        if left < 0:
            continue
        above, feature = ways.above[left] - root, paths.feature[node]
        for lane in range(block.shape[0]):
            child = np.int64(next_node(paths, node, block[lane, feature]))
            was_there = marks[above, lane] == STAYS
            to_left = STAYS if child == left else LEAVES
            marks[left - root, lane] = to_left if was_there else OFF
            marks[right - root, lane] = STAYS + LEAVES - to_left if was_there else OFF
