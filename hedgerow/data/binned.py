"""BinnedTable: a table as codes, made once and shared by every tree that is grown from it."""

from itertools import chain, pairwise, repeat
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.bundles import find_kinds
from hedgerow.data.columns import Column
from hedgerow.data.dealt import bins_of_dealt, deal_out, is_many, room_for
from hedgerow.data.edges import Bins, choose_bins, summarise
from hedgerow.data.joint_columns import MOST_CODES, digits_of, lay_out
from hedgerow.data.levels import Levels, join_levels, levels_of
from hedgerow.data.pages import Room
from hedgerow.data.table import Table
from hedgerow.kernels.binning import N_BUCKETS, bin_dealt, bin_narrow, bin_two, bin_wide
from hedgerow.kernels.codes import (
    BIN,
    FEATURE,
    MISSING,
    Codes,
    empty_blocks,
    fill_blocks,
    fill_shared,
    no_kinds,
    take_rows,
)
from hedgerow.kernels.dealing import N_DEALT
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.team import Team

MAX_BINS = MISSING  # ordinary codes of a narrow feature: 0..254
_LINE = 8  # columns of float64 in a cache line: a matrix is read by so many at most, and by two
_VALUES = 2**21  # of these columns, of which each thread has so many at a time
_FEW_ROWS = 30_000  # of which a column takes no longer than the Python around it
_EMPTY = np.zeros(0)


class BinnedTable(NamedTuple):
    """Codes of the rows that count, and the categories that the codes of a feature stand for."""

    codes: Codes
    categories: tuple[tuple[Any, ...] | None, ...]
    n_rows: int
    has_missing: NDArray[np.bool_]  # [n_features]: any value missing
    is_empty: NDArray[np.bool_]  # [n_features]: all values missing

    @property
    def max_bins(self) -> int:
        """Bins of the feature that has most."""
        return int(self.codes.features.n_bins.max())

    @property
    def bytes_used(self) -> int:
        """Memory of the codes."""
        return sum(array.nbytes for array in self.codes if isinstance(array, np.ndarray))

    def some(self, rows: NDArray[np.int64], team: Team) -> "BinnedTable":
        """Return the table of some rows, in any order, with the same codes."""
        codes, n_rows = self.codes, len(rows)
        columns = np.empty((len(codes.columns), n_rows), np.uint8)
        for source, target in zip(codes.columns, columns, strict=True):
            team.sweep(n_rows, take_rows, source, rows, target)
        moved = codes._replace(
            blocks=empty_blocks(len(codes.blocks), n_rows, codes.blocks.shape[2]),
            columns=columns,
            wide=np.take(codes.wide, rows, axis=1),
            shared=np.take(codes.shared, rows, axis=1),
            fine=np.take(codes.fine, rows, axis=1),
            keys=np.take(codes.keys, rows, axis=1),
        )
        _fill(moved, team)
        return self._replace(codes=moved, n_rows=n_rows)

    def move(self, order: NDArray[np.int64], team: Team) -> None:
        """Put the rows into another order, in the same memory."""
        codes, room = self.codes, np.empty(self.n_rows, np.uint8)
        for column in codes.columns:
            team.sweep(self.n_rows, take_rows, column, order, room)
            column[:] = room
        for wide in codes.wide:
            wide[:] = wide[order]
        for joint in codes.shared:
            team.sweep(self.n_rows, take_rows, joint, order, room)
            joint[:] = room
        for keys in codes.keys:
            keys[:] = keys[order]
        if codes.fine.size:
            codes.fine[:] = np.take(codes.fine, order, axis=1)
        _fill(codes, team)


