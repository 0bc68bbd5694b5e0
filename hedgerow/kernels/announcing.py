"""What a user is told of compiling: one line on stderr, once a process."""

import sys
from pathlib import Path

_announced = False


def silence() -> None:
    """Announce nothing in this process: who compiles on purpose need not be told."""
    global _announced  # noqa: PLW0603
    _announced = True


def announce(directory: Path | None) -> None:
    """Say on stderr, once a process, that kernels are being compiled for the first time."""
    if directory is None or not any(directory.rglob("*.nbc")):
        say_once(
            "hedgerow: compiling kernels (once for this version; `hedgerow warmup` does it ahead)\n"
        )


def say_once(message: str) -> None:
    """Say something of compiling on stderr, unless this process has said something."""
    global _announced  # noqa: PLW0603  one line a process is the point
    if not _announced:
        _announced = True
        sys.stderr.write(message)
