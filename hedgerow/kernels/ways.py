"""The ways from roots to nodes, as Shapley values see them: one feature after another.

A node's *step* leads to it from its parent and tests the parent's feature. Steps on the same
feature along a way belong together: `above` leads from one to the next.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel
from hedgerow.kernels.predict import Paths


class Ways(NamedTuple):
    """Steps to the nodes of all trees; nodes are counted over all trees.

    parent      int64 [n_nodes]     of a root: itself
    above       int64 [n_nodes]     end of the last step on the same feature, or the root
    share       float64 [n_nodes]   of weight, product over the steps on this feature so far
    reach       float64 [n_nodes]   of weight, product over all steps so far
    n_features  int64 [n_nodes]     different features of the steps so far
    bit         int64 [n_nodes]     number of the step's feature among them
    level       int64 [n_nodes]     steps so far
    after       int64 [n_nodes]     first node in preorder that is not below this one
    """

    parent: NDArray[np.int64]
    above: NDArray[np.int64]
    share: NDArray[np.float64]
    reach: NDArray[np.float64]
    n_features: NDArray[np.int64]
    bit: NDArray[np.int64]
    level: NDArray[np.int64]
    after: NDArray[np.int64]


def ways_of(paths: Paths, offset: NDArray[np.int64]) -> Ways:
    """Trace the ways to all nodes; offset, int64 [n_trees + 1], is the first node of each tree."""
    parent, above, n_features, bit, level, after = np.zeros((6, len(paths.left)), np.int64)
    share, reach = np.ones((2, len(paths.left)))
    ways = Ways(parent, above, share, reach, n_features, bit, level, after)
    _trace(paths, offset, ways)
    return ways


@kernel
def _trace(paths, offset, ways):
    """Set the steps of all trees.

    paths   Paths                   read    children are counted over all trees
    offset  int64 [n_trees + 1]     read
    ways    Ways                    both    of roots: share 1, reach 1, n_features 0, level 0

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
                ways.level[child] = ways.level[node] + 1
                ways.share[child] = ways.share[above] * share
                ways.reach[child] = ways.reach[node] * share
                ways.n_features[child] = n_features + np.int64(is_new)
                ways.bit[child] = n_features if is_new else ways.bit[above]
        for node in range(offset[tree + 1] - 1, root - 1, -1):
            right = np.int64(paths.right[node])
            ways.after[node] = ways.after[right] if right >= 0 else node + 1
