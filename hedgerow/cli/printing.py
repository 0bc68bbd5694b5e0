"""What the commands print for people: tables, bars, and the next command to try."""

import json
import shlex
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_BAR = 30  # characters of the longest bar
_FEATURES = 8


def printed(report: dict[str, Any], as_json: bool) -> None:
    """Print a report, for machines or for people."""
    if as_json:
        Console(soft_wrap=True).out(json.dumps(report, allow_nan=False), highlight=False)
        return
    import importlib

    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:  # nobody's window is too narrow
        console = Console(highlight=False, soft_wrap=True, width=200)
    module = importlib.import_module(f"hedgerow.cli.{_PAGES[report['command']]}")
    module.page(report, console)


_PAGES = {
    "train": "training_page",
    "show": "model_page",
    "evaluate": "scores_page",
    "compare": "scores_page",
    "explain": "model_page",
    "export": "exporting",
    "warmup": "kernels_page",
    "cache": "kernels_page",
}


def scores_table(scores: dict[str, Any], constant: dict[str, Any]) -> Table:
    """Return scores with standard errors beside those of a constant."""
    table = Table("score", "model", "without features", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, value in scores.items():
        table.add_row(name, with_error(value), with_error(constant.get(name)))
    return table


def with_error(value: dict[str, float | None] | None) -> str:
    """Write a score and its standard error.

    >>> with_error({"score": 0.8765, "standard_error": 0.0031})
    '0.8765 ± 0.0031'
    >>> with_error({"score": 1234.5, "standard_error": 20.25})
    '1,234.5 ± 20.2'
    """
    if value is None or value["score"] is None:
        return "-"
    score, error = value["score"], value["standard_error"]
    digits = 4 if abs(score) < 10 else 3 if abs(score) < 100 else 1
    shown = f"{score:,.{digits}f}"
    return shown if error is None else f"{shown} ± {error:,.{digits}f}"


def amounts(values: list[float], sign: str = "") -> list[str]:
    """Write numbers that stand below each other with as many digits as the largest needs.

    >>> amounts([0.5, -0.0625], "+")
    ['+0.500', '-0.062']
    >>> amounts([19234.6, 82.31])
    ['19,235', '82']
    """
    largest = max(map(abs, values), default=0.0)
    digits = 3 if largest < 100 else 1 if largest < 1000 else 0
    return [f"{value:{sign},.{digits}f}" for value in values]


def bars(rows: list[tuple[str, float, str]]) -> Text:
    """Draw names, bars as long as the numbers and what to write behind them."""
    largest = max((abs(value) for _, value, _ in rows), default=0.0) or 1.0
    width = max((len(name) for name, _, _ in rows), default=0)
    text = Text()
    for name, value, said in rows:
        bar = "█" * max(1, round(_BAR * abs(value) / largest)) if value else ""
        text.append(f"  {name:<{width}}  ")
        text.append(bar, "green" if value >= 0 else "red")
        text.append(f" {said}\n")
    return text


def importance_bars(importances: list[dict[str, Any]]) -> Text:
    """Draw the most important features, and say how many others there are."""
    shown = [each for each in importances[:_FEATURES] if each["importance"] > 0]
    if not shown:
        return Text("  nothing: there are no splits, and all rows are told the same\n")
    rows = [(each["feature"], each["importance"], f"{each['importance']:.1%}") for each in shown]
    text = bars(rows)
    rest = sum(each["importance"] for each in importances[len(shown) :])
    if len(importances) > len(shown):
        text.append(f"  and {len(importances) - len(shown)} more with {rest:.1%} together\n")
    return text


def command(*words: str) -> str:
    """Write a command as it is typed."""
    return "  " + shlex.join(["hedgerow", *words])
