"""Growth: how the time and memory of a fit grow with rows, features, trees, leaves, classes, bins.

    python benchmarks/growth.py --repeats 15
    python benchmarks/growth.py --cases rows --most 2000000 --repeats 3

Each point of a curve is a process of its own, which makes its table in float32, fits few rows (that
loads and compiles) and then fits all of it: memory is that of the first such fit, above the table.
An exponent is the slope of least squares of log time, the least of the runs, on log size: 1 is
proportional. Parameters are those of macro/boosting.py, for 100 rounds unless trees are counted.

| axis | sizes | of |
|---|---|---|
| rows | 100,000 to 8 million, doubled; with LightGBM and XGBoost | x 28, two classes |
| features | 14 to 224 | 50,000 rows |
| trees | 25 to 400 | 50,000 x 28 |
| leaves | 8 to 128 | 50,000 x 28 |
| classes | 3 to 12 | 50,000 x 28 |
| bins | 15 to 255 | 50,000 x 28 |
"""

import time
from argparse import Namespace
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from benchmarks.harness import FEW_ROWS, console, pin
from benchmarks.macro.boosting import collisions, model_of, there
from benchmarks.memory import taken_by
from benchmarks.options import chosen, options
from benchmarks.records import Record, facts, kept, load
from benchmarks.units import duration

N_ROWS, N_FEATURES, THREADS = 50_000, 28, 2
OURS = "hedgerow"


class Axis(NamedTuple):
    """What grows: the sizes it has, who takes part, and hedgerow's parameter of that name."""

    sizes: tuple[int, ...]
    libraries: tuple[str, ...] = (OURS,)
    parameter: str | None = None


CASES = {
    "rows": Axis(
        (100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000),
        (OURS, "LightGBM", "XGBoost"),
    ),
    "features": Axis((14, 28, 56, 112, 224)),
    "trees": Axis((25, 50, 100, 200, 400), parameter="n_estimators"),
    "leaves": Axis((8, 16, 32, 64, 128), parameter="max_leaf_nodes"),
    "classes": Axis((3, 6, 12)),
    "bins": Axis((15, 31, 63, 127, 255), parameter="max_bins"),
}


class Point(NamedTuple):
    """One fit: of which size on which axis, by whom, how often."""

    axis: str
    size: int
    library: str
    repeats: int
    rows: int = N_ROWS

    def shape(self) -> tuple[int, int, int]:
        """Return rows, features and classes."""
        sizes = {"rows": self.rows, "features": N_FEATURES, "classes": 2}
        if self.axis in sizes:
            sizes[self.axis] = self.size
        return sizes["rows"], sizes["features"], sizes["classes"]


class Measured(NamedTuple):
    """Seconds of each run, bytes of the first above the table (None: unknown), and the table's."""

    seconds: list[float]
    fit_bytes: int | None
    table_bytes: int


def measured(point: Point) -> Measured:
    """Fit, in this process."""
    pin(THREADS)
    X, y = collisions(*point.shape())
    X = X.astype(np.float32)
    parameter = CASES[point.axis].parameter
    others = {parameter: point.size} if parameter else {}
    model = model_of(point.library, point.shape()[2], THREADS, **others)
    model.fit(X[:FEW_ROWS], y[:FEW_ROWS])
    seconds: list[float] = []

    def fit() -> None:
        begun = time.perf_counter()
        model.fit(X, y)
        seconds.append(round(time.perf_counter() - begun, 5))

    n_bytes = taken_by(fit)
    for _ in range(point.repeats - 1):
        fit()
    return Measured(seconds, n_bytes, X.nbytes)


def in_a_process(point: Point) -> Measured:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as own:
        return own.submit(measured, point).result()


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of least squares of log seconds on log size.

    >>> round(exponent([1, 10, 100], [3.0, 30.0, 300.0]), 9)
    1.0
    """
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


def curve(name: str, given: Namespace) -> Record:
    """Measure an axis; libraries take turns at each size."""
    axis = CASES[name]
    sizes = [size for size in axis.sizes if size <= given.most or name != "rows"][: given.points]
    record = facts(name) | {"sizes": sizes, "threads": THREADS, "table_bytes": []}
    libraries = there([each for each in axis.libraries if each in (given.libraries or [each])])
    seconds: dict[str, dict[str, list[list[float]]]] = {each: {"fit": []} for each in libraries}
    fit_bytes: dict[str, list[int | None]] = {library: [] for library in libraries}
    for size in sizes:
        for library in libraries:
            rows = given.rows or N_ROWS
            found = in_a_process(Point(name, size, library, given.repeats, rows))
            seconds[library]["fit"].append(found.seconds)
            fit_bytes[library].append(found.fit_bytes)
        record["table_bytes"].append(found.table_bytes)
    record |= {"seconds": seconds, "fit_bytes": fit_bytes, "load_after": load()}
    record["exponents"] = {
        library: round(exponent(sizes, [min(runs) for runs in seconds[library]["fit"]]), 3)
        for library in libraries
    }
    return record


def show(record: Record) -> None:
    """Show a curve: a line for each size."""
    table = Table(title=f"growth of {record['contest']}", box=None, title_justify="left")
    table.add_column(record["contest"], justify="right")
    for library in record["seconds"]:
        for column in (library, "memory / table"):
            table.add_column(column, justify="right")
    for place, size in enumerate(record["sizes"]):
        cells = []
        for library, times in record["seconds"].items():
            share = memory_shares(record, library)[place]
            cells += [duration(min(times["fit"][place])), "-" if share is None else f"{share:.2f}"]
        table.add_row(f"{size:,}", *cells)
    slopes = [(f"{each:.3f}", "") for each in record["exponents"].values()]
    table.add_row("exponent", *(cell for pair in slopes for cell in pair), style="bold")
    console.print(table, soft_wrap=True)
    console.print(f"{record['revision']}, load {record['load_before']}\n", soft_wrap=True)


def memory_shares(record: Record, library: str) -> list[Any]:
    """Return the memory of each fit above its table, in tables."""
    both = zip(record["fit_bytes"][library], record["table_bytes"], strict=True)
    return [None if fit is None else fit / table for fit, table in both]


def main() -> None:
    parser = options(__doc__, "growth")
    parser.add_argument("--most", type=int, default=max(CASES["rows"].sizes), help="rows at most")
    parser.add_argument("--points", type=int, help="only the first sizes of each axis")
    parser.add_argument("--libraries", nargs="+", help="only these")
    given = parser.parse_args()
    for name in chosen(CASES, given):
        record = curve(name, given)
        show(record)
        kept(record, given.output)


if __name__ == "__main__":
    main()
