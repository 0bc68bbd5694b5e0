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
| categories | as each library's documentation recommends: see libraries.py |
| "LightGBM quantised" | LightGBM with use_quantized_grad |

The sets of the list SETS are not made but read; those that are not there are left out.
"prediction" times only the prediction of 200,000 rows by the 100 trees of a model that is there.

Quantised, LightGBM takes longer steps than its rate says, which is better where 100 rounds are too few
(docs/decisions/0063), and few rows need smaller trees. "No higher loss" compares where hedgerow's test
loss is not above that of the fastest other: with a rate of .11, with 8 leaves, or with 16 and half of the
features in each node (its default), of 10k x 20 for 200 rounds. All were found on other rows.
"""  # noqa: E501  a row of a table

from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr
from sklearn.metrics import log_loss, root_mean_squared_error

from benchmarks.datasets import Parted, contested
from benchmarks.harness import Contest, console, held
from benchmarks.libraries import LIBRARIES, Loss, Model, version_of
from benchmarks.options import chosen, options, title

N_ROUNDS, RATE, N_LEAVES, L2 = 100, 0.1, 31, 1.0


class Case(NamedTuple):
    """A table to learn from, one to predict, and what is timed."""

    n_train: int
    n_test: int
    n_features: int
    n_classes: int  # 0: numbers
    steps: tuple[str, ...] = ("fit", "predict")
    own: tuple[tuple[str, Any], ...] = ()  # hedgerow's, in the place of equal parameters


CASES = {
    "binary, 1k x 10": Case(1_000, 10_000, 10, 2),
    "binary, 10k x 20": Case(10_000, 2_500, 20, 2),
    "binary, 100k x 100": Case(100_000, 25_000, 100, 2),
    "binary, 1M x 28": Case(1_000_000, 250_000, 28, 2),
    "regression, 1M x 28": Case(1_000_000, 250_000, 28, 0),
    "7 classes, 500k x 10": Case(500_000, 125_000, 10, 7),
    "prediction, 200k x 28": Case(100_000, 200_000, 28, 2, ("predict",)),
    "no higher loss: binary, 1k x 10": Case(1_000, 10_000, 10, 2, own=(("max_leaf_nodes", 8),)),
    "no higher loss: binary, 10k x 20": Case(
        *(10_000, 2_500, 20, 2),
        own=(("max_leaf_nodes", 16), ("n_estimators", 200), ("max_features", 0.5)),
    ),
    "no higher loss: 7 classes, 500k x 10": Case(
        500_000, 125_000, 10, 7, own=(("learning_rate", 0.11),)
    ),
}
NO_HIGHER = "no higher loss: "
SETS: dict[str, tuple[tuple[str, Any], ...]] = {  # hedgerow's own, as above
    "adult": (),
    "airlines_dep": (),
    "blog_feedback": (),
    "covtype": (),
    f"{NO_HIGHER}blog_feedback": (("max_leaf_nodes", 16), ("max_features", 0.5)),
    f"{NO_HIGHER}covtype": (("learning_rate", 0.11),),
}
QUANTISED = "LightGBM quantised"
RIVALS = [*(library for library in LIBRARIES if library != "constant"), QUANTISED]


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
    lightgbm = {"num_leaves": N_LEAVES, "reg_lambda": L2, "max_bin": 255}
    lightgbm |= {"min_child_weight": least, "min_child_samples": 1 if of_classes else 20}
    return {
        "hedgerow": shared
        | {"max_leaf_nodes": N_LEAVES, "max_depth": None, "l2": L2, "min_child_weight": least}
        | {"max_features": None}
        | {"max_bins": 255, "early_stopping": False},
        "LightGBM": shared | lightgbm,
        QUANTISED: shared | lightgbm | {"use_quantized_grad": True},
        "XGBoost": shared
        | {"max_leaves": N_LEAVES, "max_depth": 0, "grow_policy": "lossguide", "max_bin": 255}
        | {"reg_lambda": L2, "min_child_weight": least, "tree_method": "hist"},
        "scikit-learn": {"max_iter": N_ROUNDS, "learning_rate": RATE, "max_leaf_nodes": N_LEAVES}
        | {"l2_regularization": L2, "min_samples_leaf": 20, "early_stopping": False},
        "CatBoost": {"iterations": N_ROUNDS, "learning_rate": RATE, "depth": 5, "l2_leaf_reg": L2}
        | {"border_count": 254, "boosting_type": "Plain", "leaf_estimation_iterations": 1}
        | {"bootstrap_type": "No", "random_strength": 0},
    }


def maker(library: str) -> str:
    """Return the name of the library that a rival is of."""
    return "LightGBM" if library == QUANTISED else library


def model_of(library: str, n_classes: int, threads: int, **others: Any) -> Model:
    """Return a model at the parameters of the table above, but for others."""
    loss = Loss("log_loss" if n_classes else "squared_error")
    parameters = equal_parameters(loss.of_classes)[library] | others
    return LIBRARIES[maker(library)](loss, threads, **parameters)


def parted(name: str, data: Path, rows: int | None) -> Parted | None:
    """Return what is learnt and what is predicted; None if it is not there."""
    if name in SETS:
        return contested(data, name.removeprefix(NO_HIGHER), rows)
    case = CASES[name]
    n_train, n_test = (min(rows or n, n) for n in (case.n_train, case.n_test))
    X, y = collisions(n_train + n_test, case.n_features, case.n_classes)
    return Parted((X[:n_train], y[:n_train]), (X[n_train:], y[n_train:]), case.n_classes)


def contest(name: str, problem: Parted, threads: int, given: Namespace) -> Contest:
    """Return a problem with the models that learn it."""
    libraries, n_classes = there(given.libraries), problem.n_classes
    own = dict(CASES[name].own if name in CASES else SETS[name])
    score = (log_loss, "log-loss") if n_classes else (root_mean_squared_error, "RMSE")
    return Contest(
        title(name, threads, len(problem.train[0]), given),
        problem.train,
        problem.test,
        {
            library: model_of(library, n_classes, threads, **(own if library == "hedgerow" else {}))
            for library in libraries
        },
        *score,
        steps=CASES[name].steps if name in CASES else ("fit", "predict"),
        versions={library: version_of(maker(library)) for library in libraries},
        threads=threads,
    )


def there(libraries: list[str]) -> list[str]:
    """Return the libraries that are installed."""
    found = [library for library in libraries if version_of(maker(library))]
    if missing := set(libraries) - set(found):
        console.print(f"Not installed, and left out: {', '.join(sorted(missing))}.")
    return found


def main() -> None:
    parser = options(__doc__, "boosting")
    parser.add_argument("--libraries", nargs="+", choices=RIVALS, default=RIVALS)
    given = parser.parse_args()
    for name in chosen((*CASES, *SETS), given):
        problem = parted(name, given.data, given.rows)
        for threads in given.threads if problem else ():
            held(contest(name, problem, threads, given), given.repeats, given.output)


if __name__ == "__main__":
    main()
