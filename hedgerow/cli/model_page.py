"""What `hedgerow show` and `hedgerow explain` tell people."""

from typing import Any

from rich.console import Console
from rich.markup import escape

from hedgerow.cli.printing import amounts, bars, command, importance_bars
from hedgerow.cli.problems import listed
from hedgerow.cli.showing import thinned


def page(report: dict[str, Any], console: Console) -> None:
    """Print what a model is, or why it predicts what it predicts."""
    if report["command"] == "show":
        _model(report, console)
    else:
        _explanation(report, console)


def _model(report: dict[str, Any], console: Console) -> None:
    show = console.print
    noun = "rounds" if "Boost" in report["class"] else "trees"
    trees = "" if report["n_trees"] is None else f", {report['n_trees']:,} {noun}"
    show(f"[bold]{report['class']}[/]{trees}; {escape(report['file'])}, {report['bytes']:,} bytes")
    if report["fingerprint"]:
        show(f"fingerprint  {report['fingerprint']}")
    if report["classes"]:
        show(f"classes      {listed(report['classes'], 12)}", markup=False)
    for kind, noun in (("number", "numbers     "), ("text", "categories  ")):
        names = [each["feature"] for each in report["features"] if each["kind"] == kind]
        if names:
            show(f"{noun} {len(names)}: {listed(names, 12)}", markup=False)
    changed = ", ".join(f"{name}={value!r}" for name, value in report["changed"].items())
    show(f"parameters   {changed or 'all as they are by default'}", markup=False)
    for name, log in report["log"].items():
        entries = ", ".join(f"{place}: {value:.4g}" for place, value in thinned(log))
        show(f"\n[bold]{name}[/], by round  {entries}")
    if report["tree"]["text"]:
        show(f"\n[bold]Tree {report['tree']['number']}[/]")
        show(report["tree"]["text"], markup=False)
    show("\nNext, for instance:")
    show(command("explain", report["file"]), markup=False)


def _explanation(report: dict[str, Any], console: Console) -> None:
    show = console.print
    if report.get("row") is not None:
        _one_row(report, console)
        return
    if report["importances"]:
        show(f"[bold]What matters most[/]: {report['measure']}")
        show(importance_bars(report["importances"]), end="")
    if report.get("effects"):
        which = "the first " if report["is_beginning"] else ""
        show(
            f"\n[bold]How much features move predictions[/] of {which}{report['n_rows']:,} rows: "
            f"mean size of Shapley values, {escape(report['unit'])}"
        )
        shown = report["effects"][:10]
        sizes = amounts([e["mean_size"] for e in shown])
        rows = [
            (e["feature"], e["mean_size"], f"{size}{_trend(e['trend'])}")
            for e, size in zip(shown, sizes, strict=True)
        ]
        show(bars(rows), end="")


def _trend(trend: float | None) -> str:
    if trend is None:
        return ""
    return "  " + (
        "rises with it" if trend > 0.3 else "falls with it" if trend < -0.3 else "up and down"
    )


def _one_row(report: dict[str, Any], console: Console) -> None:
    show = console.print
    said = report["prediction"]
    said = f"{said:,.6g}" if isinstance(said, float) else escape(str(said))
    show(f"[bold]Row {report['row']}[/]: the model says [bold]{said}[/]", end="")
    share = report["probability"]
    show("" if share is None else f", with probability {share:.1%}")
    first, rest = report["contributions"][:12], report["contributions"][12:]
    effects = [(f"{e['feature']} = {e['value']}", e["effect"]) for e in first]
    if rest:
        effects.append((f"{len(rest)} others", sum(e["effect"] for e in rest)))
    numbers = [report["start"], *(value for _, value in effects), report["raw"]]
    start, *sizes, whole = amounts(numbers, "+")
    show(f"\nBefore anything is known: {start} ({escape(report['unit'])})")
    show(bars([(*each, size) for each, size in zip(effects, sizes, strict=True)]), end="")
    show(f"Together: {whole}")
