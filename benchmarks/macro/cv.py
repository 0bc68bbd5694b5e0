"""Choosing rounds by cross-validation in one fit, against K + 1 fits of the same rounds.

    python benchmarks/macro/cv.py --repeats 15

| | all |
|---|---|
| folds | 5 |
| rounds, of every model | 100 |
| separate fits | of the training rows of each fold, and of all rows; nothing is predicted |
| with predictions | the same, and staged predictions of the rows held out, for the curve |
"""

import argparse
import statistics
import time
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

import hedgerow
from benchmarks.harness import console
from benchmarks.macro.boosting import collisions
from benchmarks.records import ENOUGH, revision

SHAPES = {
    "binary, 10k x 20": (10_000, 20, 2),
    "binary, 100k x 28": (100_000, 28, 2),
    "regression, 100k x 28": (100_000, 28, 0),
    "7 classes, 20k x 10": (20_000, 10, 7),
}
ROUNDS, FOLDS = 100, 5


def by_cv(model: Any, X: Any, y: Any) -> Any:
    """Choose and fit at once, with patience for all rounds."""
    rounds = {"n_estimators": "cv", "max_estimators": ROUNDS, "n_iter_no_change": ROUNDS}
    return model.set_params(**rounds, cv=FOLDS).fit(X, y)


def separately(model: Any, X: Any, y: Any, predicts: bool) -> None:
    """Fit K + 1 models."""
    model.set_params(n_estimators=ROUNDS)
    for train, test in KFold(FOLDS).split(X):
        model.fit(X[train], y[train])
        if predicts:
            shown = (
                model.staged_predict_proba if hasattr(model, "classes_") else model.staged_predict
            )
            for _ in shown(X[test]):
                pass
    model.fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=ENOUGH, help="runs of each way")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    given = parser.parse_args()
    kinds = (hedgerow.GradientBoostingRegressor, hedgerow.GradientBoostingClassifier)
    for name, shape in SHAPES.items():
        if given.only not in name:
            continue
        X, y = collisions(*shape)
        model = kinds[int(shape[2] > 0)](early_stopping=False, n_jobs=given.threads)
        ways = {
            "together": lambda m=model, X=X, y=y: by_cv(m, X, y),
            "separate": lambda m=model, X=X, y=y: separately(m, X, y, predicts=False),
            "separate, predicting": lambda m=model, X=X, y=y: separately(m, X, y, predicts=True),
        }
        ways["together"]()
        assert len(model.cv_results_.losses) == ROUNDS + 1
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(given.repeats):
            for way, work in ways.items():
                begin = time.perf_counter()
                work()
                times[way].append(time.perf_counter() - begin)
        for way, each in times.items():
            ratio = np.median(np.array(times["together"]) / np.array(each))
            console.print(
                f"{name}, {given.threads} threads, {way:22}: min {min(each):.3f} s, median "
                f"{statistics.median(each):.3f} s, together / this {ratio:.2f}"
            )
    console.print(revision())


if __name__ == "__main__":
    main()
