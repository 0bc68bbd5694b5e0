"""The two conditions of the leaving-out lemma, tried on a model and its data.

1. The model is linear: Yhat = S(X) Y.
2. Put a row that was left out back with what was predicted for it, and the model predicts that
   again: with ytilde_j = y_j for j != i and ytilde_i = yhat_i^(-i), (S ytilde)_i = yhat_i^(-i).

Notes 2, "n-fold (Leave-one-out) CV and the leaving out lemma".
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from hedgerow.evaluation.arguments import Floats, demand_regression, demand_targets, demand_weights
from hedgerow.evaluation.fitters import is_estimator, prediction_without, refitted
from hedgerow.evaluation.repeats import generator, repeated

_N_TRIALS = 4  # random pairs of targets that a linear model must add up


class Condition(NamedTuple):
    """Whether a condition holds, and by how much it fails, in deviations of y."""

    holds: bool
    gap: float


class LeavingOut(NamedTuple):
    """What was found of the lemma's two conditions.

    linear  the first: a fit to a y + b z is a times the fit to y and b times that to z
    stable  the second: a row that is put back where it was predicted changes nothing
    """

    linear: Condition
    stable: Condition

    @property
    def holds(self) -> bool:
        """Both conditions hold, so leave-one-out takes one fit."""
        return self.linear.holds and self.stable.holds

    def __str__(self) -> str:
        words = {True: "holds", False: "fails"}
        first, second = words[self.linear.holds], words[self.stable.holds]
        return (
            f"Condition 1, Yhat = S Y, {first} (off by {self.linear.gap:.1e} deviations of y). "
            f"Condition 2, a row put back where it was predicted changes nothing, {second} (off "
            f"by {self.stable.gap:.1e})."
        )


def check_leaving_out(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    rows: Any = None,
    tol: float = 1e-8,
    n_jobs: int | None = None,
) -> LeavingOut:
    """Return which conditions of the leaving-out lemma hold for a model on some data.

    Parameters
    ----------
    model : regressor
    X, y : table and targets
    sample_weight : array [n_rows] or None
        Passed to fit.
    rows : int [n_tried] or None
        Rows to leave out for the second condition; None: all, of two fits each.
    tol : float
        What counts as rounding, in deviations of y. A model that is found by iteration until a
        tolerance needs a larger one.
    n_jobs : int or None
        Workers; None is one, -1 is one for each core.

    Returns
    -------
    LeavingOut

    Notes
    -----
    Models that minimise a sum of squares and a penalty that does not look at y satisfy the
    second condition: the row that is put back adds nothing to the sum where it was least. With
    k nearest neighbours it fails, as row i is its own nearest neighbour when it is back. For the
    lasso, sum of squares + lambda |b|_1, it holds and the first fails. scikit-learn's Lasso
    divides the sum by n_rows, so leaving out a row also changes its lambda, and both fail.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from hedgerow.evaluation import check_leaving_out
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = check_leaving_out(KNeighborsRegressor(5), X[:50], y[:50])
    >>> found.linear.holds, found.stable.holds, round(found.stable.gap, 1)
    (True, False, 0.3)
    """
    if not is_estimator(model):
        raise TypeError(f"{model!r} has no fit and predict, so no row can be left out of it.")
    demand_regression(model)
    n_rows = _num_samples(X)
    targets, weights = demand_targets(y, n_rows), demand_weights(sample_weight, n_rows)
    scale = float(targets.std()) or 1.0
    tried = np.arange(n_rows) if rows is None else np.atleast_1d(np.asarray(rows))
    if tried.dtype.kind not in "iu" or not len(tried) or tried.min() < 0 or tried.max() >= n_rows:
        raise ValueError(f"rows={rows!r}: pass numbers of rows, from 0 to {n_rows - 1}.")
    trials = ((model, X, targets, weights, trial) for trial in range(_N_TRIALS))
    linear = max(repeated(_additive_gap, trials, n_jobs)) / scale
    back = ((model, X, targets, weights, int(row)) for row in tried)
    stable = max(repeated(_returned_gap, back, n_jobs)) / scale
    return LeavingOut(Condition(linear <= tol, linear), Condition(stable <= tol, stable))


def _additive_gap(model: Any, X: Any, y: Floats, weights: Floats | None, trial: int) -> float:
    """Return the largest | F(a y + b z) - a F(y) - b F(z) | of random z, a and b."""
    rng = generator(trial)
    z = y.mean() + y.std() * rng.standard_normal(len(y))
    a, b = rng.uniform(0.5, 1.5, 2) * rng.choice([-1.0, 1.0], 2)
    together, first, second = (
        np.asarray(refitted(model, X, each, weights).predict(X), np.float64).ravel()
        for each in (a * y + b * z, y, z)
    )
    return float(np.abs(together - a * first - b * second).max())


def _returned_gap(model: Any, X: Any, y: Floats, weights: Floats | None, row: int) -> float:
    """Return | (S ytilde)_i - yhat_i^(-i) | of a row."""
    left_out = float(prediction_without(model, X, y, row, weights))
    returned = y.copy()
    returned[row] = left_out
    said = np.asarray(refitted(model, X, returned, weights).predict(X)).ravel()
    return abs(float(said[row]) - left_out)
