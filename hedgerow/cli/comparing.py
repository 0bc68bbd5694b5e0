"""`hedgerow compare`: models side by side under the same folds."""

import sys
import time
from typing import Any, NamedTuple

import numpy as np

from hedgerow.cli.folds import fold_rows
from hedgerow.cli.problems import UsageError
from hedgerow.cli.recipes import KINDS, estimator
from hedgerow.cli.scores import constant, finite, over_folds, rises, scored, told
from hedgerow.cli.sources import Source
from hedgerow.cli.targets import Problem, problem_of


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
    problem = problem_of(order.source, order.target, order.task, order.dropped)
    folds = list(fold_rows(problem, order.n_folds, order.seed))
    found = {kind: _outcomes(problem, kind, folds) for kind in kinds}
    found["without features"] = _outcomes(problem, None, folds)
    decisive = "log-loss" if problem.task == "classification" else "RMSE"
    means = {kind: np.mean([fold[decisive] for fold in each[0]]) for kind, each in found.items()}
    ranked = sorted(means, key=lambda kind: means[kind] * (-1 if rises(decisive) else 1))
    best = [fold[decisive] for fold in found[ranked[0]][0]]
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
                "scores": over_folds(found[kind][0]),
                "behind": _behind([fold[decisive] for fold in found[kind][0]], best),
                "seconds": found[kind][1],
            }
            for kind in ranked
        ],
    }


def _outcomes(
    problem: Problem, kind: str | None, folds: list[Any]
) -> tuple[list[dict[str, float]], float]:
    """Return the scores of each fold, and the seconds of a fit."""
    scores, seconds = [], 0.0
    for number, (rows, held_out) in enumerate(folds, 1):
        _say(f"{kind or 'without features'}: fold {number} of {len(folds)}")
        model = estimator(kind or "tree", problem.task, {} if kind else {"max_depth": 1})
        begun = time.perf_counter()
        model.fit(*problem.rows(rows))
        seconds += time.perf_counter() - begun
        answers = told(model, *problem.rows(held_out))
        if kind is None:
            answers = constant(getattr(model, "classes_", None), problem.y[rows], answers)
        scores.append(scored(answers))
    _say("")
    return scores, seconds / len(folds) if kind else 0.0


def _behind(scores: list[float], best: list[float]) -> dict[str, float | None]:
    """Return the mean difference to the best model fold by fold, and its standard error."""
    differences = np.abs(np.subtract(scores, best).mean()), np.subtract(scores, best).std(ddof=1)
    mean, deviation = differences
    return {"score": finite(mean), "standard_error": finite(deviation / np.sqrt(len(best)))}


def _say(text: str) -> None:
    """Say on a terminal what is being done, in a line that is written over."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()
