"""Rules: when to stop growing, in the words of the notes."""

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.kernels.menu import TREE, Menu
from hedgerow.kernels.random import chosen, mixed_bits


@dataclass(frozen=True)
class GrowthRules:
    """Limits on one tree; None means no limit.

    Attributes
    ----------
    max_leaves, max_depth : int or None
        With a limit on leaves the leaf of the highest gain is split next.
    min_split_rows, min_leaf_rows : int
        Rows, whatever their weight.
    min_leaf_weight, min_gain : float
        In units of the weights, and of the criterion's score (weight times impurity).
    keep_gain : float
        Bottom splits that gain less are taken away once the tree is grown.
    features : tuple of int, or None
        Those that the tree may use, ascending.
    n_tree_features, n_level_features, n_candidates : int or None
        Features that a tree has, that each of its levels offers of these, and that a node
        tries of what its level offers, drawn anew for each tree, level and node; None: all.
    groups : tuple of tuples of int
        Features that may meet on the way to a leaf; none: any.
    random_cut : bool
        One random cut a feature instead of the best.
    by_lot : bool
        Of features of equal gain the node draws one, instead of taking that of the widest margin.
    seed : int
        Of all random draws.
    level_by_level : bool
        With a limit on leaves: split the oldest leaf next, not the best.
    """

    max_leaves: int | None = None
    max_depth: int | None = None
    min_split_rows: int = 2
    min_leaf_rows: int = 1
    min_leaf_weight: float = 0.0
    min_gain: float = 0.0
    keep_gain: float = -math.inf
    features: tuple[int, ...] | None = None
    n_tree_features: int | None = None
    n_level_features: int | None = None
    n_candidates: int | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    random_cut: bool = False
    by_lot: bool = False
    seed: int = 0
    level_by_level: bool = False


def menu_of(limits: GrowthRules, seed: int, n_features: int) -> Menu:
    """Draw the features of a tree, and lay out the groups that may meet in it."""
    own = np.arange(n_features) if limits.features is None else np.array(limits.features)
    n_own = min(limits.n_tree_features or len(own), len(own))
    if n_own < n_features and limits.features is None:
        own = chosen(mixed_bits(seed, TREE), n_features, n_own)
    sizes = [len(group) for group in limits.groups]
    first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    members = np.fromiter((i for group in limits.groups for i in group), np.int64, int(first[-1]))
    return Menu(own, min(limits.n_level_features or n_own, n_own), first, members)
