"""Choosing bins: which values of a column share a code.

A summary of a column is its distinct values with their weights, in whole steps. It is
exact, so summaries of several parts of a table merge into the summary of the whole, and
the bins do not depend on how the rows were ordered, parted or repeated.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
        first = _first_of_each(ordered)
        return Summary(ordered[first], np.diff(np.append(first, len(ordered))))
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

    Bins are closed from the left as soon as they hold their part of the weight that is
    still to be shared out. A value that is heavier than such a part has a bin of its own,
    so that a column of mostly zeros keeps its other bins for the other values.
    """
    values, weights = summary
    if max_bins is None or len(values) <= max_bins:
        return Bins(values, values)
    ends = _shared_out(weights, max_bins)
    return Bins(values[np.concatenate([[0], ends[:-1] + 1])], values[ends])


def _shared_out(weights: NDArray[np.int64], max_bins: int) -> NDArray[np.int64]:
    """Return the last value of each bin, in at most max_bins bins."""
    running = np.cumsum(weights)
    total, n_values = int(running[-1]), len(weights)
    ends: list[int] = []
    begin, used = 0, 0
    while begin < n_values:
        n_bins = max_bins - len(ends)
        if n_bins == 1:
            ends.append(n_values - 1)
            break
        target = used + -(-(total - used) // n_bins)
        end = int(np.searchsorted(running, target))
        # A value that overfills the bin by itself starts a new one.
        if end > begin and int(weights[end]) * n_bins >= total - used:
            end -= 1
        ends.append(end)
        begin, used = end + 1, int(running[end])
    return np.array(ends)
