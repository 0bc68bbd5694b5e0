"""One feature of a table: its numbers, or its categories and their codes.

Missing is NaN among numbers and -1 among codes. Cells are what a table holds before it is known
how they will be read: `Numbers` (an array) or `Coded` (distinct values and who has which).
Equal values are one category, whatever library or type they came in.
"""

import reprlib
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.values import (
    EXACT,
    families,
    family,
    float64,
    inexact_indices,
    is_exact,
    is_hashable,
    is_missing,
    order,
    plain,
    plain_number,
)


class Column(NamedTuple):
    """One feature of a table.

    Attributes
    ----------
    name : str or None
        For messages.
    values : float64 [n_rows] or int32 [n_rows]
        Numbers with NaN for missing, or codes with -1 for missing. Contiguous.
    categories : tuple or None
        None if numeric. Otherwise the distinct values, which the codes index: numbers (and
        bools) ascending, strings by code point, bytes that are not text, then anything else.
    """

    name: str | None
    values: NDArray[Any]
    categories: tuple[Any, ...] | None

    def some(self, rows: NDArray[np.int64]) -> "Column":
        """Return some rows, with only the categories that occur there."""
        values = np.ascontiguousarray(self.values[rows])
        if self.categories is None:
            return self._replace(values=values)
        used = np.flatnonzero(np.bincount(values + 1, minlength=len(self.categories) + 1)[1:])
        lookup = np.full(len(self.categories) + 1, -1, np.int32)
        lookup[used] = np.arange(len(used))
        return Column(self.name, lookup[values], tuple(self.categories[code] for code in used))


class Place(NamedTuple):
    """Which column a message speaks of."""

    feature: int
    name: str | None

    def __str__(self) -> str:
        return f"column {self.feature}" if self.name is None else f"column {self.name!r}"


