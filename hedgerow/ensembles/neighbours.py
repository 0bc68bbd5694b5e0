"""Neighbours: rows that end in the same leaves.

Two rows are near if many trees put them into one leaf: that share of the trees is their
proximity (Breiman and Cutler, 2003). The training rows near x, weighted by

    w_i(x) = (1/B) sum over trees of [i is in the leaf of x] N_bi / (sum of N_bj over that leaf),

have the distribution of y given x, and with it its quantiles: the smallest y with

    sum of w_i(x) over y_i <= y   >=   level.

The mean of y_i by these weights is what the forest predicts. Meinshausen (2006).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hedgerow.ensembles.bags import Bags
from hedgerow.ensembles.forest import Forest
from hedgerow.ensembles.voices import blocks_of
from hedgerow.kernels.neighbours import Dwellers, count_shared, leaf_quantiles, settle
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
        first = _first_nodes(forest)
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


def _first_nodes(forest: Forest) -> Counts:
    """Return the number of nodes in front of each tree, and of all, int64 [n_trees + 1]."""
    sizes = [np.diff(each.first[:, 0]) for each in forest.thickets]
    return np.concatenate([[0], np.cumsum(np.concatenate(sizes))])


def left_out_of(bags: Bags, n_trees: int) -> NDArray[np.uint8]:
    """Return 1 where a tree has left a row out, uint8 [n_rows, n_trees]."""
    out = np.empty((len(bags.urn.order), n_trees), np.uint8)
    for number in range(n_trees):
        out[:, number] = bags.counts(number) == 0
    return out


class Residents(NamedTuple):
    """Rows and the leaves that they are in.

    leaves    int32 [n_rows, n_trees]
    left_out  uint8 [n_rows, n_trees] or None   1: this tree counts for this row; None: all do
    """

    leaves: NDArray[np.int32]
    left_out: NDArray[np.uint8] | None = None

    def signs(self, rows: slice, first: Counts) -> sparse.csr_array:
        """Return a 1 for each row in each leaf that counts, a matrix [n_rows, n_nodes]."""
        leaves = self.leaves[rows]
        columns = (leaves + first[:-1]).ravel()
        ones = np.ones(columns.shape, np.int32)
        starts = np.arange(0, leaves.size + 1, leaves.shape[1])
        shape = (len(leaves), int(first[-1]))
        if self.left_out is not None:
            counts = self.left_out[rows] == 1
            columns, ones = columns[counts.ravel()], ones[counts.ravel()]
            starts = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        return sparse.csr_array((ones, columns, starts), shape=shape)


def proximities(forest: Forest, left: Residents, right: Residents, team: Team) -> sparse.csr_array:
    """Return the share of trees in which two rows are in one leaf, [n_left, n_right].

    Of trees that have left out both rows, if some are left out. Made some rows at a time:
    pairs that never meet take no memory.
    """
    first, n_trees = _first_nodes(forest), forest.n_trees
    others = right.signs(slice(None), first).T.tocsr()
    parts = []
    for block in blocks_of(len(left.leaves), 16 * n_trees):
        shared = (left.signs(block, first) @ others).tocsr()
        shared.sort_indices()
        n_common = np.full(shared.nnz, n_trees, np.int64)
        if left.left_out is not None and right.left_out is not None:
            out = np.ascontiguousarray(left.left_out[block])
            team.run(count_shared, shared.indptr, shared.indices, out, right.left_out, n_common)
        shares = shared.data / n_common
        parts.append(sparse.csr_array((shares, shared.indices, shared.indptr), shape=shared.shape))
    return sparse.csr_array(sparse.vstack(parts, format="csr"))
