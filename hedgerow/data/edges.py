"""Choosing bins: which values of a column share a code.

A summary of a column is its distinct values with their weights, in whole steps. It is
exact, so summaries of several parts of a table merge into the summary of the whole, and
the bins do not depend on how the rows were ordered, parted or repeated.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.summaries import count_values, mark_heavy, share_out

Values = NDArray[np.float64]


class Summary(NamedTuple):
    """Distinct values of a column, ascending, and the weight of each; missing left out."""

    values: Values
    weights: NDArray[np.int64]


class Bins(NamedTuple):
    """Smallest and largest value of each bin, ascending; empty if all values are missing."""

    low: Values
    high: Values


def summarise(column: Values, weights: NDArray[np.int64] | None = None) -> Summary:
    """Return the distinct values of a column and their weights; rows of weight 0 are not there."""
    if weights is None:
        ordered = np.sort(column)  # NaN last
        ordered = ordered[: np.searchsorted(ordered, np.nan)]
        counts = np.empty(len(ordered), np.int64)
        n_values = count_values(ordered, counts)
        return Summary(ordered[:n_values], counts[:n_values])
    kept = ~np.isnan(column) & (weights > 0)
    column, weights = column[kept], weights[kept]
    order = np.argsort(column)
    ordered = column[order]
    first = _first_of_each(ordered)
    sums = np.add.reduceat(weights[order], first) if len(first) else weights[:0]
    return Summary(ordered[first], sums)


def _first_of_each(ordered: Values) -> NDArray[np.int64]:
    """Places where a new value begins in a sorted array."""
    if not len(ordered):
        return np.zeros(0, np.int64)
    return np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])


def merge(summaries: Sequence[Summary]) -> Summary:
    """Return the summary of a column from the summaries of its parts."""
    values = np.concatenate([summary.values for summary in summaries])
    weights = np.concatenate([summary.weights for summary in summaries])
    return summarise(values, weights)


def choose_bins(summary: Summary, max_bins: int | None) -> Bins:
    """Give each distinct value a bin, or, if there are more than max_bins, share them out.

    A value heavier than an even share of what the others leave has a bin of its own, so
    that a column of mostly zeros keeps its other bins for the other values. Those are
    closed from the left as soon as they hold their part of what is still to be shared out.
    """
    values, weights = summary
    if max_bins is None or len(values) <= max_bins:
        return Bins(values, values)
    ends = _shared_out(weights, max_bins)
    return Bins(values[np.concatenate([[0], ends[:-1] + 1])], values[ends])


def _shared_out(weights: NDArray[np.int64], max_bins: int) -> NDArray[np.int64]:
    """Return the last value of each bin, in at most max_bins bins."""
    heavy = np.zeros(len(weights), np.uint8)
    if mark_heavy(weights, max_bins, heavy) > max_bins:
        heavy[:] = 0
        heavy[np.argsort(-weights, kind="stable")[: (max_bins - 1) // 2]] = 1
    ends = np.empty(max_bins, np.int64)
    return ends[: share_out(weights, heavy, max_bins, ends)]
