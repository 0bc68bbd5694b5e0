"""How much memory work takes: the most that is resident while it runs, above what was before.

The tables that a model is given are there before, so they are not counted; what the work leaves
behind, such as a model, is. Linux only: elsewhere nothing is said, rather than something else.
"""

import gc
from collections.abc import Callable
from pathlib import Path

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def taken_by(work: Callable[[], object]) -> int | None:
    """Do the work; return its bytes, or None if the system does not tell."""
    gc.collect()
    can_tell = forget_peak()
    before = resident("VmRSS") if can_tell else 0
    work()
    return max(resident("VmHWM") - before, 0) if can_tell else None


def forget_peak() -> bool:
    """Let the kernel count the most memory anew from now on; tell whether it does."""
    try:
        _RESET.write_text("5")
    except OSError:
        return False
    return True


def resident(field: str) -> int:
    """Return bytes that are resident now (VmRSS), or the most that have been (VmHWM)."""
    lines = _STATUS.read_text(encoding="utf-8").splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return 1024 * int(kilobytes)
