"""Columns of pyarrow, read from their buffers and made of them.

pyarrow's own way to NumPy and back asks pandas first, which takes longer to import than a file of
some rows takes to read, and rounds integers that have nulls. No library of tables is imported
here unless one of its columns is asked for.
"""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import Coded, Numbers


def arrow_numbers(column: Any) -> Numbers:
    """Return a chunked array of bools, integers or floats."""
    array = _in_one(column)
    validity, data = array.buffers()
    n_rows, first = len(array), array.offset
    if array.type.bit_width == 1:
        values: NDArray[Any] = _bits(data, first, n_rows)
    else:
        dtype = np.dtype(array.type.to_pandas_dtype())
        values = np.frombuffer(data, dtype, count=first + n_rows)[first:]
    if not array.null_count:
        return Numbers(values)
    missing = ~_bits(validity, first, n_rows)
    if values.dtype.kind == "f":
        values = np.where(missing, np.nan, values).astype(values.dtype)
        return Numbers(values)
    return Numbers(values, missing)


def arrow_categories(column: Any) -> Coded:
    """Return a chunked array of a dictionary; its indices have nulls where rows have."""
    array = _in_one(column)  # and unifies dictionaries
    codes, missing = arrow_numbers(array.indices)
    codes = codes.astype(np.int64)
    if missing is not None:
        codes[missing] = -1
    return Coded(array.dictionary.to_pylist(), codes, declared=True)


def arrow_matrix(table: Any) -> NDArray[Any]:
    """Return a table of floats as a matrix, NaN where there are nulls."""
    return np.column_stack([arrow_numbers(column).values for column in table.columns])


def arrow_array(values: Any) -> Any:
    """Return numbers or texts as an array of pyarrow."""
    pyarrow = import_module("pyarrow")
    if isinstance(values, list) and values and all(type(each) is str for each in values):
        encoded = [each.encode() for each in values]
        ends = np.cumsum([0, *map(len, encoded)])
        places, texts = map(pyarrow.py_buffer, (ends, b"".join(encoded)))
        return pyarrow.LargeStringArray.from_buffers(len(values), places, texts)
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
        return pyarrow.array(values)
    held = np.packbits(values, bitorder="little") if values.dtype.kind == "b" else values
    kind = pyarrow.from_numpy_dtype(values.dtype)
    return pyarrow.Array.from_buffers(
        kind, len(values), [None, pyarrow.py_buffer(np.ascontiguousarray(held))]
    )


def _in_one(column: Any) -> Any:
    """Return an array of a column's chunks, or the only one that there is."""
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def _bits(buffer: Any, first: int, n_bits: int) -> NDArray[np.bool_]:
    """Return some bits of a buffer, the lowest of each byte first."""
    packed = np.frombuffer(buffer, np.uint8)
    return np.unpackbits(packed, bitorder="little", count=first + n_bits)[first:].view(np.bool_)
