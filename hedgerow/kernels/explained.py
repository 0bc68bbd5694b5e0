"""Trees as Shapley values see them: their ways, and what their leaves add to which outputs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel
from hedgerow.kernels.predict import Paths
from hedgerow.kernels.ways import Ways, ways_of


class Trees(NamedTuple):
    """Trees to be explained.

    paths     Paths                       children are counted over all trees
    ways      Ways
    value     float64 [n_nodes, n_values] what a leaf adds
    is_heard  bool [n_nodes, n_values]    whether a leaf at or below the node adds more than 0
    offset    int64 [n_trees + 1]         first node of each tree
    output    int32 [n_trees]             the column that its first value is added to
    n_points  int64 [n_trees]             of Gauss's rule: enough for any leaf of the tree
    """

    paths: Paths
    ways: Ways
    value: NDArray[np.float64]
    is_heard: NDArray[np.bool_]
    offset: NDArray[np.int64]
    output: NDArray[np.int32]
    n_points: NDArray[np.int64]


def trees_of(
    paths: Paths,
    offset: NDArray[np.int64],
    value: NDArray[np.float64],
    output: NDArray[np.int32],
) -> Trees:
    """Trace the ways of trees."""
    ways, n_trees = ways_of(paths, offset), len(output)
    most = np.zeros(n_trees, np.int64)
    if n_trees:
        most = np.maximum.reduceat(ways.n_features, offset[:-1])
    is_heard = value != 0.0
    _hear(paths, is_heard)
    return Trees(paths, ways, value, is_heard, offset, output, np.maximum((most + 1) // 2, 1))


@kernel
def _hear(paths, is_heard):
    """Set of splits whether a leaf below adds something; nodes are in preorder.

    is_heard  bool [n_nodes, n_values]   both   of leaves it is right on entry
    """
    for node in range(is_heard.shape[0] - 1, -1, -1):
        left, right = np.int64(paths.left[node]), np.int64(paths.right[node])
        if left >= 0:
            for k in range(is_heard.shape[1]):
                is_heard[node, k] = is_heard[left, k] or is_heard[right, k]
