"""One row at a time: what a single call costs, through the Python API of each library.

    python benchmarks/macro/one_row.py --repeats 15

| | all |
|---|---|
| model | 100 trees, learnt from 10,000 x 28, two classes; a tree: one of full depth |
| call | probabilities of an array [1, 28] of float64, on one thread, warm |
| "native" | Booster.predict of LightGBM, Booster.inplace_predict of XGBoost |
| "exported C" | hedgerow.export_model to C, compiled with cc -O2, called through ctypes |
| "exported Python" | hedgerow.export_model to Python |

A time is the mean of the calls of one run. The answers of all calls are scored before.
"""

import ctypes
import runpy
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

import numpy as np
import sklearn.ensemble
import sklearn.tree
from sklearn.metrics import log_loss

import hedgerow
from benchmarks.harness import Contest, held
from benchmarks.libraries import version_of
from benchmarks.macro.boosting import QUANTISED, RIVALS, collisions, model_of, there
from benchmarks.options import chosen, options, title

N_TRAIN, N_FEATURES, N_CALLS = 10_000, 28, 200
Call = Callable[[Any], Any]  # a row [1, n_features] -> its probabilities


class OneByOne:
    """An estimator that is asked for the probabilities of one row after another."""

    def __init__(self, estimator: Any, native: Callable[[Any], Call] | None = None) -> None:
        self.estimator, self.native = estimator, native

    def fit(self, X: Any, y: Any) -> Self:
        self.estimator.fit(X, y)
        self.call = self.native(self.estimator) if self.native else self.estimator.predict_proba
        return self

    def predict(self, X: Any) -> Any:
        """Return the probability of the second class."""
        return np.array([np.ravel(self.call(X[i : i + 1]))[-1] for i in range(len(X))])

    def ask(self, X: Any) -> None:
        """Do nothing but the calls."""
        call = self.call
        for i in range(len(X)):
            call(X[i : i + 1])


def of_lightgbm(estimator: Any) -> Call:
    return partial(estimator.booster_.predict, num_threads=1)


def of_xgboost(estimator: Any) -> Call:
    return estimator.get_booster().inplace_predict


def of_exported_python(estimator: Any) -> Call:
    file = Path(mkdtemp()) / "model.py"
    hedgerow.export_model(estimator, file)
    predict = runpy.run_path(str(file))["predict_proba"]
    return lambda row: predict(row[0].tolist())


def of_exported_c(estimator: Any) -> Call:
    """Compile the exported model, and call it with the addresses of arrays."""
    source = Path(mkdtemp()) / "model.c"
    hedgerow.export_model(estimator, source)
    library = source.with_suffix(".so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    predict = ctypes.CDLL(str(library)).model_predict_proba
    shares = np.empty(2)
    place = ctypes.c_void_p(shares.ctypes.data)

    def call(row: Any) -> Any:
        predict(ctypes.c_void_p(row.ctypes.data), place)
        return shares

    return call


def boosting() -> dict[str, Any]:
    names = there([name for name in RIVALS if name != QUANTISED])
    models = {name: OneByOne(model_of(name, 2, 1).estimator) for name in names}
    natives = {"LightGBM": of_lightgbm, "XGBoost": of_xgboost}
    for name in natives.keys() & set(names):
        models[f"{name}, native"] = OneByOne(model_of(name, 2, 1).estimator, natives[name])
    return models | exported(model_of("hedgerow", 2, 1).estimator)


def forest() -> dict[str, Any]:
    shared = {"n_estimators": 100, "random_state": 0, "n_jobs": 1}
    return {
        "hedgerow": OneByOne(hedgerow.RandomForestClassifier(**shared)),
        "scikit-learn": OneByOne(sklearn.ensemble.RandomForestClassifier(**shared)),
    } | exported(hedgerow.RandomForestClassifier(**shared))


def tree() -> dict[str, Any]:
    return {
        "hedgerow": OneByOne(hedgerow.DecisionTreeClassifier(n_jobs=1)),
        "scikit-learn": OneByOne(sklearn.tree.DecisionTreeClassifier(random_state=0)),
    } | exported(hedgerow.DecisionTreeClassifier(n_jobs=1))


def exported(estimator: Any) -> dict[str, Any]:
    """Return the ways out of the library, C only where there is a compiler."""
    ways = {"hedgerow, exported Python": OneByOne(estimator, of_exported_python)}
    if shutil.which("cc"):
        ways["hedgerow, exported C"] = OneByOne(estimator, of_exported_c)
    return ways


CASES = {"boosting": boosting, "forest": forest, "tree": tree}


def contest(name: str, given: Namespace) -> Contest:
    n_train = min(given.rows or N_TRAIN, N_TRAIN)
    X, y = collisions(n_train + N_CALLS, N_FEATURES, 2)
    models = CASES[name]()
    return Contest(
        title(f"{name}, one row of {N_FEATURES}", 1, n_train, given),
        (X[:n_train], y[:n_train]),
        (X[n_train:], y[n_train:]),
        models,
        log_loss,
        "log-loss",
        steps=("ask",),
        versions={name: version_of(name.split(",")[0]) for name in models},
        threads=1,
        parts=N_CALLS,
    )


def main() -> None:
    given = options(__doc__, "one_row").parse_args()
    for name in chosen(CASES, given):
        held(contest(name, given), given.repeats, given.output)


if __name__ == "__main__":
    main()
