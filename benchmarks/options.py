"""Options that every contest has: how often, on how many threads, which cases, of how many rows."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path

from benchmarks.datasets import DATA
from benchmarks.records import ENOUGH, RESULTS


def options(document: str | None, output: str) -> ArgumentParser:
    """Return a parser; results are appended to the file of this name unless another is given."""
    parser = ArgumentParser(description=(document or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=ENOUGH, help="runs of each model")
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--cases", nargs="+", default=[""], help="whose names contain one of these")
    parser.add_argument("--without", nargs="+", default=[], help="cases that contain one of these")
    parser.add_argument("--rows", type=int, help="take fewer rows, for a first look")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=RESULTS / f"{output}.jsonl")
    return parser


def chosen(cases: Iterable[str], given: Namespace) -> list[str]:
    """Return the names of the cases that were asked for."""
    named = [name for name in cases if any(part in name for part in given.cases)]
    return [name for name in named if not any(part in name for part in given.without)]


def title(name: str, threads: int, n_rows: int, given: Namespace) -> str:
    """Name a contest; one that takes fewer rows than its case has says so."""
    few = f", {n_rows:,} rows" if given.rows == n_rows else ""
    return f"{name}{few}, {threads} thread{'s' if threads > 1 else ''}"
