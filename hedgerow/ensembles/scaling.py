"""Scaling: which integers stand for the values of each column, so that rows can follow trails."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.species import Counts, Floats
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.scales import (
    BROKEN,
    FLOATS,
    HIGHEST,
    LONG,
    MISSING,
    MOST_CUTS,
    N_SEATS,
    WHOLE,
    Scales,
    Sights,
    gather_cuts,
    look,
    read_keys,
    take_seats,
)
from hedgerow.kernels.team import Team
from hedgerow.kernels.trails import NARROW, WIDE

Known = dict[tuple[int, ...], list[Floats] | None]  # columns and their different thresholds

_EXACT = 2.0**52  # below it, whole numbers can be counted by ones
_MOST_RANKED = 1 << 10  # columns of ranks, for each thread: 32 kB


class Reading:
    """How the rows of a table are read: one scale for each column."""

    def __init__(self, scales: Scales, has_missing: bool) -> None:
        self._scales = scales
        n_features = len(scales.columns)
        self.n_columns = n_features * (2 if has_missing else 1) + 1
        is_wide = bool((scales.columns == FLOATS).any())
        self._kind: Any = np.uint32 if is_wide else np.uint16
        self.node = WIDE if is_wide else NARROW

    @property
    def scales(self) -> Scales:
        """What thresholds are read by."""
        return self._scales

    def room(self, n_rows: int) -> NDArray[Any]:
        """Return room for the keys of some rows, [n_rows * n_columns]."""
        return np.empty(n_rows * self.n_columns, self._kind)

    def keys(self, values: Floats, rows: Counts, team: Team) -> NDArray[Any]:
        """Return the keys of some rows, [n_rows * n_columns]."""
        keys = self.room(len(rows))
        above = int(np.iinfo(self._kind).max)
        table = keys.reshape(len(rows), self.n_columns)
        team.run(read_keys, values, rows, self._scales, above, table)
        return keys


def reading_of(
    thickets: Sequence[Thicket], values: Floats, rows: Counts, team: Team, known: Known
) -> Reading | None:
    """Return how to read rows for these trees; None if there are too many thresholds for it.

    known: thresholds of these trees that were asked for before; more are added.
    """
    shape = team.n_threads, values.shape[1]
    sights = Sights(np.zeros(shape, np.int64), np.full(shape, np.inf), np.full(shape, -np.inf))
    team.run(look, values, rows, sights)
    flags = np.bitwise_or.reduce(sights.flags, axis=0)
    low, high = sights.low.min(axis=0), sights.high.max(axis=0)
    low, high = np.where(low > high, 0.0, low), np.where(low > high, 0.0, high)
    is_near = (np.maximum(-low, high) < _EXACT) & (flags & BROKEN == 0)
    is_whole = is_near & (np.where(is_near, high, 0.0) - np.where(is_near, low, 0.0) < HIGHEST)
    columns = np.where(is_whole, WHOLE, FLOATS).astype(np.int32)
    ranked = np.flatnonzero(~is_whole & (flags & LONG > 0))
    columns[ranked] = np.arange(len(ranked))
    asked = tuple(ranked.tolist())
    if asked not in known:
        known[asked] = _cuts(thickets, columns, len(ranked), team)
    cuts = known[asked]
    if cuts is None:
        return None
    scales = _seated(columns, np.where(is_whole, low, 0.0), cuts)
    return Reading(scales, bool((flags & MISSING).any()))


def _cuts(
    thickets: Sequence[Thicket], columns: NDArray[np.int32], n_ranked: int, team: Team
) -> list[Floats] | None:
    """Return the different thresholds of each column of ranks, or None if there are too many."""
    if n_ranked * team.n_threads > _MOST_RANKED:
        return None
    seats = np.full((team.n_threads, n_ranked, N_SEATS), np.nan)
    counts = np.zeros((team.n_threads, n_ranked), np.int64)
    for thicket in thickets if n_ranked else ():
        team.run(gather_cuts, thicket, columns, seats, counts)
        if (counts > MOST_CUTS).any():
            return None
    cuts = []
    for column in range(n_ranked):
        taken = seats[:, column]
        cuts.append(np.unique(taken[~np.isnan(taken)]))
    return None if any(len(each) > MOST_CUTS for each in cuts) else cuts


def _seated(columns: NDArray[np.int32], low: Floats, cuts: Sequence[Floats]) -> Scales:
    """Return the scales of all columns."""
    counts = np.array([len(each) for each in cuts], np.int64)
    table = np.full((len(cuts), MOST_CUTS + 1), np.inf)
    for column, each in enumerate(cuts):
        table[column, : len(each)] = each
    n_levels = np.array([len(each).bit_length() for each in cuts], np.int64)
    n_seats = 4 << int(counts.max(initial=0)).bit_length()
    seats, ranks = np.full((len(cuts), n_seats), np.nan), np.zeros((len(cuts), n_seats), np.uint16)
    take_seats(table, counts, seats, ranks)
    return Scales(columns, low, table, n_levels, seats, ranks)
