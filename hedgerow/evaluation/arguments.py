"""Arguments of evaluations: what was given, what is accepted, what to do."""

import math
import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

Floats = NDArray[np.float64]


def demand_targets(y: Any, n_rows: int | None = None, name: str = "y") -> Floats:
    """Return numbers, float64 [n_rows], finite, at least two."""
    try:
        values = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is not an array of numbers: {reprlib.repr(y)}. Squared errors, covariances "
            "and degrees of freedom are of numbers; convert it, for example with y.astype(float)."
        ) from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"{name} has shape {values.shape}, and one number for each row is needed. Evaluate "
            "one output at a time."
        )
    if n_rows is not None and len(values) != n_rows:
        raise ValueError(
            f"{name} has {len(values)} values, but there are {n_rows} rows. Pass one for each row."
        )
    if len(values) < 2:
        raise ValueError(
            f"{name} has {len(values)} values: nothing is left when one is left out, and one row "
            "has no spread. Pass at least 2 rows."
        )
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise ValueError(
            f"{name}[{row}] is {values[row]}. Drop rows that are missing or infinite, or correct "
            "them."
        )
    return values


def demand_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return weights, float64 [n_rows], finite, none below 0, not all 0; or None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but there are {n_rows} rows. Pass one "
            "weight for each row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            "sample_weight has values that are negative or not finite, or is all 0. Pass finite "
            "weights, 0 or more, at least one above 0."
        )
    return weights


def demand_positive(name: str, value: Any, remedy: str) -> float:
    """Return a number above 0."""
    number = float(value)
    if not 0.0 < number < math.inf:
        raise ValueError(f"{name}={value!r} is not a finite number above 0. {remedy}")
    return number


def demand_count(name: str, value: Any, least: int) -> int:
    """Return a whole number that is not below `least`."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise ValueError(f"{name}={value!r} is not a whole number of {least} or more.")
    return int(value)


def predicts_classes(model: Any) -> bool:
    """Return whether a model is a classifier; matrices and functions are not."""
    return hasattr(model, "__sklearn_tags__") and bool(is_classifier(model))


def demand_regression(model: Any) -> None:
    """Raise if a model predicts classes."""
    if predicts_classes(model):
        raise TypeError(
            f"{type(model).__name__} predicts classes, and covariances of targets and predictions "
            "are of numbers. Pass a regressor; a classifier can be judged by leave_one_out or by "
            "cross-validation."
        )
