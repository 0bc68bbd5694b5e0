"""Begging: another process is asked to compile, while this one goes on.

It takes a step of `hedgerow warmup`, whoever it was started by, and keeps what it compiles.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from hedgerow.kernels.announcing import say_once

_STALE = 1800.0  # seconds after which whoever said that he compiles is not believed
_ROOT = Path(__file__).parents[2]


def have_compiled(step: str, directory: Path) -> None:
    """Have a process take a step of the warmup, unless one does; it may outlive this one.

    directory: where kernels are kept.
    """
    if not _is_python() or not _claims(directory / f"{step.replace(' ', '_')}.begun"):
        return
    say_once(
        "hedgerow: small fits are interpreted while another process compiles kernels (once for "
        "this version; `hedgerow warmup` does it ahead)\n"
    )
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    nothing = subprocess.DEVNULL
    try:
        begun = subprocess.Popen(
            [sys.executable, "-P", "-m", "hedgerow", "warmup", "--step", step],
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,
        )
    except OSError:  # the system does not let us: later work waits, as it did before
        return
    begun.returncode = 0  # nobody waits for it, and nobody is to be warned of that


def _is_python() -> bool:
    """Tell whether the program that runs is Python itself: another would begin itself again."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _claims(path: Path) -> bool:
    """Tell whether this process is the first, for a while, to make a file."""
    try:
        if path.exists() and time.time() - path.stat().st_mtime > _STALE:
            path.unlink()
        path.touch(exist_ok=False)
    except OSError:
        return False
    return True
