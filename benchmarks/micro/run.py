"""The kernels one by one, on one thread: nanoseconds an update.

    python benchmarks/micro/run.py --repeats 15
    python benchmarks/micro/run.py --cases histogram

Each kernel equals a plain definition on the same rows before it is timed. Kernels take turns.
"""

import statistics

from rich.table import Table

from benchmarks.harness import console, pin
from benchmarks.micro import binning, derivatives, histogram, partition, prediction, split
from benchmarks.micro.kernel import Kernel, calls_of, ns_per_update
from benchmarks.options import options
from benchmarks.records import ENOUGH, Record, facts, kept, load, previous

N_ROWS = 200_000
ROOMS = (binning, derivatives, histogram, partition, prediction, split)


def chosen(cases: list[str], n_rows: int) -> list[Kernel]:
    """Make and check the kernels that were asked for."""
    names = {room: room.__name__.rpartition(".")[2] for room in ROOMS}
    rooms = [room for room in ROOMS if any(part in names[room] for part in cases)]
    return [kernel for room in rooms for kernel in room.kernels(n_rows)]


def show(found: list[tuple[Record, Record | None]]) -> None:
    table = Table(title="ns per update, one thread", box=None, title_justify="left")
    for column in ("", "of a"):
        table.add_column(column, no_wrap=True)
    for column in ("min", "median", "last time: min"):
        table.add_column(column, justify="right")
    for record, before in found:
        times = record["ns_per_update"]
        last = f"{min(before['ns_per_update']):.3g}" if before else "-"
        cells = f"{min(times):.3g}", f"{statistics.median(times):.3g}", last
        table.add_row(record["contest"], record["unit"], *cells)
    console.print(table, soft_wrap=True)
    few = "" if len(times) >= ENOUGH else f"; best of {len(times)}, not {ENOUGH}"
    console.print(f"{record['revision']}, load {record['load_before']}{few}\n", soft_wrap=True)


def main() -> None:
    given = options(__doc__, "micro").parse_args()
    pin(1)
    n_rows = given.rows or N_ROWS
    kernels = chosen(given.cases, n_rows)
    about = {kernel.name: facts(kernel.name) for kernel in kernels}
    n_calls = {kernel.name: calls_of(kernel) for kernel in kernels}
    times: dict[str, list[float]] = {kernel.name: [] for kernel in kernels}
    for _ in range(given.repeats):
        for kernel in kernels:
            times[kernel.name].append(ns_per_update(kernel, n_calls[kernel.name]))
    found = []
    for kernel in kernels:
        record = about[kernel.name] | {"shape": [n_rows], "unit": kernel.unit, "threads": 1}
        record |= {"ns_per_update": times[kernel.name], "load_after": load()}
        found.append((record, previous(given.output, record)))
        kept(record, given.output)
    show(found)


if __name__ == "__main__":
    main()
