"""Fitters: what turns targets into predictions, Y -> Yhat.

An estimator with `fit` and `predict`, or a function of the targets. Nothing else is known of a
model here, and no estimator that was passed is changed.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from hedgerow.evaluation.arguments import Floats


def is_estimator(model: Any) -> bool:
    """Return whether a model has fit and predict."""
    return hasattr(model, "fit") and hasattr(model, "predict")


def demand_fitter(model: Any) -> None:
    """Raise if a model is neither an estimator nor a function of the targets."""
    if isinstance(model, type) or not (is_estimator(model) or callable(model)):
        raise TypeError(
            f"{model!r} is no fitter. Pass an estimator with fit and predict, a Smoother, or a "
            "function that takes targets [n_rows] and returns predictions of the same rows."
        )


def refitted(model: Any, X: Any, y: Floats, sample_weight: Any = None) -> Any:
    """Return a fresh estimator with the parameters of `model`, fitted."""
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    return clone(model).fit(X, y, **given)


def predictions(model: Any, X: Any, y: Floats, staged: bool = False) -> Floats:
    """Return what a model fitted to targets says of the same rows.

    float64 [n_rows]; staged: [n_rounds, n_rows], after each round of one fit. A function of the
    targets returns these itself.
    """
    if not is_estimator(model):
        return _shaped(model(y), len(y), staged)
    fitted = refitted(model, X, y)
    if not staged:
        return _shaped(fitted.predict(X), len(y), staged)
    if not hasattr(fitted, "staged_predict"):
        raise TypeError(
            f"{type(model).__name__} has no staged_predict, so it has no rounds. Pass "
            "staged=False, or a boosted model."
        )
    # Some libraries give the same array again and again, so each is copied.
    return _shaped([np.array(each) for each in fitted.staged_predict(X)], len(y), staged)


def _shaped(found: Any, n_rows: int, staged: bool) -> Floats:
    """Return predictions as numbers, or raise if there is not one for each row."""
    values = np.asarray(found, np.float64)
    if values.ndim == 2 + staged and values.shape[-1] == 1:
        values = values[..., 0]
    if values.ndim != 1 + staged or values.shape[-1] != n_rows:
        expected = f"[n_rounds, {n_rows}]" if staged else f"[{n_rows}]"
        raise ValueError(
            f"Predictions have shape {values.shape}, and {expected} is needed: a number for each "
            "row that the model was fitted to."
        )
    if not np.isfinite(values).all():
        raise ValueError("Some predictions are NaN or infinite, so their errors are unknown.")
    return values


def prediction_without(model: Any, X: Any, y: Any, row: int, sample_weight: Any = None) -> Any:
    """Return what a model that has not seen a row says of it."""
    others = np.delete(np.arange(_num_samples(X)), row)
    weights = None if sample_weight is None else sample_weight[others]
    fitted = refitted(model, _safe_indexing(X, others), y[others], weights)
    return np.asarray(fitted.predict(_safe_indexing(X, [row]))).ravel()[0]
