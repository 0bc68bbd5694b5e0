"""Leaving one out: each row is predicted by a model that has not seen it.

By the leaving-out lemma, one fit is enough for a linear smoother of which two things are true
(left_out_lemma.py): yhat = S y, and the model does not change when a row that was left out is
put back with what was predicted for it. Then

    y_i - yhat_i^(-i) = (y_i - yhat_i) / (1 - S_ii)

Any other model is fitted n times. Notes 2, "n-fold (Leave-one-out) CV and the leaving out lemma".
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from hedgerow.evaluation.arguments import (
    Floats,
    demand_targets,
    demand_weights,
    predicts_classes,
)
from hedgerow.evaluation.fitters import is_estimator, prediction_without
from hedgerow.evaluation.left_out_lemma import check_leaving_out
from hedgerow.evaluation.repeats import repeated
from hedgerow.evaluation.row_losses import mean_and_error, row_loss
from hedgerow.evaluation.smoothers import Smoother, has_formula, smoother_of

_FULL = 1e-10  # 1 - S_ii below this is 0, and what rounding makes of it
_METHODS = ("auto", "lemma", "refit")
_N_CHECKED = 10  # rows that are left out to see whether the lemma holds


class LeftOut(NamedTuple):
    """What was predicted for rows that were left out.

    predictions     [n_rows]             yhat_i^(-i)
    losses          float64 [n_rows]     L(y_i, yhat_i^(-i))
    error           their mean, by weight: the estimate of the prediction error
    standard_error  of this mean, as if rows were independent
    method          "lemma" or "refit"
    """

    predictions: NDArray[Any]
    losses: Floats
    error: float
    standard_error: float
    method: str


def leave_one_out(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    loss: Any = None,
    method: str = "auto",
    n_jobs: int | None = None,
) -> LeftOut:
    """Return the leave-one-out estimate of the prediction error.

        LOOCV = (1/n) sum L(y_i, yhat_i^(-i))

    (The notes print the sum without 1/n.)

    Parameters
    ----------
    model : estimator or Smoother
        A Smoother is trusted: its own matrix tells what happens if a row is left out, and the
        lemma is used. Rows of S that add up to 1 then mean that the weight of the row that is
        left out is shared among the others in proportion. So it is for trees and forests
        (`leaf_smoother`): splits and bags stay, and the mean of a leaf of m rows is one of m - 1.
    X, y : table and targets
    sample_weight : array [n_rows] or None
        Passed to fit, and to the mean of the losses. A Smoother was made with its own.
    loss : {"squared_error", "absolute_error", "zero_one"} or function (y, predictions) -> losses
        None: squared error; of a classifier the share of errors.
    method : {"auto", "lemma", "refit"}
        "auto" uses the lemma for a Smoother, LinearRegression and Ridge, and refits others.
        "lemma" uses it for any regressor that is linear, if it holds for ten rows; or else it is
        refused, with the condition that fails (of k nearest neighbours the second).
    n_jobs : int or None
        Workers that refit; None is one, -1 is one for each core.

    Returns
    -------
    LeftOut

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from hedgerow.evaluation import leave_one_out
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = leave_one_out(Ridge(alpha=0.1), X, y)
    >>> found.method, round(found.error), round(found.standard_error)
    ('lemma', 3005, 182)
    """
    n_rows = _num_samples(X)
    if method not in _METHODS:
        raise ValueError(f"method={method!r} is not one of {', '.join(map(repr, _METHODS))}.")
    is_class = predicts_classes(model)
    targets = _labels(y, n_rows) if is_class else demand_targets(y, n_rows)
    weights = demand_weights(sample_weight, n_rows)
    of_rows = row_loss(loss or ("zero_one" if is_class else "squared_error"))
    is_exact = isinstance(model, Smoother) or has_formula(model)
    if method == "lemma" or (method == "auto" and is_exact):
        if not is_exact:
            _demand_lemma(model, X, targets, weights)
        found = left_out_predictions(smoother_of(model, X, sample_weight=weights), targets)
        method = "lemma"
    else:
        _demand_refits(model)
        tasks = ((model, X, targets, row, weights) for row in range(n_rows))
        found, method = np.array(repeated(prediction_without, tasks, n_jobs)), "refit"
    losses = np.asarray(of_rows(targets, found), np.float64)
    return LeftOut(found, losses, *mean_and_error(losses, weights), method)


def left_out_predictions(smoother: Smoother, y: Any) -> Floats:
    """Return what a smoother would predict for each row without it, by the leaving-out lemma.

        yhat_i^(-i) = y_i - (y_i - yhat_i) / (1 - S_ii)

    Notes 2, "n-fold (Leave-one-out) CV and the leaving out lemma".

    >>> import numpy as np
    >>> from hedgerow.evaluation import Smoother
    >>> left_out_predictions(Smoother.of(np.full((3, 3), 1 / 3)), [1, 2, 6]).round(9).tolist()
    [4.0, 3.5, 1.5]
    """
    targets, diagonal = demand_targets(y, smoother.n_rows), smoother.diagonal()
    full = np.flatnonzero(np.abs(1.0 - diagonal) < _FULL)
    if len(full):
        raise ValueError(
            f"S_ii = 1 for {len(full)} rows, the first of them row {full[0]}: their predictions "
            "are their own targets whatever the others are, so nothing is known of them if they "
            "are left out. Use fewer features, a penalty, or leaves of at least 2 rows."
        )
    return np.asarray(targets - (targets - smoother(targets)) / (1.0 - diagonal))


def _demand_lemma(model: Any, X: Any, y: Any, weights: Floats | None) -> None:
    """Raise if the lemma does not hold for a model."""
    rows = np.unique(np.linspace(0, len(y) - 1, _N_CHECKED).astype(int))
    found = check_leaving_out(model, X, y, sample_weight=weights, rows=rows)
    if not found.holds:
        raise ValueError(
            f"The leaving-out lemma does not hold for {type(model).__name__}. {found} Pass "
            'method="refit".'
        )


def _demand_refits(model: Any) -> None:
    """Raise if a model cannot be fitted again."""
    if isinstance(model, Smoother):
        raise ValueError(
            'A Smoother is a matrix, which cannot be fitted to other rows. Pass method="lemma", or '
            "an estimator."
        )
    if not is_estimator(model):
        raise TypeError(
            f"{model!r} has no fit and predict. Pass an estimator; or for a matrix, or a function "
            "of X that makes one, smoother_of(S, X)."
        )


def _labels(y: Any, n_rows: int) -> NDArray[Any]:
    """Return classes [n_rows]."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,) or n_rows < 2:
        raise ValueError(
            f"y has shape {labels.shape} and X {n_rows} rows: one class for each of at least 2 "
            "rows is needed."
        )
    return labels