class Recipe(NamedTuple):
    """How a table is binned: at most max_bins bins a numeric feature (None: one per value).

    most_codes: of a feature that shares a column of the histogram. It changes no model.
    n_levels: parts of a bin that small nodes may cut between, a power of two up to 256.
    halvings: how often the bins at both ends of a feature are halved, see `choose_bins`.
    has_kinds: whether rows are summed by kinds where that is faster. It changes no model.
    """

    max_bins: int | None
    categorical: frozenset[int] = frozenset()
    most_codes: int = MOST_CODES
    n_levels: int = 1
    halvings: int = 0
    has_kinds: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether all that is asked for are codes of one byte."""
        return self.max_bins is not None and self.max_bins <= MAX_BINS and self.n_levels == 1


class _Coded(NamedTuple):
    """One column as codes, with what they stand for.

    codes: narrow ones are where they were asked to be written; wide ones have their own array.
    """

    codes: NDArray[Any]
    bins: Bins
    categories: tuple[Any, ...] | None
    n_missing: int
    levels: Levels | None = None


def bin_table(
    table: Table,
    recipe: Recipe,
    team: Team,
    rows: NDArray[np.int64] | None = None,
    weights: NDArray[np.int64] | None = None,
) -> BinnedTable:
    """Bin a table, or some of its rows; `weights`, in whole steps, are of these rows."""
    about = recipe, rows, weights
    return table.once(about, lambda: _binned(table, recipe, team, rows, weights))


def _binned(
    table: Table,
    recipe: Recipe,
    team: Team,
    rows: NDArray[np.int64] | None,
    weights: NDArray[np.int64] | None,
) -> BinnedTable:
    n_rows = table.n_rows if rows is None else len(rows)
    narrow = np.empty((table.n_features, n_rows), np.uint8)

    def coded(column: Column, own_narrow: NDArray[np.uint8], room: Room) -> _Coded:
        if rows is not None:
            column = column.some(rows)
        if column.categories is not None:
            return _coded_categories(column, own_narrow)
        if weights is None and recipe.is_narrow:
            if flag := _coded_flag(column.values, own_narrow):
                return flag
            if is_many(n_rows):
                return _coded_dealt(column.values, recipe, room, own_narrow)
        summary = summarise(column.values, weights)
        bins = choose_bins(summary, recipe.max_bins, recipe.halvings)
        own = _coded_values(column, bins, own_narrow)
        given = column.values, own.codes, own.bins, summary
        return own._replace(levels=levels_of(*given, recipe.n_levels))

    width = max(2, min(_LINE, _VALUES // max(n_rows, 1)))
    stripes = _stripes(table.n_features, team.n_threads, width)
    done: dict[int, list[_Coded]] = {}

    def code_stripe(_: Member, number: int) -> None:
        own, room = stripes[number], rooms.get()
        read = table.columns(own, recipe.categorical)
        own_narrow = narrow[own.start : own.stop]
        done[number] = list(map(coded, read, own_narrow, repeat(room)))
        rooms.put(room)

    # Sorting and binning, the bulk of the work, run without the GIL.
    crew = team if n_rows >= _FEW_ROWS else Team(1)
    rooms: SimpleQueue[Room] = SimpleQueue()
    for _ in range(crew.n_threads):
        rooms.put(room_for(n_rows))
    crew.run_each(code_stripe, range(len(stripes)))
    columns = list(chain.from_iterable(done[number] for number in range(len(stripes))))
    codes = _joined(narrow, columns, recipe, team)
    _fill(codes, team)
    n_missing = np.array([column.n_missing for column in columns])
    categories = tuple(column.categories for column in columns)
    return BinnedTable(codes, categories, n_rows, n_missing > 0, n_missing == n_rows)


def _fill(codes: Codes, team: Team) -> None:
    """Make the blocks of the columns."""
    given = codes.columns, codes.shared, codes.features, codes.blocks
    team.sweep(codes.columns.shape[1], fill_blocks, *given)


def _stripes(n_features: int, n_threads: int, width: int) -> list[range]:
    """Part the features into small stripes of about one size, as many for each thread."""
    n_stripes = n_threads * -(-n_features // (width * n_threads))
    ends = [n_features * i // n_stripes for i in range(n_stripes + 1)]
    return [range(begin, end) for begin, end in pairwise(ends) if begin < end]


def _coded_categories(column: Column, room: NDArray[np.uint8]) -> _Coded:
    """Code a column of categories: narrow if they fit, missing as the narrow or the next code."""
    assert column.categories is not None
    absent = column.values < 0
    is_narrow = len(column.categories) <= MAX_BINS
    missing = MISSING if is_narrow else len(column.categories)
    codes = room if is_narrow else np.empty(len(room), np.int32)
    codes[:] = np.where(absent, missing, column.values)
    bins = Bins(_EMPTY, _EMPTY)
    return _Coded(codes, bins, column.categories, int(np.count_nonzero(absent)))


def _coded_values(column: Column, bins: Bins, narrow: NDArray[np.uint8]) -> _Coded:
    """Code a column of numbers."""
    if len(bins.high) > MAX_BINS:
        wide = np.empty(len(column.values), np.int32)
        bin_wide(column.values, bins.high, wide)
        return _Coded(wide, bins, None, int(np.count_nonzero(wide == len(bins.high))))
    bin_narrow(column.values, _padded(bins), np.empty(N_BUCKETS, np.uint8), narrow)
    return _Coded(narrow, bins, None, int(np.count_nonzero(narrow == MISSING)))


def _coded_flag(values: NDArray[np.float64], narrow: NDArray[np.uint8]) -> _Coded | None:
    """Code a column of two values, none missing; None if it is not one."""
    two = np.empty(2)
    return _Coded(narrow, Bins(two, two), None, 0) if bin_two(values, narrow, two) else None


def _coded_dealt(
    values: NDArray[np.float64],
    recipe: Recipe,
    room: Room,
    narrow: NDArray[np.uint8],
) -> _Coded:
    """Code many numbers, of which few are sorted."""
    dealt = deal_out(values, room)
    bins = bins_of_dealt(values, dealt, recipe.max_bins or MAX_BINS, recipe.halvings, room)
    first = np.empty(N_DEALT + 1, np.uint8)
    bin_dealt(dealt.ends, values, dealt.buckets, _padded(bins), first, narrow)
    return _Coded(narrow, bins, None, int(dealt.counts[N_DEALT]))


def _padded(bins: Bins) -> NDArray[np.float64]:
    """Return where bins end but the last, which has no end."""
    padded = np.full(MISSING + 1, np.inf)
    padded[: max(len(bins.high) - 1, 0)] = bins.high[:-1]
    return padded


def _joined(room: NDArray[np.uint8], coded: list[_Coded], recipe: Recipe, team: Team) -> Codes:
    """Put the columns of a table together: narrow ones move up in the room that they are in."""
    n_rows = room.shape[1]
    bins = [column.bins for column in coded]
    n_categories = np.array([len(column.categories or ()) for column in coded])
    n_values = np.array([len(each.high) for each in bins])
    n_bins = np.maximum(np.where(n_categories > 0, n_categories, n_values), 1)
    narrow = n_bins <= MAX_BINS
    features = with_fields(np.zeros(len(bins), FEATURE))
    features.place = np.where(narrow, np.cumsum(narrow) - 1, np.negative(np.cumsum(~narrow)))
    features.missing = np.where(narrow, MISSING, n_bins)
    features.n_bins, features.n_categories = n_bins, n_categories
    features.first = np.cumsum(n_values) - n_values
    limits = with_fields(np.zeros(int(n_values.sum()), BIN))
    limits.low = np.concatenate([each.low for each in bins])
    limits.high = np.concatenate([each.high for each in bins])
    columns = room[: int(narrow.sum())]
    wide = np.empty((int((~narrow).sum()), n_rows), np.int32)
    for feature, place in enumerate(features.place):
        if place < 0:
            wide[-1 - place] = coded[feature].codes
        elif place < feature:  # a wide one is before it
            columns[place] = coded[feature].codes
    has_missing = np.array([each.n_missing > 0 for each in coded])
    n_columns = lay_out(features, has_missing, recipe.most_codes, columns)
    shared = np.empty((int(features.shared.max()) + 1, n_rows), np.uint8)
    team.sweep(n_rows, fill_shared, columns, features, shared)
    kinds = no_kinds(n_columns, n_rows)
    if recipe.has_kinds:
        kinds = find_kinds(features, n_columns, columns, shared, team)
    blocks = empty_blocks(len(kinds.panels), n_rows, kinds.kinds.shape[2])
    joined = join_levels([column.levels for column in coded], features, n_rows)
    pieces = np.zeros((0, 2), np.int64)
    given = blocks, columns, wide, shared, features, limits
    return Codes(*given, *joined, pieces, digits_of(features), *kinds)
