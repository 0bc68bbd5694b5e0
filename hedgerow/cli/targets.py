"""What is to be predicted: the target column, the task that it asks for, and the features."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.cli.problems import CommandError, UsageError, listed
from hedgerow.cli.sources import Source, demand_columns

MOST_CLASSES = 20  # whole numbers of so many values at most are classes
TASKS = ("classification", "regression")


class Problem(NamedTuple):
    """A table to learn from.

    Attributes
    ----------
    X : data frame of narwhals
    y : array [n_rows]
        Labels, or float64.
    target : str
    task : {"classification", "regression"}
    reason : str
        Why it is this task.
    n_left_out : int
        Rows without a target.
    """

    X: Any
    y: NDArray[Any]
    target: str
    task: str
    reason: str
    n_left_out: int

    def rows(self, rows: NDArray[np.int64]) -> tuple[Any, NDArray[Any]]:
        """Return some rows: a table for an estimator, and their targets."""
        return self.X[rows.tolist()].to_native(), self.y[rows]


def problem_of(source: Source, target: str, task: str | None, dropped: list[str]) -> Problem:
    """Read a file and say what is to be learnt from it."""
    if task not in (None, *TASKS):
        raise UsageError(f"--task {task}: there are {listed(TASKS)}.")
    if target in dropped:
        raise UsageError(f"--drop {target}: it is the target.")
    frame = source.whole()
    demand_columns(source.file, [target, *dropped], frame.columns)
    features = [name for name in frame.columns if name != target and name not in dropped]
    if not features:
        raise CommandError(f"{source.file} has no column besides {target!r} to predict it from.")
    y = target_values(frame[target])
    known = np.flatnonzero(~is_missing(y))
    if len(known) < 2:
        raise CommandError(
            f"{source.file} has {len(known)} rows with a value of {target!r}: that is too few."
        )
    X = frame.select(features)
    if len(known) < len(y):
        X, y = X[known.tolist()], y[known]
    guess, reason = task_of(y)
    if task == "regression":
        y = numbers(source.file, target, y)
    chosen, why = (guess, reason) if task is None else (task, "as you said")
    if chosen == "classification":
        y = labels(y)
        demand_classes(source.file, target, y)
    return Problem(X, y, target, chosen, why, len(frame) - len(known))


def target_values(series: Any) -> NDArray[Any]:
    """Return a column as an array of numbers, with NaN for missing, or of objects."""
    dtype = series.dtype
    if dtype.is_numeric() and not dtype.is_decimal():
        if dtype.is_integer() and not series.null_count():
            return np.asarray(series.to_numpy())
        return np.array([np.nan if value is None else value for value in series.to_list()], float)
    if dtype.is_temporal() or dtype.is_nested():
        raise CommandError(
            f"column {series.name!r} has dtype {dtype}: a target is a column of numbers or texts."
        )
    return np.array([*series.to_list(), None], dtype=object)[:-1]


def is_missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where there is no value."""
    if y.dtype == object:
        return np.array([value is None for value in y], dtype=bool)
    return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)


def task_of(y: NDArray[Any]) -> tuple[str, str]:
    """Return the task that targets ask for, and why.

    >>> task_of(np.array([0, 1, 1, 0]))
    ('classification', 'it has 2 different whole numbers')
    >>> task_of(np.array([0.5, 1.0, 1.5]))
    ('regression', 'it holds numbers')
    """
    if y.dtype == object:
        return "classification", "it holds texts"
    distinct = np.unique(y)
    whole = bool((distinct == np.floor(distinct)).all())
    if whole and len(distinct) <= min(MOST_CLASSES, max(2, len(y) // 5)):
        return "classification", f"it has {len(distinct)} different whole numbers"
    return "regression", "it holds numbers"


def labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels of one type: whole numbers as integers, words as text."""
    if y.dtype == object:
        return np.array([str(value) for value in y])
    if y.dtype.kind == "f" and (y == np.floor(y)).all():
        return y.astype(np.int64)
    return y


def numbers(file: str, target: str, y: NDArray[Any]) -> NDArray[np.float64]:
    """Return targets as float64."""
    if y.dtype != object:
        return y.astype(np.float64)
    for row, value in enumerate(y):
        try:
            float(value)
        except (TypeError, ValueError):
            raise CommandError(
                f"{file}, column {target!r}: {value!r} in row {row + 1} is not a number, so it "
                "cannot be a target of regression."
            ) from None
    return y.astype(np.float64)


def demand_classes(file: str, target: str, y: NDArray[Any]) -> None:
    """Raise if there are not two classes, or if each row is one of its own."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise CommandError(
            f"{file}, column {target!r}: all rows have {classes[0].item()!r}. There is "
            "nothing to learn."
        )
    if counts.max() == 1:
        raise CommandError(
            f"{file}, column {target!r}: each of the {len(y)} rows has a class of its own. "
            "If these are numbers, pass --task regression."
        )
