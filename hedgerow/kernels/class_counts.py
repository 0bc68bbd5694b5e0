"""Class counts: class weights in cells of half the work, for small whole weights.

A row of ClassWeights changes two integers of a cell, its class's weight and the number of
rows, and asks for its weight. Here the two are one integer, and the record has the weight.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.cells import added_in_turn
from hedgerow.kernels.moments import repeats_of
from hedgerow.kernels.undergrowth import with_undergrowth

_LOW = 0x7FFFFFFF
_ROW = 1 << 32


@with_undergrowth
@added_in_turn
class ClassCounts(NamedTuple):
    """The row's weight and the row itself, added to its class.

        cell = 2^32 n_1 + W_1, ..., 2^32 n_K + W_K,     sum_k W_k < 2^31,     n = sum_k n_k
        sums = W_1, ..., W_K, n

    The record carries the class in 16 bits and above it, in 15, the weight. The fields are those
    of ClassWeights.
    """

    n_classes: int | np.int64
    keeps_all: int
    place: NDArray[np.int64]

    def width(self):
        return self.n_classes

    def sum_width(self):
        return self.n_classes + 1

    def load(self, record):
        return np.uint64(self.place[(record >> 32) & 0xFFFF]), repeats_of(record) + _ROW

    def weighed(self, record):
        return self.place[(record >> 32) & 0xFFFF], repeats_of(record)

    def put(self, loaded, cells, position):
        # Places without a sign need no check for one.
        cells[np.uint64(position) * np.uint64(self.n_classes) + loaded[0]] += loaded[1]

    def read(self, cells, first, sums):
        n = np.int64(0)
        for k in range(self.n_classes):
            sums[k] += cells[first + k] & _LOW
            n += cells[first + k] >> 32
        sums[self.n_classes] += n

    def occurs(self, cells, first):
        any_bits = np.int64(0)
        for k in range(self.n_classes):
            any_bits |= cells[first + k]
        return any_bits != 0

    def of_class(self, cells, first, k):
        return cells[first + k] & _LOW, cells[first + k] >> 32

    def widen(self, cells, n_cells):
        """From the last to the first, so that nothing is written over before it is read."""
        for cell in range(n_cells - 1, -1, -1):
            n, first, wide = np.int64(0), cell * self.n_classes, cell * (self.n_classes + 1)
            for k in range(self.n_classes):
                n += cells[first + k] >> 32
            cells[wide + self.n_classes] = n
            for k in range(self.n_classes - 1, -1, -1):
                cells[wide + k] = cells[first + k] & _LOW

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
        return ClassCounts(n_seen, self.keeps_all, room[0])

    def moves(self):
        return True

    def moved(self, rows, numbers):
        return self

    def same(self, record, other):
        return (record >> 32) & 0xFFFF == (other >> 32) & 0xFFFF

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
