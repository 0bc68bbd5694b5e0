"""Checks of the arguments of theorems: what was given, what is accepted, what to do."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def demand_count(name: str, value: Any, least: int = 1) -> int:
    """Return a whole number that is not below `least`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(
            f"{name}={value!r} is not a whole number of {least} or more. Pass a count."
        )
    return int(value)


def demand_between(name: str, value: Any, low: float, high: float, remedy: str) -> float:
    """Return a number that is between two others, both excluded."""
    number = float(value)
    if not low < number < high:
        raise ValueError(f"{name}={value!r} is not between {low:g} and {high:g}. {remedy}")
    return number


def demand_probability(name: str, value: Any) -> float:
    """Return the chance that a bound may fail with."""
    return demand_between(name, value, 0.0, 1.0, "Pass 0.05 for a bound that holds 19 times of 20.")


def demand_radius(value: Any) -> float:
    """Return the radius of a ball of coefficients."""
    return demand_between("radius", value, 0.0, math.inf, "Pass 1.0 for convex combinations.")


def demand_errors(errors: Any) -> Floats:
    """Return weighted errors of rounds, float64 [n_rounds], each within [0, 1]."""
    values = np.atleast_1d(np.asarray(errors, np.float64))
    if values.ndim != 1 or not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError(
            f"errors={errors!r} are not weighted errors: one number of 0 to 1 for each round is "
            "needed, such as `estimator_errors_` of a fitted model."
        )
    return values


def demand_shares(name: str, values: Any) -> Floats:
    """Return class probabilities, float64 [..., K >= 2], positive, which add up to 1."""
    shares = np.asarray(values, np.float64)
    if shares.ndim == 0 or shares.shape[-1] < 2:
        raise ValueError(
            f"{name} has shape {shares.shape}, and its last axis must have two classes or more. "
            "Pass the probability of each class."
        )
    if not (shares > 0.0).all() or not np.allclose(shares.sum(axis=-1), 1.0, rtol=1e-9):
        raise ValueError(
            f"{name} are not probabilities above 0 that add up to 1: the scores of a class that "
            "cannot occur are infinite. Give each class a share, however small."
        )
    return shares
