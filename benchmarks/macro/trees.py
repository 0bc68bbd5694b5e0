"""Single trees: hedgerow and scikit-learn on covtype, and on a million rows of regression.

    python benchmarks/macro/trees.py --repeats 15

Parameters are the defaults of each library, but for those below. scikit-learn's trees use
one thread and look at every distinct value; hedgerow's do so with split_finding="exact".

| | classification | regression |
|---|---|---|
| max_leaf_nodes | None | 255 |
| random_state | 0 (scikit-learn; hedgerow draws nothing) | same |
"""

from pathlib import Path

import numpy as np
import pandas as pd
import sklearn.tree
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

import hedgerow
from benchmarks.harness import Contest, console, held
from benchmarks.options import chosen, options

N_ROWS, N_HELD_OUT, N_FEATURES = 1_000_000, 250_000, 28


def classification(rows: int | None, data: Path) -> Contest | None:
    """Forest cover of 581,012 places: 54 numbers, 7 classes. Blackard and Dean (1999)."""
    if not (data / "covtype.parquet").exists():
        console.print(f"Left out covtype: it is not in {data}.", soft_wrap=True)
        return None
    places = pd.read_parquet(data / "covtype.parquet")
    X, y = places.iloc[:, :-1].to_numpy(np.float64), places.iloc[:, -1].to_numpy()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    tree = hedgerow.DecisionTreeClassifier
    models = {
        "hedgerow": tree(),
        "hedgerow, 1 thread": tree(n_jobs=1),
        "hedgerow, exact, 1 thread": tree(n_jobs=1, split_finding="exact"),
        "scikit-learn": sklearn.tree.DecisionTreeClassifier(random_state=0),
    }
    train = X_train[:rows], y_train[:rows]
    return Contest("covtype", train, (X_test, y_test), models, accuracy_score, "accuracy")


def regression(rows: int | None, data: Path) -> Contest:  # noqa: ARG001  it is made here
    """Smooth, additive, interacting and irrelevant features, with noise."""
    n_train = rows or N_ROWS
    random = np.random.default_rng(0)
    X = random.standard_normal((n_train + N_HELD_OUT, N_FEATURES))
    y = np.sin(2 * X[:, 0]) + 0.8 * X[:, 1] + 0.5 * X[:, 2] ** 2 + (X[:, 3] > 0) * X[:, 4]
    y += 0.7 * np.maximum(X[:, 5], X[:, 6]) - np.abs(X[:, 7]) + 0.5 * X[:, 8] * (X[:, 1] > 0)
    y += 0.5 * random.standard_normal(len(y))
    tree, shape = hedgerow.DecisionTreeRegressor, {"max_leaf_nodes": 255}
    models = {
        "hedgerow": tree(**shape),
        "hedgerow, 1 thread": tree(n_jobs=1, **shape),
        "hedgerow, exact, 1 thread": tree(n_jobs=1, split_finding="exact", **shape),
        "scikit-learn": sklearn.tree.DecisionTreeRegressor(random_state=0, **shape),
    }
    train, test = (X[:n_train], y[:n_train]), (X[n_train:], y[n_train:])
    return Contest("regression", train, test, models, r2_score, "R2")


def main() -> None:
    given = options(__doc__, "trees").parse_args()
    for name in chosen(CASES, given):
        contest = CASES[name](given.rows, given.data)
        if contest is not None:
            few = "" if given.rows is None else f", {len(contest.train[0]):,} rows"
            held(contest._replace(name=name + few), given.repeats, given.output)


CASES = {"covtype": classification, "regression": regression}

if __name__ == "__main__":
    main()
