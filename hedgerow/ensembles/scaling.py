"""Scaling: which integers stand for the values of each column, so that rows can follow trails."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.ranking import NO_RANKING, Ranking, ranking_of
from hedgerow.ensembles.species import Counts, Floats
from hedgerow.kernels.codes import Codes
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.scales import (
    BROKEN,
    FLOATS,
    HIGHEST,
    LANES,
    LONG,
    MISSING,
    ROWS,
    WHOLE,
    Desks,
    Scales,
    Sights,
    look,
    read_keys,
)
from hedgerow.kernels.stairs import REGISTER, widest
from hedgerow.kernels.team import Team
from hedgerow.kernels.trails import NARROW, WIDE

_LINE = 64  # bytes of a line of the cache
_SEEN = 256  # bins of a feature that tell what its values are like
_EXACT = 2.0**52  # below it, whole numbers can be counted by ones


class Known:
    """What is known of a forest's thresholds: 2 bytes a node, once columns of ranks were met.

    Attributes
    ----------
    ranking : Ranking
        Of all columns that needed ranks so far; any numbers have ranks, so that they keep them.
    refused : set
        Columns, put together, that have too many different thresholds.
    """

    def __init__(self) -> None:
        self.ranking = NO_RANKING
        self.refused: set[tuple[int, ...]] = set()

    def ranked(
        self, columns: NDArray[np.int64], n_features: int, thickets: Sequence[Thicket], team: Team
    ) -> Ranking | None:
        """Return the ranks of these columns at least; None if there are too many thresholds."""
        ranking = self.ranking
        if np.isin(columns, ranking.columns).all():
            return ranking
        columns = np.union1d(columns, ranking.columns)
        asked = tuple(columns.tolist())
        if asked in self.refused:
            return None
        found = ranking_of(columns, n_features, thickets, team)
        if found is None:
            self.refused.add(asked)
        else:
            self.ranking = found
        return found


class Reading:
    """How the rows of a table are read: one scale for each column."""

    def __init__(
        self, scales: Scales, marks: Sequence[NDArray[np.uint16]], has_missing: bool
    ) -> None:
        self._scales, self._marks = scales, marks
        n_features = len(scales.columns)
        self.n_columns = n_features * (2 if has_missing else 1) + 1
        is_wide = bool((scales.columns == FLOATS).any())
        self._kind: Any = np.uint32 if is_wide else np.uint16
        self.node = WIDE if is_wide else NARROW
        self.second = n_features if has_missing else 0  # how far a feature's second column is
        self.flies = not is_wide and self.n_columns <= widest()

    def scales(self, number: int) -> Scales:
        """Return what thresholds are read by, in a thicket."""
        return self._scales._replace(marks=self._marks[number]) if self._marks else self._scales

    def room(self, n_rows: int) -> NDArray[Any]:
        """Return room for the keys of some rows, [n_groups * n_columns * LANES].

        The last group is zero: if it has fewer rows, others walk in their place.
        """
        size = self.n_columns * LANES
        room = np.empty(-(-n_rows // LANES) * size, self._kind)
        room[-size:] = 0
        return room

    def keys(self, values: Floats, rows: Counts, team: Team) -> NDArray[Any]:
        """Return the keys of some rows, [n_groups * n_columns * LANES]."""
        keys = self.room(len(rows))
        self._read(values, rows, team, keys.reshape(-1, self.n_columns, LANES))
        return keys

    def lines(self, values: Floats, rows: Counts, team: Team) -> NDArray[np.uint16]:
        """Return the keys of some rows, row by row, [n_rows, REGISTER or 2 REGISTER].

        Beyond the last column is garbage.
        """
        width = REGISTER if self.n_columns <= REGISTER else 2 * REGISTER
        room = on_lines((-(-len(rows) // LANES), LANES, width), np.uint16)
        self._read(values, rows, team, room.swapaxes(1, 2)[:, : self.n_columns])
        return room.reshape(-1, width)[: len(rows)]

    def _read(self, values: Floats, rows: Counts, team: Team, table: NDArray[Any]) -> None:
        """Set table, [n_groups, n_columns, LANES], to the keys of some rows."""
        above, shape = int(np.iinfo(self._kind).max), (team.n_threads, ROWS)
        desks = Desks(np.empty(shape), np.empty(shape, np.int64))
        team.run(read_keys, values, rows, self._scales, above, desks, table)


def on_lines(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Return room that begins where a line of the cache does."""
    n_bytes = int(np.prod(shape)) * np.dtype(kind).itemsize
    room = np.empty(n_bytes + _LINE, np.uint8)
    begin = -room.ctypes.data % _LINE
    return np.asarray(room[begin : begin + n_bytes].view(kind).reshape(shape))


def bounds_of(codes: Codes) -> Floats:
    """Return values of each feature, [n, n_features]: ends of some of its bins, or else NaN."""
    bounds = np.full((_SEEN, len(codes.features)), np.nan)
    for own, about in zip(bounds.T, codes.features, strict=True):
        n = min(int(about.n_bins), _SEEN) if about.n_categories == 0 else 0
        own[:n] = codes.bins.high[about.first + np.linspace(0, about.n_bins - 1, n).astype(int)]
    return bounds


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
    needed = np.flatnonzero(~is_whole & (flags & LONG > 0))
    ranking = known.ranked(needed, values.shape[1], thickets, team)
    if ranking is None:
        return None
    columns = np.where(is_whole, WHOLE, FLOATS).astype(np.int32)
    columns[ranking.columns] = np.arange(len(ranking.columns))
    low = np.where(is_whole, low, 0.0)
    scales = Scales(columns, low, ranking.rungs, np.zeros(0, np.uint16))
    return Reading(scales, ranking.marks, bool((flags & MISSING).any()))
