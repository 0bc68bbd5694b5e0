"""`hedgerow train`: from a file to a model that is judged and saved."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.cli.fitted import importances
from hedgerow.cli.folds import demand_seed, fold_rows, held_out_rows
from hedgerow.cli.problems import CommandError, UsageError, listed
from hedgerow.cli.recipes import CHECKPOINTED, KINDS, estimator, settings_of, without_features
from hedgerow.cli.scores import constant, cross_validated, means, scored_with_errors, told
from hedgerow.cli.sources import Source
from hedgerow.cli.targets import TASKS, Problem, problem_of

Rows = NDArray[np.int64]


class Order(NamedTuple):
    """What was asked for; see the options of `hedgerow train`."""

    source: Source
    target: str
    kind: str
    settings: list[str]
    task: str | None
    dropped: list[str]
    n_folds: int | None
    share: float
    seed: int
    output: str | None
    checkpoint: str | None
    quiet: bool


def train(order: Order) -> dict[str, Any]:
    """Train, judge and save a model; return all that is to be said about it."""
    _demand_sense(order)
    settings = settings_of(order.settings)
    _demand_parameters(order, settings)
    problem = problem_of(order.source, order.target, order.task, order.dropped)
    output = order.output or _beside(order.source)
    begun = time.perf_counter()
    settings = {"verbose": not order.quiet, **settings} if order.kind != "tree" else settings
    model, judged = _judged(order, problem, settings)
    seconds = time.perf_counter() - begun
    if hasattr(model, "verbose"):
        model.set_params(verbose=True)  # as it is by default
    _write(model, output)
    return {
        "command": "train",
        "data": order.source.file,
        "target": problem.target,
        "task": problem.task,
        "reason": problem.reason,
        "n_rows": len(problem.y),
        "n_features": problem.X.shape[1],
        "n_left_out": problem.n_left_out,
        "notes": _notes(problem),
        "model": order.kind,
        "class": type(model).__name__,
        "n_trees": n_trees(model),
        **judged,
        "seconds": seconds,
        "importances": importances(model),
        "explains_rows": hasattr(model, "shap_values"),
        "saved": output,
    }


def _demand_sense(order: Order) -> None:
    if order.kind not in KINDS:
        estimator(order.kind, "classification", {})  # says which there are
    if order.task not in (None, *TASKS):
        raise UsageError(f"--task {order.task}: there are {listed(TASKS)}.")
    if order.n_folds is not None and order.n_folds < 2:
        raise UsageError(f"--cv {order.n_folds}: pass 2 folds or more.")
    if not 0 <= order.share < 1:
        raise UsageError(f"--holdout {order.share}: pass a share of the rows, 0 to below 1.")
    if order.checkpoint is not None and order.kind not in CHECKPOINTED:
        raise UsageError(
            f"--checkpoint is for {', '.join(CHECKPOINTED)}, and not for --model {order.kind}."
        )
    demand_seed(order.seed)
    _demand_files_apart(order)


def _demand_files_apart(order: Order) -> None:
    """Raise if what is written would take the place of something else."""
    output = order.output or _beside(order.source)
    for option, path in (("--output", output), ("--checkpoint", order.checkpoint)):
        if path is None:
            continue
        if _is_same(path, order.source.path):
            raise UsageError(f"{option} {path} is the data. Choose another name.")
        if Path(path).is_dir():
            raise UsageError(f"{option} {path} is a directory. Pass the name of a file in it.")
        if not Path(path).absolute().parent.is_dir():
            raise CommandError(f"{path}: there is no directory to put it in.")
    if order.checkpoint is not None and _is_same(order.checkpoint, output):
        raise UsageError(
            f"--checkpoint {order.checkpoint} is where the model goes. Choose another."
        )


def _demand_parameters(order: Order, settings: dict[str, Any]) -> None:
    """Raise, before a file is read, if there is no task that parameters are for."""
    problems = []
    for task in (order.task,) if order.task else TASKS:
        try:
            estimator(order.kind, task, settings)
        except UsageError as problem:
            problems.append(problem)
        else:
            return
    raise problems[0]


def _judged(order: Order, problem: Problem, settings: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the fitted model that is to be saved, and what is known of its quality."""
    n_rows, every = len(problem.y), np.arange(len(problem.y))
    if order.n_folds is not None:
        folds = fold_rows(problem, order.n_folds, order.seed)
        models = estimator(order.kind, problem.task, settings), without_features(problem.task)
        found, base = (cross_validated(each, problem, folds, not order.quiet) for each in models)
        model = _fitted(order, problem, settings, every)
        return model, {
            "judged_by": f"{order.n_folds}-fold cross-validation",
            "n_trained": n_rows,
            "n_judged": n_rows,
            "scores": means(found),
            "constant": means(base),
        }
    if order.share == 0:
        model = _fitted(order, problem, settings, every)
        nothing = {"judged_by": "nothing", "n_trained": n_rows, "n_judged": 0}
        return model, nothing | {"scores": {}, "constant": {}}
    rows, held_out = held_out_rows(problem, order.share, order.seed)
    model = _fitted(order, problem, settings, rows)
    answers = told(model, *problem.rows(held_out))
    constants = constant(getattr(model, "classes_", None), problem.y[rows], answers)
    return model, {
        "judged_by": "rows that were held out",
        "n_trained": len(rows),
        "n_judged": len(held_out),
        "scores": scored_with_errors(answers),
        "constant": scored_with_errors(constants),
    }


def _fitted(order: Order, problem: Problem, settings: dict[str, Any], rows: Rows) -> Any:
    model = estimator(order.kind, problem.task, settings)
    how = {} if order.checkpoint is None else {"checkpoint": order.checkpoint}
    return model.fit(*problem.rows(rows), **how)


def n_trees(model: Any) -> int | None:
    """Return how many trees, or rounds of them, a model has; None if that is no question."""
    if hasattr(model, "n_estimators_"):
        return int(model.n_estimators_)
    return len(model.estimators_) if hasattr(model, "estimators_") else None


def _notes(problem: Problem) -> list[str]:
    """Return what the user may want to know of the columns."""
    notes = []
    for name in problem.X.columns:
        column = problem.X[name]
        if str(column.dtype) in ("String", "Categorical", "Enum") and len(column) > 20:
            n_distinct = column.n_unique()
            if n_distinct > len(column) // 2:
                notes.append(
                    f"column {name!r} has {n_distinct:,} different texts in {len(column):,} rows: "
                    f"if these are identifiers or dates, leave it out with --drop {name!r}"
                )
    return notes


def _beside(source: Source) -> str:
    """Return where a model goes if nobody says: here, by the name of the data."""
    stem = "model" if source.path == "-" else Path(source.path).name.partition(".")[0] or "model"
    return f"{stem}.hedgerow"


def _is_same(one: str, other: str) -> bool:
    return Path(one).absolute() == Path(other).absolute()


def _write(model: Any, output: str) -> None:
    try:
        model.save(output)
    except OSError as problem:
        raise CommandError(f"{output} cannot be written: {problem.strerror}.") from problem
