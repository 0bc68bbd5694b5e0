"""What `hedgerow show` and `hedgerow explain` tell people."""

from typing import Any

from rich.console import Console
from rich.markup import escape

from hedgerow.cli.printing import bars, command, importance_bars
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
    trees = "" if report["n_trees"] is None else f", {report['n_trees']:,} trees or rounds"
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
        show(
            f"\n[bold]How much features move predictions[/] of {report['n_rows']:,} rows: "
            f"mean size of Shapley values, {escape(report['unit'])}"
        )
        rows = [(e["feature"], e["mean_size"], _effect(e)) for e in report["effects"][:10]]
        show(bars(rows), end="")


def _effect(effect: dict[str, Any]) -> str:
    trend = effect["trend"]
    if trend is None:
        return f"{effect['mean_size']:.3g}"
    words = "rises with it" if trend > 0.3 else "falls with it" if trend < -0.3 else "up and down"
    return f"{effect['mean_size']:.3g}  {words}"


def _one_row(report: dict[str, Any], console: Console) -> None:
    show = console.print
    said = report["prediction"]
    said = f"{said:,.6g}" if isinstance(said, float) else escape(str(said))
    show(f"[bold]Row {report['row']}[/]: the model says [bold]{said}[/]", end="")
    share = report["probability"]
    show("" if share is None else f", with probability {share:.1%}")
    show(f"\nBefore anything is known: {report['start']:+.3f} ({escape(report['unit'])})")
    rows = [
        (f"{e['feature']} = {e['value']}", e["effect"], f"{e['effect']:+.3f}")
        for e in report["contributions"][:12]
    ]
    rest = sum(e["effect"] for e in report["contributions"][12:])
    if len(report["contributions"]) > 12:
        rows.append((f"{len(report['contributions']) - 12} others", rest, f"{rest:+.3f}"))
    show(bars(rows), end="")
    show(f"Together: {report['raw']:+.3f}")
