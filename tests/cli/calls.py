"""Calling the command in this process, with small files to call it on."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from hedgerow.cli import commands


def called(*arguments: Any, stdin: str | bytes | None = None) -> Any:
    return CliRunner().invoke(
        commands.app, [str(each) for each in arguments], prog_name="hedgerow", input=stdin
    )


def people(n_rows: int = 120, seed: int = 0) -> list[dict[str, Any]]:
    """Rows with numbers, words, gaps, and three targets that depend on them."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n_rows):
        age, town = int(rng.integers(18, 80)), str(rng.choice(["Ulm", "Köln", "Bad, Tölz"]))
        height = round(float(rng.normal(170, 10)), 1)
        price = round(age * 2 + 30 * (town == "Ulm") + float(rng.normal()), 2)
        rows.append(
            {
                "id": f"p{number}",
                "age": "" if number % 17 == 5 else age,
                "town": "NA" if number % 13 == 4 else town,
                "height": height,
                "bought": "yes" if price > 110 else "no",
                "grade": int(price > 80) + int(price > 130),
                "price": price,
            }
        )
    return rows


def written(path: Path, rows: list[dict[str, Any]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path
