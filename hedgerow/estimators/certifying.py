"""What theorems guarantee of boosted classifiers of two classes that have rounds.

AdaBoostClassifier and StagewiseClassifier are known by their attributes: `estimator_errors_`,
`estimator_weights_`, `decision_function`, `classes_`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.checks import check_length, check_weights
from hedgerow.estimators.lessons import indexable
from hedgerow.losses import Exponential
from hedgerow.theory.bounds import stump_count, stump_vc_dimension
from hedgerow.theory.certificate import Certificate, Combination, Rounds, certificate_of
from hedgerow.theory.margins import margin_error, margins

Floats = NDArray[np.float64]


def boosted_certificate(
    model: Any, X: Any, y: Any, sample_weight: Any = None, delta: float = 0.05
) -> Certificate:
    """Return the certificate of a fitted model of rounds; X, y, sample_weight: those of its fit."""
    scores = model.decision_function(X)
    check_length("y", y, len(scores))
    if len(model.classes_) != 2:
        raise ValueError(
            f"The theorems are for two classes, but there are {len(model.classes_)}. Fit one class "
            "against the rest for a certificate of each."
        )
    weights = check_weights(sample_weight, len(scores))
    kept = weights > 0.0
    own = margins(scores, y, classes=model.classes_)[kept]
    n, rounds, stumps = int(kept.sum()), None, _stumps(model, X, int(kept.sum()))
    votes = votes_of(model)
    if votes is not None:
        error = margin_error(own, weights=weights[kept])
        rounds = Rounds(votes.errors, error, votes.alphas, stumps and stumps.vc_dimension)
    ball = _ball_of_dictionary(model, X) if hasattr(model, "coef_") else _ball_of(votes, stumps)
    combination = None
    if ball is not None:
        broken = "" if weights[kept].min() == weights.max() else "rows have different weights"
        combination = Combination(own / ball.total, ball.n_functions, broken=broken)
    title = type(model).__name__
    return certificate_of(title, n=n, rounds=rounds, combination=combination, delta=delta)


class Votes(NamedTuple):
    """Rounds of AdaBoost: f = sum of alpha times learners of -1 and 1."""

    errors: Floats
    alphas: Floats


def votes_of(model: Any) -> Votes | None:
    """Return the rounds of a model, if they are AdaBoost's.

    Learners say -1 or 1, weights are exponential, the start is 0, and no row was held out. Alphas
    are those of f, half the log-odds: AdaBoostClassifier's `estimator_weights_` are twice as large.
    """
    errors = np.asarray(getattr(model, "estimator_errors_", []), np.float64)
    if not len(errors) or np.isnan(errors).any() or getattr(model, "early_stopping", False):
        return None
    alphas = np.abs(np.asarray(model.estimator_weights_, np.float64))
    if hasattr(model, "algorithm"):
        return None if model.algorithm == "real" else Votes(errors, 0.5 * alphas)
    if not isinstance(model._loss, Exponential) or model.init != "zero":
        return None
    return Votes(errors, alphas)


class _Stumps(NamedTuple):
    """How many stumps there were to choose from, and their VC dimension if no value is missing."""

    n_functions: int
    vc_dimension: int | None


def _stumps(model: Any, X: Any, n: int) -> _Stumps | None:
    """Return what learners were chosen from, if they are stumps of numbers.

    Missing values may go to either side, so each threshold counts twice.
    """
    learner = model._learner() if getattr(model, "dictionary", None) is None else None
    if getattr(learner, "max_depth", None) != 1:
        return None
    try:
        values = np.asarray(X, np.float64)
    except (TypeError, ValueError):
        return None  # categories are cut in more ways
    n_features = values.shape[1]
    is_whole = not np.isnan(values).any()
    vc_dimension = stump_vc_dimension(n_features) if is_whole else None
    return _Stumps(2 * stump_count(n_features, n), vc_dimension)


class _Ball(NamedTuple):
    """The sum of |coefficients| of functions in [-1, 1], and how many there were."""

    total: float
    n_functions: int


def _ball_of(votes: Votes | None, stumps: _Stumps | None) -> _Ball | None:
    if votes is None or stumps is None:
        return None
    total = float(votes.alphas.sum())
    return _Ball(total, stumps.n_functions) if 0.0 < total < np.inf else None


def _ball_of_dictionary(model: Any, X: Any) -> _Ball | None:
    """Return the ball of a dictionary with values in [-1, 1]; the start is a constant in it."""
    start = abs(float(model._start[0]))
    total = start + float(np.abs(model.coef_).sum())
    largest = np.abs(model._dictionary().columns(indexable(X))).max(initial=0.0)
    if total == 0.0 or largest > 1.0:
        return None
    return _Ball(total, len(model.coef_) + (start > 0.0))
