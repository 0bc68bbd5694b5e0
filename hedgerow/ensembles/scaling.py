"""Scaling: which integers stand for the values of each column, so that rows can follow trails."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.edges import ascending
from hedgerow.ensembles.species import Counts, Floats
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.rulers import N_ENDS
from hedgerow.kernels.rungs import Rungs, lay_rungs
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
from hedgerow.kernels.thresholds import BATCH, SEEN, Sieve, count_cuts, gather_cuts, mark_splits
from hedgerow.kernels.trails import NARROW, WIDE

_LINE = 64  # bytes of a line of the cache
_EXACT = 2.0**52  # below it, whole numbers can be counted by ones
_GATHERED = 1 << 22  # thresholds of splits, at once: 32 MB while different ones are looked for
_APART = 8  # counts on a line of the cache
_BUCKETS = 2  # for each threshold of a column of ranks
_MOST_CUTS = HIGHEST - 1  # different thresholds of a column of ranks: as many as there are keys


class Ranking(NamedTuple):
    """Columns of ranks, and the thresholds of a forest there.

    columns  int64 [n]                      their numbers
    rungs    Rungs                          different thresholds
    marks    uint16 [n_nodes] of each thicket
    """

    columns: NDArray[np.int64]
    rungs: Rungs
    marks: list[NDArray[np.uint16]]


_NO_RUNGS = Rungs(
    np.zeros(0),
    np.zeros(1, np.int64),
    np.zeros(0, np.uint16),
    np.zeros(1, np.int64),
    np.zeros((0, 4)),
    np.zeros((0, 3), np.int64),
)
_NO_RANKING = Ranking(np.zeros(0, np.int64), _NO_RUNGS, [])


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
        self.ranking = _NO_RANKING
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
        found = _ranking(columns, n_features, thickets, team)
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


def _ranking(
    columns: NDArray[np.int64], n_features: int, thickets: Sequence[Thicket], team: Team
) -> Ranking | None:
    """Find the different thresholds of some columns; None if there are too many."""
    n_slots = -(-(len(columns) + 1) // _APART) * _APART
    counts = np.zeros((len(thickets), team.n_threads, n_slots), np.int64)
    numbers = _numbers(columns, n_features)
    for thicket, own in zip(thickets, counts, strict=True):
        team.run(count_cuts, thicket, numbers, own)
    n_cuts = counts.sum(axis=0)
    cuts: list[Floats] = []
    for begin, end in pairwise(_batches(n_cuts.sum(axis=0)[: len(columns)])):
        some = _numbers(columns[begin:end], n_features)
        found = _different(_gathered(some, n_cuts[:, begin:end], n_slots, thickets, team), team)
        if max(map(len, found)) > _MOST_CUTS:
            return None
        cuts += found
    rungs, marks = _rungs(cuts), [np.zeros(len(each.nodes), np.uint16) for each in thickets]
    desks = np.empty((team.n_threads, 2, BATCH), np.int64)
    for thicket, own_marks in zip(thickets, marks, strict=True):
        team.run(mark_splits, thicket, numbers, rungs, desks, own_marks)
    return Ranking(columns, rungs, marks)


def _gathered(
    numbers: NDArray[np.int32],
    n_cuts: NDArray[np.int64],
    n_slots: int,
    thickets: Sequence[Thicket],
    team: Team,
) -> list[Floats]:
    """Return the thresholds of some columns, each at least once.

    n_cuts: how many splits each thread meets, int64 [n_threads, n_columns].
    """
    n_threads, n_columns = n_cuts.shape
    ends = np.cumsum(n_cuts).reshape(n_cuts.shape)
    begins = ends - n_cuts
    places = np.empty((n_threads, n_slots), np.int64)
    places[:, :] = (int(n_cuts.sum()) + _APART * np.arange(1, n_threads + 1))[:, None]
    places[:, :n_columns] = begins
    cuts = np.empty(int(n_cuts.sum()) + _APART * (n_threads + 1))
    sieve = Sieve(places, np.full((n_threads, n_slots, SEEN), np.nan))
    for thicket in thickets:
        team.run(gather_cuts, thicket, numbers, sieve, cuts)
    return [
        np.concatenate([cuts[begins[t, k] : places[t, k]] for t in range(n_threads)])
        for k in range(n_columns)
    ]


def _different(gathered: Sequence[Floats], team: Team) -> list[Floats]:
    """Return the different numbers of some columns, in order."""
    found = [each[:0] for each in gathered]

    def look_at(_: Member, column: int) -> None:
        values = ascending(gathered[column])
        is_first = np.append(True, values[1:] != values[:-1])[: len(values)]
        found[column] = values[is_first]

    team.run_each(look_at, range(len(gathered)))
    return found


def _numbers(columns: NDArray[np.int64], n_features: int) -> NDArray[np.int32]:
    """Return the number of each feature's column among some, or -1."""
    numbers = np.full(n_features, -1, np.int32)
    numbers[columns] = np.arange(len(columns))
    return numbers


def _batches(sizes: NDArray[np.int64]) -> list[int]:
    """Return the first column of each batch that is gathered at once, and how many there are."""
    batches, n_gathered = [0], 0
    for column, size in enumerate(sizes.tolist()):
        if n_gathered + size > _GATHERED and column > batches[-1]:
            batches.append(column)
            n_gathered = 0
        n_gathered += size
    return [*batches, len(sizes)]


def _rungs(cuts: Sequence[Floats]) -> Rungs:
    """Return the rungs of columns, given their thresholds."""
    n_columns, sizes = len(cuts), np.array([len(each) for each in cuts], np.int64)
    first_bucket = np.append(0, np.cumsum(_BUCKETS * sizes + 1))
    ends = np.full((n_columns, N_ENDS + 1), np.inf)
    for own, each in zip(ends, cuts, strict=True):
        some = np.linspace(0, len(each) - 1, min(len(each), N_ENDS)).astype(np.int64)
        own[: len(some)] = each[some]
    rungs = Rungs(
        np.concatenate([np.zeros(0), *cuts]),
        np.append(0, np.cumsum(sizes)),
        np.empty(first_bucket[-1], np.uint16),
        first_bucket,
        np.empty((n_columns, 4)),
        np.empty((n_columns, 3), np.int64),
    )
    lay_rungs(ends, rungs)
    room = 1 << rungs.marks[:, 2]
    first = np.append(0, np.cumsum(sizes + room))
    padded = np.full(first[-1] + room.max(initial=0), np.inf)
    for begin, each in zip(first, cuts, strict=False):
        padded[begin : begin + len(each)] = each
    return rungs._replace(cuts=padded, first=first)
