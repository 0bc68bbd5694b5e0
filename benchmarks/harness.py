"""How times are taken: the answer first, then runs in turns; the minimum and the median.

Each model has a process of its own, on as many cores as it is given threads, and a moment of rest
before its turn: threads of OpenMP stay awake for a while after their work, and would take the
cores from whoever comes next. Wall time is what a user waits for, processor time what all threads
did together, and memory what the fit had above the tables it was given.
"""

import os
import statistics
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.memory import taken_by
from benchmarks.records import ENOUGH, Record, facts, kept, load, previous
from benchmarks.units import duration

REST = 0.3  # seconds, longer than the threads of any library stay awake
FEW_ROWS = 5000  # of a first fit, which loads and compiles
_OWN: dict[str, Any] = {}  # what a model's process has

os.environ.setdefault("HEDGEROW_INTERPRET", "0")  # what is timed is compiled, in any process
console = Console(highlight=False, width=150)
Times = dict[str, dict[str, list[float]]]  # model -> step -> seconds of each run


class Contest(NamedTuple):
    """Models that learn the same thing, and how well they know it."""

    name: str
    train: tuple[Any, Any]
    test: tuple[Any, Any]
    models: dict[str, Any]
    score: Callable[[Any, Any], float]  # (y, predicted)
    score_name: str
    steps: tuple[str, ...] = ("fit", "predict")  # what is timed: methods of the models
    versions: dict[str, str | None] | None = None  # of the models' libraries
    threads: int | None = None  # cores of each model's process; None: all
    parts: int = 1  # what times are divided by: calls inside one step


def held(contest: Contest, repeats: int, file: Path) -> None:
    """Hold a contest, show its outcome and keep it."""
    record = facts(contest.name) | {
        "shape": list(contest.train[0].shape),
        "threads": contest.threads,
        "versions": contest.versions,
        "score_name": contest.score_name,
    }
    with ExitStack() as stack:
        booths = {name: stack.enter_context(booth(contest, name)) for name in contest.models}
        answers = {name: booth.submit(answered).result() for name, booth in booths.items()}
        wall, processor = taken_in_turns(contest, booths, repeats)
    record["scores"] = {name: score for name, (score, _) in answers.items()}
    record |= {"seconds": wall, "processor_seconds": processor}
    record["fit_bytes"] = {name: n_bytes for name, (_, n_bytes) in answers.items()}
    record["load_after"] = load()
    show(contest, record, previous(file, record))
    kept(record, file)


def booth(contest: Contest, name: str) -> ProcessPoolExecutor:
    """Return a process that has one model and what it learns."""
    given = contest._replace(models={}), contest.models[name]
    spawned = get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=spawned, initializer=_enter, initargs=given)


def _enter(contest: Contest, model: Any) -> None:
    """Keep, in the model's process, what it is asked to do, and take its cores."""
    warnings.simplefilter("ignore")  # a peer may warn of what it will be in a year
    pin(contest.threads)
    _OWN.update(contest=contest, model=model)


def pin(threads: int | None) -> None:
    """Leave this process only so many cores, the last ones, where the system can do that."""
    if threads is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def answered() -> tuple[float, int | None]:
    """Fit without a clock, score the rows that were held out, and say what memory the fit took.

    A fit of few rows comes first: it loads and compiles, which is not the memory of a fit.
    """
    contest, model, (X, y) = _OWN["contest"], _OWN["model"], _OWN["contest"].train
    model.fit(X[:FEW_ROWS], y[:FEW_ROWS])
    n_bytes = taken_by(lambda: model.fit(X, y))
    X_test, y_test = contest.test
    return float(contest.score(y_test, model.predict(X_test))), n_bytes


def taken_in_turns(
    contest: Contest, booths: dict[str, ProcessPoolExecutor], repeats: int
) -> tuple[Times, Times]:
    """Time the steps, A B C, B C A, ...: a busy minute troubles all alike. Wall and processor."""
    names = list(booths)
    wall: Times = {name: {step: [] for step in contest.steps} for name in names}
    processor: Times = {name: {step: [] for step in contest.steps} for name in names}
    for turn in range(repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            time.sleep(REST)
            for step in contest.steps:
                waited, worked = booths[name].submit(timed, step).result()
                wall[name][step].append(waited)
                processor[name][step].append(worked)
    return wall, processor


def timed(step: str) -> tuple[float, float]:
    """Return the seconds of a step, by the wall and of the process's threads together."""
    contest = _OWN["contest"]
    given = contest.train if step == "fit" else contest.test[:1]
    act = getattr(_OWN["model"], step)
    begun, worked = time.perf_counter(), time.process_time()
    act(*given)
    waited, worked = time.perf_counter() - begun, time.process_time() - worked
    return round(waited / contest.parts, 9), round(worked / contest.parts, 9)


def show(contest: Contest, record: Record, before: Record | None) -> None:
    n_rows, n_features = record["shape"]
    table = Table(
        title=f"{contest.name}, {n_rows:,} x {n_features}", box=None, title_justify="left"
    )
    table.add_column("", no_wrap=True)
    for column in (contest.score_name, "memory of fit"):
        table.add_column(column, justify="right")
    for step in contest.steps:
        for column in (f"{step}: min", "median", "processor", "last time"):
            table.add_column(column, justify="right")
    for name, times in record["seconds"].items():
        earlier = before["seconds"].get(name, {}) if before else {}
        worked = record["processor_seconds"][name]
        cells = [
            cell
            for step in contest.steps
            for cell in shown(times[step], worked[step], earlier.get(step))
        ]
        size = record["fit_bytes"][name]
        memory = "-" if size is None else f"{size / 1e6:,.0f} MB"
        table.add_row(name, f"{record['scores'][name]:.4f}", memory, *cells)
    console.print(table, soft_wrap=True)
    n_runs = len(times[contest.steps[0]])
    few = "" if n_runs >= ENOUGH else f"; best of {n_runs}, and it takes {ENOUGH} to be quoted"
    loads = f"load {record['load_before']} before, {record['load_after']} after"
    console.print(f"{record['revision']}, {loads}{few}\n", soft_wrap=True)


def shown(times: list[float], worked: list[float], earlier: list[float] | None) -> list[str]:
    found = [min(times), statistics.median(times), statistics.median(worked)]
    return [*map(duration, found), duration(min(earlier)) if earlier else "-"]
