"""One value of a table: what it means, what stands for it, whether float64 can hold it."""

import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.pages import passing

EXACT = 2**53  # float64 holds every integer up to here, and only some beyond
_CHUNK = 4096  # rows that stay in a near cache while their columns are read one by one


def plain(value: Any) -> Any:
    """Return the Python value that stands for equal values of every library.

    Text is str (bytes too, if they are UTF-8), a bool stays one, an integral number is an int,
    any other number a float. The rest is left alone.
    """
    kind = family(type(value))
    if kind == "number":
        return plain_number(value)
    if kind == "text":
        return str.__str__(value) if isinstance(value, str) else _text_or_bytes(value)
    return value


def plain_number(value: Any) -> int | float:
    """Return a bool, an int if the number is integral, or a float."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    try:
        whole = int(value)
    except OverflowError:  # an infinity
        return float(value)
    return whole if whole == value else float(value)


def _text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return bytes(value)


def order(value: Any) -> tuple[Any, ...]:
    """Return the sort key of a category: by family, then by value."""
    # A bool equals a number (True == 1), so it must rank as one: equal values, equal order.
    if isinstance(value, int | float):
        return (0, value)
    if isinstance(value, str):
        return (1, value)
    if isinstance(value, bytes):
        return (2, value)
    return (3, type(value).__name__, repr(value))


def family(value_type: type) -> str:
    """Return what a type of cell counts as: number, text, complex or other."""
    if issubclass(value_type, str | bytes):
        return "text"
    if issubclass(value_type, np.timedelta64):  # a number to numpy, a duration to its owner
        return "other"
    if issubclass(value_type, numbers.Real | Decimal | np.bool_):
        return "number"
    return "complex" if issubclass(value_type, numbers.Complex) else "other"


def families(values: Iterable[Any]) -> set[str]:
    """Return the families that occur among the values."""
    return {family(value_type) for value_type in set(map(type, values))}


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    # pandas is not imported, so its NA is known by name; NaN and NaT differ from themselves.
    return (
        value is None or type(value).__name__ == "NAType" or bool(value != value)  # noqa: PLR0124
    )


def is_hashable(value: Any) -> bool:
    """Return whether a value can be a category."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def float64(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a C-contiguous float64 copy without negative zeros."""
    floats = np.empty(values.shape)
    _copy(values, floats)
    return floats


def float64_columns(matrix: NDArray[Any]) -> NDArray[np.float64]:
    """Return the columns of a matrix, each contiguous, as float64 without negative zeros."""
    columns: NDArray[np.float64] = passing(matrix.shape[::-1], np.float64)
    for begin in range(0, len(matrix), _CHUNK):
        rows = slice(begin, begin + _CHUNK)
        _copy(matrix[rows].T, columns[:, rows])
    return columns


def _copy(values: NDArray[Any], floats: NDArray[np.float64]) -> None:
    # Extended precision beyond float64's range becomes infinite, which is still in order.
    with np.errstate(over="ignore", invalid="ignore"):
        np.add(values, 0.0, out=floats, dtype=np.float64)  # -0.0 + 0.0 is 0.0


def inexact_indices(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return where a (raveled) integer has no float64 equal to it."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return np.empty(0, dtype=np.int64)
    values = values.ravel()
    large = np.flatnonzero((values > EXACT) | (values < -EXACT))
    suspects = values[large]
    odd = suspects // (suspects & -suspects)  # without the factors of two: the significant bits
    inexact: NDArray[np.int64] = large[(odd > EXACT) | (odd < -EXACT)]
    return inexact


def is_exact(number: int | float) -> bool:
    """Return whether a float64 equals the number."""
    if isinstance(number, float):
        return True
    bits = number.bit_length()
    trailing_zeros = (number & -number).bit_length() - 1
    return bits <= 1024 and bits - trailing_zeros <= 53
