"""How times are taken: the answer first, then runs in turns; the minimum and the median.

Each model has a process of its own, and a moment of rest before its turn: threads of OpenMP
stay awake for a while after their work, and would take the cores from whoever comes next.

A result is one line of JSON with the revision, the machine, its load and every time that was
measured. Times of different machines are never compared.
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
ENOUGH = 15  # runs of each, for a number that is quoted
LIBRARIES = ("numpy", "numba", "scikit-learn")
REST = 0.3  # seconds, longer than the threads of any library stay awake
_OWN: dict[str, Any] = {}  # what a model's process has

console = Console(highlight=False, width=110)


class Contest(NamedTuple):
    """Models that learn the same thing, and how well they know it."""

    name: str
    train: tuple[Any, Any]
    test: tuple[Any, Any]
    models: dict[str, Any]
    score: Callable[[Any, Any], float]  # (y, predicted)
    score_name: str
    steps: tuple[str, ...] = ("fit", "predict")  # what is timed
    versions: dict[str, str | None] | None = None  # of the models' libraries


def held(contest: Contest, repeats: int, file: Path) -> None:
    """Hold a contest, show its outcome and keep it."""
    facts = {
        "contest": contest.name,
        "shape": list(contest.train[0].shape),
        "machine": machine(),
        "versions": contest.versions,
        "revision": revision(),
        "load_before": round(os.getloadavg()[0], 2),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with ExitStack() as stack:
        booths = {name: stack.enter_context(booth(contest, name)) for name in contest.models}
        scores = {name: booth.submit(answered).result() for name, booth in booths.items()}
        times = taken_in_turns(contest, booths, repeats)
        peaks = {name: booth.submit(peak_bytes).result() for name, booth in booths.items()}
    record = facts | {"scores": scores, "seconds": times, "peak_bytes": peaks}
    show(contest, record, previous(file, record))
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(record) + "\n")


def booth(contest: Contest, name: str) -> ProcessPoolExecutor:
    """Return a process that has one model and what it learns."""
    given = contest._replace(models={}), contest.models[name]
    spawned = get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=spawned, initializer=_enter, initargs=given)


def _enter(contest: Contest, model: Any) -> None:
    """Keep, in the model's process, what it is asked to do."""
    _OWN.update(contest=contest, model=model)


def answered() -> float:
    """Fit once without a clock, which compiles, and score the rows that were held out."""
    contest, (X, y) = _OWN["contest"], _OWN["contest"].test
    return float(contest.score(y, _OWN["model"].fit(*contest.train).predict(X)))


def peak_bytes() -> int:
    """Return the most memory that the model's process has had, its tables included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def taken_in_turns(
    contest: Contest, booths: dict[str, ProcessPoolExecutor], repeats: int
) -> dict[str, dict[str, list[float]]]:
    """Time `fit` and `predict`, A B C, B C A, ...: a busy minute troubles all alike."""
    names = list(booths)
    times: dict[str, dict[str, list[float]]] = {n: {s: [] for s in contest.steps} for n in names}
    for turn in range(repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            time.sleep(REST)
            for step in contest.steps:
                times[name][step].append(booths[name].submit(timed, step).result())
    return times


def timed(step: str) -> float:
    """Return the seconds of `fit` or `predict`."""
    contest = _OWN["contest"]
    given = contest.train if step == "fit" else contest.test[:1]
    start = time.perf_counter()
    getattr(_OWN["model"], step)(*given)
    return round(time.perf_counter() - start, 6)


def show(contest: Contest, record: dict[str, Any], before: dict[str, Any] | None) -> None:
    n_rows, n_features = record["shape"]
    table = Table(
        title=f"{contest.name}, {n_rows:,} x {n_features}", box=None, title_justify="left"
    )
    table.add_column("", no_wrap=True)
    table.add_column(contest.score_name, justify="right")
    for step in contest.steps:
        for column in (f"{step}: min", "median", "last time"):
            table.add_column(column, justify="right")
    for name, times in record["seconds"].items():
        earlier = before["seconds"].get(name, {}) if before else {}
        cells = [cell for step in contest.steps for cell in shown(times[step], earlier.get(step))]
        table.add_row(name, f"{record['scores'][name]:.4f}", *cells)
    console.print(table, soft_wrap=True)
    gigabytes = {name: size / 1e9 for name, size in record["peak_bytes"].items()}
    peaks = ", ".join(f"{name} {size:.2f} GB" for name, size in gigabytes.items())
    console.print(f"most memory of a process: {peaks}", soft_wrap=True)
    n_runs = len(times[contest.steps[0]])
    few = "" if n_runs >= ENOUGH else f"; best of {n_runs}, and it takes {ENOUGH} to be quoted"
    console.print(f"{record['revision']}, load {record['load_before']}{few}\n", soft_wrap=True)


def shown(times: list[float], earlier: list[float] | None) -> tuple[str, str, str]:
    last = f"{min(earlier):.3f} s" if earlier else "-"
    return f"{min(times):.3f} s", f"{statistics.median(times):.3f} s", last


def previous(file: Path, record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the last result of the same contest on the same machine."""
    if not file.exists():
        return None
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    same = [
        line
        for line in lines
        if all(line[key] == record[key] for key in ("contest", "shape", "machine"))
    ]
    return same[-1] if same else None


def machine() -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": cpu_name(),
        "cores": cores,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    } | {library: version(library) for library in LIBRARIES}


def cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.split(":")[1].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor()


def revision() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return result.stdout.strip()
