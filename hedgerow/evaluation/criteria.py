"""Criteria: training errors with a charge for the degrees of freedom that were spent on them.

Least is best. Each takes the degrees of freedom as a number, as an array (one for each model or
round), or as what `degrees_of_freedom` returns. Notes 2, "Interesting extensions".
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from hedgerow.evaluation.arguments import Floats, demand_targets, demand_weights
from hedgerow.evaluation.freedom import Freedom
from hedgerow.evaluation.noise import demand_variance

_TWO_PI = 2.0 * np.pi


def mallows_cp(
    y: Any, predictions: Any, freedom: Any, sigma2: float, *, sample_weight: Any = None
) -> Any:
    """Return Mallows's Cp as an estimate of the fixed-X prediction error.

        Cp = RSS / n + 2 sigma^2 df / n

    With weights, Var(y_i) = sigma^2 / w_i and RSS = sum w_i (y_i - yhat_i)^2. Mallows (1973);
    notes 2, "Optimism and degrees of freedom".

    Examples
    --------
    >>> from hedgerow.evaluation import mallows_cp
    >>> mallows_cp([0.0, 2.0], [1.0, 1.0], freedom=1, sigma2=0.5)
    1.5
    """
    rss, n = _rss(y, predictions, sample_weight)
    return _plain(rss / n + 2.0 * demand_variance(sigma2) * _degrees(freedom) / n)


def gcv(y: Any, predictions: Any, freedom: Any, *, sample_weight: Any = None) -> Any:
    """Return generalised cross-validation: leaving one out, with S_ii replaced by their mean.

        GCV = (RSS / n) / (1 - df / n)^2

    It needs no sigma^2. Craven and Wahba (1979); notes 2, the leaving out lemma.

    Examples
    --------
    >>> from hedgerow.evaluation import gcv
    >>> gcv([0.0, 2.0], [1.0, 1.0], freedom=1)
    4.0
    """
    rss, n = _rss(y, predictions, sample_weight)
    degrees = _degrees(freedom)
    if not np.all(degrees < n):
        raise ValueError(
            f"freedom={np.max(degrees):g} of {n} rows: a model that has as many degrees of freedom "
            "as rows leaves no residuals. Use fewer."
        )
    return _plain(rss / n / (1.0 - degrees / n) ** 2)


def aic(
    y: Any,
    predictions: Any,
    freedom: Any,
    *,
    likelihood: str = "normal",
    sigma2: float | None = None,
    sample_weight: Any = None,
) -> Any:
    """Return Akaike's criterion.

        AIC = -2 log-likelihood + 2 df

    Parameters
    ----------
    y, predictions : array [n_rows]; predictions may also be [n_models, n_rows]
    freedom : number, array [n_models] or Freedom
    likelihood : {"normal", "bernoulli", "poisson", "multinomial"}
        What the loss is the likelihood of. Predictions are means: probabilities of the second
        class for targets 0 and 1, expected counts, or for classes 0, 1, ... probabilities
        [n_rows, n_classes].
    sigma2 : float or None
        Of the normal distribution; None: RSS / n, which costs a degree of freedom more.
    sample_weight : array [n_rows] or None
        How many rows each one stands for.

    Notes
    -----
    Akaike (1974). For models that are not fitted by maximum likelihood df is an extension, and
    the penalty an approximation. With sigma2 known, the normal AIC is n Cp / sigma^2 and a
    constant, so both prefer the same model.

    Examples
    --------
    >>> from hedgerow.evaluation import aic
    >>> round(aic([0, 1, 1], [0.2, 0.7, 0.9], freedom=2, likelihood="bernoulli"), 3)
    5.37
    """
    extra = 1.0 if likelihood == "normal" and sigma2 is None else 0.0
    loss, _ = _deviance(y, predictions, likelihood, sigma2, sample_weight)
    return _plain(loss + 2.0 * (_degrees(freedom) + extra))


def bic(
    y: Any,
    predictions: Any,
    freedom: Any,
    *,
    likelihood: str = "normal",
    sigma2: float | None = None,
    sample_weight: Any = None,
) -> Any:
    """Return Schwarz's criterion, which charges log(n) for a degree of freedom, and AIC 2.

        BIC = -2 log-likelihood + log(n) df

    Parameters are those of `aic`; n is the sum of the weights. It looks for the true model, where
    AIC looks for the best predictions. Schwarz (1978).

    Examples
    --------
    >>> import math
    >>> from hedgerow.evaluation import aic, bic
    >>> y, said = [1.0, 2.0, 4.0], [1.0, 2.5, 3.5]
    >>> gap = bic(y, said, 1, sigma2=1.0) - aic(y, said, 1, sigma2=1.0)
    >>> math.isclose(gap, math.log(3) - 2)
    True
    """
    extra = 1.0 if likelihood == "normal" and sigma2 is None else 0.0
    loss, n = _deviance(y, predictions, likelihood, sigma2, sample_weight)
    return _plain(loss + np.log(n) * (_degrees(freedom) + extra))


def _degrees(freedom: Any) -> Floats:
    """Return degrees of freedom, or raise if they are not numbers of 0 or more."""
    given = freedom.value if isinstance(freedom, Freedom) else freedom
    values = np.asarray(given, np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"freedom={given!r}: degrees of freedom are finite, and not below 0.")
    return values


def _plain(value: Any) -> Any:
    """Return a float for one model, an array for several."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def _means(predictions: Any, n_rows: int) -> Floats:
    """Return predictions [..., n_rows]."""
    said = np.asarray(predictions, np.float64)
    if said.ndim not in (1, 2) or said.shape[-1] != n_rows or not np.isfinite(said).all():
        raise ValueError(
            f"predictions have shape {said.shape}, and finite numbers [{n_rows}] or [n_models, "
            f"{n_rows}] are needed: one for each row."
        )
    return said


