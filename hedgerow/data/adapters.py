"""Sources of cells, one class per kind of table: arrays, sparse matrices, tables of pyarrow.

A source yields the cells of one column at a time and never changes what the user gave. Table
libraries are reached through the user's own objects, and through narwhals: see frames.py.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.arrow import arrow_categories, arrow_matrix, arrow_numbers
from hedgerow.data.columns import Coded, Numbers, Place, complex_data, object_cells
from hedgerow.data.values import float64, float64_columns, inexact_indices

NUMBER_KINDS = "biuf"  # numpy's letters for bool, int, uint, float
OBJECT_KINDS = "OUST"  # objects, str, bytes, StringDType
ARROW_FLOATS = {"halffloat", "float", "double"}
ARROW_NUMBERS = (
    ARROW_FLOATS | {"bool"} | {f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)}
)
ARROW_TEXTS = {"string", "large_string"}

ACCEPTED = (
    "Accepted are a 2-D numpy array, a scipy sparse matrix, a list of rows, and a pandas, polars "
    "or pyarrow table."
)


class Source(Protocol):
    """What a table needs of whatever holds it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and of features; of another length if it is no table."""

    @property
    def names(self) -> list[Any] | None:
        """The column names as given, of any type; None if there are none."""

    def kind(self, place: Place) -> str:
        """Return "numeric" or "categorical", converting no more than needed."""

    def cells(self, place: Place) -> Numbers | Coded:
        """Return the cells of one column."""

    def stripe(self, features: range) -> NDArray[np.float64] | None:
        """Return neighbouring columns as rows, if they are numbers and best read together."""

    def dense(self) -> NDArray[np.float64] | None:
        """Return all columns at once, if they are numbers by dtype that float64 holds."""


class ArrayColumns:
    """A numpy array, possibly masked."""

    names = None

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = np.asarray(array)
        self.missing = np.ma.getmaskarray(array) if np.ma.is_masked(array) else None
        self.shape = self.array.shape

    def kind(self, place: Place) -> str:
        """Return the kind of the dtype; objects are looked at."""
        kind = self.array.dtype.kind
        if kind not in OBJECT_KINDS:
            return "numeric"
        if kind in "US" and self.missing is None:
            return "categorical"
        return self.cells(place).kind

    def cells(self, place: Place) -> Numbers | Coded:
        """Return the cells of one column; masked ones are missing."""
        missing = None if self.missing is None else self.missing[:, place.feature]
        return array_cells(place, self.array[:, place.feature], missing)

    def stripe(self, features: range) -> NDArray[np.float64] | None:
        """Return these columns if rows are contiguous, nothing is masked and float64 holds all."""
        together = self.array[:, features.start : features.stop]
        by_row = abs(together.strides[0]) > abs(together.strides[1])
        if not by_row or self.missing is not None or not _is_exact(together):
            return None
        return float64_columns(together)

    def dense(self) -> NDArray[np.float64] | None:
        """Return the array itself, or its numbers, if nothing is masked."""
        return dense_numbers(self.array) if self.missing is None else None


class SparseColumns:
    """A scipy sparse matrix or array, in which what is not stored is zero."""

    names = None

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape = matrix.shape

    @cached_property
    def by_column(self) -> Any:
        """The matrix in CSC format, each cell stored at most once."""
        matrix = self.matrix.tocsc()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # it may be the user's own
            matrix.sum_duplicates()
        return matrix

    def kind(self, place: Place) -> str:  # noqa: ARG002  (a Source has it)
        """Return "numeric": scipy stores nothing else."""
        return "numeric"

    def cells(self, place: Place) -> Numbers | Coded:
        """Return the cells of one column, dense."""
        matrix = self.by_column
        stored = slice(matrix.indptr[place.feature], matrix.indptr[place.feature + 1])
        values = np.zeros(self.shape[0], dtype=matrix.dtype)
        values[matrix.indices[stored]] = matrix.data[stored]
        return array_cells(place, values)

    def stripe(self, features: range) -> None:
        """Return nothing: columns are read one by one."""

    def dense(self) -> NDArray[np.float64] | None:
        """Return the dense matrix."""
        return dense_numbers(self.by_column.toarray(order="C"))


class ArrowColumns:
    """A table of pyarrow. Its columns are read here, unless narwhals must say what they are."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.names = list(table.column_names)
        self.shape = table.shape
        self._kinds = [str(column.type).partition("<")[0] for column in table.columns]

    @cached_property
    def _other(self) -> Source:
        from hedgerow.data.frames import framed  # noqa: PLC0415  narwhals takes time

        return framed(self.table)

    def kind(self, place: Place) -> str:
        """Return the kind of the type."""
        kind, column = self._kinds[place.feature], self.table.column(place.feature)
        if kind in ARROW_NUMBERS:
            return "numeric"
        if kind in ARROW_TEXTS or kind == "dictionary":
            return "numeric" if column.null_count == len(column) else "categorical"
        return self._other.kind(place)

    def cells(self, place: Place) -> Numbers | Coded:
        """Return the cells of one column, as its type asks."""
        kind, column = self._kinds[place.feature], self.table.column(place.feature)
        if kind in ARROW_NUMBERS:
            return arrow_numbers(column)
        if kind == "dictionary":
            return arrow_categories(column)
        if kind in ARROW_TEXTS:
            return object_cells(place, column.to_pylist())
        return self._other.cells(place)

    def stripe(self, features: range) -> None:
        """Return nothing: columns are read one by one."""

    def dense(self) -> NDArray[np.float64] | None:
        """Return the whole table if every column is of floats."""
        return dense_numbers(arrow_matrix(self.table)) if {*self._kinds} <= ARROW_FLOATS else None


