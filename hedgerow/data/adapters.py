"""Sources of cells, one class per kind of table: arrays, sparse matrices, data frames.

A source yields the cells of one column at a time and never changes what the user gave. Table
libraries are reached through narwhals and the user's own objects; none is imported.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.arrow import arrow_categories, arrow_matrix, arrow_numbers
from hedgerow.data.columns import Coded, Numbers, Place, complex_data, encoded, object_cells
from hedgerow.data.values import float64, float64_columns, inexact_indices

NUMBER_KINDS = "biuf"  # numpy's letters for bool, int, uint, float
OBJECT_KINDS = "OUST"  # objects, str, bytes, StringDType
WIDE_NUMBERS = (nw.Decimal, nw.Int128, nw.UInt128)  # no numpy dtype: read as Python objects

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
        return _array_cells(place, self.array[:, place.feature], missing)

    def stripe(self, features: range) -> NDArray[np.float64] | None:
        """Return these columns if rows are contiguous, nothing is masked and float64 holds all."""
        together = self.array[:, features.start : features.stop]
        by_row = abs(together.strides[0]) > abs(together.strides[1])
        if not by_row or self.missing is not None or not _is_exact(together):
            return None
        return float64_columns(together)

    def dense(self) -> NDArray[np.float64] | None:
        """Return the array itself, or its numbers, if nothing is masked."""
        return _dense_numbers(self.array) if self.missing is None else None


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
        return _array_cells(place, values)

    def stripe(self, features: range) -> None:
        """Return nothing: columns are read one by one."""

    def dense(self) -> NDArray[np.float64] | None:
        """Return the dense matrix."""
        return _dense_numbers(self.by_column.toarray(order="C"))


class FrameColumns:
    """A data frame of any library that narwhals knows."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.names = list(frame.columns)
        self.shape = frame.shape

    def kind(self, place: Place) -> str:
        """Return the kind of the dtype; objects are looked at."""
        series = self.frame[:, place.feature]
        dtype = series.dtype
        if dtype in (nw.String, nw.Binary, nw.Categorical, nw.Enum):
            return "numeric" if series.null_count() == len(series) else "categorical"
        return self.cells(place).kind if dtype in (nw.Object, nw.Unknown) else "numeric"

    def cells(self, place: Place) -> Numbers | Coded:
        """Return the cells of one column, as its dtype asks."""
        series = self.frame[:, place.feature]
        dtype = series.dtype
        if dtype.is_temporal() or dtype.is_nested():
            raise _wrong_dtype(place, dtype)
        if dtype in (nw.Categorical, nw.Enum):
            return _category_cells(place, series)
        if dtype == nw.Unknown:
            return _array_cells(place, series.to_numpy())
        if (dtype.is_numeric() or dtype == nw.Boolean) and dtype not in WIDE_NUMBERS:
            return _number_cells(series)
        return object_cells(place, series.to_list())

    def stripe(self, features: range) -> None:
        """Return nothing: columns are read one by one."""

    def dense(self) -> NDArray[np.float64] | None:
        """Return the whole frame if every column is of floats."""
        if not all(dtype.is_float() for dtype in self.frame.schema.values()):
            return None
        native = self.frame.to_native()
        is_arrow = nw.dependencies.is_pyarrow_table(native)
        return _dense_numbers(arrow_matrix(native) if is_arrow else self.frame.to_numpy())


def source_of(X: Any) -> Source:
    """Return the source that reads X, or say why none does."""
    if _is_sparse(X):
        return SparseColumns(X)
    if isinstance(X, np.ndarray):
        return ArrayColumns(_plain_array(X))
    if isinstance(X, list | tuple):
        return ArrayColumns(_array_of_rows(X))
    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        raise _duplicate_names(X) from None
    if isinstance(frame, nw.DataFrame):
        return FrameColumns(frame)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"X is a lazy table ({type(X).__name__}), which has no rows yet. Call .collect() and "
            "pass the result."
        )
    if isinstance(frame, nw.Series):
        raise not_two_dimensional(X, 1)
    if hasattr(X, "__arrow_c_stream__") or not hasattr(X, "__array__"):
        raise TypeError(f"X is of type {type(X).__name__}. {ACCEPTED} Convert it to one of these.")
    return ArrayColumns(_plain_array(np.asarray(X)))


def _is_sparse(X: Any) -> bool:
    """Tell whether X is a sparse matrix of SciPy, which whoever has one has imported."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


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


def _duplicate_names(frame: Any) -> ValueError:
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


def _array_cells(
    place: Place, values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> Numbers | Coded:
    kind = values.dtype.kind
    if kind in NUMBER_KINDS:
        return Numbers(values, missing)
    if kind == "c":
        raise complex_data(place)
    if kind not in OBJECT_KINDS:
        raise _wrong_dtype(place, values.dtype)
    objects = values.astype(object)
    if missing is not None:
        objects[missing] = None
    return object_cells(place, objects.tolist())


def _number_cells(series: nw.Series[Any]) -> Numbers:
    if nw.dependencies.is_pyarrow_chunked_array(series.to_native()):
        return arrow_numbers(series.to_native())
    if series.dtype.is_float() or not series.null_count():
        return Numbers(series.to_numpy())
    # Libraries turn integers with nulls into floats, which rounds: fill the nulls first.
    filler = False if series.dtype == nw.Boolean else 0
    return Numbers(series.fill_null(filler).to_numpy(), series.is_null().to_numpy())


def _category_cells(place: Place, series: nw.Series[Any]) -> Coded:
    native = series.to_native()
    if nw.dependencies.is_pyarrow_chunked_array(native):
        return arrow_categories(native)
    if nw.dependencies.is_pandas_like_series(native) and hasattr(native, "cat"):
        return Coded(native.cat.categories.tolist(), native.cat.codes.to_numpy(), declared=True)
    return encoded(place, series.to_list(), declared=True)


def _dense_numbers(array: NDArray[Any]) -> NDArray[np.float64] | None:
    if array.dtype == np.float64 and array.flags.c_contiguous:
        return array
    return float64(array) if _is_exact(array) else None


def _is_exact(array: NDArray[Any]) -> bool:
    """Return whether these are numbers by dtype that float64 holds."""
    return array.dtype.kind in NUMBER_KINDS and not inexact_indices(array).size


def _wrong_dtype(place: Place, dtype: Any) -> TypeError:
    return TypeError(
        f"{place} has dtype {dtype}; accepted are numbers, bools, strings and categories. Turn "
        "dates and durations into numbers (year, month, seconds), and lists or structs into "
        "several columns, or drop the column."
    )
