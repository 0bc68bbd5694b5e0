"""When Python need not look for garbage: a command is brief, and what it imports stays."""

import atexit
import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End the process when threads and exit handlers are done, without taking anything apart.

    That would take a tenth of a second; and a library with threads of its own may abort then,
    after all has been said and done.
    """
    threading._shutdown()  # type: ignore[attr-defined]  # as Python does first
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # nobody reads it any more
            code = code or 1
    os._exit(code)


@contextmanager
def none_looked_for() -> Iterator[None]:
    """Look for no garbage while much is made, and all of it stays."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
