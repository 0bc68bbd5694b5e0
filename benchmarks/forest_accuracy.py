"""Accuracy of forests: hedgerow and scikit-learn on the same splits, by a paired test.

    python benchmarks/forest_accuracy.py                   # what is not there yet
    python benchmarks/forest_accuracy.py --again           # ours; theirs as they were recorded
    python benchmarks/forest_accuracy.py --report

For each set and seed the rows are dealt into a part to learn from (three quarters) and one to
predict, and both libraries grow a forest of 200 trees at their defaults with that seed. Categories
are given as numbers and missing values stay missing, as scikit-learn's forests have no categories.
The score is accuracy or R2; of a hedgerow forest also that of the rows out of the bag.

The report has the mean difference over seeds with its standard error, and p of the one-sided
paired t test that hedgerow is worse; of many tests some have a small p by chance, so it is shown
also as Holm (1979) corrects it for their number. Out of bag minus test: the mean with its 95 %
interval.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn.ensemble
from rich.table import Table
from scipy.stats import t
from sklearn.model_selection import train_test_split

import hedgerow
from benchmarks.datasets import DATA, dataset
from benchmarks.harness import console
from benchmarks.libraries import version_of
from benchmarks.records import RESULTS, revision

CLASSES = (
    "iris",
    "german_credit",
    "spambase",
    "higgs7k",
    "mammography",
    "dry_bean",
    "soybean",
    "letter",
)
NUMBERS = (
    "auto_imports",
    "concrete",
    "ames_housing",
    "abalone",
    "cpu_act",
    "bikeshare",
    "california_housing",
    "loan_rates",
)
FORESTS = {"forest": "RandomForest", "extra-trees": "ExtraTrees"}
N_SEEDS, N_TREES = 20, 200
MOST_ROWS = 10_000


def as_numbers(X: pd.DataFrame) -> Any:
    """Return the table with the codes of its categories; missing ones are NaN."""
    columns = [
        X[name].cat.codes.where(X[name].notna()).to_numpy(np.float64)
        if isinstance(X[name].dtype, pd.CategoricalDtype)
        else X[name].to_numpy(np.float64)
        for name in X
    ]
    return np.column_stack(columns)


def outcome(
    X: Any, y: Any, kind: str, seed: int, threads: int, theirs_was: float | None
) -> dict[str, Any]:
    """Fit both libraries and score them on the rows that are held out.

    theirs_was: scikit-learn's score of the same split and seed, if it need not be fitted again.
    """
    size = min(len(X), MOST_ROWS)
    classes = y if kind.endswith("Classifier") else None
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=size * 3 // 4, test_size=size // 4, random_state=seed, stratify=classes
    )
    given = {"n_estimators": N_TREES, "random_state": seed, "n_jobs": threads}
    with_bag = kind.startswith("Random")
    ours = getattr(hedgerow, kind)(oob_score=with_bag, **given)
    theirs = getattr(sklearn.ensemble, kind)(**given)
    begun = time.perf_counter()
    scores = {"hedgerow": ours.fit(X, y).score(X_test, y_test)}
    middle = time.perf_counter()
    seconds = [round(middle - begun, 3), None]
    if theirs_was is None:
        theirs_was = theirs.fit(X, y).score(X_test, y_test)
        seconds[1] = round(time.perf_counter() - middle, 3)
    scores["scikit-learn"] = theirs_was
    if with_bag:
        scores["out of bag"] = ours.oob_score_
    return {"scores": scores, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*CLASSES, *NUMBERS])
    parser.add_argument("--forests", nargs="+", choices=FORESTS, default=list(FORESTS))
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=RESULTS / "forest_accuracy.jsonl")
    parser.add_argument(
        "--again", action="store_true", help="fit only hedgerow, if theirs is known"
    )
    parser.add_argument("--report", action="store_true", help="show the table, fit nothing")
    given = parser.parse_args()
    own = version_of("hedgerow")
    done = [] if not given.output.exists() else given.output.read_text().splitlines()
    lines = [json.loads(line) for line in done]
    if not given.report:
        known = {(e["set"], e["forest"], e["seed"]) for e in lines if e["version"] == own}
        theirs = {(e["set"], e["forest"], e["seed"]): e["scores"]["scikit-learn"] for e in lines}
        run(given, known, own, theirs if given.again else {})
        lines = [json.loads(line) for line in given.output.read_text().splitlines()]
    report(lines)


def run(
    given: argparse.Namespace, known: set[Any], own: str | None, theirs: dict[Any, float]
) -> None:
    """Fit what is not known, and append a line for each; theirs: scores of scikit-learn."""
    for name in given.sets:
        problem = dataset(given.data, name)
        X = as_numbers(problem.X)
        for forest in given.forests:
            kind = FORESTS[forest] + ("Classifier" if problem.n_classes else "Regressor")
            for seed in range(given.seeds):
                if (name, forest, seed) in known:
                    continue
                record = {"set": name, "forest": forest, "seed": seed, "version": own}
                score = theirs.get((name, forest, seed))
                record |= outcome(X, problem.y, kind, seed, given.threads, score)
                record["revision"] = revision()
                with given.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")


def report(lines: list[dict[str, Any]]) -> None:
    """Show the paired differences of the latest version of each set and forest."""
    table = Table(box=None)
    titles = (
        "",
        "seeds",
        "hedgerow",
        "scikit-learn",
        "difference",
        "p worse",
        "Holm's",
        "bag - test",
    )
    for column in titles:
        table.add_column(column, justify="left" if not column else "right")
    rows, tests = [], []
    latest = {(e["set"], e["forest"]): e["version"] for e in lines}
    for (name, forest), version in latest.items():
        same = [
            e["scores"]
            for e in lines
            if (e["set"], e["forest"], e["version"]) == (name, forest, version)
        ]
        ours, theirs = (np.array([s[k] for s in same]) for k in ("hedgerow", "scikit-learn"))
        mean, error = paired(ours - theirs)
        worse = t.cdf(mean / error, len(same) - 1) if error > 0 else float(mean >= 0)
        cells = [f"{name}, {forest}", str(len(same)), f"{ours.mean():.4f}", f"{theirs.mean():.4f}"]
        cells += [f"{mean:+.4f} ({error:.4f})", f"{worse:.3f}", "", ""]
        if "out of bag" in same[0]:
            bag = np.array([s["out of bag"] for s in same]) - ours
            middle, error = paired(bag)
            wide = t.ppf(0.975, len(same) - 1) * error
            cells[-1] = f"{middle:+.4f} [{middle - wide:+.4f}, {middle + wide:+.4f}]"
        rows.append(cells)
        tests.append(worse)
    for cells, p in zip(rows, corrected(tests), strict=True):
        cells[-2] = f"{p:.3f}"
        table.add_row(*cells)
    console.print(table, soft_wrap=True)


def corrected(tests: list[float]) -> list[float]:
    """Return p of each of several tests, by Holm's steps: the smallest times their number, ..."""
    found, largest = [0.0] * len(tests), 0.0
    for rank, place in enumerate(sorted(range(len(tests)), key=tests.__getitem__)):
        largest = max(largest, min(1.0, (len(tests) - rank) * tests[place]))
        found[place] = largest
    return found


def paired(differences: Any) -> tuple[float, float]:
    """Return the mean and its standard error."""
    if len(differences) < 2:
        return float(differences.mean()), float("nan")
    return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))


if __name__ == "__main__":
    main()
