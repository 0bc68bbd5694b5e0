"""Memory that goes back to the system: large arrays that are there for a moment.

What a thread frees, malloc keeps for this thread: tens of megabytes that nobody else is given.
Pages of an array's own go back to the system with it.
"""

import ctypes
import math
import mmap
import sys
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LARGE = 1 << 23  # bytes; the system gives pages that it has to clear
_LINE = 64  # bytes, of a cache
_MANY = 200_000  # rows


def passing(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array for a moment, its content undefined."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if n_bytes < _LARGE or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty(shape, dtype)
    pages = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)  # as numpy does
    return np.frombuffer(pages, dtype).reshape(shape)


class Room:
    """Pages that the arrays of one thread share, one behind the other, until they are given up."""

    def __init__(self, n_bytes: int) -> None:
        self._pages, self.used = passing((n_bytes,), np.uint8), 0

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array in these pages, or elsewhere if they are full; its content undefined."""
        kind = np.dtype(dtype)
        begin = -(-self.used // _LINE) * _LINE
        end = begin + math.prod(shape) * kind.itemsize
        if end > len(self._pages):
            return np.empty(shape, dtype)
        self.used = end
        return self._pages[begin:end].view(kind).reshape(shape)

    def give_up(self, used: int) -> None:
        """Give up the arrays that were taken since so many bytes were used."""
        self.used = used


def give_back(n_rows: int) -> None:
    """Let malloc give the system what it keeps of freed arrays of many rows, if it can (glibc).

    It takes a millisecond.
    """
    is_linux = sys.platform == "linux"
    if n_rows >= _MANY and is_linux and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
