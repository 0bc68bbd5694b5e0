"""Irreducible error, bias, variance and covariance: what a squared error is made of."""

from typing import NamedTuple

import numpy as np

from hedgerow.evaluation.arguments import Floats

Pair = tuple[float, float]


class Parts(NamedTuple):
    """The parts of a mean squared error, each a pair (value, standard error).

        E ||Y - Yhat||^2 / n     = irreducible + bias + variance - 2 covariance
        E ||Y_new - Yhat||^2 / n = irreducible + bias + variance

        irreducible  E ||Y - E Y||^2 / n
        bias         ||E Y - E Yhat||^2 / n
        variance     E ||Yhat - E Yhat||^2 / n
        covariance   E (Y - E Y)'(Yhat - E Yhat) / n

    Expectations are given X. Twice the covariance is the optimism. Of new rows the covariance is
    0, and what is shown is the chance of the simulation. Notes 2, "Proof of optimism formula".
    """

    irreducible: Pair
    bias: Pair
    variance: Pair
    covariance: Pair

    @property
    def prediction_error(self) -> float:
        """Irreducible + bias + variance."""
        return self.irreducible[0] + self.bias[0] + self.variance[0]

    @property
    def training_error(self) -> float:
        """Irreducible + bias + variance - 2 covariance: the mean squared error of the draws."""
        return self.prediction_error - 2.0 * self.covariance[0]

    @property
    def optimism(self) -> Pair:
        """2 covariance, and its standard error."""
        return 2.0 * self.covariance[0], 2.0 * self.covariance[1]

    @classmethod
    def over_tables(cls, parts: list["Parts"]) -> "Parts":
        """Return the means of parts over tables, with standard errors over tables."""
        values = np.array([[value for value, _ in each] for each in parts])
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        means = values.mean(axis=0).tolist()
        return cls(*zip(means, errors.tolist(), strict=True))


def decomposed(y: Floats, predictions: Floats) -> Parts:
    """Return the parts of the mean squared error of repeated draws at the same X.

    y, predictions : float64 [n_repeats, n_rows], at least 2 repeats.

    Expectations are means over repeats, second moments are divided by n_repeats - 1, and what
    chance adds to the bias, (irreducible + variance - 2 covariance) / n_repeats, is taken off it:
    each part is then unbiased, and their sum is the mean squared error of the draws to rounding.
    A bias near 0 may come out below it.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.evaluation import decomposed
    >>> y = np.random.default_rng(0).normal(size=(200, 10))
    >>> parts = decomposed(y, y.mean(axis=1, keepdims=True) + np.zeros(10))
    >>> round(parts.irreducible[0], 1), round(parts.covariance[0], 1)  # 1, and 1 / 10
    (1.0, 0.1)
    """
    n_repeats = len(y)
    e, d = y - y.mean(axis=0), predictions - predictions.mean(axis=0)
    distance = y.mean(axis=0) - predictions.mean(axis=0)
    moments = [np.mean(each, axis=1) for each in (e * e, d * d, e * d)]
    irreducible, variance, covariance = (_pair(each, n_repeats) for each in moments)
    chance = (irreducible[0] + variance[0] - 2.0 * covariance[0]) / n_repeats
    bias_error = 2.0 * np.std((e - d) @ distance / len(distance), ddof=1) / np.sqrt(n_repeats)
    bias = float(np.mean(distance**2) - chance), float(bias_error)
    return Parts(irreducible, bias, variance, covariance)


def _pair(moments: Floats, n_repeats: int) -> Pair:
    """Return a second moment from those of repeats about their mean, and its standard error."""
    error = moments.std(ddof=1) / np.sqrt(n_repeats)
    return float(moments.sum() / (n_repeats - 1)), float(error)
