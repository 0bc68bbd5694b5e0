"""The door of the data room: anybody's table as columns, and what a model remembers of it.

Columns are made on demand, one or a few at a time, so that memory stays at those. Errors name
the column and the first bad row; rows are counted from 0.
"""

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.adapters import Source, not_two_dimensional, source_of
from hedgerow.data.columns import Column, Place
from hedgerow.data.values import families

Thing = TypeVar("Thing")
_STRIPE = 4  # columns that are read together


class Table:
    """A read-only view of what the user gave.

    Attributes
    ----------
    n_rows, n_features : int
    names : list of str, or None
        Column names, if the table has them and they are strings.
    keeps_codes : bool
        Whether what is made of it is given to the next one who asks.
    """

    keeps_codes = False

    def __init__(self, source: Source) -> None:
        self.n_rows, self.n_features = source.shape
        self.names = _string_names(source.names)
        self._source = source

    @cached_property
    def kinds(self) -> list[str]:
        """What each column is, unless told otherwise: "numeric" or "categorical".

        Dates, and numbers mixed with strings, count as numeric: `column` refuses them.
        """
        return [self._source.kind(self.place(feature)) for feature in range(self.n_features)]

    def column(self, feature: int, categorical: bool = False) -> Column:
        """Return one column; `categorical` reads it as categories, even if it holds numbers."""
        place = self.place(feature)
        return self._source.cells(place).column(place, categorical)

    def columns(self, features: range, categorical: Set[int] = frozenset()) -> list[Column]:
        """Return neighbouring columns, read together if that is faster."""
        stripe = self._source.stripe(features) if categorical.isdisjoint(features) else None
        if stripe is None:
            return [self.column(feature, feature in categorical) for feature in features]
        names = [self.place(feature).name for feature in features]
        return [Column(name, values, None) for name, values in zip(names, stripe, strict=True)]

    def place(self, feature: int) -> Place:
        """Return how messages call a column."""
        return Place(feature, None if self.names is None else self.names[feature])

    def numbers(self) -> NDArray[np.float64] | None:
        """Return the whole table, not copied if possible, if that needs no look at columns."""
        return self._source.dense()

    def once(self, what: tuple[Any, ...], make: Callable[[], Thing]) -> Thing:  # noqa: ARG002  a part remembers
        """Return what `make` makes of this table; a part of a table makes it once."""
        return make()


def read_table(X: Any) -> Table:
    """Return a view of a table of any supported library.

    Parameters
    ----------
    X : array, sparse matrix, list of rows, or table of pandas, polars or pyarrow

    Examples
    --------
    >>> table = read_table([[1.5, "red"], [None, "blue"], [-0.0, "red"]])
    >>> table.kinds
    ['numeric', 'categorical']
    >>> table.column(0).values
    array([1.5, nan, 0. ])
    >>> table.column(1).categories, table.column(1).values
    (('blue', 'red'), array([1, 0, 1], dtype=int32))
    """
    if isinstance(X, Table):
        return X
    source = source_of(X)
    _check_shape(source.shape, X)
    return Table(source)


@dataclass(frozen=True)
class Schema:
    """What a fitted model remembers of its table's columns.

    Attributes
    ----------
    names : tuple of str, or None
    categories : tuple of (tuple or None)
        For each feature the categories seen at fit, in the order of their codes; None if numeric.
    """

    names: tuple[str, ...] | None
    categories: tuple[tuple[Any, ...] | None, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str] | None,
        columns_categories: Iterable[tuple[Any, ...] | None],
    ) -> "Schema":
        """Return the schema of these names and of each column's categories."""
        return cls(None if names is None else tuple(names), tuple(columns_categories))

    def matrix(self, table: Table, unseen: str) -> NDArray[np.float64]:
        """Return the table as numbers, categories as the codes they had at fit.

        Parameters
        ----------
        table : Table
            With as many columns as at fit, in the same order.
        unseen : {"missing", "error", "average"}
            A category not seen at fit becomes NaN, raises, or becomes -1.0.

        Returns
        -------
        float64 [n_rows, n_features], C-contiguous
            NaN is missing. The user's own array if it is such a matrix already.
        """
        assert table.n_features == len(self.categories)
        assert unseen in ("missing", "error", "average")
        return table.once((self, unseen), lambda: self._matrix(table, unseen))

    def _matrix(self, table: Table, unseen: str) -> NDArray[np.float64]:
        if self.categories.count(None) == len(self.categories):
            numbers = table.numbers()
            if numbers is not None:
                return numbers
        matrix = np.empty((table.n_rows, table.n_features))
        for feature in range(table.n_features):
            matrix[:, feature] = self._column(table, feature, unseen)
        return matrix

    def columns(self, table: Table, unseen: str) -> Iterator[NDArray[np.float64]]:
        """Yield the columns of that matrix, each float64 [n_rows], of which few are there at once.

        They are read together as far as they are of numbers.
        """
        for begin in range(0, table.n_features, _STRIPE):
            stripe = range(begin, min(begin + _STRIPE, table.n_features))
            if any(self.categories[feature] is not None for feature in stripe):
                yield from (self._column(table, feature, unseen) for feature in stripe)
                continue
            for feature, column in zip(stripe, table.columns(stripe), strict=True):
                is_number = column.categories is None
                yield column.values if is_number else _numeric_values(table, feature)
                del column  # with the last, all of them

    def _column(self, table: Table, feature: int, unseen: str) -> NDArray[np.float64]:
        fitted = self.categories[feature]
        if fitted is None:
            return _numeric_values(table, feature)
        return _fitted_codes(table, feature, fitted, unseen)


