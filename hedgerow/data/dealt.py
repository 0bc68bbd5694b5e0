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
from hedgerow.data.pages import Room
from hedgerow.kernels.dealing import N_DEALT, deal, take, thin
from hedgerow.kernels.rulers import N_ENDS

LEAST_DEALT = 100_000  # values that are dealt out sooner than sorted
_SAMPLE = 4 * N_ENDS  # rows that a ruler is laid along: it changes the time, never the bins
_MOST_ROUNDS = 4  # of sorting some more, until all are sorted
_ROW_BYTES = 8  # of the room for a column: buckets, and what is sorted of all but odd columns


class Dealt(NamedTuple):
    """The buckets of a column: see kernels.dealing."""

    ends: Values
    buckets: NDArray[np.uint16]
    counts: NDArray[np.int64]
    is_lump: NDArray[np.bool_]
    some: Values


def is_many(n_rows: int) -> bool:
    """Tell whether a column is long enough to be dealt out."""
    return n_rows >= LEAST_DEALT


def room_for(n_rows: int) -> Room:
    """Return room for the work on one column after another."""
    return Room(_ROW_BYTES * n_rows if is_many(n_rows) else 0)


def deal_out(values: Values, room: Room) -> Dealt:
    """Deal out the values of a column; what is in the room is given up."""
    sample = values[:: 1 + len(values) // _SAMPLE]
    sample = np.sort(sample[~np.isnan(sample)])
    ends = np.full(N_ENDS + 1, np.inf)
    if len(sample):
        ends[:N_ENDS] = sample[np.linspace(0, len(sample) - 1, N_ENDS).astype(int)]
    room.give_up(0)
    buckets = room.array(values.shape, np.uint16)
    counts, changes = np.zeros((2, N_DEALT + 1), np.int64)
    some = np.full(N_DEALT + 1, np.nan)
    deal(ends, values, buckets, counts, changes, some)
    return Dealt(ends, buckets, counts, changes > 1, some)


def bins_of_dealt(values: Values, dealt: Dealt, max_bins: int, halvings: int, room: Room) -> Bins:
    """Return the bins that choose_bins chooses from the summary of all values."""
    is_sorted, used = np.zeros(N_DEALT + 1, np.bool_), room.used
    for number in range(_MOST_ROUNDS + 1):
        room.give_up(used)
        if number == _MOST_ROUNDS:
            is_sorted |= dealt.is_lump
        summary, lumps = _thinned(values, dealt, is_sorted, room)
        ends, heavy = ends_of_bins(summary, lumps >= 0, max_bins, halvings)
        begins = np.concatenate([[0], ends])[: len(ends)]
        asked = lumps[np.concatenate([heavy, begins, ends - 1])]
        asked = asked[asked >= 0]
        if not len(asked):
            break
        is_sorted[asked] = True
    return bins_between(summary.values, ends)


def _thinned(
    values: Values, dealt: Dealt, is_sorted: NDArray[np.bool_], room: Room
) -> tuple[Summary, NDArray[np.int32]]:
    """Return a summary in which some buckets have all of their rows, and others are one row each.

    With it come the buckets of rows that are lumps, -1 of others.
    """
    n_taken = int(dealt.counts[is_sorted].sum())
    taken, keys = room.array((n_taken + 1,), np.float64), room.array((2, n_taken), np.int64)
    if n_taken:
        take(values, dealt.buckets, is_sorted.view(np.uint8), taken)
    ordered = ascending(taken[:-1], keys)
    n_rows = n_taken + int(np.count_nonzero(dealt.counts[:N_DEALT][~is_sorted[:N_DEALT]]))
    rows, through = (room.array((n_rows,), kind) for kind in (np.float64, np.int64))
    lumps = room.array((n_rows,), np.int32)
    about = dealt.counts, dealt.some, dealt.is_lump.view(np.uint8), is_sorted.view(np.uint8)
    thin(*about, ordered, rows, through, lumps)
    return Summary(rows, through), lumps
