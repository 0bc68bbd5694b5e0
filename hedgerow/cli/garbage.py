"""When Python need not look for garbage: a command is brief, and what it imports stays."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


def leave_it_at_the_end() -> None:
    """Let a process end without looking through all that it has for garbage, several times."""
    atexit.register(gc.freeze)


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
