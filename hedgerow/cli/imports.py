"""Imports that a command can do without."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_BLAS = "scipy.linalg.cython_blas"


@contextmanager
def no_linear_algebra() -> Iterator[None]:
    """Let Numba find no BLAS while it prepares to load kernels.

    It would import SciPy's linear algebra, which takes longer than all the rest of its
    preparations. Kernels have no matrices: they are the same with and without. A module that is
    None in `sys.modules` is one that cannot be imported.
    """
    if _BLAS in sys.modules:
        yield
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment]  # as the language reference says
    try:
        yield
    finally:
        del sys.modules[_BLAS]
