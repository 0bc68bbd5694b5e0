"""The door: runs the benchmarks and prints one table of all their ratios and limits.

    python benchmarks/bench.py           # a first look, eight minutes at most: `make bench`
    python benchmarks/bench.py --full    # everything, 15 runs each, hours: `make bench-full`

A first look takes few rows and few runs, says so, and is kept in build/bench, which is not part of
the repository. It ends in time: what has not been measured by then, because kernels had to be
compiled on the way or the machine is busy, is named and left out. Everything is appended to
benchmarks/results. A bar that is missed is shown in red and is no error: the table is there to say
so. A benchmark that fails is.
"""

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.harness import console
from benchmarks.records import ENOUGH, RESULTS, ROOT
from benchmarks.rows import Row, contest_rows, kernel_rows, limit_rows

FIRST_LOOK = ROOT / "build" / "bench"
MINUTES = 8.0  # of a first look; setting up takes one or two more
WIDTH = 175  # of the table, whose cells are not cut


class Part(NamedTuple):
    """A benchmark, and its options for a first look."""

    file: str
    first_look: str

    @property
    def output(self) -> str:
        """Name of its file of results: a folder of kernels has one, `micro`."""
        file = Path(self.file)
        return f"{file.parent.name if file.stem == 'run' else file.stem}.jsonl"


# The same problems at settings of our own, and libraries that were never the fastest to boost, wait
# for `make bench-full`.
_BRIEF = "--without higher --libraries hedgerow LightGBM LightGBM\\ quantised CatBoost"
PARTS = (
    Part("micro/run.py", "--repeats 5 --rows 100000"),
    Part(
        "macro/boosting.py",
        "--repeats 2 --threads 2 --rows 50000 "
        f"--cases 1k 10k binary,\\ 1M adult airlines_dep blog_feedback {_BRIEF}",
    ),
    Part("macro/boosting.py", f"--repeats 2 --threads 2 --rows 20000 --cases 7 {_BRIEF}"),
    Part(
        "macro/forests.py", "--repeats 2 --threads 2 --rows 20000 --trees 20 --cases covtype 100k"
    ),
    Part("macro/adaboost.py", "--repeats 2 --threads 2 --rows 20000 --rounds 20 --cases stumps"),
    Part("macro/trees.py", "--repeats 2 --rows 50000"),
    Part("macro/prediction.py", "--repeats 2 --threads 2 --rows 20000 --cases 7 forest tree,"),
    Part("macro/one_row.py", "--repeats 3 --cases boosting tree"),
    Part("macro/explaining.py", "--repeats 2 --threads 2"),
    Part("macro/binning.py", "--repeats 3 --threads 2 --rows 200000 --cases 1M"),
    Part("macro/cross_validation.py", "--repeats 1 --threads 2"),
    Part("macro/starting.py", "--repeats 2 --cases import warm"),
    Part("growth.py", "--repeats 1 --points 3 --cases rows trees"),
    Part("macro/starting.py", "--repeats 1 --cases cold"),
)


def run(part: Part, folder: Path, end: float | None) -> bool:
    """Run a benchmark in a process of its own; what it prints is shown only if it fails.

    end: when its time is over, as time.perf_counter has it; None: everything is measured.
    Returns False if time was over first; the contests that it had held are kept.
    """
    options = [] if end is None else shlex.split(part.first_look)
    command = [sys.executable, str(ROOT / "benchmarks" / part.file), *options]
    begun = time.perf_counter()
    if end is not None and begun >= end:
        return False
    process = subprocess.Popen(
        [*command, "--output", str(folder / part.output)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that it ends with the processes of its models
    )
    try:
        said, _ = process.communicate(timeout=None if end is None else end - begun)
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode:
        sys.exit(f"{said}\n{shlex.join(command)} failed.")
    for line in said.splitlines():
        if line.startswith(("Left out", "Not installed")):
            console.print(line, soft_wrap=True)
    seconds = time.perf_counter() - begun
    console.print(f"[dim]{part.file} {' '.join(options)}: {seconds:.0f} s[/dim]", soft_wrap=True)
    return True


def run_all(folder: Path, is_full: bool, end: float) -> None:
    """Run the benchmarks in turn; say which ones had no time, or not enough."""
    parts = {part.file: part for part in PARTS}.values() if is_full else PARTS
    late = [part for part in parts if not run(part, folder, None if is_full else end)]
    if late:
        names = ", ".join(dict.fromkeys(part.file for part in late))
        console.print(
            f"Time was over before these were done: {names}. Whatever they had measured is in the "
            "table; `hedgerow warmup` beforehand, or --minutes, lets them finish.",
            soft_wrap=True,
        )


def show(folder: Path) -> int:
    """Print the table; return how many bars are missed."""
    console = Console(highlight=False, width=WIDTH)
    table = Table(title="hedgerow and the fastest of the others", title_justify="left", box=None)
    for column in ("", "step"):
        table.add_column(column, no_wrap=True)
    for column in ("hedgerow", "others", "figure", "bar", "runs"):
        table.add_column(column, justify="right", no_wrap=True)
    for group in (contest_rows(folder), limit_rows(folder), kernel_rows(folder)):
        for row in group:
            table.add_row(*cells(row), style="" if row.holds else "red")
        table.add_section()
    console.print(table, soft_wrap=True)
    rows = contest_rows(folder) + limit_rows(folder)
    with_bar = [row for row in rows if row.bar is not None]
    n_behind = sum(not row.holds for row in with_bar)
    console.print(
        f"{len(with_bar) - n_behind} of {len(with_bar)} bars hold, {n_behind} are missed (red). "
        "A figure is their median time over ours, or the number that a limit is about. "
        f"*: fewer than {ENOUGH} runs, a first look.",
        soft_wrap=True,
    )
    return n_behind


def cells(row: Row) -> list[str]:
    bar = row.bar and f"{'<=' if row.bar.is_limit else '>='} {row.bar.number:g}"
    few = "" if row.n_runs >= ENOUGH else "*"
    title = f"{row.kind}: {row.contest}"
    runs = f"{row.n_runs}{few}"
    return [title, row.step, row.ours, row.theirs, f"{row.figure:.3g}", bar or "", runs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="everything, for hours")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of a first look, at most")
    parser.add_argument("--show", action="store_true", help="the table of what is there")
    given = parser.parse_args()
    folder = RESULTS if given.full else FIRST_LOOK
    if not given.show:
        if not given.full:
            shutil.rmtree(folder, ignore_errors=True)
        run_all(folder, given.full, time.perf_counter() + 60 * given.minutes)
    show(folder)


if __name__ == "__main__":
    main()
