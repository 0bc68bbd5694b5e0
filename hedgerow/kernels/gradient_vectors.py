"""Gradients of several outputs in one tree: what a row adds to a node, and how good a leaf is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.bounds import without_bounds
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.cells import cells_are_sums
from hedgerow.kernels.meeting import share
from hedgerow.kernels.moments import row_of

_H = 0x7FFFFFFF
_UNCOUNTED = 2**62  # more rows than any rule asks for


@cells_are_sums
class GradientVectors(NamedTuple):
    """Gradient and Hessian of each output, times the row's weight: GradientPairs side by side.

        cell = 2^32 sum w g_1 + sum w h_1, ..., 2^32 sum w g_K + sum w h_K

    pairs    int64 [n_rows, K]   w (2^32 g_k + h_k) in whole steps, h_k at least 1
    smooth   float64             as in GradientPairs
    least    int64               as in GradientPairs, of the Hessians of all outputs
    """

    n_outputs: int
    pairs: NDArray[np.int64]
    smooth: float
    least: int = 0

    def width(self):
        return self.n_outputs

    def load(self, record):
        return row_of(record)

    def put(self, loaded, cells, position):
        first = position * self.n_outputs
        for k in range(self.n_outputs):
            cells[first + k] += self.pairs[loaded, k]

    def count(self, sums, first=0):
        return np.int64(_UNCOUNTED)

    def seen(self, total, room):
        for k in range(total.shape[0]):
            room[1, k] = total[k]
        return self

    def same(self, record, other):
        return False

    def rare(self):
        return self.least

    def n_orders(self):
        return self.n_outputs

    def key(self, sums, order):
        return (sums[order] >> 32) / ((sums[order] & _H) + self.smooth)


@without_bounds
class NewtonVectors(NamedTuple):
    """Second-order fall of a loss in a leaf that is a vector: that of each output, summed.

        score = sum_k T(G_k)^2 / (2 (H_k + l2)),     T(G) = sign(G) max(|G| - l1, 0)

    g_units, float64 [K], and h_unit: what one whole step is worth. The mass is sum_k H_k.
    """

    n_outputs: int
    g_units: NDArray[np.float64]
    h_unit: float
    l1: float
    l2: float

    def at(self, moments, sums):
        return self

    def mass(self, sums, first=0):
        total = np.int64(0)
        for k in range(self.n_outputs):
            total += sums[first + k] & _H
        return total

    def score(self, sums, first=0):
        total = 0.0
        for k in range(self.n_outputs):
            G = np.int32(sums[first + k] >> 32) * self.g_units[k]
            H = np.int32(sums[first + k] & _H) * self.h_unit
            T = max(abs(G) - self.l1, 0.0)
            total += T * T / (2.0 * (H + self.l2))
        return total

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False


@team_kernel
def write_vectors(team, derivatives, scales, weights, mask, rows, records, pairs):
    """Set the pairs of a tree's rows, rounded to the nearest whole step, and its records.

    derivatives    float32 [K, 2, n_rows]   read    gradients, Hessians
    scales         float32 [K, 2]           read    steps per 1.0
    weights, mask  as in GradientPairs      read
    rows           int64 [n] or [0]         read    the rows of the tree; [0]: all
    records        int64 [n]                write   row numbers; a thread owns a range of them
    pairs          int64 [n_rows, K]        write   of these rows
    """
    begin, end = share(team, records.shape[0])
    half = np.float32(0.5)
    for i in range(begin, end):
        row = rows[i] if rows.shape[0] > 0 else i
        records[i] = row
        for k in range(derivatives.shape[0]):
            g = np.int64(np.floor(derivatives[k, 0, row] * scales[k, 0] + half))
            h = max(np.int64(derivatives[k, 1, row] * scales[k, 1] + half), np.int64(1))
            pairs[row, k] = weights[row & mask] * ((g << 32) + h)
