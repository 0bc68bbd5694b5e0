"""Parts of a table: some of its rows, as a table that remembers what was made of it.

Cross-validation reads a table once (`ReadOnce`) and fits many models to each of a few parts of
it. A `Part` is a table like any other, of its own rows only: its bins and its categories are
those of these rows. What a function of the data room makes of it, codes or a matrix, it keeps,
so that the next model that asks for the same is given the same.
"""

from collections.abc import Callable, Hashable, Set
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import Column
from hedgerow.data.table import Table

Thing = TypeVar("Thing")


class ReadOnce(Table):
    """A table whose columns are kept after they were read.

    Examples
    --------
    >>> from hedgerow.data.table import read_table
    >>> whole = ReadOnce(read_table([[1.5, "red"], [None, "blue"], [0.5, "red"]]))
    >>> part = whole.part([0, 2])
    >>> part.column(1).categories, part.column(0).values
    (('red',), array([1.5, 0.5]))
    """

    def __init__(self, table: Table) -> None:
        self.n_rows, self.n_features, self.names = table.n_rows, table.n_features, table.names
        self._table, self._columns = table, dict[tuple[int, bool], Column]()

    @cached_property
    def kinds(self) -> list[str]:
        """What each column is, unless told otherwise."""
        return self._table.kinds

    def column(self, feature: int, categorical: bool = False) -> Column:
        """Return one column, which is read when it is first asked for."""
        key = feature, categorical
        if key not in self._columns:
            self._columns[key] = self._table.column(feature, categorical)
        return self._columns[key]

    def columns(self, features: range, categorical: Set[int] = frozenset()) -> list[Column]:
        """Return neighbouring columns."""
        asked = [(feature, feature in categorical) for feature in features]
        if categorical.isdisjoint(features) and not any(key in self._columns for key in asked):
            self._columns.update(zip(asked, self._table.columns(features), strict=True))
        return [self.column(*key) for key in asked]

    @cached_property
    def _numbers(self) -> NDArray[np.float64] | None:
        return self._table.numbers()

    def numbers(self) -> NDArray[np.float64] | None:
        """Return the whole table, if that needs no look at columns."""
        return self._numbers

    def part(self, rows: Any) -> "Part":
        """Return some rows as a table."""
        return Part(self, np.asarray(rows, np.int64))


class Part(Table):
    """Some rows of a table that is read once, and what was made of them."""

    keeps_codes = True

    def __init__(self, whole: ReadOnce, rows: NDArray[np.int64]) -> None:
        self.n_rows, self.n_features, self.names = len(rows), whole.n_features, whole.names
        self._whole, self._rows = whole, rows
        self._kept, self._lock = dict[Hashable, Any](), RLock()

    @property
    def kinds(self) -> list[str]:
        """What each column of the whole table is."""
        return self._whole.kinds

    def column(self, feature: int, categorical: bool = False) -> Column:
        """Return the part's rows of a column, with only the categories that occur there."""
        return self._whole.column(feature, categorical).some(self._rows)

    def columns(self, features: range, categorical: Set[int] = frozenset()) -> list[Column]:
        """Return neighbouring columns."""
        return [column.some(self._rows) for column in self._whole.columns(features, categorical)]

    def numbers(self) -> NDArray[np.float64] | None:
        """Return the part's rows of the whole table, if that needs no look at columns."""
        whole = self._whole.numbers()
        return None if whole is None else np.ascontiguousarray(whole[self._rows])

    def once(self, what: tuple[Any, ...], make: Callable[[], Thing]) -> Thing:
        """Return what was made of this part before, or make it and keep it."""
        key = tuple(each.tobytes() if isinstance(each, np.ndarray) else each for each in what)
        with self._lock:  # a second thread waits for what the first one makes
            if key not in self._kept:
                self._kept[key] = make()
            thing: Thing = self._kept[key]
        return thing
