"""Neighbours: rows that end in the same leaves.

Two rows are near if many trees put them into one leaf: that share of the trees is their
proximity (Breiman and Cutler, 2003).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hedgerow.ensembles.bags import Bags
from hedgerow.ensembles.forest import Forest
from hedgerow.ensembles.settlement import Counts, first_nodes
from hedgerow.ensembles.voices import blocks_of
from hedgerow.kernels.neighbours import count_shared
from hedgerow.kernels.team import Team


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
    first, n_trees = first_nodes(forest), forest.n_trees
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
