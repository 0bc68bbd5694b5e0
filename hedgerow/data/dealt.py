"""Dealt columns: the bins of many values, of which only those near the ends of bins are sorted.

The values are dealt out to buckets that are in order. A bucket of one value, or whose values are
sorted, is as it is in a summary of the column; any other is a lump, one row for all of its values.
Bins that neither begin nor end in a lump are those of the whole summary. Others show which lumps
to sort: of a million different values the twentieth part.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.edges import Bins, Summary, Values, ascending, bins_between, ends_of_bins
from hedgerow.data.pages import passing
from hedgerow.kernels.dealing import N_DEALT, deal, take
from hedgerow.kernels.rulers import N_ENDS

LEAST_DEALT = 100_000  # values that are dealt out sooner than sorted
_SAMPLE = 4 * N_ENDS  # rows that a ruler is laid along: it changes the time, never the bins
_MOST_ROUNDS = 4  # of sorting some more, until all are sorted


class Dealt(NamedTuple):
    """The buckets of a column: see kernels.dealing."""

    ends: Values
    buckets: NDArray[np.uint16]
    counts: NDArray[np.int64]
    is_lump: NDArray[np.bool_]
    some: Values


def is_many(values: Values) -> bool:
    """Tell whether a column is long enough to be dealt out."""
    return len(values) >= LEAST_DEALT


def deal_out(values: Values) -> Dealt:
    """Deal out the values of a column."""
    sample = values[:: 1 + len(values) // _SAMPLE]
    sample = np.sort(sample[~np.isnan(sample)])
    ends = np.full(N_ENDS + 1, np.inf)
    if len(sample):
        ends[:N_ENDS] = sample[np.linspace(0, len(sample) - 1, N_ENDS).astype(int)]
    buckets = passing(values.shape, np.uint16)
    counts, changes = np.zeros((2, N_DEALT + 1), np.int64)
    some = np.full(N_DEALT + 1, np.nan)
    deal(ends, values, buckets, counts, changes, some)
    return Dealt(ends, buckets, counts, changes > 1, some)


def bins_of_dealt(values: Values, dealt: Dealt, max_bins: int, halvings: int = 0) -> Bins:
    """Return the bins that choose_bins chooses from the summary of all values."""
    is_sorted = np.zeros(N_DEALT + 1, np.bool_)
    for number in range(_MOST_ROUNDS + 1):
        if number == _MOST_ROUNDS:
            is_sorted |= dealt.is_lump
        summary, lumps = _thinned(values, dealt, is_sorted)
        ends, heavy = ends_of_bins(summary, lumps >= 0, max_bins, halvings)
        begins = np.concatenate([[0], ends])[: len(ends)]
        asked = lumps[np.concatenate([heavy, begins, ends - 1])]
        asked = asked[asked >= 0]
        if not len(asked):
            break
        is_sorted[asked] = True
    return bins_between(summary.values, ends)


def _thinned(
    values: Values, dealt: Dealt, is_sorted: NDArray[np.bool_]
) -> tuple[Summary, NDArray[np.int64]]:
    """Return a summary in which some buckets have all of their rows, and others are one row each.

    With it come the buckets of rows that are lumps, -1 of others.
    """
    taken = np.empty(int(dealt.counts[is_sorted].sum()) + 1)
    if len(taken) > 1:
        take(values, dealt.buckets, is_sorted.view(np.uint8), taken)
    used = np.flatnonzero(dealt.counts[:N_DEALT])
    n_rows = np.where(is_sorted[used], dealt.counts[used], 1)
    bucket = np.repeat(used, n_rows)
    whole = is_sorted[bucket]
    rows = dealt.some[bucket]
    rows[whole] = ascending(taken[:-1])
    weights = np.where(whole, 1, dealt.counts[bucket])
    return Summary(rows, np.cumsum(weights)), np.where(dealt.is_lump[bucket] & ~whole, bucket, -1)
