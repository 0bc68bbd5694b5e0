"""Moments of targets: what a row adds to a node that is judged by squared error."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.cells import cells_are_sums
from hedgerow.kernels.moments import repeats_of, row_of
from hedgerow.kernels.undergrowth import with_undergrowth


@with_undergrowth
@cells_are_sums
class Targets(NamedTuple):
    """The row's weighted target and its weight.

        cell = sum w y, sum w, n

    The record carries how often the row counts: w is multiplied by it, n is not.

    products  int64 [n_rows]    w y in whole steps, y measured from a common centre
    weights   int64 [n_rows]    w in whole steps, mask -1; or the number 1 alone, mask 0
    labels    int64 [n_rows]    equal where y is equal
    """

    products: NDArray[np.int64]
    weights: NDArray[np.int64]
    mask: int
    labels: NDArray[np.int64]

    def width(self):
        return 3

    def load(self, record):
        row, repeats = row_of(record), repeats_of(record)
        return self.products[row] * repeats, self.weights[row & self.mask] * repeats

    def put(self, loaded, cells, position):
        cells[position * 3] += loaded[0]
        cells[position * 3 + 1] += loaded[1]
        cells[position * 3 + 2] += 1

    def count(self, sums, first=0):
        return sums[first + 2]

    def seen(self, total, room):
        for k in range(total.shape[0]):
            room[1, k] = total[k]
        return self

    def moves(self):
        return True

    def moved(self, rows, numbers):
        for i in range(rows.shape[0]):
            numbers[0, i], numbers[2, i] = self.products[rows[i]], self.labels[rows[i]]
            numbers[1, i] = self.weights[rows[i] & self.mask]
        weights = numbers[1] if self.mask else self.weights
        return Targets(numbers[0], weights, self.mask, numbers[2])

    def same(self, record, other):
        return self.labels[row_of(record)] == self.labels[row_of(other)]

    def rare(self):
        return 0

    def n_orders(self):
        return 1

    def key(self, sums, order):
        return sums[0] / sums[1]


@cells_are_sums
class TargetVectors(NamedTuple):
    """Several targets of a row, weighted, and its weight.

        cell = sum w y_1, ..., sum w y_m, sum w, n

    products  int64 [n_rows, n_outputs]    w y_j in whole steps
    labels    int64 [n_rows]               equal where all y_j are equal
    weights and mask, and what the record carries, as in Targets
    """

    n_outputs: int
    products: NDArray[np.int64]
    weights: NDArray[np.int64]
    mask: int
    labels: NDArray[np.int64]

    def width(self):
        return self.n_outputs + 2

    def load(self, record):
        return row_of(record), repeats_of(record)

    def put(self, loaded, cells, position):
        first, (row, repeats) = position * (self.n_outputs + 2), loaded
        for j in range(self.n_outputs):
            cells[first + j] += self.products[row, j] * repeats
        cells[first + self.n_outputs] += self.weights[row & self.mask] * repeats
        cells[first + self.n_outputs + 1] += 1

    def count(self, sums, first=0):
        return sums[first + self.n_outputs + 1]

    def seen(self, total, room):
        for k in range(total.shape[0]):
            room[1, k] = total[k]
        return self

    def same(self, record, other):
        return self.labels[row_of(record)] == self.labels[row_of(other)]

    def rare(self):
        return 0

    def n_orders(self):
        return self.n_outputs

    def key(self, sums, order):
        return sums[order] / sums[self.n_outputs]
