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

    def turned(self, dial):
        return GradientPairs(self.weights, self.mask, dial.smooth, dial.least)

    def width(self):
        return 1

    def load(self, record):
        pair = ((record >> 48) << 32) + ((record >> 32) & 0xFFFF)
        return self.weights[row_of(record) & self.mask] * pair

    def put(self, loaded, cells, position):
        cells[position] += loaded

    def add_up(self, records, cells):
        # Of rows without weights a compiler sees a sum of plain numbers, several at once.
        total, weight = np.int64(0), self.weights[0]
        if self.mask == 0:
            for i in range(records.shape[0]):
                total += ((records[i] >> 48) << 32) + ((records[i] >> 32) & 0xFFFF)
            total *= weight
        else:
            for i in range(records.shape[0]):
                total += self.load(records[i])
        cells[0] = total

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
