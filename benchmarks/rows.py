"""Rows of the tables: what the newest record of each contest says, and whether its bar holds.

A record counts whole: hedgerow and the others in the same run. Nothing is estimated, and runs are
never mixed.
"""

import re
import statistics
from pathlib import Path
from typing import NamedTuple

from benchmarks.bars import (
    FASTEST,
    FIT_MEMORY,
    ONE_ROW,
    ROWS_EXPONENT,
    STARTS,
    Bar,
    ratio_bar,
)
from benchmarks.records import Record, read
from benchmarks.units import duration

OURS = "hedgerow"
KINDS = {  # file -> what its contests are about, and the score of classes and of numbers
    "boosting": ("boosting", "log-loss", "RMSE"),
    "forests": ("forest", "accuracy", "R2"),
    "adaboost": ("AdaBoost", "accuracy", "R2"),
    "trees": ("tree", "accuracy", "R2"),
    "prediction": ("prediction", "log-loss", "RMSE"),
    "one_row": ("one row", "log-loss", "RMSE"),
    "explaining": ("Shapley values", "mean |value|", "mean |value|"),
    "binning": ("binning", "bins", "bins"),
    "cross_validation": ("cross-validation", "log-loss", "RMSE"),
}
STEPS = {"forests": ("fit", "predict")}  # of kinds whose steps have a row each


class Row(NamedTuple):
    """One line: a number of ours, the best of others if there are any, and the bar."""

    kind: str
    contest: str
    step: str
    ours: str
    theirs: str
    figure: float  # what the bar is about
    bar: Bar | None
    scores: str
    n_runs: int
    record: Record

    @property
    def holds(self) -> bool:
        return self.bar is None or self.bar.holds(self.figure)


def newest(file: Path, step: str | None = None) -> list[Record]:
    """Return the last record of each contest that tells of hedgerow, and of others if any did.

    step: what it must have timed, if that is asked.
    """
    found: dict[str, Record] = {}
    for record in read(file):
        if step is not None and step not in record.get("seconds", {}).get(OURS, {}):
            continue
        subject = re.sub(r", \d+ trees", "", record.get("contest", ""))
        has_peers = len(peers(record)) > 0
        if OURS in record.get("seconds", {}) and has_peers >= (len(peers(found.get(subject))) > 0):
            found.pop(subject, None)
            found[subject] = record
    return [found[subject] for subject in sorted(found)]


def peers(record: Record | None) -> list[str]:
    names = (record or {}).get("seconds", {})
    return [name for name in names if not name.startswith(OURS)]


def contest_rows(folder: Path) -> list[Row]:
    """Return hedgerow against the fastest other, in the order of KINDS."""
    return [
        row
        for kind in KINDS
        for step in STEPS.get(kind, (None,))
        for record in newest(folder / f"{kind}.jsonl", step)
        if peers(record)
        for row in rows_of(kind, record, step)
    ]


def rows_of(kind: str, record: Record, step: str | None = None) -> list[Row]:
    """Return a contest's row; of Shapley values the shap package is the one to beat five times."""
    if kind != "explaining":
        bar = ratio_bar(kind, record["contest"], step)
        return [against(kind, record, peers(record), bar, step)]
    others = [name for name in peers(record) if name != "shap"]
    found = [against(kind, record, ["shap"], ratio_bar(kind, record["contest"]))]
    return found + ([against(kind, record, others, Bar(FASTEST))] if others else [])


def against(kind: str, record: Record, rivals: list[str], bar: Bar, step: str | None = None) -> Row:
    """Return the row of hedgerow and the fastest of its rivals; step: the first, if not said."""
    noun, of_classes, of_numbers = KINDS[kind]
    seconds = record["seconds"]
    step = step or next(iter(seconds[OURS]))
    medians = {name: statistics.median(times[step]) for name, times in seconds.items()}
    peer = min(rivals, key=medians.__getitem__)
    is_of_numbers = re.search("(^|, )regression", record["contest"])
    name = record.get("score_name", of_numbers if is_of_numbers else of_classes)
    both = (OURS, peer)
    scores = [record.get("scores", {}).get(each, float("nan")) for each in both]
    return Row(
        noun,
        record["contest"],
        step,
        duration(medians[OURS]),
        f"{duration(medians[peer])}, {peer}",
        medians[peer] / medians[OURS],
        bar,
        f"{name} {scores[0]:.4f}, {scores[1]:.4f}",
        min(len(seconds[each][step]) for each in both),
        record,
    )