def source_of(X: Any) -> Source:
    """Return the source that reads X, or say why none does."""
    if _is_sparse(X):
        return SparseColumns(X)
    if isinstance(X, np.ndarray):
        return ArrayColumns(_plain_array(X))
    if isinstance(X, list | tuple):
        return ArrayColumns(_array_of_rows(X))
    if _is_arrow(X):
        if len({*X.column_names}) < len(X.column_names):
            raise duplicate_names(X)
        return ArrowColumns(X)
    from hedgerow.data.frames import source_of_frame  # noqa: PLC0415  narwhals takes time

    found = source_of_frame(X)
    if found is not None:
        return found
    if hasattr(X, "__arrow_c_stream__") or not hasattr(X, "__array__"):
        raise TypeError(f"X is of type {type(X).__name__}. {ACCEPTED} Convert it to one of these.")
    return ArrayColumns(_plain_array(np.asarray(X)))


def _is_sparse(X: Any) -> bool:
    """Tell whether X is a sparse matrix of SciPy, which whoever has one has imported."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _is_arrow(X: Any) -> bool:
    """Tell whether X is a table of pyarrow, which whoever has one has imported."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(X, pyarrow.Table)


def _plain_array(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.names is None:
        return array
    raise TypeError(
        f"X is a structured array with fields {array.dtype.names}. {ACCEPTED} Convert it with "
        "numpy.lib.recfunctions.structured_to_unstructured(X) or pandas.DataFrame(X)."
    )


def _array_of_rows(rows: Sequence[Any]) -> NDArray[Any]:
    """Return a list of rows as an array of objects, so that each column keeps its own type."""
    try:
        array = np.array(rows, dtype=object)
    except ValueError:
        array = np.empty(len(rows), dtype=object)
        array[:] = rows
    lengths = [len(row) for row in rows if isinstance(row, list | tuple | np.ndarray)]
    if array.ndim == 1 and lengths:
        raise ValueError(
            f"X is a list whose rows differ in length: from {min(lengths)} to {max(lengths)} "
            "values. Give every row as many values as there are features; None is missing."
        )
    return array


def duplicate_names(frame: Any) -> ValueError:
    """Return the error for columns of the same name."""
    # pyarrow's `columns` are the columns themselves.
    names = frame.column_names if hasattr(frame, "column_names") else list(frame.columns)
    repeated = [name for name, times in Counter(names).items() if times > 1]
    return ValueError(
        f"X has duplicate column names: {repeated}. Each column needs a name of its own; rename "
        "or drop the repeated ones."
    )


def not_two_dimensional(X: Any, dimensions: int) -> ValueError:
    """Return the error for a scalar or a list of numbers, in scikit-learn's words."""
    given = "1D" if dimensions else "scalar"
    return ValueError(
        f"Expected 2D array, got {given} array instead: X is of type {type(X).__name__}. Reshape "
        "your data either using array.reshape(-1, 1) if your data has a single feature or "
        "array.reshape(1, -1) if it contains a single sample; use X.to_frame() on a series."
    )


def array_cells(
    place: Place, values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> Numbers | Coded:
    """Return the cells of a column that is an array, as its dtype asks."""
    kind = values.dtype.kind
    if kind in NUMBER_KINDS:
        return Numbers(values, missing)
    if kind == "c":
        raise complex_data(place)
    if kind not in OBJECT_KINDS:
        raise wrong_dtype(place, values.dtype)
    objects = values.astype(object)
    if missing is not None:
        objects[missing] = None
    return object_cells(place, objects.tolist())


def dense_numbers(array: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a whole table as numbers, not copied if possible, if float64 holds them."""
    if array.dtype == np.float64 and array.flags.c_contiguous:
        return array
    return float64(array) if _is_exact(array) else None


def _is_exact(array: NDArray[Any]) -> bool:
    """Return whether these are numbers by dtype that float64 holds."""
    return array.dtype.kind in NUMBER_KINDS and not inexact_indices(array).size


def wrong_dtype(place: Place, dtype: Any) -> TypeError:
    """Return the error for a column that is neither numbers nor categories."""
    return TypeError(
        f"{place} has dtype {dtype}; accepted are numbers, bools, strings and categories. Turn "
        "dates and durations into numbers (year, month, seconds), and lists or structs into "
        "several columns, or drop the column."
    )
