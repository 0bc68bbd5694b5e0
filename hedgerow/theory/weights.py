"""Weights of rows: what boosting by the exponential loss makes each row count."""

from typing import Any

import numpy as np

from hedgerow.theory.checks import Floats


def row_weights(margins: Any, start: Any = None) -> Floats:
    """Return AdaBoost's weights of rows before the first round, and after each.

        w_i(t) = w_i(0) e^(-m_i(t)) / sum_j w_j(0) e^(-m_j(t)),     m_i(t) = y_i f_t(x_i)

    Computed from scores, so that no round's rounding adds to the next, and relative to the largest,
    so that margins of any size are taken. Notes 0, pages 12-14.

    Parameters
    ----------
    margins : array [n_rounds, n_rows]
        y f after each round; f is half the log-odds.
    start : array [n_rows] or None
        First weights; None: all alike.

    Returns
    -------
    float64 [n_rounds + 1, n_rows]

    Examples
    --------
    >>> wrong = np.array([[1, 1, 1, -1.0]])  # the last of four rows, with alpha = log(3) / 2
    >>> row_weights(0.5 * np.log(3.0) * wrong).round(4).tolist()
    [[0.25, 0.25, 0.25, 0.25], [0.1667, 0.1667, 0.1667, 0.5]]
    """
    m = np.atleast_2d(np.asarray(margins, np.float64))
    w = np.ones(m.shape[1]) if start is None else np.asarray(start, np.float64)
    if w.shape != m.shape[1:] or not (w >= 0.0).all() or not w.any():
        raise ValueError(
            f"start has shape {w.shape}, and {m.shape[1]} weights are needed, none below 0 and not "
            "all 0: one for each row."
        )
    m = np.vstack([np.zeros(m.shape[1]), m])
    least = np.where(w > 0.0, m, np.inf).min(axis=1, keepdims=True)
    grown = np.where(w > 0.0, w * np.exp(np.minimum(least - m, 0.0)), 0.0)
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))
