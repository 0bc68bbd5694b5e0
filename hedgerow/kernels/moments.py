"""Moments: what one row adds to the node it falls in. Always integers.

A *record* is 8 bytes that travel with a row while it is partitioned: the row number in
the low 32 bits, and 32 bits above that only the moments understand. A *cell* is what one
bin of a histogram holds: `width()` integers, which add, subtract and merge as integers
whatever they mean, and are all zero only if no row was added. `load` reads what a record
adds, `put` adds it to a cell. The `sum_width()` sums of a node are what its cells read as, and
here they are the same (see `cells`); `count` tells their number of rows. Only these and the
criteria know what the integers mean. `seen(total, room)` gives the moments as seen from a
node with the sums `total`, and puts these sums, as they then read, into room[1].
`moved(rows, numbers)` gives the moments of some rows alone, see `copse`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.cells import cells_are_sums
from hedgerow.kernels.jit import part

_UNCOUNTED = 2**62  # more rows than any rule asks for


@part
def row_of(record):
    """Return the row number of a record."""
    return record & 0xFFFFFFFF


@part
def repeats_of(record):
    """Return how often the row of a record counts, where its moments keep that in the top bits."""
    return record >> 48


@part
def add(moments, record, cells, position):
    """Add what a record adds to the cell number `position`."""
    moments.put(moments.load(record), cells, position)


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


@cells_are_sums
class GradientPairs(NamedTuple):
    """Gradient and Hessian of a loss, times the row's weight, packed into one integer.

        cell = 2^32 sum w g + sum w h,     0 < sum w h < 2^31,     |sum w g| < 2^31

    The record carries g, 16 bits with a sign, and h, 16 bits and at least 1, in whole steps
    so large that no sum overflows. Rows are not counted.

    weights  int64 [n_rows], mask -1; or the number 1 alone, mask 0
    smooth   float64   steps of h that draw a category's mean to 0, so that rare categories
             do not stand at the ends of the order by chance
    least    int64     steps of h below which a category is judged together with other rare ones
    """

    weights: NDArray[np.int64]
    mask: int
    smooth: float
    least: int = 0

    def width(self):
        return 1

    def load(self, record):
        pair = ((record >> 48) << 32) + ((record >> 32) & 0xFFFF)
        return self.weights[row_of(record) & self.mask] * pair

    def put(self, loaded, cells, position):
        cells[position] += loaded

    def count(self, sums, first=0):
        return np.int64(_UNCOUNTED)

    def seen(self, total, room):
        room[1, 0] = total[0]
        return self

    def same(self, record, other):
        return False

    def rare(self):
        return self.least

    def n_orders(self):
        return 1

    def key(self, sums, order):
        return (sums[0] >> 32) / ((sums[0] & 0x7FFFFFFF) + self.smooth)


@part
def gradient_record(row, g, h):
    """Pack a row, its gradient (-2^15 <= g < 2^15) and its Hessian (0 < h < 2^16)."""
    return (np.int64(g) << 48) | (np.int64(h) << 32) | row
