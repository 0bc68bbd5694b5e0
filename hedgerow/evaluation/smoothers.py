"""Linear smoothers: models whose predictions are a matrix times the targets, Yhat = S(X) Y.

Linear is meant of the targets: S may depend on X in any way. Least squares, ridge regression,
k nearest neighbours, kernels and splines are linear smoothers, and so are trees and forests
whose splits are held fixed (leaf_weights.py). Notes 2, "Optimism and degrees of freedom".
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_array

from hedgerow.evaluation.arguments import Floats, demand_regression, demand_targets, demand_weights
from hedgerow.evaluation.fitters import is_estimator, refitted
from hedgerow.evaluation.repeats import generator

_ROUNDING = 1e-8  # of the targets' spread: a linear model is that near to its own matrix


@dataclass(frozen=True, eq=False)
class Smoother:
    """A linear smoother, S = left right; a function of the targets, Yhat = S Y.

    Two factors, so that S itself, n_rows x n_rows, need not be made: least squares has as many
    columns between them as features, a tree as many as leaves.

    left   dense or sparse [n_rows, n_factors]
    right  dense or sparse [n_factors, n_rows]

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.evaluation import Smoother
    >>> mean = Smoother.of(np.full((4, 4), 1 / 4))
    >>> mean([1, 2, 3, 6]).tolist(), mean.trace()
    ([3.0, 3.0, 3.0, 3.0], 1.0)
    """

    left: Any
    right: Any

    @classmethod
    def of(cls, S: Any) -> "Smoother":
        """Take a matrix, dense or sparse [n_rows, n_rows]."""
        S = S.astype(np.float64) if sparse.issparse(S) else np.asarray(S, np.float64)
        if S.ndim != 2 or S.shape[0] != S.shape[1] or S.shape[0] < 2:
            raise ValueError(
                f"S has shape {S.shape}, and a square matrix of at least 2 rows is needed: row i "
                "has the weights of all targets in the prediction of row i."
            )
        if not np.isfinite(S.data if sparse.issparse(S) else S).all():
            raise ValueError(
                "S has values that are NaN or infinite. Weights of targets are finite."
            )
        return cls(sparse.eye_array(S.shape[0], format="csr"), S)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.left.shape[0])

    def __call__(self, y: Any) -> Floats:
        """Return S y, float64 [n_rows]."""
        return np.asarray(self.left @ (self.right @ demand_targets(y, self.n_rows)))

    def diagonal(self) -> Floats:
        """Return S_ii, what each target weighs in its own prediction, float64 [n_rows]."""
        product = (
            self.left.multiply(self.right.T)
            if sparse.issparse(self.left)
            else self.left * _dense(self.right).T
        )
        return np.asarray(product.sum(axis=1), np.float64).ravel()

    def trace(self) -> float:
        """Return tr(S): the degrees of freedom. Notes 2, "Optimism and degrees of freedom"."""
        return float(self.diagonal().sum())

    def matrix(self) -> Floats:
        """Return S, float64 [n_rows, n_rows]."""
        return _dense(self.left @ self.right)

    def error_freedom(self) -> float:
        """Return n - tr(2 S - S S'): what the residual sum of squares is to be divided by.

            E RSS = sigma^2 (n - tr(2 S - S S')) + ||(I - S) f||^2

        so RSS over it is an unbiased estimate of sigma^2 if the smoother has no bias; of least
        squares it is n - p. Hastie and Tibshirani (1990), section 3.5.
        """
        if sparse.issparse(self.left):
            S = self.left @ self.right
            squares = (S.multiply(S) if sparse.issparse(S) else S * S).sum()
        else:
            squares = ((self.left.T @ self.left) * (self.right @ self.right.T)).sum()
        return float(self.n_rows - 2.0 * self.trace() + squares)


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, np.float64)


def least_squares(X: Any, *, intercept: bool = True, sample_weight: Any = None) -> Smoother:
    """Return the smoother of least squares, S = X (X' W X)^- X' W.

    Its trace is the rank of X, p, and one more for an intercept. Columns that depend on others
    change nothing. Notes 2, "Optimism and degrees of freedom".

    Examples
    --------
    >>> from hedgerow.evaluation import least_squares
    >>> round(least_squares([[0.0], [1.0], [2.0], [5.0]]).trace(), 12)
    2.0
    """
    return ridge(X, 0.0, intercept=intercept, sample_weight=sample_weight)


def ridge(X: Any, alpha: float, *, intercept: bool = True, sample_weight: Any = None) -> Smoother:
    """Return the smoother of ridge regression, S = X (X' W X + alpha I)^-1 X' W.

    An intercept is not penalised: X is centred, and 1 1' W / sum(w) is added. alpha = 0 is least
    squares. Hoerl and Kennard (1970); notes 2, "Optimism and degrees of freedom".

    Examples
    --------
    >>> from hedgerow.evaluation import ridge
    >>> round(ridge([[-1.0], [1.0]], alpha=2.0, intercept=False).trace(), 12)
    0.5
    """
    values = check_array(X, dtype=np.float64, ensure_min_samples=2)
    n = len(values)
    penalty = float(alpha)
    if not 0.0 <= penalty < np.inf:
        raise ValueError(f"alpha={alpha!r} is not a finite number of 0 or more.")
    weights = demand_weights(sample_weight, n)
    w = np.ones(n) if weights is None else weights
    centred = values - (w @ values) / w.sum() if intercept else values
    root = np.sqrt(w)[:, None]
    U, s, Vt = np.linalg.svd(root * centred, full_matrices=False)
    counts = s > s.max(initial=0.0) * max(values.shape) * np.finfo(np.float64).eps
    U, s, Vt = U[:, counts], s[counts], Vt[counts]
    shrunk = s / (s * s + penalty)
    # U s = root X V; rows of weight 0 are predicted too, and have no place in U.
    left = np.where(root > 0, U * s / np.where(root > 0, root, 1.0), centred @ Vt.T) * shrunk
    right = (root * U).T
    if intercept:
        left, right = np.column_stack([np.ones(n), left]), np.vstack([w / w.sum(), right])
    return Smoother(left, right)


def smoother_of(model: Any, X: Any, *, sample_weight: Any = None) -> Smoother:
    """Return the linear smoother that a model is.

    Parameters
    ----------
    model : estimator, array [n_rows, n_rows], or function of X that makes such an array
        Of scikit-learn's LinearRegression and Ridge the formula is known. Any other regressor is
        fitted to the columns of the identity (at once if it takes several outputs, or else one
        by one: n_rows fits), whose predictions are the columns of S; then to random targets, to
        see that it is linear. It need not be fitted.
    X : table [n_rows, n_features]
    sample_weight : array [n_rows] or None
        Passed to fit.

    Returns
    -------
    Smoother

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from hedgerow.evaluation import smoother_of
    >>> X = np.arange(12.0)[:, None] ** 2
    >>> smoother_of(KNeighborsRegressor(3), X).trace()  # n / k
    4.0
    """
    if isinstance(model, Smoother):
        return model
    n_rows = _num_samples(X)
    weights = demand_weights(sample_weight, n_rows)
    if not is_estimator(model):
        if weights is not None:
            raise ValueError("A matrix S has the weights of rows in it. Pass sample_weight=None.")
        S = Smoother.of(model(X) if callable(model) else model)
        if S.n_rows != n_rows:
            raise ValueError(f"S has {S.n_rows} rows, but X has {n_rows}. Pass the rows S is of.")
        return S
    demand_regression(model)
    if has_formula(model):
        alpha = float(np.asarray(getattr(model, "alpha", 0.0)).item())
        return ridge(X, alpha, intercept=model.fit_intercept, sample_weight=weights)
    return _probed(model, X, weights, n_rows)


def has_formula(model: Any) -> bool:
    """Return whether the matrix of an estimator is known without a fit, and the lemma holds."""
    return (
        type(model) in (LinearRegression, Ridge)
        and not model.positive
        and np.size(getattr(model, "alpha", 0.0)) == 1
    )


def _probed(model: Any, X: Any, weights: Floats | None, n_rows: int) -> Smoother:
    """Fit a model to the columns of the identity; raise if it is not linear in the targets."""
    if n_rows < 2:
        raise ValueError(f"X has {n_rows} rows. Pass at least 2.")
    units = np.eye(n_rows)
    if get_tags(model).target_tags.multi_output:
        S = refitted(model, X, units, weights).predict(X)
    else:
        S = np.column_stack([refitted(model, X, unit, weights).predict(X) for unit in units])
    found = Smoother.of(S)
    trial = generator(0).standard_normal(n_rows)
    gap = float(np.abs(refitted(model, X, trial, weights).predict(X) - found(trial)).max())
    if gap > _ROUNDING:
        raise ValueError(
            f"{type(model).__name__} is not linear in the targets: fitted to random targets of "
            f"deviation 1, it is off by {gap:.2g} from the matrix that it has for single ones. "
            "Use degrees_of_freedom by Covariance or Perturbation, and leave_one_out by refitting; "
            "for a tree or a forest with fixed splits, leaf_smoother."
        )
    return found
