"""`hedgerow compare`: models side by side under the same folds."""

import sys
from typing import Any, NamedTuple

import numpy as np

from hedgerow.cli.folds import demand_seed, fold_rows
from hedgerow.cli.problems import UsageError
from hedgerow.cli.recipes import KINDS, estimator, without_features
from hedgerow.cli.scores import Floats, cross_validated, finite, means
from hedgerow.cli.sources import Source
from hedgerow.cli.targets import problem_of

_CONSTANT = "without features"


class Order(NamedTuple):
    """What was asked for; see the options of `hedgerow compare`."""

    source: Source
    target: str
    models: list[str]
    task: str | None
    dropped: list[str]
    n_folds: int
    seed: int


def compare(order: Order) -> dict[str, Any]:
    """Fit each model in each fold; return scores, the best first."""
    kinds = list(dict.fromkeys(order.models)) or list(KINDS)
    for kind in kinds:
        estimator(kind, "regression", {})  # says which there are
    if order.n_folds < 2:
        raise UsageError(f"--cv {order.n_folds}: pass 2 folds or more.")
    demand_seed(order.seed)
    problem = problem_of(order.source, order.target, order.task, order.dropped)
    folds = fold_rows(problem, order.n_folds, order.seed)
    models = {kind: estimator(kind, problem.task, {}) for kind in kinds}
    models[_CONSTANT] = without_features(problem.task)
    found = {}
    for number, (kind, model) in enumerate(models.items(), 1):
        _say(f"{kind}: {len(folds)} folds, model {number} of {len(models)}")
        found[kind] = cross_validated(model, problem, folds)
    _say("")
    decisive = "log-loss" if problem.task == "classification" else "RMSE"
    ranked = sorted(found, key=lambda kind: -found[kind].means()[decisive][0])
    behind = _behind({kind: found[kind][f"test_{decisive}"] for kind in ranked}, folds)
    return {
        "command": "compare",
        "data": order.source.file,
        "target": problem.target,
        "task": problem.task,
        "reason": problem.reason,
        "n_rows": len(problem.y),
        "n_folds": order.n_folds,
        "decisive": decisive,
        "models": [
            {
                "model": kind,
                "scores": means(found[kind]),
                "behind": behind[kind],
                "seconds": 0.0 if kind == _CONSTANT else float(found[kind].fit_time.mean()),
            }
            for kind in ranked
        ],
    }


def _behind(scores: dict[str, Floats], folds: list[Any]) -> dict[str, dict[str, float | None]]:
    """Return by how much each is worse than the first, fold by fold, and whether by chance.

    The standard error is Nadeau and Bengio's, p-values are corrected by Holm.
    """
    from hedgerow.evaluation.paired import corrected_test, holm

    best = next(iter(scores))
    n_train, n_test = (float(np.mean([len(fold[side]) for fold in folds])) for side in (0, 1))
    tests = [corrected_test(scores[best], own, n_train, n_test) for own in scores.values()]
    p = [1.0, *holm(np.array([test.p for test in tests[1:]])).tolist()]
    return {
        kind: {
            "score": finite(test.difference),
            "standard_error": finite(test.standard_error),
            "p": finite(own),
        }
        for kind, test, own in zip(scores, tests, p, strict=True)
    }


def _say(text: str) -> None:
    """Say on a terminal what is being done, in a line that is written over."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()
