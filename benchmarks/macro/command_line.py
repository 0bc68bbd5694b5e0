"""How long a person waits: `hedgerow --help`, and `hedgerow predict` of one row.

    python benchmarks/macro/command_line.py --repeats 15

Each run is a process of its own, with kernels and bytecode kept as after an installation and a
first use. Wall time is what a person waits, on a busy machine for others too; processor time is
what the command itself does. Bars: 0.3 s for --help, 1.0 s for a prediction.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from rich.table import Table

import hedgerow
from benchmarks.harness import console
from benchmarks.records import ENOUGH, RESULTS, ROOT, facts, kept

ADULT = ROOT / "examples" / "data" / "adult.parquet"
MODELS = {
    "boosting": hedgerow.GradientBoostingClassifier(early_stopping=True),
    "forest": hedgerow.RandomForestClassifier(),
    "tree": hedgerow.DecisionTreeClassifier(),
}


def prepared(folder: Path, rows: int | None) -> dict[str, list[str]]:
    """Train and save the models, write one row; return the commands, each of them checked."""
    people = pd.read_parquet(ADULT)[:rows]
    X, y = people.drop(columns="income"), people["income"]
    X[5:6].to_csv(folder / "one.csv", index=False)
    X[5:6].to_parquet(folder / "one.parquet", index=False)
    hedgerow_itself = [sys.executable, "-m", "hedgerow"]
    commands = {"--help": [*hedgerow_itself, "--help"]}
    for name, model in MODELS.items():
        file = folder / f"{name}.hedgerow"
        model.fit(X, y).save(file)
        for data in ("one.csv", "one.parquet"):
            command = [*hedgerow_itself, "predict", str(file), str(folder / data)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert said.split() == ['"prediction"', str(model.predict(X[5:6])[0])]
            commands[f"{name}, {data}"] = command
    return commands


def run(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Return the seconds of a command, by the wall and of processors."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": round(wall, 4), "cpu": round(own, 4)}


def measured(repeats: int, rows: int | None) -> dict[str, list[dict[str, float]]]:
    """Run the commands in turns."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        commands = prepared(folder, rows)
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        for command in commands.values():
            run(command, environment)
        found: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
        for _ in range(repeats):
            for name, command in commands.items():
                found[name].append(run(command, environment))
    return found


def show(found: dict[str, list[dict[str, float]]]) -> None:
    table = Table(title="hedgerow on the command line", box=None, title_justify="left")
    table.add_column("", no_wrap=True)
    for column in ("wall: min", "median", "processor: min", "median"):
        table.add_column(column, justify="right")
    for name, runs in found.items():
        cells = []
        for kind in ("wall", "cpu"):
            seconds = [each[kind] for each in runs]
            cells += [f"{min(seconds):.3f} s", f"{statistics.median(seconds):.3f} s"]
        table.add_row(name, *cells)
    console.print(table, soft_wrap=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=ENOUGH, help="runs of each command")
    parser.add_argument("--rows", type=int, help="train on fewer rows, to see that it runs")
    parser.add_argument("--output", type=Path, default=RESULTS / "command_line.jsonl")
    given = parser.parse_args()
    record = facts("command line")
    record["seconds"] = measured(given.repeats, given.rows)
    show(record["seconds"])
    console.print(f"{record['revision']}, load {record['load_before']}\n", soft_wrap=True)
    kept(record, given.output)


if __name__ == "__main__":
    main()
