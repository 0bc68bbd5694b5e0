"""What `hedgerow evaluate` and `hedgerow compare` tell people."""

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hedgerow.cli.printing import command, scores_table, with_error

_CHANCE = 0.05


def page(report: dict[str, Any], console: Console) -> None:
    """Print scores."""
    (_one if report["command"] == "evaluate" else _several)(report, console)


def _one(report: dict[str, Any], console: Console) -> None:
    show = console.print
    left = report["n_left_out"]
    show(
        f"[bold]{report['class']}[/] judged by {report['n_rows']:,} rows "
        f"of {escape(report['data'])}"
    )
    lacking = f"; {left:,} rows lack it" if left else ""
    show(f"Target: {escape(repr(report['target']))}{lacking}")
    show(scores_table(report["scores"], report["constant"]))


def _several(report: dict[str, Any], console: Console) -> None:
    show = console.print
    show(
        f"[bold]{report['task']}[/] of {escape(repr(report['target']))}, "
        f"because {report['reason']}; "
        f"{report['n_rows']:,} rows, {report['n_folds']} folds, the same for all models"
    )
    names = list(report["models"][0]["scores"])
    heads = ["model", *names, "behind", "s a fit"]
    table = Table(*heads, box=None, pad_edge=False)
    for column in table.columns:
        column.no_wrap = True
        column.justify = "left" if column.header == "model" else "right"
    for place, each in enumerate(report["models"]):
        scores = [with_error(each["scores"][name]) for name in names]
        behind = "best" if place == 0 else _behind(each["behind"])
        table.add_row(each["model"], *scores, behind, f"{each['seconds']:.2f}")
    show(table)
    show(f"The best has the least {report['decisive']}; behind: by how much, fold by fold.")
    if any(_is_more(each["behind"]) for each in report["models"]):
        show("* more than chance: p < 0.05, corrected for overlapping folds and their number")
    best = report["models"][0]["model"]
    if best != "without features":
        show("\nNext, for instance:")
        words = ("train", report["data"], "--target", report["target"], "--model", best)
        show(command(*words), markup=False)


def _behind(value: dict[str, float | None]) -> str:
    """Write by how much a model is behind, with a star if that is more than chance."""
    return with_error(value) + (" *" if _is_more(value) else "  ")


def _is_more(value: dict[str, float | None]) -> bool:
    return value["p"] is not None and value["p"] < _CHANCE
