"""Progress of many fits, shown on a terminal if they take longer than a second."""

import sys
import time
from typing import Self

from hedgerow.estimators.control import Bar

_PATIENCE = 1.0  # seconds


class Progress:
    """How many fits are done, of how many."""

    def __init__(self, what: str, n_fits: int, verbose: bool) -> None:
        self._bar = Bar(n_fits, what) if verbose and sys.stderr.isatty() else None
        self._begun, self._done = time.monotonic(), 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self) -> None:
        """Count one more."""
        self._done += 1
        if self._bar is not None and time.monotonic() - self._begun > _PATIENCE:
            self._bar.show(self._done)
