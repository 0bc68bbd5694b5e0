"""What a loss demands of its targets and parameters, and what it says when it is not so."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def demand_finite(y: Array, loss: str) -> None:
    """Raise unless every target is a finite number."""
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        raise ValueError(
            f"{loss} was given y[{bad[0]}] = {y[bad[0]]}{_others(bad)}, and accepts finite "
            "numbers. Remove the rows whose target is missing or infinite."
        )


def demand_not_below_zero(y: Array, loss: str, remedy: str) -> None:
    """Raise unless targets are >= 0 and one is above: the mean must have a logarithm."""
    demand_finite(y, loss)
    bad = np.flatnonzero(y < 0.0)
    if len(bad):
        raise ValueError(
            f"{loss} was given y[{bad[0]}] = {y[bad[0]]}{_others(bad)}, and accepts targets "
            f">= 0. {remedy}"
        )
    if not np.any(y > 0.0):
        raise ValueError(
            f"{loss} was given {len(y)} targets that are all zero, and accepts targets >= 0 of "
            "which at least one is above zero: the logarithm of their mean is the first "
            "prediction. Pass rows with an event, or predict zero without a model."
        )


def demand_above_zero(y: Array, loss: str, remedy: str) -> None:
    """Raise unless targets are > 0."""
    demand_finite(y, loss)
    bad = np.flatnonzero(y <= 0.0)
    if len(bad):
        raise ValueError(
            f"{loss} was given y[{bad[0]}] = {y[bad[0]]}{_others(bad)}, and accepts targets "
            f"> 0. {remedy}"
        )


def demand_classes(y: Array, n_classes: int, loss: str) -> None:
    """Raise unless targets are class numbers 0..n_classes - 1."""
    demand_finite(y, loss)
    bad = np.flatnonzero((y < 0) | (y >= n_classes) | (y != np.floor(y)))
    if len(bad):
        accepted = "0 and 1" if n_classes == 2 else f"the whole numbers 0 to {n_classes - 1}"
        raise ValueError(
            f"{loss} was given y[{bad[0]}] = {y[bad[0]]}{_others(bad)}, and accepts {accepted}. "
            "Pass the number of each row's class."
        )


def demand_within(value: float, name: str, least: float, most: float, remedy: str) -> None:
    """Raise unless least < value < most."""
    if not least < value < most:
        raise ValueError(
            f"{name}={value} was given, and a number above {least:g} and below {most:g} is "
            f"accepted. {remedy}"
        )


def _others(bad: NDArray[np.int64]) -> str:
    return f" (and {len(bad) - 1} more like it)" if len(bad) > 1 else ""
