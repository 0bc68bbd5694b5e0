"""Our Tree from scikit-learn's fitted tree, and from bare lists."""

from typing import Any

import numpy as np

from hedgerow.trees.tree import Tree


def from_sklearn(fitted: Any) -> Tree:
    """Copy `estimator.tree_` of a tree with one output, renumbered in preorder."""
    tree = fitted.tree_
    order = np.array(_preorder(tree.children_left, tree.children_right))
    number = np.empty(tree.node_count + 1, np.int32)
    number[order] = np.arange(tree.node_count)
    number[-1] = -1  # so that the -1 of a leaf stays
    is_leaf = tree.children_left[order] == -1
    return Tree(
        left=number[tree.children_left[order]],
        right=number[tree.children_right[order]],
        feature=np.where(is_leaf, -1, tree.feature[order]).astype(np.int32),
        threshold=np.where(is_leaf, np.nan, tree.threshold[order]),
        missing_left=tree.missing_go_to_left[order].astype(np.bool_) & ~is_leaf,
        category_start=np.full(tree.node_count, -1, np.int64),
        category_words=np.empty(0, np.uint64),
        n_categories=np.zeros(fitted.n_features_in_, np.int32),
        value=tree.value[order, 0, :],
        impurity=tree.impurity[order],
        n_rows=tree.n_node_samples[order].astype(np.int64),
        weight=tree.weighted_n_node_samples[order],
    )


def from_lists(left: list[int], right: list[int], **arrays: Any) -> Tree:
    """Build a tree with these children; what is not given is dull: weight 1, numeric, no gain."""
    n_nodes = len(left)
    is_leaf = np.array(left) == -1
    default = {
        "left": np.array(left, np.int32),
        "right": np.array(right, np.int32),
        "feature": np.where(is_leaf, -1, 0).astype(np.int32),
        "threshold": np.where(is_leaf, np.nan, np.arange(n_nodes) + 0.5),
        "missing_left": np.zeros(n_nodes, np.bool_),
        "category_start": np.full(n_nodes, -1, np.int64),
        "category_words": np.empty(0, np.uint64),
        "n_categories": np.zeros(1, np.int32),
        "value": np.arange(n_nodes, dtype=np.float64)[:, None],
        "impurity": np.zeros(n_nodes),
        "n_rows": np.ones(n_nodes, np.int64),
        "weight": np.ones(n_nodes),
    }
    given = {name: np.asarray(array, default[name].dtype) for name, array in arrays.items()}
    return Tree(**(default | given))


def chain(n_splits: int, **arrays: Any) -> Tree:
    """Build a tree whose right children are leaves: as deep as it has splits."""
    nodes = range(2 * n_splits + 1)
    left = [node + 1 if node < n_splits else -1 for node in nodes]
    right = [2 * n_splits - node if node < n_splits else -1 for node in nodes]
    return from_lists(left, right, **arrays)


def _preorder(left: Any, right: Any) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if left[node] != -1:
            waiting += [right[node], left[node]]
    return order
