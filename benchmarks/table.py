"""The table of README.md, made of stored results: `make bench-table`.

    python benchmarks/table.py            # replaces what stands between the two marks
    python benchmarks/table.py --print    # shows it

Of each contest the newest record counts, whole: hedgerow and the fastest of the others in the same
run. Nothing is estimated, and runs are never mixed.
"""

import argparse
import json
import re
import statistics
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
ENOUGH = 15  # runs of each: as harness.ENOUGH
BEGIN, END = "<!-- bench-table: begin -->", "<!-- bench-table: end -->"
KINDS = {  # file -> what its contests are about, and the score of classes and of numbers
    "boosting": ("boosting", "log-loss", "RMSE"),
    "forests": ("forest", "accuracy", "R2"),
    "adaboost": ("AdaBoost", "accuracy", "R2"),
    "trees": ("tree", "accuracy", "R2"),
    "cross_validation": ("cross-validation", "log-loss", "RMSE"),
}


class Row(NamedTuple):
    """A contest: seconds and scores of hedgerow and of the fastest other library."""

    kind: str
    contest: str
    step: str
    peer: str
    seconds: tuple[float, float]
    score_name: str
    scores: tuple[float, float]
    n_runs: int
    record: dict[str, Any]


def newest(file: Path) -> list[dict[str, Any]]:
    """Return the last record of each contest that had another library in it."""
    found: dict[str, dict[str, Any]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "hedgerow" in record.get("seconds", {}) and peers(record):
            subject = re.sub(r", \d+ trees", "", record["contest"])
            found.pop(subject, None)
            found[subject] = record
    return [found[subject] for subject in sorted(found)]


def peers(record: dict[str, Any]) -> list[str]:
    return [name for name in record["seconds"] if not name.startswith("hedgerow")]


def row_of(kind: str, record: dict[str, Any]) -> Row:
    noun, of_classes, of_numbers = KINDS[kind]
    seconds = record["seconds"]
    step = "fit" if "fit" in seconds["hedgerow"] else "predict"
    medians = {name: statistics.median(times[step]) for name, times in seconds.items()}
    peer = min(peers(record), key=medians.__getitem__)
    name = of_numbers if record["contest"].startswith("regression") else of_classes
    both = ("hedgerow", peer)
    scores = tuple(record.get("scores", {}).get(each, float("nan")) for each in both)
    n_runs = min(len(seconds[each][step]) for each in both)
    times = medians["hedgerow"], medians[peer]
    return Row(noun, record["contest"], step, peer, times, name, scores, n_runs, record)


def rows(folder: Path) -> list[Row]:
    """Return the contests of all files, in the order of KINDS."""
    files = [(kind, folder / f"{kind}.jsonl") for kind in KINDS]
    return [row_of(kind, each) for kind, file in files if file.exists() for each in newest(file)]


def table(folder: Path = RESULTS) -> str:
    """Return the table, with the dates and machines below it."""
    found = rows(folder)
    machines: list[str] = []
    lines = [
        "| contest | | hedgerow | fastest other | theirs / ours | test scores | when |",
        "|---|---|---:|---:|---:|---|---|",
    ]
    for row in found:
        place = machine_of(row.record)
        if place not in machines:
            machines.append(place)
        ours, theirs = row.seconds
        few = "" if row.n_runs >= ENOUGH else f" (few runs: {row.n_runs})"
        cells = [
            f"{row.kind}: {row.contest}",
            row.step,
            seconds(ours),
            f"{seconds(theirs)}, {row.peer}",
            f"{theirs / ours:.1f}{few}",
            f"{row.score_name} {row.scores[0]:.4f}, {row.scores[1]:.4f}",
            f"{row.record['when'][:10]} [{machines.index(place) + 1}]",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    notes = [f"- [{number}] {place}" for number, place in enumerate(machines, 1)]
    said = (
        "Medians of runs in turns, wall time; test scores are ours and theirs. Log-loss and RMSE "
        "are better when lower, accuracy and R2 when higher. Fewer than "
        f"{ENOUGH} runs of each are said to be few: such a row is a first look. Only rows of the "
        "same machine can be compared."
    )
    return "\n".join([*lines, "", said, "", *notes])


def seconds(time: float) -> str:
    return f"{time:.3g} s" if time >= 0.1 else f"{1000 * time:.3g} ms"


def machine_of(record: dict[str, Any]) -> str:
    own = record["machine"]
    versions = ", ".join(f"{name} {own[name]}" for name in ("numpy", "numba", "scikit-learn"))
    return (
        f"{own['cpu']}, {own['cores']} cores, {own['system']}; Python {own['python']}, {versions}."
    )


def replaced(text: str, made: str) -> str:
    """Return a text with the table between the marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", help="show the table, change nothing")
    if parser.parse_args().print:
        print(table())
        return
    readme = ROOT / "README.md"
    readme.write_text(replaced(readme.read_text(encoding="utf-8"), table()), encoding="utf-8")


if __name__ == "__main__":
    main()
