"""Moments of classes with real weights; for small whole ones see `class_counts`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.cells import cells_are_sums
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.undergrowth import with_undergrowth


@with_undergrowth
@cells_are_sums
class ClassWeights(NamedTuple):
    """The row's weight, added to its class.

        cell = W_1, ..., W_K, n

    The record carries the class; `place`, int64 [K], says where it stands in a cell;
    weights are int64 [n_rows], in whole steps. With keeps_all = 1 nodes see all classes.
    """

    n_classes: int | np.int64
    keeps_all: int
    place: NDArray[np.int64]
    weights: NDArray[np.int64]

    def width(self):
        return self.n_classes + 1

    def load(self, record):
        return self.place[record >> 32], self.weights[row_of(record)]

    def weighed(self, record):
        """Return the place of a row's class, and its weight."""
        return self.load(record)

    def put(self, loaded, cells, position):
        first = position * (self.n_classes + 1)
        cells[first + loaded[0]] += loaded[1]
        cells[first + self.n_classes] += 1

    def of_class(self, cells, first, k):
        """Return the weight of class k in a cell, and the number of rows, all with class 0."""
        return cells[first + k], cells[first + self.n_classes] if k == 0 else np.int64(0)

    def count(self, sums, first=0):
        return sums[first + self.n_classes]

    def seen(self, total, room):
        """Leave out the classes that do not occur: most nodes of a deep tree have two or three."""
        n_seen = np.int64(0)
        for k in range(self.n_classes):
            room[0, k] = n_seen
            room[1, n_seen] = total[k]
            n_seen += np.int64(total[k] > 0 or self.keeps_all)
        room[1, n_seen] = total[self.n_classes]
        return ClassWeights(n_seen, self.keeps_all, room[0], self.weights)

    def moves(self):
        return True

    def moved(self, rows, numbers):
        for i in range(rows.shape[0]):
            numbers[0, i] = self.weights[rows[i]]
        return ClassWeights(self.n_classes, self.keeps_all, self.place, numbers[0])

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
