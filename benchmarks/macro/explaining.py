"""Shapley values: hedgerow, and the shap package's TreeExplainer, given the same trees.

    python benchmarks/macro/explaining.py --repeats 15

| | boosting | forest |
|---|---|---|
| model | 100 trees of 31 leaves, of 30,000 x 28 | 50 trees of full depth, of 10,000 x 28 |
| rows that are explained | 2,000 | 50 |
| values | by the weights of the tree's nodes ("tree_path_dependent") | the same |
| threads | as said; shap's explainer has one | the same |
| LightGBM, XGBoost | their own trees and their own code (pred_contrib) | |

What is checked is the mean magnitude of the values: hedgerow and shap explain the same trees.
"""

from argparse import Namespace
from importlib import import_module
from typing import Any, Self

import numpy as np

import hedgerow
from benchmarks.harness import Contest, held
from benchmarks.libraries import version_of
from benchmarks.macro.boosting import collisions, model_of, there
from benchmarks.options import chosen, options, title
from tests.agreement.explainers import explainer

CASES = {"boosting, 2k x 28": (30_000, 2_000), "forest, 50 x 28": (10_000, 50)}
N_FEATURES, N_TREES = 28, 50


class Hedgerow:
    """A model of hedgerow, explained by itself."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        self.estimator.fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.explain(X)

    def explain(self, X: Any) -> Any:
        return self.estimator.shap_values(X)


class Shap(Hedgerow):
    """The same model, explained by the shap package."""

    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, y)
        self.theirs = explainer(self.estimator, feature_perturbation="tree_path_dependent")
        return self

    def explain(self, X: Any) -> Any:
        return self.theirs.shap_values(X, check_additivity=False)


class LightGBM(Hedgerow):
    """LightGBM's trees, explained by LightGBM."""

    def explain(self, X: Any) -> Any:
        return self.estimator.predict(X, pred_contrib=True)[:, :-1]


class XGBoost(Hedgerow):
    """XGBoost's trees, explained by XGBoost."""

    def explain(self, X: Any) -> Any:
        matrix = import_module("xgboost").DMatrix(X)
        return self.estimator.get_booster().predict(matrix, pred_contribs=True)[:, :-1]


def models_of(name: str, threads: int) -> dict[str, Any]:
    if name.startswith("forest"):
        given = {"n_estimators": N_TREES, "random_state": 0, "n_jobs": threads}
        forest = hedgerow.RandomForestClassifier(**given)
        return {"hedgerow": Hedgerow(forest), "shap": Shap(forest)}
    ways = {"hedgerow": Hedgerow, "LightGBM": LightGBM, "XGBoost": XGBoost}
    models = {
        library: ways[library](model_of(library, 2, threads).estimator)
        for library in there(list(ways))
    }
    return models | {"shap": Shap(model_of("hedgerow", 2, threads).estimator)}


def contest(name: str, threads: int, given: Namespace) -> Contest:
    n_train, n_rows = (min(given.rows or n, n) for n in CASES[name])
    X, y = collisions(n_train + n_rows, N_FEATURES, 2)
    models = {name: model for name, model in models_of(name, threads).items() if version_of(name)}
    return Contest(
        title(name, threads, n_rows, given),
        (X[:n_train], y[:n_train]),
        (X[n_train:], y[n_train:]),
        models,
        magnitude,
        "mean |value|",
        steps=("explain",),
        versions={name: version_of(name) for name in models},
        threads=threads,
    )


def magnitude(y: Any, values: Any) -> float:  # noqa: ARG001
    return float(np.abs(values).mean())


def main() -> None:
    given = options(__doc__, "explaining").parse_args()
    for name in chosen(CASES, given):
        for threads in given.threads:
            held(contest(name, threads, given), given.repeats, given.output)


if __name__ == "__main__":
    main()
