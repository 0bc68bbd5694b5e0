"""Boosted weights: class weights of rows that are not counted, for trees by the hundred.

A row of ClassWeights changes two integers of a cell, here it changes one. Rules about numbers of
rows cannot be kept, other than that a leaf has at least one row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.cells import cells_are_sums
from hedgerow.kernels.moments import row_of


@cells_are_sums
class BoostedWeights(NamedTuple):
    """The row's weight, added to its class.

        cell = W_1, ..., W_K

    The record carries the class; `place`, int64 [K], says where it stands in a cell; weights are
    int64 [n_rows], in whole steps and above 0: a bin has rows if it has weight, and steps of
    weight do where rows are counted, as a side has some of both or none.
    """

    n_classes: int | np.int64
    place: NDArray[np.int64]
    weights: NDArray[np.int64]

    def width(self):
        return self.n_classes

    def load(self, record):
        # Places without a sign need no check for one.
        place = self.place[np.uint64(record >> 32)]
        return np.uint64(place), self.weights[np.uint64(row_of(record))]

    def weighed(self, record):
        """Return the place of a row's class, and its weight."""
        return self.load(record)

    def put(self, loaded, cells, position):
        cells[np.uint64(position) * np.uint64(self.n_classes) + loaded[0]] += loaded[1]

    def occurs(self, cells, first):
        any_bits = np.int64(0)
        for k in range(self.n_classes):
            any_bits |= cells[first + k]
        return any_bits != 0

    def of_class(self, cells, first, k):
        return cells[first + k], cells[first + k]

    def count(self, sums, first=0):
        W = np.int64(0)
        for k in range(self.n_classes):
            W += sums[first + k]
        return W

    def seen(self, total, room):
        """Leave out the classes that do not occur."""
        n_seen = np.int64(0)
        for k in range(self.n_classes):
            # A class without weight has the place of the next one, to which it adds nothing.
            room[0, k] = min(n_seen, self.n_classes - 1)
            room[1, n_seen] = total[k]
            n_seen += np.int64(total[k] > 0)
        return BoostedWeights(n_seen, room[0], self.weights)

    def same(self, record, other):
        return record >> 32 == other >> 32

    def rare(self):
        return 0

    def n_orders(self):
        """Orders in which categories are tried: by the share of each class (one if K = 2)."""
        return 1 if self.n_classes == 2 else self.n_classes

    def key(self, sums, order):
        W = 0
        for k in range(self.n_classes):
            W += sums[k]
        return sums[order] / W
