"""The exponential loss of K classes: coding, population minimiser, posterior.

Class k is coded as the vector with 1 at k and -1 / (K - 1) elsewhere; scores f_1 .. f_K add up to
zero. Zhu, Zou, Rosset and Hastie (2009); notes 0, pages 16-19.
"""

from typing import Any

import numpy as np

from hedgerow.theory.checks import Floats, demand_count, demand_shares


def class_code(n_classes: int) -> Floats:
    """Return the code of each class, float64 [K, K]: 1 at its place, -1 / (K - 1) elsewhere.

    Notes 0, page 16.

    >>> class_code(3)[1].tolist()
    [-0.5, 1.0, -0.5]
    """
    K = demand_count("n_classes", n_classes, 2)
    return np.where(np.eye(K, dtype=bool), 1.0, -1.0 / (K - 1))


def exponential_loss(y: Any, f: Any) -> Floats:
    """Return the exponential loss of rows, float64 [n_rows].

        l(Y, f) = exp(-Y'f / K)

    y : class numbers [n_rows]; f : scores [n_rows, K]. Notes 0, page 16.

    >>> exponential_loss([0], [[0.0, 0.0, 0.0]]).tolist()
    [1.0]
    """
    scores, labels = np.atleast_2d(np.asarray(f, np.float64)), np.atleast_1d(np.asarray(y))
    K = scores.shape[1]
    if labels.shape != scores.shape[:1] or not np.isin(labels, np.arange(K)).all():
        raise ValueError(
            f"y has shape {labels.shape} and classes {np.unique(labels)[:8].tolist()}, and f has "
            f"shape {scores.shape}. Pass one class number, 0 to {K - 1}, for each row of scores."
        )
    return np.asarray(np.exp(-(class_code(K)[labels] * scores).sum(axis=1) / K))


def population_minimiser(probabilities: Any) -> Floats:
    """Return the scores with the least expected exponential loss, given class probabilities.

        f_k = (K - 1) {log p_k - (1 / K) sum_j log p_j}

    They add up to zero. Notes 0, page 17; Zhu et al. (2009), section 2.1.

    >>> population_minimiser([0.8, 0.2]).round(4).tolist()  # half the log-odds
    [0.6931, -0.6931]
    """
    logs = np.log(demand_shares("probabilities", probabilities))
    return np.asarray((logs.shape[-1] - 1) * (logs - logs.mean(axis=-1, keepdims=True)))


def posterior(f: Any) -> Floats:
    """Return the class probabilities that scores stand for.

        p_k = e^(f_k / (K - 1)) / sum_j e^(f_j / (K - 1))

    the softmax of f / (K - 1); with K = 2 and f_2 = -f_1 the logistic function of 2 f. Notes 0,
    page 19.

    >>> posterior([0.6931471805599453, -0.6931471805599453]).round(12).tolist()
    [0.8, 0.2]
    """
    scores = np.asarray(f, np.float64)
    if scores.ndim == 0 or scores.shape[-1] < 2:
        raise ValueError(
            f"f has shape {scores.shape}, and its last axis must have two scores or more. Pass the "
            "score of each class; of two classes with one score f, pass [-f, f]."
        )
    scaled = scores / (scores.shape[-1] - 1)
    e = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))
