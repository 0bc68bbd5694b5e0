"""Paired tests of models that were judged by the same folds.

Scores of folds are not independent: their training rows overlap. Nadeau and Bengio (2003) correct
the variance of the mean difference d over J folds for it:

    t = mean(d) / sqrt(var(d) (1 / J + n_test / n_train)),        J - 1 degrees of freedom

Several comparisons at once are corrected by Holm (1979): the smallest of k p-values is multiplied
by k, the next by k - 1, ..., and none may be below an earlier one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

Floats = NDArray[np.float64]


class PairedTest(NamedTuple):
    """A mean difference, its corrected standard error, t and the two-sided p-value."""

    difference: float
    standard_error: float
    t: float
    p: float


def corrected_test(first: Floats, second: Floats, n_train: float, n_test: float) -> PairedTest:
    """Test whether two models have the same expected score; scores of the same folds, paired.

    Parameters
    ----------
    first, second : float64 [n_folds]
    n_train, n_test : float
        Rows of a fold that models are fitted to and judged by, on average.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.evaluation import corrected_test
    >>> ours, theirs = np.array([0.81, 0.84, 0.80, 0.83]), np.array([0.80, 0.82, 0.80, 0.80])
    >>> test = corrected_test(ours, theirs, n_train=75, n_test=25)
    >>> f"{test.difference:.3f} {test.standard_error:.4f} {test.t:.2f} {test.p:.3f}"
    '0.015 0.0099 1.52 0.226'
    """
    d = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    n_folds, mean = len(d), float(np.mean(d))
    if n_folds < 2:
        return PairedTest(mean, float("nan"), float("nan"), float("nan"))
    error = float(np.sqrt(d.var(ddof=1) * (1.0 / n_folds + n_test / n_train)))
    if error == 0.0:
        same = mean == 0.0
        return PairedTest(mean, 0.0, 0.0 if same else np.copysign(np.inf, mean), float(same))
    p = float(2.0 * student.sf(abs(mean / error), n_folds - 1))
    return PairedTest(mean, error, mean / error, p)


def holm(p: Floats) -> Floats:
    """Return p-values corrected for their number; NaN stays, and counts for nothing.

    Examples
    --------
    >>> from hedgerow.evaluation import holm
    >>> holm([0.01, 0.04, 0.03]).round(2)
    array([0.03, 0.06, 0.06])
    """
    given = np.asarray(p, np.float64)
    corrected, known = given.copy(), np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    return corrected
