"""A tree as scikit-learn shows trees, so that tools written for its trees keep working."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as _Tree

from hedgerow.trees.tree import Tree

_UNDEFINED = -2  # feature and threshold of a leaf, as in scikit-learn


class SklearnTree(_Tree):
    """Read-only arrays of scikit-learn's names: children_left, feature, threshold, value, ...

    The threshold of a split by categories is NaN; `left_categories` has its set.
    """

    _source: Tree

    @classmethod
    def of(cls, tree: Tree, shape: tuple[int, int]) -> "SklearnTree":
        """Make the view; `shape` is (number of outputs, number of classes or 1)."""
        n_outputs, n_classes = shape
        classes = np.full(n_outputs, n_classes, np.intp)
        view = cls(len(tree.n_categories), classes, n_outputs)
        nodes = np.zeros(tree.n_nodes, NODE_DTYPE)
        nodes["left_child"], nodes["right_child"] = tree.left, tree.right
        nodes["feature"] = np.where(tree.is_leaf, _UNDEFINED, tree.feature)
        nodes["threshold"] = np.where(tree.is_leaf, _UNDEFINED, tree.threshold)
        nodes["impurity"] = tree.impurity
        nodes["n_node_samples"] = tree.n_rows
        nodes["weighted_n_node_samples"] = tree.weight
        nodes["missing_go_to_left"] = tree.missing_left & ~tree.is_leaf
        values = np.ascontiguousarray(tree.value).reshape(tree.n_nodes, n_outputs, n_classes)
        view.__setstate__(
            {
                "max_depth": tree.depth,
                "node_count": tree.n_nodes,
                "nodes": nodes,
                "values": values.copy(),
            }
        )
        view._source = tree
        return view

    def __reduce__(self) -> Any:
        return SklearnTree.of, (self._source, (self.n_outputs, self.max_n_classes))

    def left_categories(self, node: int) -> NDArray[np.int64]:
        """Return the codes of the categories that go left in a split by categories."""
        return self._source.left_categories(node)

    def paths_to(self, leaves: NDArray[np.int64]) -> Any:
        """Return the nodes from the root to each leaf, a sparse matrix [n_leaves, n_nodes]."""
        tree = self._source
        parent = np.full(tree.n_nodes, -1, np.int64)
        splits = np.flatnonzero(~tree.is_leaf)
        parent[tree.left[splits]] = parent[tree.right[splits]] = splits
        depths = tree.depths
        ends = np.cumsum(depths[leaves] + 1)
        indices = np.empty(ends[-1] if len(ends) else 0, np.int64)
        node, place = leaves.copy(), ends - 1
        while len(node):
            indices[place] = node
            node = parent[node]
            place, node = place[node >= 0] - 1, node[node >= 0]
        ones = np.ones(len(indices), np.int64)
        indptr = np.concatenate([[0], ends])
        return sparse.csr_matrix((ones, indices, indptr), shape=(len(leaves), tree.n_nodes))