def _rss(y: Any, predictions: Any, sample_weight: Any) -> tuple[Any, int]:
    """Return the residual sum of squares, and the number of rows that count."""
    targets = demand_targets(y)
    weights = demand_weights(sample_weight, len(targets))
    w = np.ones(len(targets)) if weights is None else weights
    return (targets - _means(predictions, len(targets))) ** 2 @ w, int(np.count_nonzero(w))


def _deviance(
    y: Any, predictions: Any, likelihood: str, sigma2: float | None, sample_weight: Any
) -> tuple[Any, float]:
    """Return -2 log-likelihood, and the number of rows that weights stand for."""
    if likelihood not in ("normal", *_MINUS_LOGS):
        raise ValueError(
            f"likelihood={likelihood!r} is not one of 'normal', "
            f"{', '.join(map(repr, _MINUS_LOGS))}."
        )
    targets = demand_targets(y)
    weights = demand_weights(sample_weight, len(targets))
    w = np.ones(len(targets)) if weights is None else weights
    n = float(w.sum())
    if likelihood != "normal":
        if sigma2 is not None:
            raise ValueError(f"sigma2 is of likelihood='normal', not of {likelihood!r}. Pass None.")
        losses = _MINUS_LOGS[likelihood](targets, np.asarray(predictions, np.float64))
        return 2.0 * losses @ w, n
    rss = (targets - _means(predictions, len(targets))) ** 2 @ w
    if sigma2 is None:
        if not np.all(rss > 0):
            raise ValueError("The model has no residuals, so RSS / n is no variance. Pass sigma2.")
        return n * (np.log(_TWO_PI * rss / n) + 1.0), n
    variance = demand_variance(sigma2)
    return n * np.log(_TWO_PI * variance) + rss / variance, n


def _bernoulli(y: Floats, p: Floats) -> Floats:
    p = _means(p, len(y))
    if not np.isin(y, (0.0, 1.0)).all() or (p < 0).any() or (p > 1).any():
        raise ValueError("likelihood='bernoulli' needs targets 0 and 1, and probabilities of 1.")
    return np.asarray(-xlogy(y, p) - xlogy(1.0 - y, 1.0 - p))


def _poisson(y: Floats, mean: Floats) -> Floats:
    mean = _means(mean, len(y))
    if (y < 0).any() or (y % 1 != 0).any() or (mean < 0).any():
        raise ValueError("likelihood='poisson' needs counts 0, 1, 2, ..., and means not below 0.")
    return np.asarray(mean - xlogy(y, mean) + gammaln(y + 1.0))


def _multinomial(y: Floats, p: Floats) -> Floats:
    if p.ndim != 2 or len(p) != len(y) or not np.allclose(p.sum(axis=1), 1.0) or (p < 0).any():
        raise ValueError(
            f"predictions have shape {p.shape}: likelihood='multinomial' needs probabilities "
            f"[{len(y)}, n_classes] that add up to 1."
        )
    if not np.isin(y, np.arange(p.shape[1])).all():
        raise ValueError(f"likelihood='multinomial' needs classes 0 to {p.shape[1] - 1}.")
    return np.asarray(-xlogy(1.0, p[np.arange(len(y)), y.astype(np.int64)]))


_MINUS_LOGS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "bernoulli": _bernoulli,
    "poisson": _poisson,
    "multinomial": _multinomial,
}
