"""Minimal cost-complexity pruning: the sequence of best subtrees of a tree.

    C_alpha(T) = R(T) + alpha |T|,    R(T) = sum over leaves t of R(t),
    R(t)       = impurity(t) weight(t) / weight(root),    |T| = number of leaves

For every alpha one subtree of the grown tree is the smallest minimiser of C_alpha, and these
subtrees are nested. Breiman, Friedman, Olshen and Stone (1984), chapter 3; notes 0, pages
10-11.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.pruning import TIE, mark_kept, weakest_links
from hedgerow.trees.tree import LEAF, Tree


class PruningPath(NamedTuple):
    """What weakest-link pruning does, step by step; entry 0 is the tree as it was grown.

    Attributes
    ----------
    alphas : float64 [n_steps + 1]
        The cost of a leaf from which on the step is worth while; ascending, starts at 0.
        Branches that collapse at the same alpha are separate steps.
    impurities : float64 [n_steps + 1]
        R(T) after the step; ascending.
    n_leaves : int64 [n_steps + 1]
        Number of leaves after the step; descending to 1.
    """

    alphas: NDArray[np.float64]
    impurities: NDArray[np.float64]
    n_leaves: NDArray[np.int64]


def pruning_path(tree: Tree) -> PruningPath:
    """All the steps from the tree as it was grown to its root alone.

    Each step collapses the weakest link, the node t of smallest effective alpha

        g(t) = (R(t) - R(T_t)) / (|T_t| - 1),

    where T_t is the branch below t; of equal nodes the one of lowest number, so that a node
    collapses together with those below it that are equally weak. Differences that rounding
    can explain count as equal: the path is that of exact arithmetic.
    """
    links = _weakest_links(tree)
    risk = _risk(tree)
    return PruningPath(
        alphas=np.concatenate(([0.0], links.alphas)),
        impurities=np.cumsum(np.concatenate(([risk[tree.is_leaf].sum()], links.increases))),
        n_leaves=tree.n_leaves - np.cumsum(np.concatenate(([0], links.n_splits))),
    )


def pruned(tree: Tree, alpha: float) -> Tree:
    """Return the smallest subtree that minimises C_alpha, or for alpha = 0 the tree itself.

    Every step of the path whose alpha is not above the given one is made. At alpha = 0
    nothing is, as in scikit-learn: splits without a gain stay.
    """
    assert alpha >= 0, f"alpha={alpha} is the cost of a leaf: pass 0 (no pruning) or more"
    if alpha == 0:
        return tree
    links = _weakest_links(tree)
    is_leaf = tree.is_leaf
    is_leaf[links.nodes[links.alphas <= alpha]] = True
    return subtree(tree, is_leaf)


def collapse_alphas(tree: Tree) -> NDArray[np.float64]:
    """Return the alpha from which on each node is a leaf, unless one above it is.

    0 for the tree's own leaves, inf for splits that only go when one above them does.
    """
    links = _weakest_links(tree)
    alphas = np.where(tree.is_leaf, 0.0, np.inf)
    alphas[links.nodes] = links.alphas
    return alphas


def subtree(tree: Tree, is_leaf: NDArray[np.bool_]) -> Tree:
    """Cut a tree below some of its nodes.

    Parameters
    ----------
    tree : Tree
    is_leaf : bool [n_nodes]
        Nodes that become leaves. The tree's own leaves remain so whatever is said here, and
        what is said of nodes below another one is of no effect.

    Returns
    -------
    Tree
        With the nodes that are left, renumbered in preorder.
    """
    kept = np.empty(tree.n_nodes, np.bool_)
    mark_kept(tree.left, tree.right, is_leaf, kept)
    number = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    nodes = np.flatnonzero(kept)
    splits = ~(is_leaf | tree.is_leaf)[nodes]
    category_start = np.full(len(nodes), -1, np.int64)
    category_start[splits], category_words = _category_sets(tree, nodes[splits])
    return Tree(
        left=np.where(splits, number[tree.left[nodes]], np.int32(LEAF)),
        right=np.where(splits, number[tree.right[nodes]], np.int32(LEAF)),
        feature=np.where(splits, tree.feature[nodes], np.int32(LEAF)),
        threshold=np.where(splits, tree.threshold[nodes], np.nan),
        missing_left=splits & tree.missing_left[nodes],
        category_start=category_start,
        category_words=category_words,
        n_categories=tree.n_categories,
        value=tree.value[nodes],
        impurity=tree.impurity[nodes],
        n_rows=tree.n_rows[nodes],
        weight=tree.weight[nodes],
    )


class _Links(NamedTuple):
    """The collapsing nodes in their order, what each costs and what it saves."""

    nodes: NDArray[np.int64]
    alphas: NDArray[np.float64]
    increases: NDArray[np.float64]
    n_splits: NDArray[np.int64]


def _weakest_links(tree: Tree) -> _Links:
    n_nodes = tree.n_nodes
    alpha, total = np.empty(n_nodes), np.empty(n_nodes)
    n_splits, heap = np.empty(n_nodes, np.int64), np.empty((3, n_nodes), np.int32)
    weakest_links(tree.left, tree.right, _gains(tree), alpha, total, n_splits, heap)
    nodes = np.flatnonzero(n_splits)
    nodes = nodes[np.argsort(alpha[nodes], kind="stable")]
    alphas = _without_rounding(alpha[nodes])
    order = np.lexsort((nodes, alphas))
    nodes = nodes[order]
    return _Links(nodes, alphas[order], total[nodes], n_splits[nodes])


def _without_rounding(alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give alphas that are equal up to rounding the value of the smallest of them.

    Half of the kernel's tolerance: a node and one below it are never equal here, so that
    sorting by node number cannot put a node before one that collapses earlier.
    """
    equal = alphas.tolist()
    for step in range(1, len(equal)):
        if equal[step] <= equal[step - 1] * (1 + TIE / 2):
            equal[step] = equal[step - 1]
    return np.array(equal, np.float64)


def _risk(tree: Tree) -> NDArray[np.float64]:
    """R(t) of every node, as if it were a leaf; float64 [n_nodes]."""
    risk: NDArray[np.float64] = tree.weight * tree.impurity / tree.weight[0]
    return risk


def _gains(tree: Tree) -> NDArray[np.float64]:
    """By how much each split decreases the risk; 0 if that is below the rounding of R(t)."""
    risk = _risk(tree)
    gain = np.where(tree.is_leaf, 0.0, risk - risk[tree.left] - risk[tree.right])
    gain[gain <= 8 * np.finfo(np.float64).eps * risk] = 0.0
    return gain


def _category_sets(
    tree: Tree, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return where the sets of these nodes start once they stand one after the other, and them."""
    starts = tree.category_start[nodes]
    n_words = np.where(starts < 0, 0, (tree.n_categories[tree.feature[nodes]] + 63) // 64)
    ends = np.cumsum(n_words)
    offset = np.repeat(starts - (ends - n_words), n_words)
    words = tree.category_words[np.arange(len(offset)) + offset]
    return np.where(starts < 0, -1, ends - n_words), words
