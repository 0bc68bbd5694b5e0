"""What every estimator does with tables: read, bin, remember, and check at prediction."""

import warnings
from typing import Any

import numpy as np

from hedgerow.data.binned import BinnedTable, bin_table
from hedgerow.data.table import Schema, Table
from hedgerow.estimators.saving import Saves
from hedgerow.fitted.model import ReadsNumbers
from hedgerow.kernels.team import Team


class ReadsTables(ReadsNumbers, Saves):
    """An estimator that takes any table, and knows the one that it was fitted with."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _n_levels(self, n_rows: int) -> int:  # noqa: ARG002  trees of means have some
        """Return into how many levels each bin is parted, 1 if into none."""
        return 1

    def _remember(self, table: Table, binned: BinnedTable) -> None:
        """Keep what the model must know of its table."""
        self.n_features_in_ = table.n_features
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._schema = Schema.of(table.names, binned.categories)
        self._has_missing = tuple(binned.has_missing.tolist())


def categorical_columns(given: Any, table: Table) -> frozenset[int]:
    """Return the columns that the user calls categorical, by name, number or mask."""
    if isinstance(given, str):
        return frozenset()  # "auto": strings and category dtypes are categories by themselves
    listed = np.asarray(given)
    if listed.dtype == bool:
        if listed.shape != (table.n_features,):
            raise ValueError(
                f"categorical_features is a mask of {listed.size} columns, but X has "
                f"{table.n_features}. Pass one True or False for each column."
            )
        return frozenset(np.flatnonzero(listed).tolist())
    if listed.dtype.kind in "UO":
        names = table.names or []
        unknown = [name for name in listed.tolist() if name not in names]
        if unknown:
            raise ValueError(
                f"categorical_features names {unknown[0]!r}, which is not a column of X "
                f"({', '.join(map(repr, names[:8])) or 'X has no column names'}). Pass names of "
                "columns of a DataFrame, or column numbers."
            )
        return frozenset(names.index(name) for name in listed)
    outside = [column for column in listed.tolist() if column not in range(table.n_features)]
    if outside:
        raise ValueError(
            f"categorical_features has column {outside[0]}, but X has columns 0 to "
            f"{table.n_features - 1}. Pass numbers in that range, or names."
        )
    return frozenset(int(column) for column in listed)


def bin_for(
    estimator: Any,
    table: Table,
    sample: Any,
    team: Team,
) -> BinnedTable:
    """Bin the rows that count; three rows and a row of weight 3 are binned alike."""
    counts = sample.weights.counts
    uneven = counts if counts.min() != counts.max() else None
    recipe = estimator._recipe(table, sample.n_rows)
    # By rows, not by what they weigh: weights times two make the same tree.
    recipe = recipe._replace(n_levels=estimator._n_levels(len(counts)))
    binned = bin_table(table, recipe, team, sample.rows, uneven)
    empty = np.flatnonzero(binned.is_empty)
    if len(empty):
        listed = ", ".join(str(table.place(int(feature))) for feature in empty[:5])
        warnings.warn(
            f"{len(empty)} of {table.n_features} columns have no values and are not used: "
            f"{listed}{', ...' if len(empty) > 5 else ''}. Drop them to silence this warning.",
            UserWarning,
            stacklevel=3,
        )
    return binned
