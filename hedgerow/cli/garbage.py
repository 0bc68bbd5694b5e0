"""How a command ends: it is brief, and nothing of it need be taken apart."""

import atexit
import os
import sys
import threading
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
