"""Choosing bins: which values of a column share a code.

A summary of a column is its values in order, with their weights in whole steps. It is exact,
so summaries of several parts of a table merge into the summary of the whole, and the bins
do not depend on how the rows were ordered, parted or repeated.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.sorting import N_BUCKETS, N_DIGITS, sort_keys
from hedgerow.kernels.summaries import first_values, heavy_values, share_out

Values = NDArray[np.float64]

_MANY = 2048  # values that are sorted sooner by their digits than by comparing them
_BINS_A_HALVING = 16  # of the bins at both ends: of fewer bins each is needed where it is
_FEW = 64  # values that tell most columns of many from those of two
_NO_LUMPS = np.zeros(0, np.bool_)


class Summary(NamedTuple):
    """Values of a column, ascending, and what the rows up to each weigh; missing left out."""

    values: Values
    through: NDArray[np.int64]

    @property
    def weights(self) -> NDArray[np.int64]:
        """What each row weighs."""
        return np.diff(self.through, prepend=0)


class Bins(NamedTuple):
    """Smallest and largest value of each bin, ascending; empty if all values are missing."""

    low: Values
    high: Values


def summarise(column: Values, weights: NDArray[np.int64] | None = None) -> Summary:
    """Put the values of a column in order; rows of weight 0 are not there."""
    if weights is None:
        ordered = _two_values(column)
        ordered = ascending(column) if ordered is None else ordered  # NaN last
        n_rows = int(np.searchsorted(ordered, np.nan))
        return Summary(ordered[:n_rows], np.arange(1, n_rows + 1))
    kept = ~np.isnan(column) & (weights > 0)
    column, weights = column[kept], weights[kept]
    order = np.argsort(column)
    return Summary(column[order], np.cumsum(weights[order]))


def ascending(values: Values, keys: NDArray[np.int64] | None = None) -> Values:
    """Return values in order, NaN last; keys, int64 [2, n], is where they are put in order."""
    if len(values) < _MANY:
        return np.asarray(np.sort(values))
    keys = np.empty((2, len(values)), np.int64) if keys is None else keys
    counts = np.empty((N_DIGITS, N_BUCKETS), np.int64)
    side = sort_keys(np.ascontiguousarray(values).view(np.int64), keys, counts)
    return np.asarray(keys[side].view(np.float64))


def _two_values(column: Values) -> Values | None:
    """Return a column of two values in order, None if it has others: flags need not be sorted."""
    if len(column) < _MANY or len(np.unique(column[:_FEW])) > 2:
        return None
    values = np.array([column.min(), column.max()])  # of a column with NaN both are
    n_last = int(np.count_nonzero(column == values[1]))
    if values[0] == values[1] or np.count_nonzero(column == values[0]) + n_last < len(column):
        return None
    return np.repeat(values, [len(column) - n_last, n_last])


def merge(summaries: Sequence[Summary]) -> Summary:
    """Return the summary of a column from the summaries of its parts."""
    values = np.concatenate([summary.values for summary in summaries])
    weights = np.concatenate([summary.weights for summary in summaries])
    return summarise(values, weights)


def choose_bins(summary: Summary, max_bins: int | None, halvings: int = 0) -> Bins:
    """Give each distinct value a bin, or, if there are more than max_bins, share them out.

    A value heavier than an even share of what the others leave has a bin of its own, so
    that a column of mostly zeros keeps its other bins for the other values. Those are
    closed from the left as soon as they hold their part of what is still to be shared out.
    halvings: how often the bins at both ends are halved, see `_marks`.
    """
    values = summary.values
    if max_bins is None:
        max_bins = len(values)
    ends, _ = ends_of_bins(summary, _NO_LUMPS, max_bins, halvings)
    return bins_between(values, ends)


def bins_between(values: Values, ends: NDArray[np.int64]) -> Bins:
    """Return the bins of values in order, from the first row beyond each."""
    return Bins(values[np.concatenate([[0], ends])[: len(ends)]], values[ends - 1])


def ends_of_bins(
    summary: Summary, is_lump: NDArray[np.bool_], max_bins: int, halvings: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row beyond each bin, and the first row of each heavy value.

    is_lump: rows that stand for several values, see kernels.summaries.
    """
    ends = np.empty(max_bins + 1, np.int64)
    n_bins = first_values(summary.values, ends)
    if n_bins <= max_bins:
        return ends[:n_bins], ends[:0]
    runs = np.empty((max_bins, 2), np.int64)
    runs = runs[: heavy_values(*summary, max_bins, runs)]
    borders = _borders(summary, runs, max_bins)
    marks = _marks(max_bins - (len(borders) - 2) // 2, halvings)
    n_bins = share_out(*summary, is_lump, borders, marks, ends)
    return ends[:n_bins], runs[:, 0]


def _marks(n_bins: int, halvings: int) -> NDArray[np.int64]:
    """Return the sizes of bins, added up: at both ends a bin of the common size is halved.

    Of 255 bins and 3 halvings sizes are 1, 1, 2, 4, 8, 8, ..., 8, 4, 2, 1, 1. In the tails of a
    column values lie far apart, and no cut can tell apart what is in the first or the last bin.
    """
    halvings = min(halvings, n_bins // _BINS_A_HALVING)
    tail = [1, *(1 << k for k in range(halvings))]
    sizes = np.full(n_bins, 1 << halvings, np.int64)
    sizes[: len(tail)] = tail
    sizes[n_bins - len(tail) :] = tail[::-1]
    return np.concatenate([[0], np.cumsum(sizes)])


def _borders(summary: Summary, runs: NDArray[np.int64], max_bins: int) -> NDArray[np.int64]:
    """Return where stretches of light values and, in turn, heavy values begin, and the end."""
    borders = np.array([0, *runs.ravel(), len(summary.values)])
    if len(runs) + np.count_nonzero(np.diff(borders)[::2]) <= max_bins:
        return borders
    # As many of the heaviest, of equal ones the first, as leave room for a stretch on every side.
    before = np.where(runs > 0, summary.through[runs - 1], 0)
    heaviest = np.argsort(before[:, 0] - before[:, 1], kind="stable")[: (max_bins - 1) // 2]
    return np.array([0, *runs[np.sort(heaviest)].ravel(), len(summary.values)])