def limit_rows(folder: Path) -> list[Row]:
    """Return the numbers of ours that have a limit, and exponents, which may have none."""
    return [*one_row_limits(folder), *starts(folder), *growth(folder)]


def one_row_limits(folder: Path) -> list[Row]:
    found = []
    for record in newest(folder / "one_row.jsonl"):
        for name, times in record["seconds"].items():
            if name.startswith(OURS):
                median = statistics.median(times["ask"])
                bar = Bar(1e6 * ONE_ROW, is_limit=True) if name == OURS else None
                way = name.removeprefix(f"{OURS}, ")
                about = ("one row", record["contest"], f"{way}, us", duration(median), "")
                found.append(Row(*about, 1e6 * median, bar, "", len(times["ask"]), record))
    return found


def starts(folder: Path) -> list[Row]:
    found = []
    for record in newest(folder / "starting.jsonl"):
        medians = {n: statistics.median(t["start"]) for n, t in record["seconds"].items()}
        others = {name: medians[name] for name in peers(record)}
        best = min(others, key=others.__getitem__) if others else None
        theirs = f"{duration(others[best])}, {best}" if best else ""
        limit = STARTS.get(record["contest"])
        bar = None if limit is None else Bar(limit, is_limit=True)
        n_runs = len(record["seconds"][OURS]["start"])
        about = ("start", record["contest"], "seconds", duration(medians[OURS]), theirs)
        found.append(Row(*about, medians[OURS], bar, "", n_runs, record))
    return found


def growth(folder: Path) -> list[Row]:
    """Return the exponent of each axis; of rows also the memory of the largest fit."""
    found = []
    for record in newest(folder / "growth.jsonl"):
        axis, sizes, slopes = record["contest"], record["sizes"], record["exponents"]
        others = [f"{slope:.2f}, {name}" for name, slope in slopes.items() if name != OURS]
        n_runs = len(record["seconds"][OURS]["fit"][0])
        bar = Bar(ROWS_EXPONENT, is_limit=True) if axis == "rows" else None
        reach = f"{axis}, {sizes[0]:,} to {sizes[-1]:,}"
        about = ("growth", reach, "exponent of time", f"{slopes[OURS]:.3f}", "; ".join(others))
        found.append(Row(*about, slopes[OURS], bar, "", n_runs, record))
        if axis == "rows" and all(each[-1] is not None for each in record["fit_bytes"].values()):
            found.append(memory_row(record, n_runs))
    return found


def memory_row(record: Record, n_runs: int) -> Row:
    """Return the memory of the largest fit above its table; less than the others', too."""
    shares = {n: own[-1] / record["table_bytes"][-1] for n, own in record["fit_bytes"].items()}
    others = {name: share for name, share in shares.items() if name != OURS}
    bar = Bar(round(min([FIT_MEMORY, *others.values()]), 2), is_limit=True)
    theirs = "; ".join(f"{share:.2f}, {name}" for name, share in others.items())
    about = ("growth", f"{record['sizes'][-1]:,} rows", "memory of fit / table")
    return Row(*about, f"{shares[OURS]:.2f}", theirs, shares[OURS], bar, "", n_runs, record)


def kernel_rows(folder: Path) -> list[Row]:
    """Return nanoseconds of kernels, which have no bar but their last time."""
    found: dict[str, Row] = {}
    for record in read(folder / "micro.jsonl"):
        times = record["ns_per_update"]
        median = statistics.median(times)
        about = ("kernel", record["contest"], f"a {record['unit']}", f"{median:.3g} ns", "")
        found[record["contest"]] = Row(*about, median, None, "", len(times), record)
    return list(found.values())