def _numeric_values(table: Table, feature: int) -> NDArray[np.float64]:
    column = table.column(feature)
    if column.categories is None:
        values: NDArray[np.float64] = column.values
        return values
    row = int(np.argmax(column.values >= 0))
    raise ValueError(
        f"{table.place(feature)} held numbers at fit, but now holds categories: "
        f"{reprlib.repr(column.categories[column.values[row]])} in row {row}. Convert the column "
        "to numbers, or fit again with it as a category."
    )


def _fitted_codes(
    table: Table, feature: int, fitted: tuple[Any, ...], unseen: str
) -> NDArray[np.float64]:
    column = table.column(feature, categorical=True)
    assert column.categories is not None
    known = dict(zip(fitted, count(), strict=False))
    codes = np.fromiter(map(known.get, column.categories, repeat(-1)), np.float64)
    new = np.flatnonzero(codes < 0)
    if new.size:
        _check_same_family(table.place(feature), column.categories, fitted)
    if new.size and unseen == "error":
        raise _unseen_categories(table.place(feature), column, new.tolist())
    if unseen == "missing":
        codes[new] = np.nan
    codes_and_missing = np.append(codes, np.nan)
    return codes_and_missing.take(column.values, mode="wrap")  # -1, missing, wraps to the last


def _check_same_family(place: Place, given: tuple[Any, ...], fitted: tuple[Any, ...]) -> None:
    # '7' at fit and 7 now would make every row missing without a word.
    if fitted and families(given).isdisjoint(families(fitted)):
        raise ValueError(
            f"{place} holds {reprlib.repr(given[0])} ({type(given[0]).__name__}), but at fit its "
            f"categories were like {reprlib.repr(fitted[0])} ({type(fitted[0]).__name__}). "
            "Convert the column to the type it had at fit."
        )


def _unseen_categories(place: Place, column: Column, new: list[int]) -> ValueError:
    assert column.categories is not None
    values = ", ".join(reprlib.repr(column.categories[code]) for code in new[:5])
    more = f" and {len(new) - 5} more" if len(new) > 5 else ""
    strange = np.isin(column.values, new)
    return ValueError(
        f"{place} holds {len(new)} categories that were not seen at fit: {values}{more}; "
        f"{np.count_nonzero(strange)} rows, the first is row {np.argmax(strange)}. Correct them, "
        "fit with rows that have them, or let unseen categories count as missing."
    )


def _check_shape(shape: tuple[int, ...], X: Any) -> None:
    if len(shape) < 2:
        raise not_two_dimensional(X, len(shape))
    if len(shape) > 2:
        raise ValueError(
            f"Found array with dim {len(shape)}, while dim 2 is required: rows and features "
            f"(shape={shape}). Reshape it with array.reshape(len(array), -1)."
        )
    for size, noun in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {noun}(s) (shape={shape}) while a minimum of 1 is required. "
                "Check how the rows and the columns of X were selected."
            )


def _string_names(names: list[Any] | None) -> list[str] | None:
    """Return the names if all are strings, None if none is; as scikit-learn does."""
    types = sorted({type(name).__qualname__ for name in names or []})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {types} as feature name / column name types. If you want feature names to "
            "be stored and validated, you must convert them all to strings, by using X.columns = "
            "X.columns.astype(str) for example. Otherwise you can remove feature / column names "
            "from your input data, or convert them all to a non-string data type."
        )
    return names if types == ["str"] else None
