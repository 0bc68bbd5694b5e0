"""Gradient boosting: hedgerow and other libraries at the same leaves, rounds and learning rate.

    python benchmarks/macro/boosting.py --repeats 15
    python benchmarks/macro/boosting.py --cases "10k x 20" --libraries hedgerow LightGBM

| | all |
|---|---|
| rounds, learning rate | 100, 0.1 |
| leaves | 31; CatBoost: 32, in symmetric trees of depth 5, which are its fastest |
| bins | 255; CatBoost: 254 |
| least leaf | a Hessian of 1 (log-loss) or 20 rows (squared error); scikit-learn: 20 rows; CatBoost: none |
| l2 | 1 |
| early stopping, sampling of rows, noise | off |

"prediction" times only the prediction of 200,000 rows by the 100 trees of a model that is there.
"""  # noqa: E501  a row of a table

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr
from sklearn.metrics import log_loss, root_mean_squared_error

from benchmarks.harness import ENOUGH, RESULTS, Contest, console, held
from benchmarks.libraries import LIBRARIES, Loss, Model, version_of

N_ROUNDS, RATE, N_LEAVES, L2 = 100, 0.1, 31, 1.0


class Case(NamedTuple):
    """A table to learn from, one to predict, and what is timed."""

    n_train: int
    n_test: int
    n_features: int
    n_classes: int  # 0: numbers
    steps: tuple[str, ...] = ("fit", "predict")


CASES = {
    "binary, 10k x 20": Case(10_000, 2_500, 20, 2),
    "binary, 100k x 100": Case(100_000, 25_000, 100, 2),
    "binary, 1M x 28": Case(1_000_000, 250_000, 28, 2),
    "regression, 1M x 28": Case(1_000_000, 250_000, 28, 0),
    "7 classes, 500k x 10": Case(500_000, 125_000, 10, 7),
    "prediction, 200k x 28": Case(100_000, 200_000, 28, 2, ("predict",)),
}
RIVALS = [library for library in LIBRARIES if library != "constant"]


def collisions(n_rows: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    """Features as in records of particles, and targets that smooth, joint and no effects make.

    Columns take turns: momenta with a heavy tail, rapidities, angles spread evenly, and tags of
    three values. Baldi, Sadowski and Whiteson (2014) describe the data that is imitated.
    """
    random = np.random.default_rng(0)
    Z = random.standard_normal((n_rows, n_features))
    f = np.sin(2 * Z[:, 0]) + 0.8 * Z[:, 1] + 0.5 * Z[:, 2] ** 2 + (Z[:, 3] > 0) * Z[:, 4]
    f += 0.7 * np.maximum(Z[:, 5], Z[:, 6]) - np.abs(Z[:, 7]) + 0.5 * Z[:, 8] * (Z[:, 1] > 0)
    f += 0.5 * random.standard_normal(n_rows)
    X = Z
    X[:, 0::4] = np.exp(0.5 * Z[:, 0::4])
    X[:, 2::4] = np.pi * (2 * ndtr(Z[:, 2::4]) - 1)
    X[:, 3::4] = np.digitize(Z[:, 3::4], [0.0, 1.0])
    if n_classes == 0:
        return X, f
    return X, np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))


def equal_parameters(of_classes: bool) -> dict[str, dict[str, Any]]:
    """Return the table above in the words of each library."""
    least = 1.0 if of_classes else 20.0
    shared = {"n_estimators": N_ROUNDS, "learning_rate": RATE}
    return {
        "hedgerow": shared
        | {"max_leaf_nodes": N_LEAVES, "max_depth": None, "l2": L2, "min_child_weight": least}
        | {"max_features": None}
        | {"max_bins": 255, "early_stopping": False},
        "LightGBM": shared
        | {"num_leaves": N_LEAVES, "reg_lambda": L2, "max_bin": 255}
        | {"min_child_weight": least, "min_child_samples": 1 if of_classes else 20},
        "XGBoost": shared
        | {"max_leaves": N_LEAVES, "max_depth": 0, "grow_policy": "lossguide", "max_bin": 255}
        | {"reg_lambda": L2, "min_child_weight": least, "tree_method": "hist"},
        "scikit-learn": {"max_iter": N_ROUNDS, "learning_rate": RATE, "max_leaf_nodes": N_LEAVES}
        | {"l2_regularization": L2, "min_samples_leaf": 20, "early_stopping": False},
        "CatBoost": {"iterations": N_ROUNDS, "learning_rate": RATE, "depth": 5, "l2_leaf_reg": L2}
        | {"border_count": 254, "boosting_type": "Plain", "leaf_estimation_iterations": 1}
        | {"bootstrap_type": "No", "random_strength": 0},
    }


def contest(name: str, libraries: list[str], threads: int, rows: int | None) -> Contest:
    """Return a case with the models that learn it."""
    case = CASES[name]
    n_train, n_test = (min(rows or n, n) for n in (case.n_train, case.n_test))
    X, y = collisions(n_train + n_test, case.n_features, case.n_classes)
    loss = Loss("log_loss" if case.n_classes else "squared_error")
    parameters = equal_parameters(loss.of_classes)
    models: dict[str, Model] = {
        library: LIBRARIES[library](loss, threads, **parameters[library]) for library in libraries
    }
    return Contest(
        f"{name}, {threads} thread{'s' if threads > 1 else ''}",
        (X[:n_train], y[:n_train]),
        (X[n_train:], y[n_train:]),
        models,
        *((log_loss, "log-loss") if loss.of_classes else (root_mean_squared_error, "RMSE")),
        steps=case.steps,
        versions={library: version_of(library) for library in libraries},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=ENOUGH, help="runs of each model")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--cases", nargs="+", default=[""], help="whose names contain one of these")
    parser.add_argument("--libraries", nargs="+", choices=RIVALS, default=RIVALS)
    parser.add_argument("--rows", type=int, help="take fewer rows, to see that it runs")
    parser.add_argument("--output", type=Path, default=RESULTS / "boosting.jsonl")
    given = parser.parse_args()
    libraries = [library for library in given.libraries if version_of(library)]
    if missing := set(given.libraries) - set(libraries):
        console.print(f"Not installed, and left out: {', '.join(sorted(missing))}.")
    for name in CASES:
        if any(part in name for part in given.cases):
            for threads in given.threads:
                problem = contest(name, libraries, threads, given.rows)
                held(problem, given.repeats, given.output)


if __name__ == "__main__":
    main()
