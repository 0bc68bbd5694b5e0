"""How many rows and features are drawn for each model of an ensemble."""

import warnings
from numbers import Integral
from typing import Any

from hedgerow.estimators.cart import Sample

_MANY_REPEATS = 20  # of a row, on average


def n_drawn_rows(max_samples: Any, sample: Sample) -> int:
    """Return how many rows are drawn: as many as there are, so many, or a share of the weight.

    A row of weight 3 is three rows. Weights so large that nearly every row would be drawn for
    every tree are hardly repeats.
    """
    n_rows = len(sample.targets)
    if isinstance(max_samples, Integral):
        return int(max_samples)
    if max_samples is not None:
        return max(int(max_samples * float(sample.weights.weights.sum())), 1)
    if sample.n_rows <= _MANY_REPEATS * n_rows:
        return sample.n_rows
    warnings.warn(
        f"The whole weights of {n_rows} rows add up to {sample.n_rows}. They are not read as "
        f"repeats, and {n_rows} rows are drawn for each tree, as trees of {sample.n_rows} rows "
        "would hardly differ. Pass max_samples to choose how many.",
        UserWarning,
        stacklevel=5,
    )
    return n_rows


def n_pasted_rows(max_samples: Any, n_rows: int) -> int:
    """Return how many rows are drawn without replacement: all, so many, or a share."""
    if max_samples is None:
        return n_rows
    is_number = isinstance(max_samples, Integral)
    wanted = int(max_samples) if is_number else max(int(max_samples * n_rows), 1)
    if wanted > n_rows:
        raise ValueError(
            f"max_samples={max_samples} asks for {wanted} rows, but without replacement there are "
            f"only {n_rows} to be drawn. Pass bootstrap=True, a share of at most 1.0, or a whole "
            f"number up to {n_rows}."
        )
    return wanted


def n_drawn_features(max_features: Any, n_features: int) -> int:
    """Return how many features are drawn for each model: so many, or a share."""
    if not isinstance(max_features, Integral):
        return max(int(max_features * n_features), 1)
    if int(max_features) > n_features:
        raise ValueError(
            f"max_features={max_features} is more than the {n_features} features of X. Pass a "
            f"whole number up to {n_features}, or a share such as 1.0 for as many as there are."
        )
    return int(max_features)
