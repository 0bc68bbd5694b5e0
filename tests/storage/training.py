"""A training to be killed: `python -m tests.storage.training KIND ROWS ROUNDS CHECKPOINT MODEL`."""

import sys
from typing import Any

import numpy as np

import hedgerow as hr

MAKERS = {
    "boosting": lambda n: hr.GradientBoostingRegressor(n_estimators=n, learning_rate=0.1),
    "classes": lambda n: hr.GradientBoostingClassifier(n_estimators=n, learning_rate=0.1),
    "forest": lambda n: hr.RandomForestRegressor(n, min_samples_leaf=5),
}


def trained(kind: str, n_rows: int, n_rounds: int, checkpoint: Any, model: Any) -> None:
    """Train, and say when the fit begins."""
    chance = np.random.default_rng(0)
    X = chance.normal(size=(n_rows, 12))
    X[::7, 3] = np.nan
    y = X[:, 0] + X[:, 1] * X[:, 2] + chance.normal(size=len(X))
    if kind == "classes":
        y = np.digitize(y, [-1.0, 1.0])
    sys.stdout.write("begins\n")
    sys.stdout.flush()
    MAKERS[kind](n_rounds).fit(X, y, checkpoint=checkpoint, checkpoint_every=5).save(model)


if __name__ == "__main__":
    trained(sys.argv[1], *map(int, sys.argv[2:4]), *sys.argv[4:])
