"""What `hedgerow train` tells people."""

from typing import Any

from rich.console import Console
from rich.markup import escape

from hedgerow.cli.printing import command, importance_bars, scores_table


def page(report: dict[str, Any], console: Console) -> None:
    """Print what was trained, how good it is, what matters, and what can be done next."""
    show = console.print
    target = escape(repr(report["target"]))
    show(f"[bold]Data[/]   {report['n_rows']:,} rows and {report['n_features']} features", end="")
    left = report["n_left_out"]
    show(f"; {left:,} rows without {target} are left out" if left else "")
    show(f"[bold]Task[/]   {report['task']} of {target}, because {report['reason']}")
    trees = "" if report["n_trees"] is None else f", {report['n_trees']:,} {_unit(report)}"
    show(
        f"[bold]Model[/]  {report['class']}{trees}, trained with {report['n_trained']:,} rows; "
        f"{report['seconds']:.1f} s in all\n"
    )
    for note in report["notes"]:
        show(f"Note: {note}.\n", markup=False)
    if report["scores"]:
        by = report["judged_by"]
        show(f"[bold]Scores[/] by {by} ({report['n_judged']:,}), with standard errors")
        show(scores_table(report["scores"], report["constant"]))
    else:
        show("Nothing was held out, so that nothing is known of its quality.")
    if report["importances"]:
        show("\n[bold]What matters most[/]")
        show(importance_bars(report["importances"]), end="")
    saved, data = report["saved"], report["data"].replace("stdin", "DATA")
    show(f"\nSaved as [bold]{escape(saved)}[/]. Next, for instance:")
    why = ("explain", saved, data, "--row", "1") if report["explains_rows"] else ()
    show(command(*(why or ("show", saved))), markup=False)
    show(command("predict", saved, data, "-o", "predictions.csv"), markup=False)


def _unit(report: dict[str, Any]) -> str:
    return "rounds" if report["model"] in ("boosting", "adaboost") else "trees"
