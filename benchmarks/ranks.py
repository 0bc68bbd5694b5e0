"""The table of accuracy: means over folds, ranks within sets, average ranks."""

from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

console = Console(highlight=False, width=160)
OURS, CONSTANT = "hedgerow", "constant"
HIGHER_IS_BETTER = ("AUC", "accuracy")
Means = dict[tuple[str, str], dict[str, float]]  # (set, score) -> library -> mean over folds


def report(records: list[dict[str, Any]], libraries: list[str], sets: Any, folds: int) -> None:
    """Show the sets on which every library has been tried, in every fold."""
    chosen = [r for r in records if r["fold"] < folds and (not sets or r["set"] in sets)]
    means = mean_scores(chosen, folds)
    groups: dict[str, Means] = {
        "the loss of each set": {},
        "AUC, accuracy": {},
        "robust losses": {},
    }
    for (name, score), row in means.items():
        groups[group_of(score)][name, score] = row
    for title, rows in groups.items():
        if rows:
            show(title, rows, libraries)


def group_of(score: str) -> str:
    if score in HIGHER_IS_BETTER:
        return "AUC, accuracy"
    return "the loss of each set" if score in {"log-loss", "RMSE"} else "robust losses"


def mean_scores(records: list[dict[str, Any]], folds: int) -> Means:
    """Return the mean scores of all folds; of equal fits the last counts; a failure is NaN."""
    last = {(r["set"], r["loss"], r["library"], r["fold"]): r for r in records}
    kinds = {(r["set"], r["loss"]): list(r["scores"]) for r in last.values() if "scores" in r}
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for (name, loss, library, _), record in last.items():
        for score in kinds.get((name, loss), []):
            title = f"{score} {loss.split()[1]}" if loss.startswith("quantile") else score
            row = found.setdefault((name, title), {})
            row.setdefault(library, []).append(record.get("scores", {}).get(score, np.nan))
    return {
        key: {library: float(np.mean(f)) for library, f in row.items() if len(f) == folds}
        for key, row in found.items()
    }


def show(title: str, rows: Means, libraries: list[str]) -> None:
    """Show for each set the scores, their ranks, and hedgerow's score over the best peer's."""
    rivals = [library for library in libraries if library != CONSTANT]
    table = Table(title=title, box=None, title_justify="left")
    for column in ("set", "score"):
        table.add_column(column, no_wrap=True)
    for column in (*libraries, "to best peer"):
        table.add_column(column, justify="right", no_wrap=True)
    ranks = []
    for (name, score), row in sorted(rows.items()):
        place = ranked(row, rivals, score)
        if place is not None:
            ranks.append(place)
        cells = [cell(row, library, score, place) for library in libraries]
        table.add_row(name, score, *cells, against_peers(row, rivals, score))
    if ranks:
        average = pd.DataFrame(ranks).mean()
        places = [f"{average[x]:.2f}" if x in rivals else "" for x in libraries]
        table.add_row(f"average rank, {len(ranks)} of {len(rows)}", "", *places, "", style="bold")
    console.print(table, soft_wrap=True)
    console.print("(rank); ! worse than the constant; failed: ranked last\n", soft_wrap=True)


def ranked(row: dict[str, float], rivals: list[str], score: str) -> dict[str, float] | None:
    """Return the rank of each library, ties averaged; None if one has not been tried."""
    if any(library not in row for library in rivals):
        return None
    values = pd.Series({library: row[library] for library in rivals})
    return dict(values.rank(ascending=score not in HIGHER_IS_BETTER, na_option="bottom"))


def cell(row: dict[str, float], library: str, score: str, place: dict[str, float] | None) -> str:
    if library not in row:
        return "-"
    if np.isnan(row[library]):
        return "failed"
    sign = -1 if score in HIGHER_IS_BETTER else 1
    worse = sign * (row[library] - row.get(CONSTANT, sign * np.inf)) > 0
    rank = f" ({place[library]:g})" if place and library in place else ""
    return f"{row[library]:.5g}{' !' if worse else ''}{rank}"


def against_peers(row: dict[str, float], rivals: list[str], score: str) -> str:
    """Return hedgerow's score over that of the best peer."""
    peers = [row[x] for x in rivals if x in row and x != OURS and not np.isnan(row[x])]
    if OURS not in row or not peers:
        return "-"
    return f"{row[OURS] / (max if score in HIGHER_IS_BETTER else min)(peers):.3f}"
