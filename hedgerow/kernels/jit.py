"""The one room that knows how kernels are compiled: the only compiler flags of the project."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types
from numba.extending import overload_method

from hedgerow.kernels.cache import KernelCache, private_directory

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.config
_DIRECTORY = None if config.DISABLE_JIT else private_directory()
_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
# A part is called by compiled code only: without wrappers for Python and C it compiles faster.
_PART_OPTIONS = _OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile a function that Python calls: no GIL, no Python objects, no fast-math, cached."""
    compiled = numba.njit(**_OPTIONS)(function)
    if _DIRECTORY is not None:
        before, config.CACHE_DIR = config.CACHE_DIR, str(_DIRECTORY)
        try:
            compiled._cache = KernelCache(function, _DIRECTORY)
        finally:
            config.CACHE_DIR = before
    return compiled


def part(function: Function) -> Function:
    """Compile a part of kernels: only they call it, and their binaries contain it."""
    return numba.njit(**_PART_OPTIONS)(function)


def callable_in_kernels(name: str, arguments: str = "") -> None:
    """Let kernels call `value.name(arguments)` on our NamedTuples, resolved when compiling.

    The name is then reserved: no NamedTuple that kernels see may have a field of this name.
    """
    method = eval(f"lambda self, {arguments}: getattr(self.instance_class, {name!r}, None)")
    for kind in (types.NamedTuple, types.NamedUniTuple):
        overload_method(kind, name, strict=False, jit_options=_PART_OPTIONS)(method)


callable_in_kernels("width")  # moments
callable_in_kernels("add", "record, cells, position")
callable_in_kernels("seen", "total, room")
callable_in_kernels("same", "record, other")
callable_in_kernels("key", "sums, order")
callable_in_kernels("n_orders")
callable_in_kernels("at", "moments, sums")  # criteria
callable_in_kernels("score", "sums")
callable_in_kernels("prepare", "codes, feature, n_codes, start, node, width, scratch")
callable_in_kernels("both", "below, above, keys, position")
callable_in_kernels("alone", "sums, keys, n_codes")
callable_in_kernels("mass", "sums")
