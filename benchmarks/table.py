"""The tables of README.md: what stored results say, and nothing else; `make bench-table`.

python benchmarks/table.py            # replaces what stands between the two marks
python benchmarks/table.py --print    # shows it
"""

import argparse
from pathlib import Path

from benchmarks.records import ENOUGH, RESULTS, ROOT, Record
from benchmarks.rows import Row, contest_rows, limit_rows

BEGIN, END = "<!-- bench-table: begin -->", "<!-- bench-table: end -->"


def table(folder: Path = RESULTS) -> str:
    """Return the tables, with the dates and machines below them."""
    machines: list[str] = []
    contests, limits = contest_rows(folder), limit_rows(folder)
    lines = [
        "| contest | | hedgerow | fastest other | theirs / ours | bar | test scores | when |",
        "|---|---|---:|---:|---:|---|---|---|",
        *(contest_line(row, machines) for row in contests),
    ]
    if limits:
        lines += [
            "",
            "| limit | | hedgerow | others | bar | when |",
            "|---|---|---:|---:|---|---|",
            *(limit_line(row, machines) for row in limits),
        ]
    said = (
        "Medians of runs in turns, wall time; test scores are ours and theirs. Log-loss and RMSE "
        "are better when lower, accuracy and R2 when higher. Fewer than "
        f"{ENOUGH} runs of each are said to be few: such a row is a first look. Only rows of the "
        "same machine can be compared."
    )
    notes = [f"- [{number}] {place}" for number, place in enumerate(machines, 1)]
    return "\n".join([*lines, "", said, "", *notes])


def contest_line(row: Row, machines: list[str]) -> str:
    cells = [
        f"{row.kind}: {row.contest}",
        row.step,
        row.ours,
        row.theirs,
        f"{row.figure:.1f}{few(row)}",
        verdict(row),
        row.scores,
        when(row.record, machines),
    ]
    return f"| {' | '.join(cells)} |"


def limit_line(row: Row, machines: list[str]) -> str:
    about = [f"{row.kind}: {row.contest}", row.step, f"{row.ours}{few(row)}", row.theirs]
    return f"| {' | '.join([*about, verdict(row), when(row.record, machines)])} |"


def few(row: Row) -> str:
    return "" if row.n_runs >= ENOUGH else f" (few runs: {row.n_runs})"


def verdict(row: Row) -> str:
    """Return the bar, and that it is missed if it is."""
    if row.bar is None:
        return ""
    return str(row.bar) if row.holds else f"{row.bar}: **behind**"


def when(record: Record, machines: list[str]) -> str:
    """Return the date and the number of the machine, which may be a new one."""
    place = machine_of(record)
    if place not in machines:
        machines.append(place)
    return f"{record['when'][:10]} [{machines.index(place) + 1}]"


def machine_of(record: Record) -> str:
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
