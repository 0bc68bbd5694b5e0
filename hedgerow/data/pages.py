"""Large arrays that are there for a moment, in pages of their own.

What a thread frees, malloc keeps for this thread: tens of megabytes that nobody else is given.
Pages of an array's own go back to the system with it.
"""

import math
import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LARGE = 1 << 23  # bytes; the system gives pages that it has to clear


def passing(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array for a moment, its content undefined."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if n_bytes < _LARGE or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty(shape, dtype)
    pages = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)  # as numpy does
    return np.frombuffer(pages, dtype).reshape(shape)
