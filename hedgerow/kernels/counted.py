"""Counted gradient pairs: for rules about numbers of rows, and for very many rows.

A cell of GradientPairs is one integer and counts no rows. These cells are twice as wide.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.bounds import without_bounds
from hedgerow.kernels.cells import cells_are_sums
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.partings import ceiling_of_pairs


@cells_are_sums
class GradientCounts(NamedTuple):
    """Gradient and Hessian of a loss, times the row's weight, and the number of rows.

        cell = sum w g, 2^bits sum w h + n,     n < 2^bits,     sum w h < 2^(63 - bits)

    The records, and the other fields, are those of GradientPairs. Rows count as rows,
    whatever their weight.
    """

    weights: NDArray[np.int64]
    mask: int
    smooth: float
    bits: int
    least: int = 0

    def turned(self, dial):
        return GradientCounts(self.weights, self.mask, dial.smooth, self.bits, dial.least)

    def width(self):
        return 2

    def load(self, record):
        weight = self.weights[row_of(record) & self.mask]
        h = (record >> 32) & 0xFFFF
        return weight * (record >> 48), ((weight * h) << self.bits) + 1

    def put(self, loaded, cells, position):
        cells[2 * position] += loaded[0]
        cells[2 * position + 1] += loaded[1]

    def count(self, sums, first=0):
        return sums[first + 1] & ((np.int64(1) << self.bits) - 1)

    def seen(self, total, room):
        for k in range(2):
            room[1, k] = total[k]
        return self

    def same(self, record, other):
        return False

    def rare(self):
        return self.least

    def n_orders(self):
        return 1

    def key(self, sums, order):
        return sums[0] / ((sums[1] >> self.bits) + self.smooth)


@without_bounds
class CountedNewton(NamedTuple):
    """Newton's score, from the sums of GradientCounts with as many `bits`."""

    g_unit: float
    h_unit: float
    l1: float
    l2: float
    bits: int

    def turned(self, dial):
        return CountedNewton(dial.g_unit, dial.h_unit, self.l1, self.l2, self.bits)

    def at(self, moments, sums):
        return self

    def mass(self, sums, first=0):
        return sums[first + 1] >> self.bits

    def pair(self, sums, first=0):
        return sums[first] * self.g_unit, (sums[first + 1] >> self.bits) * self.h_unit

    def score(self, sums, first=0):
        G, H = self.pair(sums, first)
        T = max(abs(G) - self.l1, 0.0)
        return T * T / (2.0 * (H + self.l2))

    def ceiling(self, problem, n_codes, total, scratch):
        return ceiling_of_pairs(self, problem, n_codes, total, scratch)

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False
