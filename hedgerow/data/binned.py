"""BinnedTable: a table as codes, made once and shared by every tree that is grown from it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import Column
from hedgerow.data.edges import Bins, choose_bins, summarise
from hedgerow.data.table import Table
from hedgerow.kernels.codes import (
    BIN,
    BLOCK,
    FEATURE,
    MISSING,
    Codes,
    bin_narrow,
    bin_wide,
    place_categories,
)
from hedgerow.kernels.team import Team

MAX_BINS = MISSING  # ordinary codes of a narrow feature: 0..254
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
        return int(self.codes.features.n_bins.max())

    @property
    def bytes_used(self) -> int:
        return sum(array.nbytes for array in self.codes)


class Recipe(NamedTuple):
    """How a table is binned: at most max_bins bins a numeric feature (None: one per value)."""

    max_bins: int | None
    categorical: frozenset[int] = frozenset()


def bin_table(
    table: Table,
    recipe: Recipe,
    team: Team,
    rows: NDArray[np.int64] | None = None,
    weights: NDArray[np.int64] | None = None,
) -> BinnedTable:
    """Bin a table, or some of its rows; `weights`, in whole steps, are of these rows."""
    n_rows = table.n_rows if rows is None else len(rows)

    def bins_of(feature: int) -> tuple[Bins, tuple[Any, ...] | None]:
        column = _column(table, feature, recipe, rows)
        if column.categories is not None:
            return Bins(_EMPTY, _EMPTY), column.categories
        return choose_bins(summarise(column.values, weights), recipe.max_bins), None

    # Sorting, the bulk of the work, runs without the GIL.
    with ThreadPoolExecutor(team.n_threads) as pool:
        bins, categories = zip(*pool.map(bins_of, range(table.n_features)), strict=True)
    codes = _empty_codes(n_rows, bins, categories)
    n_missing = np.zeros(table.n_features, np.int64)
    for feature in range(table.n_features):
        column = _column(table, feature, recipe, rows)
        absent = np.isnan(column.values) if column.categories is None else column.values < 0
        n_missing[feature] = np.count_nonzero(absent)
        _write_codes(column, bins[feature], feature, codes, team)
    return BinnedTable(codes, categories, n_rows, n_missing > 0, n_missing == n_rows)


def _column(
    table: Table, feature: int, recipe: Recipe, rows: NDArray[np.int64] | None
) -> Column:
    """Read one column, with only the categories that occur in the rows."""
    column = table.column(feature, feature in recipe.categorical)
    if rows is None:
        return column
    values = np.ascontiguousarray(column.values[rows])
    if column.categories is None:
        return column._replace(values=values)
    used = np.unique(values[values >= 0])
    lookup = np.full(len(column.categories) + 1, -1, np.int32)
    lookup[used] = np.arange(len(used))
    return Column(column.name, lookup[values], tuple(column.categories[code] for code in used))


def _empty_codes(
    n_rows: int, bins: tuple[Bins, ...], categories: tuple[tuple[Any, ...] | None, ...]
) -> Codes:
    """Allocate the codes of a table and place its features."""
    n_categories = np.array([0 if names is None else len(names) for names in categories])
    n_values = np.array([len(each.high) for each in bins])
    n_bins = np.maximum(np.where(n_categories > 0, n_categories, n_values), 1)
    narrow = n_bins <= MAX_BINS
    features = np.zeros(len(bins), FEATURE).view(np.recarray)
    features.place = np.where(narrow, np.cumsum(narrow) - 1, -np.cumsum(~narrow))
    features.missing = np.where(narrow, MISSING, n_bins)
    features.n_bins, features.n_categories = n_bins, n_categories
    features.first = np.cumsum(n_values) - n_values
    limits = np.zeros(int(n_values.sum()), BIN).view(np.recarray)
    limits.low = np.concatenate([each.low for each in bins])
    limits.high = np.concatenate([each.high for each in bins])
    n_narrow, n_wide = int(narrow.sum()), int((~narrow).sum())
    return Codes(
        blocks=np.zeros((-(-n_narrow // BLOCK), n_rows, BLOCK), np.uint8),
        columns=np.empty((n_narrow, n_rows), np.uint8),
        wide=np.empty((n_wide, n_rows), np.int32),
        features=features,
        bins=limits,
    )


def _write_codes(column: Column, bins: Bins, feature: int, codes: Codes, team: Team) -> None:
    place = int(codes.features.place[feature])
    if place < 0:
        target = codes.wide[-1 - place]
        if column.categories is None:
            team.run(bin_wide, column.values, bins.high, target)
        else:
            target[:] = np.where(column.values < 0, codes.features.missing[feature], column.values)
        return
    target, block, lane = codes.columns[place], codes.blocks[place // BLOCK], place % BLOCK
    if column.categories is not None:
        team.run(place_categories, column.values, MISSING, target, block, lane)
        return
    padded = np.full(MISSING + 1, np.inf)
    padded[: max(len(bins.high) - 1, 0)] = bins.high[:-1]
    team.run(bin_narrow, column.values, padded, target, block, lane)
