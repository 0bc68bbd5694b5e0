"""Rungs: how many thresholds of a column are below a number, found with few looks.

A ruler's bucket tells how many thresholds are below all of its numbers; those inside are halved.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.rulers import Ruler, bucket_of, lay_ruler


class Rungs(NamedTuple):
    """Thresholds of some columns, and where numbers are among them.

    cuts          float64 [n_cuts]     of each column in their order, then infinity 2^n_levels times
    first         int64 [n + 1]        where those of each column begin
    buckets       uint16 [n_buckets]   thresholds below all numbers of a bucket
    first_bucket  int64 [n + 1]        where those of each column begin
    lengths       float64 [n, 4]       of the ruler: low, top, middle and unit
    marks         int64 [n, 3]         of the ruler: start and shift; and n_levels, the bits of the
                                       most thresholds inside of a bucket
    """

    cuts: NDArray[np.float64]
    first: NDArray[np.int64]
    buckets: NDArray[np.uint16]
    first_bucket: NDArray[np.int64]
    lengths: NDArray[np.float64]
    marks: NDArray[np.int64]


@part
def _ruler(rungs, column):
    """Return the ruler of a column."""
    low, top, middle, unit = rungs.lengths[column]
    return Ruler(low, top, middle, unit, rungs.marks[column, 0], rungs.marks[column, 1])


@kernel
def lay_rungs(ends, rungs):
    """Lay rulers along thresholds, which have no infinity behind them as yet, and fill buckets.

    ends   float64 [n, N_ENDS + 1]   read    some thresholds of each column, see lay_ruler
    rungs  Rungs                     write   all but cuts, first and first_bucket
    """
    for column in range(ends.shape[0]):
        cuts = rungs.cuts[rungs.first[column] : rungs.first[column + 1]]
        buckets = rungs.buckets[rungs.first_bucket[column] : rungs.first_bucket[column + 1]]
        ruler = lay_ruler(ends[column], buckets.shape[0])
        lengths, marks = rungs.lengths[column], rungs.marks[column]
        lengths[0], lengths[1], lengths[2] = ruler.low, ruler.top, ruler.middle
        lengths[3], marks[0], marks[1] = ruler.unit, ruler.start, ruler.shift
        marks[2] = _fill(ruler, cuts, buckets)


@part
def _fill(ruler, cuts, buckets):
    """Set the thresholds below each bucket; return the bits of the most that one has inside."""
    next_bucket, inside, most, n_levels = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for below in range(cuts.shape[0]):
        bucket = bucket_of(ruler, cuts[below])
        inside = inside + 1 if bucket + 1 == next_bucket else np.int64(1)
        most = max(most, inside)
        buckets[next_bucket : bucket + 1] = below
        next_bucket = max(next_bucket, bucket + 1)
    buckets[next_bucket:] = cuts.shape[0]
    while most >> n_levels > 0:
        n_levels += 1
    return n_levels


@part
def rank(rungs, column, numbers, ranks):
    """Set ranks to how many thresholds of a column are below each number; of NaN, to any.

    Each step for all numbers: who waits for memory does so while others do. Shifted sums, as
    choices would become branches.
    """
    ruler, first = _ruler(rungs, column), rungs.first[column]
    buckets = rungs.buckets[rungs.first_bucket[column] :]
    for i in range(numbers.shape[0]):
        ranks[i] = bucket_of(ruler, numbers[i])
    for i in range(numbers.shape[0]):
        ranks[i] = buckets[np.uint64(ranks[i])]
    for level in range(rungs.marks[column, 2] - 1, -1, -1):
        middles = rungs.cuts[first + (np.int64(1) << level) - 1 :]
        for i in range(numbers.shape[0]):
            is_below = np.int64(middles[np.uint64(ranks[i])] < numbers[i])
            ranks[i] += is_below << level