class Numbers(NamedTuple):
    """Cells that are numbers by dtype: bool, int, uint or float.

    Attributes
    ----------
    values : [n_rows]
    missing : bool [n_rows] or None
        Where the value does not count. NaN is missing as well.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None

    @property
    def kind(self) -> str:
        """Numeric, by dtype."""
        return "numeric"

    def column(self, place: Place, categorical: bool) -> Column:
        """Return the numbers, or their distinct values as categories."""
        if categorical:
            return self._as_categories(place)
        inexact = inexact_indices(self.values)
        if self.missing is not None:
            inexact = inexact[~self.missing[inexact]]
        if inexact.size:
            raise _inexact_integer(place, self.values[inexact[0]], inexact[0])
        floats = float64(self.values)
        if self.missing is not None:
            floats[self.missing] = np.nan
        return Column(place.name, floats, None)

    def _as_categories(self, place: Place) -> Column:
        values = float64(self.values) if self.values.dtype.kind == "f" else self.values
        present = ~np.isnan(values)
        if self.missing is not None:
            present &= ~self.missing
        distinct, found = np.unique(values[present], return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.int32)
        codes[present] = found
        categories = distinct.tolist()
        if values.dtype.kind == "f":
            categories = [plain_number(value) for value in categories]
        return Column(place.name, codes, tuple(categories))


class Coded(NamedTuple):
    """Cells that are Python objects, or categories by dtype.

    Attributes
    ----------
    distinct : list
        The distinct values in any order; may hold unused and missing ones.
    codes : int [n_rows]
        Index in `distinct`; -1 is missing.
    declared : bool
        Whether the dtype says that these are categories.
    """

    distinct: list[Any]
    codes: NDArray[Any]
    declared: bool = False

    @property
    def kind(self) -> str:
        """Categorical if declared so or all text; numeric if there is no value at all."""
        return "categorical" if self._is_category(self._present()) else "numeric"

    def column(self, place: Place, categorical: bool) -> Column:
        """Return categories or numbers, whichever these cells are, or categories on request."""
        present = self._present()
        if categorical or self._is_category(present):
            return self._as_categories(place, present)
        return self._as_numbers(place, present)

    def _present(self) -> list[int]:
        """Return the indices of the distinct values that occur and are not missing."""
        used = np.zeros(len(self.distinct) + 1, dtype=bool)
        used[self.codes] = True  # -1 marks the extra last cell
        present: list[int] = np.flatnonzero(used[:-1]).tolist()
        if set(map(type, self.distinct)) == {str}:
            return present
        return [index for index in present if not is_missing(self.distinct[index])]

    def _is_category(self, present: list[int]) -> bool:
        return self._families(present) == {"text"} or (self.declared and bool(present))

    def _families(self, present: list[int]) -> set[str]:
        return families(map(self.distinct.__getitem__, present))

    def _as_categories(self, place: Place, present: list[int]) -> Column:
        values = [self.distinct[index] for index in present]
        texts_only = set(map(type, values)) == {str}
        if not texts_only:
            values = [plain(value) for value in values]
        categories = sorted(dict.fromkeys(values), key=None if texts_only else order)
        rank = dict(zip(categories, count(), strict=False))
        recode = np.full(len(self.distinct) + 1, -1, dtype=np.int32)  # the last one is for -1
        recode[present] = np.fromiter(map(rank.__getitem__, values), np.int32, len(values))
        return Column(place.name, recode[self.codes], tuple(categories))

    def _as_numbers(self, place: Place, present: list[int]) -> Column:
        if not self._families(present) <= {"number"}:
            raise self._not_numbers(place, present)
        floats = np.full(len(self.distinct) + 1, np.nan)  # the last one is for -1
        for index in present:
            number = plain(self.distinct[index])
            if not is_exact(number):
                raise _inexact_integer(place, number, self._first_row(index))
            floats[index] = number
        return Column(place.name, floats[self.codes], None)

    def _not_numbers(self, place: Place, present: list[int]) -> Exception:
        first: dict[str, int] = {}
        for index in present:
            first.setdefault(family(type(self.distinct[index])), index)
        if "other" in first:
            index = first["other"]
            return _unreadable(place, self.distinct[index], self._first_row(index))
        if "complex" in first:
            return complex_data(place)
        given = " and ".join(
            f"{reprlib.repr(self.distinct[index])} (row {self._first_row(index)})"
            for index in first.values()
        )
        return ValueError(
            f"{place} mixes numbers and strings: {given}. A column is accepted as all numbers or "
            "all strings. Convert it to one of the two, or list it in categorical_features to "
            "read each distinct value as a category."
        )

    def _first_row(self, index: int) -> int:
        return int(np.argmax(self.codes == index))


def object_cells(place: Place, values: Sequence[Any]) -> Numbers | Coded:
    """Return the cells of a list of Python objects."""
    if set(map(type, values)) <= {float, int, NoneType}:
        with suppress(OverflowError):
            floats = np.array(values, dtype=np.float64)
            if not np.any(np.abs(floats) >= EXACT):  # from there on, integers may have been rounded
                return Numbers(floats)
    return encoded(place, values)


def encoded(place: Place, values: Sequence[Any], declared: bool = False) -> Coded:
    """Return a list of hashable objects as its distinct values, in order of appearance."""
    positions: defaultdict[Any, int] = defaultdict(count().__next__)
    try:
        codes = np.fromiter(map(positions.__getitem__, values), np.int32, len(values))
    except TypeError:
        row = next(row for row, value in enumerate(values) if not is_hashable(value))
        raise _unreadable(place, values[row], row) from None
    return Coded(list(positions), codes, declared)


def _inexact_integer(place: Place, value: Any, row: Any) -> ValueError:
    return ValueError(
        f"{place} holds the integer {value} in row {row}, which float64 cannot represent exactly "
        "(integers are accepted up to 2^53, and beyond if exact). Cast the column to strings if "
        "these are categories or identifiers, or to float to accept rounding."
    )


def complex_data(place: Place) -> ValueError:
    """Return the error for complex numbers, in scikit-learn's words."""
    return ValueError(
        f"Complex data not supported: {place} holds complex numbers. Pass the real and the "
        "imaginary part as two columns."
    )


def _unreadable(place: Place, value: Any, row: int) -> TypeError:
    return TypeError(
        f"{place} holds {reprlib.repr(value)} ({type(value).__name__}) in row {row}: each cell "
        "of the argument must be a string (a category), a number or missing. Turn dates into "
        "numbers (year, month, seconds), and other values into several columns, or drop the column."
    )
