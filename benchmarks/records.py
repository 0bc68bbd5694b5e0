"""Records: one line of JSON for each measurement, with the revision, the machine and its load.

Times of different machines are never compared: a record knows which machine it is from.
"""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
ENOUGH = 15  # runs of each, for a number that is quoted
LIBRARIES = ("numpy", "numba", "scikit-learn")

Record = dict[str, Any]


def facts(contest: str) -> Record:
    """Return what every record says, taken before the work begins."""
    return {
        "contest": contest,
        "machine": machine(),
        "revision": revision(),
        "load_before": load(),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def load() -> float:
    """Return how many processes wanted a core, on average of the last minute."""
    return round(os.getloadavg()[0], 2)


def kept(record: Record, file: Path) -> None:
    """Append a record to a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(record) + "\n")


def read(file: Path) -> list[Record]:
    """Return the records of a file, none if it is not there."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def previous(file: Path, record: Record) -> Record | None:
    """Return the last record of the same contest and shape on the same machine."""
    same = [
        each
        for each in read(file)
        if all(each.get(key) == record.get(key) for key in ("contest", "shape"))
        and is_same_machine(each["machine"], record["machine"])
    ]
    return same[-1] if same else None


def is_same_machine(one: Record, other: Record) -> bool:
    """Compare what both know: older records know less."""
    return all(one[fact] == other[fact] for fact in one.keys() & other.keys())


_WIDTHS = {"avx512bw": ", AVX-512", "avx2": ", AVX2"}


def machine() -> Record:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": cpu_name(),
        "cores": cores,
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    } | {library: version(library) for library in LIBRARIES}


def cpu_name() -> str:
    """Return the processor's name, and the widest registers it has: names may hide generations."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.split(":")[1].strip() for line in text.splitlines() if "model name" in line]
    width = next((shown for flag, shown in _WIDTHS.items() if f" {flag}" in text), "")
    return f"{names[0]}{width}" if names else platform.processor()


def memory_gb() -> int | None:
    """Return the machine's memory, None if the system does not tell."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9)
    except (AttributeError, ValueError):
        return None


def revision() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return result.stdout.strip()
