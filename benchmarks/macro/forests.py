"""Forests: hedgerow and scikit-learn with the same number of trees, on two threads.

    python benchmarks/macro/forests.py --repeats 3
    python benchmarks/macro/forests.py --cases covtype --trees 20
    python benchmarks/macro/forests.py --steps predict

| | all |
|---|---|
| trees | 100; of the regression 4, as scikit-learn takes minutes for each |
| depth | full; regression: at least 5 rows in a leaf |
| features of a node | the square root of their number; regression: all |
| rows of a tree | a bootstrap sample; extra-trees: all |
| threads | 2 |

scikit-learn looks at every distinct value, hedgerow at 255 bins above 10,000 rows.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn.ensemble
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

import hedgerow
from benchmarks.datasets import DATA
from benchmarks.harness import ENOUGH, RESULTS, Contest, console, held
from benchmarks.libraries import version_of
from benchmarks.macro.boosting import collisions


class Case(NamedTuple):
    """A table and the forest that learns it; table: None is covtype."""

    forest: str
    table: tuple[int, int, int, int] | None  # rows to learn, rows to predict, features, classes
    n_trees: int
    parameters: dict[str, Any]


CASES = {
    "forest, 100k x 20": Case("RandomForestClassifier", (100_000, 25_000, 20, 2), 100, {}),
    "forest, covtype": Case("RandomForestClassifier", None, 100, {}),
    "extra-trees, covtype": Case("ExtraTreesClassifier", None, 100, {}),
    "regression, 1M x 28": Case(
        "RandomForestRegressor", (1_000_000, 100_000, 28, 0), 4, {"min_samples_leaf": 5}
    ),
}


def problem_of(case: Case, data: Path, rows: int | None) -> tuple[Any, Any] | None:
    """Return what is learnt and what is predicted, each X and y."""
    if case.table is None:
        if not (data / "covtype.parquet").exists():
            console.print(f"Skipped covtype: it is not in {data}.", soft_wrap=True)
            return None
        places = pd.read_parquet(data / "covtype.parquet")
        X, y = places.iloc[:, :-1].to_numpy(np.float64), places.iloc[:, -1].to_numpy()
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.1, random_state=0)
        return (X[:rows], y[:rows]), (X_test, y_test)
    n_train, n_test, n_features, n_classes = case.table
    n_train = min(rows or n_train, n_train)
    X, y = collisions(n_train + n_test, n_features, n_classes)
    return (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])


def contest(name: str, given: argparse.Namespace) -> Contest | None:
    """Return a case with the forests that learn it."""
    case = CASES[name]
    problem = problem_of(case, given.data, given.rows)
    if problem is None:
        return None
    n_trees = given.trees or case.n_trees
    shared = {"n_estimators": n_trees, "random_state": 0, "n_jobs": given.threads}
    models = {
        "hedgerow": getattr(hedgerow, case.forest)(**shared | case.parameters),
        "scikit-learn": getattr(sklearn.ensemble, case.forest)(**shared | case.parameters),
    }
    models = {name: model for name, model in models.items() if name in given.libraries}
    score = (r2_score, "R2") if case.table and not case.table[3] else (accuracy_score, "accuracy")
    title = f"{name}, {n_trees} trees, {given.threads} threads"
    versions = {library: version_of(library) for library in models}
    return Contest(title, *problem, models, *score, steps=tuple(given.steps), versions=versions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=ENOUGH, help="runs of each model")
    steps = ["fit", "predict"]
    parser.add_argument("--steps", nargs="+", choices=steps, default=steps, help="what is timed")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trees", type=int, help="instead of those of the table above")
    parser.add_argument("--cases", nargs="+", default=[""], help="whose names contain one of these")
    parser.add_argument("--libraries", nargs="+", default=["hedgerow", "scikit-learn"])
    parser.add_argument("--rows", type=int, help="train on fewer rows, to see that it runs")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=RESULTS / "forests.jsonl")
    given = parser.parse_args()
    for name in CASES:
        if any(part in name for part in given.cases):
            problem = contest(name, given)
            if problem is not None:
                held(problem, given.repeats, given.output)


if __name__ == "__main__":
    main()
