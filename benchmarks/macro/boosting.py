"""Gradient boosting: hedgerow and other libraries at the same leaves, rounds and learning rate.

    python benchmarks/macro/boosting.py --repeats 15

| | all |
|---|---|
| rounds, learning rate, leaves, bins | 100, 0.1, 31, 255 |
| least leaf | a Hessian of 1 (log-loss), 20 rows (squared error) |
| l2 | 1 |
| early stopping | off |
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, r2_score

import hedgerow
from benchmarks.harness import ENOUGH, RESULTS, Contest, console, held

SHAPES = {
    "binary, 10k x 20": (10_000, 20, 2),
    "binary, 100k x 100": (100_000, 100, 2),
    "binary, 1M x 28": (1_000_000, 28, 2),
    "regression, 1M x 28": (1_000_000, 28, 0),
    "7 classes, 500k x 10": (500_000, 10, 7),
}


class Shown:
    """A classifier whose `predict` gives probabilities, so that its log-loss can be taken."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> "Shown":
        """Fit the classifier."""
        self.model.fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return probabilities."""
        return self.model.predict_proba(X)


def problem(n_rows: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    """Smooth, additive, interacting and irrelevant features, with noise."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, n_features))
    f = np.sin(2 * X[:, 0]) + 0.8 * X[:, 1] + 0.5 * X[:, 2] ** 2 + (X[:, 3] > 0) * X[:, 4]
    f += 0.7 * np.maximum(X[:, 5], X[:, 6]) - np.abs(X[:, 7]) + 0.5 * X[:, 8] * (X[:, 1] > 0)
    f += 0.5 * random.standard_normal(n_rows)
    if n_classes == 0:
        return X, f
    return X, np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))


def models(n_classes: int, threads: int) -> dict[str, Any]:
    """Return the models of a contest, those whose libraries are there."""
    ours = (hedgerow.GradientBoostingRegressor, hedgerow.GradientBoostingClassifier)
    kind = int(n_classes > 0)
    found = {"hedgerow": ours[kind](early_stopping=False, n_jobs=threads)}
    try:
        import lightgbm  # noqa: PLC0415

        shared = {"n_jobs": threads, "num_leaves": 31, "reg_lambda": 1.0, "verbosity": -1}
        found["LightGBM"] = (lightgbm.LGBMRegressor, lightgbm.LGBMClassifier)[kind](**shared)
    except ImportError:
        console.print("LightGBM is not there.")
    try:
        import xgboost  # noqa: PLC0415

        shared = {"n_jobs": threads, "max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide"}
        shared |= {"tree_method": "hist", "learning_rate": 0.1, "max_bin": 255}
        found["XGBoost"] = (xgboost.XGBRegressor, xgboost.XGBClassifier)[kind](**shared)
    except ImportError:
        console.print("XGBoost is not there.")
    if threads != 1:
        peer = (HistGradientBoostingRegressor, HistGradientBoostingClassifier)[kind]
        found["scikit-learn"] = peer(early_stopping=False, l2_regularization=1.0)
    return {name: Shown(model) for name, model in found.items()} if kind else found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=ENOUGH, help="runs of each model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    parser.add_argument("--output", type=Path, default=RESULTS / "boosting.jsonl")
    given = parser.parse_args()
    for name, (n_rows, n_features, n_classes) in SHAPES.items():
        if given.only in name:
            X, y = problem(n_rows + n_rows // 4, n_features, n_classes)
            train, test = (X[:n_rows], y[:n_rows]), (X[n_rows:], y[n_rows:])
            score, score_name = (log_loss, "log-loss") if n_classes else (r2_score, "R2")
            title = f"{name}, {given.threads} threads"
            contest = Contest(
                title, train, test, models(n_classes, given.threads), score, score_name
            )
            held(contest, given.repeats, given.output)


if __name__ == "__main__":
    main()
