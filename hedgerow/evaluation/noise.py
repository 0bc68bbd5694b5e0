"""The variance of the noise, when it is not known: y = f(X) + e, Var(e) = sigma^2."""

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array

from hedgerow.evaluation.arguments import demand_positive, demand_targets, demand_weights
from hedgerow.evaluation.smoothers import Smoother, least_squares

_WAYS = ("linear", "neighbours")


def noise_variance(
    X: Any, y: Any, *, by: str | Smoother = "linear", sample_weight: Any = None
) -> float:
    """Return an estimate of sigma^2.

        "linear"      RSS / (n - p) of least squares on all columns of X, with an intercept
        a Smoother    RSS / (n - tr(2 S - S S'))
        "neighbours"  sum (y_i - y_j(i))^2 / 2 n,  j(i) is the row nearest to row i

    The first is unbiased if f is linear, the second if the smoother has no bias (S f = f); what
    they cannot fit is taken for noise. The third supposes only that f is smooth, and is too large
    by half the mean square of f(x_i) - f(x_j(i)), which is small if rows lie close together.
    Notes 2, "Interesting extensions"; Hastie and Tibshirani (1990), section 3.5; Rice (1984).

    Parameters
    ----------
    X : array [n_rows, n_features], numbers
    y : array [n_rows]
    by : {"linear", "neighbours"} or Smoother
        Of neighbours, scale the columns of X before, so that distances mean something.
    sample_weight : array [n_rows] or None
        Var(e_i) = sigma^2 / w_i; for "linear".

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.evaluation import noise_variance
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 6, 2000)
    >>> y = np.sin(x) + 0.5 * rng.standard_normal(2000)
    >>> round(noise_variance(x[:, None], y, by="neighbours"), 2)
    0.26
    >>> round(noise_variance(x[:, None], y), 2)  # what is not linear is taken for noise
    0.44
    """
    if not isinstance(by, Smoother) and by not in _WAYS:
        raise ValueError(f"by={by!r}: pass 'linear', 'neighbours' or a Smoother.")
    targets = demand_targets(y)
    weights = demand_weights(sample_weight, len(targets))
    if weights is not None and by != "linear":
        raise ValueError("Weights are for by='linear'. Pass sample_weight=None.")
    if by == "neighbours":
        values = check_array(X, dtype=np.float64, ensure_min_samples=2)
        nearest = NearestNeighbors(n_neighbors=1).fit(values).kneighbors(return_distance=False)
        return float(np.mean((targets - targets[nearest[:, 0]]) ** 2) / 2.0)
    if isinstance(by, Smoother):
        smoother, freedom = by, by.error_freedom()
    else:
        smoother = least_squares(X, sample_weight=weights)
        freedom = _n_rows(weights, len(targets)) - smoother.trace()
    if freedom < 1e-9 * len(targets):
        raise ValueError(
            f"A model of {smoother.trace():.0f} degrees of freedom leaves nothing of "
            f"{len(targets)} rows to estimate the noise from. Pass sigma2 as a number, or use "
            "noise_variance with by='neighbours' or a Smoother that fits less."
        )
    w = np.ones(len(targets)) if weights is None else weights
    return float(w @ (targets - smoother(targets)) ** 2 / freedom)


def _n_rows(weights: Any, n_rows: int) -> int:
    return n_rows if weights is None else int(np.count_nonzero(weights))


def demand_variance(sigma2: Any) -> float:
    """Return a variance, or raise if it is not above 0."""
    return demand_positive(
        "sigma2", sigma2, "Pass the variance of the noise, or None for an estimate."
    )
