"""Meanwhile: what is little is not kept waiting for a compiler; its kernels are interpreted.

To compile what a first fit needs takes most of a minute. To interpret the same kernels takes
seconds, if the table is small: Python does what their text says, and NumPy what there are many
rows for (in_bulk.py). Numbers are the same, to the bit; nobody can tell but by the clock.

    cold      nothing of a kernel is compiled, in this process or on disk
    little    work whose longest kernel is cold, and which Python does in some seconds

Meanwhile another process compiles what such work needs, a step of `hedgerow warmup`, so that the
next fit is as quick as it should be. HEDGEROW_INTERPRET=alone starts no process, and with
HEDGEROW_INTERPRET=0 everything waits for the compiler.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from numba._dispatcher import compute_fingerprint

from hedgerow.kernels.begging import have_compiled

_FEW = 15.0  # seconds that are less than what a compiler takes
_PATIENCE = 60.0  # seconds of a process after which it would have been better to compile


class _Here(threading.local):
    """What a thread is doing."""

    is_interpreting = False


_here = _Here()
_missing: set[Any] = set()  # kernels, and fingerprints of arguments, that were not on disk
_spent = [0.0]  # seconds of this process


class Little(NamedTuple):
    """Work that may be interpreted: how long that takes, and which kernel takes long to compile.

    step: of the warmup, that compiles what the work needs; "": nobody is asked to.
    """

    seconds: float
    kernel: Any
    step: str = ""

    def is_on(self) -> bool:
        """Tell whether it is to be interpreted."""
        is_brief = self.seconds <= _FEW and _spent[0] < _PATIENCE
        return is_brief and _asked() != "0" and is_cold(self.kernel)


def _asked() -> str:
    return os.environ.get("HEDGEROW_INTERPRET", "1")


def is_cold(kernel: Any) -> bool:
    """Tell whether nothing of a kernel is compiled. One that cannot be interpreted never is."""
    if not hasattr(kernel, "plain") or kernel.overloads:
        return False
    return not _index_of(kernel).exists()


def _index_of(kernel: Any) -> Path:
    """Return the file that says what is kept of a kernel."""
    return Path(kernel._cache._cache_file._index_path)


def can_wait(kernel: Any, plain: Callable[..., Any]) -> None:
    """Let a kernel be interpreted, as a function of Python."""
    compile_for = kernel._compile_for_args

    def compile_or_interpret(*arguments: Any) -> Any:
        return kernel.plain if is_missing(kernel, arguments) else compile_for(*arguments)

    kernel._compile_for_args, kernel.plain = compile_or_interpret, plain


def is_missing(kernel: Any, arguments: tuple[Any, ...]) -> bool:
    """Tell whether a kernel is to be interpreted here and now, for such arguments."""
    if not _here.is_interpreting or not hasattr(kernel, "plain"):
        return False
    key = kernel, compute_fingerprint(arguments)
    if key not in _missing:
        kinds = tuple(numba.typeof(each) for each in arguments)
        if kinds in kernel.overloads or kernel._cache.has(kinds, kernel.targetctx):
            return False
        _missing.add(key)
    return True


def is_interpreting() -> bool:
    """Tell whether this thread interprets what is not compiled."""
    return _here.is_interpreting


@contextmanager
def interpreted(work: Little | None) -> Iterator[None]:
    """Interpret what is not compiled, if the work is little; then have it compiled."""
    if work is None or _here.is_interpreting or not work.is_on():
        yield
        return
    begun, _here.is_interpreting = time.perf_counter(), True
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _here.is_interpreting = False
        _spent[0] += time.perf_counter() - begun
    if work.step and _asked() != "alone":
        have_compiled(work.step, _index_of(work.kernel).parent.parent)
