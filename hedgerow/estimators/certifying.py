"""What theorems guarantee of a stagewise classifier of two classes."""

from typing import Any

import numpy as np

from hedgerow.estimators.checks import check_length, check_weights
from hedgerow.estimators.lessons import indexable
from hedgerow.losses import Exponential
from hedgerow.theory.certificate import Certificate, Combination, Rounds, certificate_of
from hedgerow.theory.margins import margin_error, margins


def stagewise_certificate(
    model: Any, X: Any, y: Any, sample_weight: Any, delta: float
) -> Certificate:
    """Return the certificate of a fitted StagewiseClassifier; X, y: the rows of its fit."""
    scores = model.decision_function(X)
    check_length("y", y, len(scores))
    if model.n_classes_ != 2:
        raise ValueError(
            f"The theorems are for two classes, but there are {model.n_classes_}. Fit one class "
            "against the rest for a certificate of each."
        )
    weights = check_weights(sample_weight, len(scores))
    own = margins(scores, y, classes=model.classes_)
    kept = weights > 0.0
    return certificate_of(
        type(model).__name__,
        n=int(kept.sum()),
        rounds=_rounds(model, margin_error(own[kept], weights=weights[kept])),
        combination=_combination(model, X, own, weights),
        delta=delta,
    )


def _rounds(model: Any, training_error: float) -> Rounds | None:
    """Return the rounds, if they are AdaBoost's: of -1 and 1, by exponential weights, from 0."""
    is_adaboost = isinstance(model._loss, Exponential) and model.init == "zero"
    errors = model.estimator_errors_
    if not is_adaboost or not len(errors) or np.isnan(errors).any():
        return None
    return Rounds(errors, training_error, np.abs(model.estimator_weights_))


def _combination(model: Any, X: Any, own: Any, weights: Any) -> Combination | None:
    """Return the combination, scaled to |b|_1 = 1, if it is one of a dictionary in [-1, 1]."""
    if model.dictionary is None:
        return None
    start = abs(float(model._start[0]))
    total = start + float(np.abs(model.coef_).sum())
    largest = np.abs(model._dictionary().columns(indexable(X))).max(initial=0.0)
    if total == 0.0 or largest > 1.0:
        return None
    kept = weights > 0.0
    is_even = weights[kept].min() == weights.max()
    n_functions = len(model.coef_) + (start > 0.0)  # the constant is one of them
    broken = "" if is_even else "rows have different weights"
    return Combination(own[kept] / total, n_functions, broken=broken)
