"""Accuracy: default settings of five libraries on the shared datasets, in fixed folds.

    python benchmarks/accuracy.py                          # what is not there yet
    python benchmarks/accuracy.py --libraries hedgerow     # after a change
    python benchmarks/accuracy.py --report

One line of JSON for each set, loss, fold and library is appended to results/accuracy.jsonl. A
line that is there is not made again, unless the library has changed: a peer's version, or the
source of hedgerow. A library that fails is recorded with its error and ranked last.
"""

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_absolute_error,
    mean_pinball_loss,
    roc_auc_score,
    root_mean_squared_error,
)

from benchmarks.datasets import DATA, N_FOLDS, Dataset, catalog, dataset
from benchmarks.harness import console
from benchmarks.libraries import LIBRARIES, Loss, version_of
from benchmarks.ranks import report
from benchmarks.records import RESULTS, kept, load, machine, read, revision

ROBUST_SETS = ("concrete", "abalone", "bikeshare", "loan_rates", "california_housing")
ROBUST_LOSSES = (
    Loss("absolute_error"),
    Loss("quantile", 0.1),
    Loss("quantile", 0.5),
    Loss("quantile", 0.9),
)


class Work(NamedTuple):
    """What one process does: the fits of one library on one set."""

    data: Path
    set: str
    library: str
    version: str
    fits: list[tuple[Loss, int]]  # with the fold that is held out
    threads: int
    output: Path


def losses(name: str, task: str) -> tuple[Loss, ...]:
    """Return the losses that are tried on a set."""
    if task != "regression":
        return (Loss("log_loss"),)
    return (Loss("squared_error"), *(ROBUST_LOSSES if name in ROBUST_SETS else ()))


def work_left(given: argparse.Namespace) -> list[Work]:
    """Return what has not been done: library by library, small sets first, robust losses last."""
    done = {
        (r["set"], r["library"], r["version"], r["loss"], r["fold"]) for r in read(given.output)
    }
    left = []
    for about in catalog(given.data).itertuples():
        for library in given.libraries if not given.sets or about.name in given.sets else ():
            version = version_of(library)
            plan = [
                (x, fold) for x in losses(about.name, about.task) for fold in range(given.folds)
            ]
            place = (given.data, about.name, library, version)
            for robust in (False, True):
                fits = [
                    (loss, fold)
                    for loss, fold in plan
                    if (loss in ROBUST_LOSSES) == robust
                    and (about.name, library, version, str(loss), fold) not in done
                ]
                if fits:
                    left.append(Work(*place, fits, given.threads, given.output))
    order = {library: number for number, library in enumerate(given.libraries)}
    return sorted(left, key=lambda w: (w.fits[0][0] in ROBUST_LOSSES, order[w.library]))


def run(work: Work) -> None:
    """Do the work in a process of its own: a crash is a failure of one library on one set."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            pool.submit(fits_done, work).result()
        except BrokenProcessPool as error:
            done = {(r["set"], r["library"], r["loss"], r["fold"]) for r in read(work.output)}
            for loss, fold in work.fits:
                if (work.set, work.library, str(loss), fold) not in done:
                    append(work, loss, fold, {"error": f"the process ended: {error}"})


def fits_done(work: Work) -> None:
    """Fit and judge, a line for each fit."""
    warnings.simplefilter("ignore")
    problem = dataset(work.data, work.set)
    for loss, fold in work.fits:
        try:
            outcome = fitted(problem, work, loss, fold)
        except Exception as error:  # a peer may fail in any way
            outcome = {"error": f"{type(error).__name__}: {error}"[:300]}
        append(work, loss, fold, outcome)


def fitted(problem: Dataset, work: Work, loss: Loss, fold: int) -> dict[str, Any]:
    """Learn from the other folds, predict this one."""
    train, test = problem.folds != fold, problem.folds == fold
    model = LIBRARIES[work.library](loss, work.threads)
    start = time.perf_counter()
    model.fit(problem.X[train], problem.y[train])
    middle = time.perf_counter()
    predicted = model.predict(problem.X[test])
    end = time.perf_counter()
    return {
        "scores": scores(problem.y[test], np.asarray(predicted), loss, problem.n_classes),
        "seconds": {"fit": round(middle - start, 3), "predict": round(end - middle, 3)},
    }


def scores(y: Any, predicted: Any, loss: Loss, n_classes: int) -> dict[str, float]:
    """Return what the library minimised first, then what else is asked."""
    if loss.of_classes:
        found = {"log-loss": log_loss(y, predicted, labels=np.arange(n_classes))}
        if n_classes == 2:
            return found | {"AUC": float(roc_auc_score(y, predicted[:, 1]))}
        return found | {"accuracy": float(accuracy_score(y, predicted.argmax(axis=1)))}
    if loss.name == "squared_error":
        return {"RMSE": root_mean_squared_error(y, predicted)}
    if loss.name == "absolute_error":
        return {"absolute error": mean_absolute_error(y, predicted)}
    return {"pinball": mean_pinball_loss(y, predicted, alpha=loss.level)}


def append(work: Work, loss: Loss, fold: int, outcome: dict[str, Any]) -> None:
    about = {
        "set": work.set,
        "loss": str(loss),
        "fold": fold,
        "library": work.library,
        "version": work.version,
        "threads": work.threads,
        "machine": machine(),
        "revision": revision(),
        "load": load(),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    kept(about | outcome, work.output)
    console.print(f"{work.library}, {work.set}, {loss}, fold {fold}: {outcome}", soft_wrap=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--sets", nargs="+", help="names of the catalog; all if not given")
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="hold out only the first ones")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=RESULTS / "accuracy.jsonl")
    parser.add_argument("--report", action="store_true", help="show the table, fit nothing")
    given = parser.parse_args()
    there = [library for library in given.libraries if version_of(library)]
    if missing := set(given.libraries) - set(there):
        console.print(f"Not installed, and left out: {', '.join(sorted(missing))}.")
    if not given.report:
        given.libraries = there
        for work in work_left(given):
            run(work)
    report(read(given.output), given.libraries, given.sets, given.folds)


if __name__ == "__main__":
    main()
