"""Data frames of any library that narwhals knows, as sources of cells."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.adapters import (
    Source,
    array_cells,
    dense_numbers,
    duplicate_names,
    not_two_dimensional,
    source_of,
    wrong_dtype,
)
from hedgerow.data.columns import Coded, Numbers, Place, encoded, object_cells

WIDE_NUMBERS = (nw.Decimal, nw.Int128, nw.UInt128)  # no numpy dtype: read as Python objects


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
            raise wrong_dtype(place, dtype)
        if dtype in (nw.Categorical, nw.Enum):
            return _category_cells(place, series)
        if dtype == nw.Unknown:
            return array_cells(place, series.to_numpy())
        if (dtype.is_numeric() or dtype == nw.Boolean) and dtype not in WIDE_NUMBERS:
            return _number_cells(series)
        return object_cells(place, series.to_list())

    def stripe(self, features: range) -> None:
        """Return nothing: columns are read one by one."""

    def dense(self) -> NDArray[np.float64] | None:
        """Return the whole frame if every column is of floats."""
        if not all(dtype.is_float() for dtype in self.frame.schema.values()):
            return None
        return dense_numbers(self.frame.to_numpy())


def framed(table: Any) -> FrameColumns:
    """Return a table as narwhals sees it."""
    return FrameColumns(nw.from_native(table, eager_only=True))


def source_of_frame(X: Any) -> Source | None:
    """Return the source that reads a frame, None if X is not one, or say why none does."""
    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        raise duplicate_names(X) from None
    if isinstance(frame, nw.DataFrame):
        own = frame.to_native()
        return source_of(own) if nw.dependencies.is_pyarrow_table(own) else FrameColumns(frame)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"X is a lazy table ({type(X).__name__}), which has no rows yet. Call .collect() and "
            "pass the result."
        )
    if isinstance(frame, nw.Series):
        raise not_two_dimensional(X, 1)
    return None


def _number_cells(series: nw.Series[Any]) -> Numbers:
    if series.dtype.is_float() or not series.null_count():
        return Numbers(series.to_numpy())
    # Libraries turn integers with nulls into floats, which rounds: fill the nulls first.
    filler = False if series.dtype == nw.Boolean else 0
    return Numbers(series.fill_null(filler).to_numpy(), series.is_null().to_numpy())


def _category_cells(place: Place, series: nw.Series[Any]) -> Coded:
    native = series.to_native()
    if nw.dependencies.is_pandas_like_series(native) and hasattr(native, "cat"):
        return Coded(native.cat.categories.tolist(), native.cat.codes.to_numpy(), declared=True)
    return encoded(place, series.to_list(), declared=True)
