"""The one room that knows how kernels are compiled: the only compiler flags of the project."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numba
from numba import types
from numba.extending import overload_method

from hedgerow.kernels.cache import kernel_cache, private_directory
from hedgerow.kernels.compiling import KernelCompiler, OutlinedCompiler, PartCompiler
from hedgerow.kernels.meanwhile import can_wait

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.config
_DIRECTORY = None if config.DISABLE_JIT else private_directory()
# Kernels own no memory, so nothing needs to count references to it (`_nrt`).
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "pipeline_class": KernelCompiler,
}


# A part is called by compiled code only: without a wrapper for Python it compiles faster.
_PART_OPTIONS = _OPTIONS | {"no_cpython_wrapper": True, "pipeline_class": PartCompiler}


def kernel(function: Function) -> Function:
    """Compile a function that Python calls: no GIL, no Python objects, no fast-math, cached."""
    compiled = numba.njit(**_OPTIONS)(function)
    if _DIRECTORY is not None:
        compiled._cache = kernel_cache(function, _DIRECTORY)
        if hasattr(compiled._cache, "has"):  # or else nobody could compile it meanwhile
            can_wait(compiled, function)
    return compiled


def part(function: Function) -> Function:
    """Compile a part of kernels: only they call it, and their binaries contain it.

    Python that calls it calls the function as it is written.
    """
    return _known_as(numba.njit(**_PART_OPTIONS)(function), function)


def inlined_part(function: Function) -> Function:
    """Compile a part that is called so often that handing over its arguments would cost more."""
    return _known_as(numba.njit(**_PART_OPTIONS, forceinline=True)(function), function)


def outlined_part(function: Function) -> Function:
    """Compile a part that is large and called from several places: there is one copy of it."""
    options = _PART_OPTIONS | {"pipeline_class": OutlinedCompiler, "forceinline": False}
    return _known_as(numba.njit(**options)(function), function)


def interpreted_as(twin: Callable[..., Any]) -> Callable[[Function], Function]:
    """Have a part, or a kernel, interpreted as its twin: the same, by NumPy, and sooner done.

    What the twin returns NotImplemented for is done as the part is written.
    """

    def chosen(function: Any) -> Any:
        is_kernel = hasattr(function, "overloads")
        text = function.py_func if is_kernel else function

        @wraps(text)
        def either(*arguments: Any) -> Any:
            done = twin(*arguments)
            return text(*arguments) if done is NotImplemented else done

        if is_kernel and hasattr(function, "plain"):
            function.plain = either
        if is_kernel or config.DISABLE_JIT:
            return function
        return _known_as(function.compiled, either)

    return chosen


def _known_as(compiled: Any, function: Any) -> Any:
    """Return a function of Python that kernels call as what was compiled."""
    if not config.DISABLE_JIT:
        function.compiled = compiled  # the type has a weak reference only
        function._numba_type_ = types.Dispatcher(compiled)  # what Numba asks any object for
    return function


def compiled_for(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """Compile (or load) a kernel in the calling thread, so that errors and Ctrl-C end there."""
    if hasattr(kernel, "overloads"):
        signature = tuple(numba.typeof(argument) for argument in arguments)
        if signature not in kernel.overloads:
            kernel.compile(signature)


def callable_in_kernels(name: str, arguments: str = "", *, inlined: bool = False) -> None:
    """Let kernels call `value.name(arguments)` on our NamedTuples, resolved when compiling.

    The name is then reserved: no NamedTuple that kernels see may have a field of this name.
    inlined: whatever its size, so that a loop around the call may use the machine's vectors.
    """
    method = eval(f"lambda self, {arguments}: getattr(self.instance_class, {name!r}, None)")
    for kind in (types.NamedTuple, types.NamedUniTuple):
        options = _PART_OPTIONS | {"forceinline": inlined}
        overload_method(kind, name, strict=False, jit_options=options)(method)


callable_in_kernels("width")  # moments
callable_in_kernels("load", "record")
callable_in_kernels("weighed", "record", inlined=True)
callable_in_kernels("put", "loaded, cells, position")
callable_in_kernels("add_up", "records, cells")
callable_in_kernels("sum_width")
callable_in_kernels("read", "cells, first, sums", inlined=True)
callable_in_kernels("occurs", "cells, first", inlined=True)
callable_in_kernels("widen", "cells, n_cells", inlined=True)
callable_in_kernels("of_class", "cells, first, k", inlined=True)
callable_in_kernels("count", "sums, first=0")
callable_in_kernels("seen", "total, room")
callable_in_kernels("moves")
callable_in_kernels("moved", "rows, numbers")
callable_in_kernels("grow_below", "team, problem, space, desk, nodes, origin, floor")
callable_in_kernels("same", "record, other")
callable_in_kernels("key", "sums, order")
callable_in_kernels("rare")
callable_in_kernels("n_orders")
callable_in_kernels("turned", "dial")  # moments and criteria
callable_in_kernels("at", "moments, sums")  # criteria
callable_in_kernels("score", "sums, first=0", inlined=True)
callable_in_kernels("scores_rows", "codes, feature, n_codes, start, node, width, scratch")
callable_in_kernels("best_cut", "problem, feature, n_codes, begin, end, start, node, scratch")
callable_in_kernels("best_along", "problem, feature, n, first, node, scratch", inlined=True)
callable_in_kernels("mass", "sums, first=0", inlined=True)
callable_in_kernels("ceiling", "problem, n_codes, total, scratch")
callable_in_kernels("grow_few", "team, problem, space, desk, nodes, origin, top", inlined=True)
callable_in_kernels("screen", "moments, rules, total, n_cuts, width, scratch", inlined=True)
callable_in_kernels("pair", "sums, first=0", inlined=True)
callable_in_kernels("within", "low, high")
callable_in_kernels("toward", "feature")
callable_in_kernels("both", "left, right, first=0", inlined=True)
callable_in_kernels("halved", "left, right")
callable_in_kernels("mean", "sums, first=0", inlined=True)
callable_in_kernels("loss", "y, f", inlined=True)  # losses
callable_in_kernels("gradient", "y, f", inlined=True)
callable_in_kernels("hessian", "y, f", inlined=True)
callable_in_kernels("gradients", "y, f, g, h")
callable_in_kernels("worth", "gain, gap", inlined=True)  # losses of pairs
callable_in_kernels("add_leaf", "leaf, extra, first, out", inlined=True)  # ballots
callable_in_kernels("vote", "leaf", inlined=True)
callable_in_kernels("note", "thread, level, column, flow, trees, node, slate", inlined=True)
callable_in_kernels("settle", "thread, out")
