"""Cross-validation of boosting with the score of every round: hedgerow and LightGBM's `cv`.

    python benchmarks/macro/cross_validation.py --repeats 15

| | all |
|---|---|
| data | adult: 48,842 rows, 14 features, two classes |
| folds | 5, stratified, the same rows |
| rounds, learning rate | 200, 0.1 |
| leaves, bins | 31, 255 |
| l2, least leaf | 1; a Hessian of 1, no least number of rows |
| features of a node, rows of a tree | all |
| score | log-loss of the rows held out, after each round |
| what is timed | from the data frame to the curve, binning included |

hedgerow bins each fold by its training rows. LightGBM's `cv` bins all rows at once: edges know the
rows held out.
"""

from argparse import Namespace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import hedgerow
from benchmarks.datasets import ADULT
from benchmarks.harness import Contest, held
from benchmarks.libraries import version_of
from benchmarks.macro.boosting import there
from benchmarks.options import options, title
from hedgerow.evaluation import cross_validate

ROUNDS, FOLDS, RATE, LEAVES = 200, 5, 0.1, 31


def folds(y: Any) -> list[tuple[Any, Any]]:
    """Return the same folds for all."""
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return list(splitter.split(np.empty((len(y), 0)), y))


class Ours:
    """hedgerow.evaluation.cross_validate; `predict` is the least mean log-loss of the curve."""

    def __init__(self, threads: int) -> None:
        self.threads, self.curve = threads, np.empty(0)

    def fit(self, X: Any, y: Any) -> Self:
        model = hedgerow.GradientBoostingClassifier(
            n_estimators=ROUNDS,
            learning_rate=RATE,
            max_leaf_nodes=LEAVES,
            l2=1.0,
            min_child_weight=1.0,
            max_features=None,
            early_stopping=False,
        )
        found = cross_validate(
            model, X, y, cv=folds(y), scoring="neg_log_loss", n_jobs=self.threads
        )
        self.curve = -found.curve.mean
        return self

    def predict(self, X: Any) -> float:  # noqa: ARG002
        assert len(self.curve) == ROUNDS
        return float(self.curve.min())


class LightGBM:
    """lightgbm.cv; `predict` is the least mean log-loss of the curve."""

    def __init__(self, threads: int) -> None:
        self.threads, self.curve = threads, np.empty(0)

    def fit(self, X: Any, y: Any) -> Self:
        import lightgbm  # noqa: PLC0415  in a process of its own

        given = {
            "objective": "binary",
            "learning_rate": RATE,
            "num_leaves": LEAVES,
            "lambda_l2": 1.0,
            "min_sum_hessian_in_leaf": 1.0,
            "min_data_in_leaf": 1,
            "max_bin": 255,
            "num_threads": self.threads,
            "verbosity": -1,
        }
        found = lightgbm.cv(given, lightgbm.Dataset(X, y), num_boost_round=ROUNDS, folds=folds(y))
        self.curve = np.array(found["valid binary_logloss-mean"])
        return self

    def predict(self, X: Any) -> float:  # noqa: ARG002
        assert len(self.curve) == ROUNDS
        return float(self.curve.min())


def contest(threads: int, given: Namespace) -> Contest:
    """Return adult, with both ways to judge 200 rounds."""
    table = pd.read_parquet(ADULT)[: given.rows]
    X, y = table.iloc[:, :-1], table.iloc[:, -1].to_numpy()
    libraries = there(["hedgerow", "LightGBM"])
    models = {"hedgerow": Ours(threads), "LightGBM": LightGBM(threads)}
    return Contest(
        title(f"adult, {FOLDS} folds of {ROUNDS} rounds", threads, len(X), given),
        (X, y),
        (X, y),
        {library: models[library] for library in libraries},
        least_loss,
        "log-loss",
        steps=("fit",),
        versions={library: version_of(library) for library in libraries},
        threads=threads,
    )


def least_loss(y: Any, least: float) -> float:  # noqa: ARG001
    """Return what the curve says: there is nothing else to be judged."""
    return least


def main() -> None:
    given = options(__doc__, "cross_validation").parse_args()
    for threads in given.threads:
        held(contest(threads, given), given.repeats, given.output)


if __name__ == "__main__":
    main()
