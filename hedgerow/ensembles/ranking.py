"""Ranking: the thresholds of a forest's columns in order, and the rank of each split's own."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.edges import ascending
from hedgerow.ensembles.species import Floats
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.rulers import N_ENDS
from hedgerow.kernels.rungs import Rungs, lay_rungs
from hedgerow.kernels.scales import HIGHEST
from hedgerow.kernels.team import Team
from hedgerow.kernels.thresholds import (
    ROWS,
    SEATS,
    Memory,
    copy_cuts,
    count_cuts,
    mark_splits,
    rank_cuts,
)

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
NO_RANKING = Ranking(np.zeros(0, np.int64), _NO_RUNGS, [])


class Copies(NamedTuple):
    """Thresholds of some columns, each at least once, and where each node has its own.

    cuts    float64 [n_cuts]                    one stretch for each column and thread
    bounds  int64 [n_columns, n_threads, 2]     where stretches begin and end; others are garbage
    places  int32 [n_nodes] of each thicket     of a node that is not asked for, that of garbage
    """

    cuts: Floats
    bounds: NDArray[np.int64]
    places: list[NDArray[np.int32]]


def ranking_of(
    columns: NDArray[np.int64], n_features: int, thickets: Sequence[Thicket], team: Team
) -> Ranking | None:
    """Find the different thresholds of some columns; None if there are too many."""
    counts = _counts(columns, n_features, thickets, team)
    marks = [np.zeros(len(each.nodes), np.uint16) for each in thickets]
    cuts: list[Floats] = []
    rungs = _NO_RUNGS
    for begin, end in pairwise(_batches(counts.sum(axis=1))):
        numbers = _numbers(columns[begin:end], n_features)
        copies = _copies(numbers, counts[begin:end], thickets, team)
        found = _different(copies, team)
        if max(map(len, found)) > _MOST_CUTS:
            return None
        rungs = rungs_of(found)
        _mark(copies, rungs, marks, team)
        cuts += found
    return Ranking(columns, rungs if len(cuts) == len(found) else rungs_of(cuts), marks)


def _counts(
    columns: NDArray[np.int64], n_features: int, thickets: Sequence[Thicket], team: Team
) -> NDArray[np.int64]:
    """Return how many splits of some columns each thread meets, int64 [n_columns, n_threads]."""
    counts = np.zeros((team.n_threads, _slots(len(columns))), np.int64)
    numbers = _numbers(columns, n_features)
    for thicket in thickets:
        team.run(count_cuts, thicket, numbers, counts)
    return np.ascontiguousarray(counts[:, : len(columns)].T)


def _copies(
    numbers: NDArray[np.int32], counts: NDArray[np.int64], thickets: Sequence[Thicket], team: Team
) -> Copies:
    """Write down the thresholds of some columns."""
    n_columns, n_threads = counts.shape
    n_cuts, n_slots = int(counts.sum()), _slots(n_columns)
    bounds = np.stack([np.cumsum(counts).reshape(counts.shape) - counts] * 2, axis=-1)
    places = np.empty((n_threads, n_slots), np.int64)
    places[:, :] = n_cuts + _APART * np.arange(1, n_threads + 1)[:, None]
    places[:, :n_columns] = bounds[:, :, 0].T
    seats = n_threads, n_slots, SEATS
    memory = Memory(places, np.full(seats, np.nan), np.empty(seats, np.int32))
    cuts, own = np.empty(n_cuts + _APART * (n_threads + 1)), []
    for thicket in thickets:
        own.append(np.empty(len(thicket.nodes), np.int32))
        team.run(copy_cuts, thicket, numbers, memory, cuts, own[-1])
    bounds[:, :, 1] = places[:, :n_columns].T
    return Copies(cuts, bounds, own)


def _mark(copies: Copies, rungs: Rungs, marks: Sequence[NDArray[np.uint16]], team: Team) -> None:
    """Give splits of some columns the keys of their thresholds."""
    n_columns, n_threads = copies.bounds.shape[:2]
    bounds = np.empty((n_columns, n_threads, 3), np.int64)
    bounds[:, :, 0], bounds[:, :, 1:] = np.arange(n_columns)[:, None], copies.bounds
    keys = np.zeros(len(copies.cuts), np.uint16)
    desks = np.empty((n_threads, ROWS), np.int64)
    team.run(rank_cuts, copies.cuts, bounds.reshape(-1, 3), rungs, desks, keys)
    for places, own in zip(copies.places, marks, strict=True):
        team.run(mark_splits, places, keys, own)


def _slots(n_columns: int) -> int:
    """Return how many counts a thread has: one more than columns, so that lines are its own."""
    return -(-(n_columns + 1) // _APART) * _APART


def _different(copies: Copies, team: Team) -> list[Floats]:
    """Return the different thresholds of each column, in order."""
    found = [copies.cuts[:0]] * len(copies.bounds)

    def look_at(_: Member, column: int) -> None:
        stretches = [copies.cuts[begin:end] for begin, end in copies.bounds[column]]
        values = ascending(np.concatenate(stretches))
        is_first = np.append(True, values[1:] != values[:-1])[: len(values)]
        found[column] = values[is_first]

    team.run_each(look_at, range(len(found)))
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


def rungs_of(cuts: Sequence[Floats]) -> Rungs:
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
    first = np.append(0, np.cumsum(sizes + (1 << rungs.marks[:, 2])))
    padded = np.full(first[-1], np.inf)
    for begin, each in zip(first, cuts, strict=False):
        padded[begin : begin + len(each)] = each
    return rungs._replace(cuts=padded, first=first)
