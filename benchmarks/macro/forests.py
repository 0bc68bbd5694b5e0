"""Forests: hedgerow and scikit-learn with the same number of trees.

    python benchmarks/macro/forests.py --repeats 3
    python benchmarks/macro/forests.py --cases covtype --trees 20
    python benchmarks/macro/forests.py --steps predict

| | all |
|---|---|
| trees | 100; of a million rows 10, of the regression 4, as scikit-learn takes minutes |
| depth | full; regression: at least 5 rows in a leaf |
| features of a node | the square root of their number; regression: all |
| rows of a tree | a bootstrap sample; extra-trees: all |

scikit-learn looks at every distinct value, hedgerow at 255 bins above 10,000 rows.
"""

from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn.ensemble
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

import hedgerow
from benchmarks.harness import Contest, console, held
from benchmarks.libraries import version_of
from benchmarks.macro.boosting import collisions
from benchmarks.options import chosen, options, title

Size = tuple[int, int, int, int]  # rows to learn, rows to predict, features, classes


class Case(NamedTuple):
    """A table and the forest that learns it; table: None is covtype."""

    forest: str
    table: Size | None
    n_trees: int
    parameters: dict[str, Any]


CASES = {
    "forest, 100k x 20": Case("RandomForestClassifier", (100_000, 25_000, 20, 2), 100, {}),
    "forest, covtype": Case("RandomForestClassifier", None, 100, {}),
    "extra-trees, covtype": Case("ExtraTreesClassifier", None, 100, {}),
    "extra-trees, 100k x 20": Case("ExtraTreesClassifier", (100_000, 25_000, 20, 2), 100, {}),
    "forest, 1M x 28": Case("RandomForestClassifier", (1_000_000, 100_000, 28, 2), 10, {}),
    "extra-trees, 1M x 28": Case("ExtraTreesClassifier", (1_000_000, 100_000, 28, 2), 10, {}),
    "regression, 1M x 28": Case(
        "RandomForestRegressor", (1_000_000, 100_000, 28, 0), 4, {"min_samples_leaf": 5}
    ),
}


def problem_of(size: Size | None, data: Path, rows: int | None) -> tuple[Any, Any] | None:
    """Return what is learnt and what is predicted, each X and y; size: None is covtype."""
    if size is None:
        if not (data / "covtype.parquet").exists():
            console.print(f"Left out covtype: it is not in {data}.", soft_wrap=True)
            return None
        places = pd.read_parquet(data / "covtype.parquet")
        X, y = places.iloc[:, :-1].to_numpy(np.float64), places.iloc[:, -1].to_numpy()
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.1, random_state=0)
        return (X[:rows], y[:rows]), (X_test, y_test)
    n_train, n_test = (min(rows or n, n) for n in size[:2])
    X, y = collisions(n_train + n_test, *size[2:])
    return (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])


def contest(name: str, problem: tuple[Any, Any], threads: int, given: Namespace) -> Contest:
    """Return a case with the forests that learn it."""
    case = CASES[name]
    n_trees = given.trees or case.n_trees
    shared = {"n_estimators": n_trees, "random_state": 0, "n_jobs": threads}
    models = {
        "hedgerow": getattr(hedgerow, case.forest)(**shared | case.parameters),
        "scikit-learn": getattr(sklearn.ensemble, case.forest)(**shared | case.parameters),
    }
    models = {name: model for name, model in models.items() if name in given.libraries}
    score = (r2_score, "R2") if case.table and not case.table[3] else (accuracy_score, "accuracy")
    shown = title(f"{name}, {n_trees} trees", threads, len(problem[0][0]), given)
    versions = {library: version_of(library) for library in models}
    steps = tuple(given.steps)
    return Contest(shown, *problem, models, *score, steps=steps, versions=versions, threads=threads)


def main() -> None:
    parser = options(__doc__, "forests")
    steps = ["fit", "predict"]
    parser.add_argument("--steps", nargs="+", choices=steps, default=steps, help="what is timed")
    parser.add_argument("--trees", type=int, help="instead of those of the table above")
    parser.add_argument("--libraries", nargs="+", default=["hedgerow", "scikit-learn"])
    given = parser.parse_args()
    for name in chosen(CASES, given):
        problem = problem_of(CASES[name].table, given.data, given.rows)
        for threads in given.threads if problem else ():
            held(contest(name, problem, threads, given), given.repeats, given.output)


if __name__ == "__main__":
    main()
