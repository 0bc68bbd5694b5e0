"""Losses of rows: what a prediction costs, L(y, yhat), and the mean over rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.evaluation.arguments import Floats

RowLoss = Callable[[Any, Any], Any]

LOSSES: dict[str, RowLoss] = {
    "squared_error": lambda y, said: (y - said) ** 2,
    "absolute_error": lambda y, said: np.abs(y - said),
    "zero_one": lambda y, said: (y != said).astype(np.float64),
}


def row_loss(loss: Any) -> RowLoss:
    """Return a loss by its name, or a function of the user's."""
    if callable(loss):
        return lambda y, said: _checked(loss(y, said), np.shape(y))
    if loss not in LOSSES:
        accepted = ", ".join(map(repr, LOSSES))
        raise ValueError(
            f"loss={loss!r} is not known. Pass one of {accepted}, or a function of targets and "
            "predictions that returns the loss of each row."
        )
    return LOSSES[loss]


def _checked(losses: Any, shape: tuple[int, ...]) -> Floats:
    values = np.asarray(losses, np.float64)
    if values.shape != shape:
        raise ValueError(
            f"The loss returned shape {values.shape} for rows of shape {shape}. Return the loss of "
            "each row, not their mean."
        )
    return values


def mean_and_error(losses: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """Return a mean over rows, by weight, and its standard error.

        se^2 = n / (n - 1) sum w_i^2 (l_i - mean)^2 / (sum w_i)^2

    of n rows that count; of equal weights it is the variance over n.
    """
    w = np.ones(len(losses)) if weights is None else weights
    mean, n = float(w @ losses / w.sum()), np.count_nonzero(w)
    spread = float(np.sqrt(((w * (losses - mean)) ** 2).sum()) / w.sum())
    return mean, spread * float(np.sqrt(n / (n - 1))) if n > 1 else float("nan")
