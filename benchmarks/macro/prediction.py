"""Prediction in bulk: 200,000 rows and every kind of model, fitted beforehand.

    python benchmarks/macro/prediction.py --repeats 15

| | rivals | model |
|---|---|---|
| boosting, 7 classes | all of boosting.py | its parameters; CatBoost's trees are symmetric |
| boosting, vectors in leaves | XGBoost, CatBoost | the same, but one tree a round for all 7 classes, as CatBoost's always are; the others have no such trees |
| boosting, regression | all of boosting.py | its parameters |
| forest, extra-trees | scikit-learn | 100 trees of full depth, of 20,000 rows |
| AdaBoost | scikit-learn | 200 stumps |
| tree | scikit-learn, which has one thread | full depth |

Boosting of two classes is "prediction" of boosting.py.
"""  # noqa: E501  a row of a table

from argparse import Namespace
from typing import Any, NamedTuple

import sklearn.ensemble
import sklearn.tree
from sklearn.metrics import log_loss, root_mean_squared_error

import hedgerow
from benchmarks.harness import Contest, held
from benchmarks.libraries import Loss, Model, version_of
from benchmarks.macro.boosting import QUANTISED, RIVALS, collisions, model_of, there
from benchmarks.options import chosen, options, title

N_TEST = 200_000
# What asks each library for trees that have vectors in their leaves.
VECTORS: dict[str, dict[str, str]] = {
    "hedgerow": {"multi_output": "vector"},
    "XGBoost": {"multi_strategy": "multi_output_tree"},
    "CatBoost": {},
}


class Case(NamedTuple):
    """The size of the table, its classes, and the class of the models; None: boosting.

    in_vectors: a tree has all classes in its leaves, if a library has such trees.
    """

    n_train: int
    n_features: int
    n_classes: int
    estimator: str | None = None
    in_vectors: bool = False


CASES = {
    "boosting, 7 classes, 200k x 10": Case(100_000, 10, 7),
    "boosting, vectors in leaves, 7 classes, 200k x 10": Case(100_000, 10, 7, in_vectors=True),
    "boosting, regression, 200k x 28": Case(100_000, 28, 0),
    "forest, 200k x 28": Case(20_000, 28, 2, "RandomForestClassifier"),
    "extra-trees, 200k x 28": Case(20_000, 28, 2, "ExtraTreesClassifier"),
    "AdaBoost, 200k x 28": Case(20_000, 28, 2, "AdaBoostClassifier"),
    "tree, 200k x 28": Case(100_000, 28, 2, "DecisionTreeClassifier"),
}


def models_of(case: Case, threads: int) -> dict[str, Any]:
    """Return the models of a case, by library."""
    if case.estimator is None:
        asked = VECTORS if case.in_vectors else {name: {} for name in RIVALS if name != QUANTISED}
        names = there(list(asked))
        return {name: model_of(name, case.n_classes, threads, **asked[name]) for name in names}
    room = sklearn.tree if case.estimator.startswith("Decision") else sklearn.ensemble
    ours, theirs = getattr(hedgerow, case.estimator), getattr(room, case.estimator)
    if case.estimator == "AdaBoostClassifier":
        stumps = hedgerow.DecisionTreeClassifier(max_depth=1)
        models = {
            "hedgerow": ours(stumps, n_estimators=200, n_jobs=threads),
            "scikit-learn": theirs(n_estimators=200, random_state=0),
        }
    elif room is sklearn.tree:
        models = {"hedgerow": ours(n_jobs=threads), "scikit-learn": theirs(random_state=0)}
    else:
        shared = {"n_estimators": 100, "random_state": 0, "n_jobs": threads}
        models = {"hedgerow": ours(**shared), "scikit-learn": theirs(**shared)}
    return {name: Model(model, Loss("log_loss")) for name, model in models.items()}


def contest(name: str, threads: int, given: Namespace) -> Contest:
    case = CASES[name]
    n_train, n_test = (min(given.rows or n, n) for n in (case.n_train, N_TEST))
    X, y = collisions(n_train + n_test, case.n_features, case.n_classes)
    models = models_of(case, threads)
    score = (log_loss, "log-loss") if case.n_classes else (root_mean_squared_error, "RMSE")
    return Contest(
        title(name, threads, n_test, given),
        (X[:n_train], y[:n_train]),
        (X[n_train:], y[n_train:]),
        models,
        *score,
        steps=("predict",),
        versions={name: version_of(name) for name in models},
        threads=threads,
    )


def main() -> None:
    given = options(__doc__, "prediction").parse_args()
    for name in chosen(CASES, given):
        for threads in given.threads:
            held(contest(name, threads, given), given.repeats, given.output)


if __name__ == "__main__":
    main()
