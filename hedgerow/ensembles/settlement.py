"""Settlements: training rows in the leaves of a forest, and with them quantiles.

The training rows near x, weighted by

    w_i(x) = (1/B) sum over trees of [i is in the leaf of x] N_bi / (sum of N_bj over that leaf),

have the distribution of y given x, and with it its quantiles: the smallest y with

    sum of w_i(x) over y_i <= y   >=   level.

The mean of y_i by these weights is what the forest predicts. Meinshausen (2006).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.bags import Bags
from hedgerow.ensembles.forest import Forest
from hedgerow.ensembles.voices import blocks_of
from hedgerow.kernels.neighbours import Dwellers, leaf_quantiles, settle
from hedgerow.kernels.team import Team

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Settlement(NamedTuple):
    """Training rows in the leaves of a forest.

    dwellers  Dwellers
    ranks     int32 [n_outputs, n_rows]   of each row's target; equal targets have one rank
    targets   one float64 [n_ranks] for each output, ascending
    """

    dwellers: Dwellers
    ranks: NDArray[np.int32]
    targets: tuple[Floats, ...]

    @classmethod
    def of(
        cls,
        forest: Forest,
        values: Floats,
        y: Floats,
        drawn: tuple[Bags | None, Counts],
        team: Team,
    ) -> "Settlement":
        """Find the leaf of each training row in each tree.

        y : float64 [n_rows, n_outputs]
        drawn : the bags of the trees; weights in whole steps, int64 [n_rows]
        """
        found = [np.unique(column, return_inverse=True) for column in y.T]
        ranks = np.stack([each[1].ravel() for each in found]).astype(np.int32)
        order = np.lexsort(ranks[::-1])
        first = first_nodes(forest)
        starts = np.zeros(int(first[-1]) + 1, np.int64)
        kept_rows, kept_amounts, n_kept = [], [], 0
        for number in range(forest.n_trees):
            counts = _amounts(number, *drawn)
            rows = np.empty(np.count_nonzero(counts), np.int32)
            amounts = np.empty(len(rows), counts.dtype)
            own = np.empty(int(first[number + 1] - first[number]) + 1, np.int64)
            leaves = tree_leaves(forest, number, values, team)
            settle(leaves, order, counts, own, rows, amounts)
            starts[first[number] : first[number + 1] + 1] = own + n_kept
            kept_rows.append(rows)
            kept_amounts.append(amounts)
            n_kept += len(rows)
        every, much = np.concatenate(kept_rows), np.concatenate(kept_amounts)
        dwellers = Dwellers(every, much, starts, first[:-1].copy())
        return cls(dwellers, ranks, tuple(each[0] for each in found))

    def quantiles(self, forest: Forest, values: Floats, levels: Floats, team: Team) -> Floats:
        """Return quantiles of y given each row, float64 [n_rows, n_levels, n_outputs].

        levels : float64 [n_levels], ascending.
        """
        out = np.empty((len(values), len(levels), len(self.targets)))
        for block in blocks_of(len(values), forest.n_trees):
            leaves = forest.leaves(values[block], team)
            places = np.empty((len(leaves), len(levels)), np.int32)
            for output, targets in enumerate(self.targets):
                shares = np.zeros((team.n_threads, len(targets)))
                given = leaves, self.dwellers, self.ranks[output], levels, shares
                team.run(leaf_quantiles, *given, places)
                out[block, :, output] = targets[places]
        return out


def _amounts(number: int, bags: Bags | None, weights: Counts) -> NDArray[np.signedinteger]:
    """Return what each row counts in a tree: how often it was drawn, by its weight or not."""
    if bags is None:
        return weights
    counts = bags.counts(number)
    return counts * weights if bags.way.keeps_weights else counts.astype(np.int32)


def tree_leaves(forest: Forest, number: int, values: Floats, team: Team) -> NDArray[np.int32]:
    """Return the leaf of each row in one tree."""
    alone = Forest((forest.tree(number),), forest.units[number : number + 1], forest.n_categories)
    return np.ascontiguousarray(alone.leaves(values, team)[:, 0])


def first_nodes(forest: Forest) -> Counts:
    """Return the number of nodes in front of each tree, and of all, int64 [n_trees + 1]."""
    sizes = [np.diff(each.first[:, 0]) for each in forest.thickets]
    return np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
