"""Losses of a class: y is the number of the class, f log-odds or one score for each class.

The interface is that of `regression`; `Multinomial` has the scores of a row in an array.
"""

# The formulas stand in the classes' docstrings.
# ruff: noqa: D102

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.exponential import exp_below
from hedgerow.kernels.formula import where
from hedgerow.kernels.links import fill_logistic, fill_softmax
from hedgerow.kernels.meanwhile import Little, interpreted
from hedgerow.losses.formulas import exp, log, log1p_exp, logistic
from hedgerow.losses.targets import Array, demand_classes, demand_within
from hedgerow.losses.weighted import class_weights, total_weight, weighted_mean

# A class that is absent, or alone, would have infinite log-odds. Beyond these, 52 ln 2, a
# probability is 0 or 1 to the last bit.
_MOST_LOG_ODDS = 36.04365338911715
_LEAST_SHARE = 2.0**-52
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class Bernoulli(NamedTuple):
    """Minus the log-likelihood of two classes; f is the log-odds of class 1.

        l(y, f) = log(1 + e^(-s f)),       s = 2 y - 1, y in {0, 1}
        dl/df   = p - y = -s / (1 + e^(s f)),     p = 1 / (1 + e^-f)
        h       = p (1 - p)

    Written with s so that no digits are lost where p is almost 0 or 1. Friedman (2001), section
    4.5 (whose loss is ours at 2 f); notes 2, page 1.
    """

    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        return log1p_exp((1.0 - 2.0 * y) * f)

    def gradient(self, y: float, f: float) -> float:
        return (1.0 - 2.0 * y) * logistic((1.0 - 2.0 * y) * f)

    def hessian(self, y: float, f: float) -> float:
        # p (1 - p) = e / (1 + e)^2, e = e^-|f|; |s f| = |f|, but only of s f a kernel sees that
        # the exponential is that of the gradient, and so is what it is divided by.
        e = exp(-abs((1.0 - 2.0 * y) * f))
        return e * (1.0 / (1.0 + e)) * (1.0 / (1.0 + e))

    @property
    def single(self) -> "SingleBernoulli":
        """The same in single precision."""
        return SingleBernoulli()

    def start(self, y: Array, w: Array) -> float:
        return _log_odds(y, w)

    def link(self, raw: Array) -> Array:
        return logistic_of_array(raw)

    def check(self, y: Array) -> None:
        demand_classes(y, 2, "Bernoulli")


class SingleBernoulli(NamedTuple):
    """Bernoulli's derivatives in single precision, in half the time.

        g = -s / (1 + e^x),  h = p (1 - p),     s = 2 y - 1, x = s f

    They are kept in no more.
    """

    n_outputs: int = 1

    def gradient(self, y: float, f: float) -> np.float32:
        sign = np.float32(1.0 - 2.0 * y)
        x = sign * np.float32(f)
        e = exp_below(-abs(x))
        return np.float32(sign * (where(x < _ZERO, e, _ONE) * (_ONE / (_ONE + e))))

    def hessian(self, y: float, f: float) -> np.float32:
        e = exp_below(-abs(np.float32(1.0 - 2.0 * y) * np.float32(f)))
        return np.float32(e * (_ONE / (_ONE + e)) * (_ONE / (_ONE + e)))


class Exponential(NamedTuple):
    """AdaBoost's loss of two classes; f is half the log-odds of class 1.

        l(y, f) = e^(-s f),      s = 2 y - 1, y in {0, 1}
        dl/df   = -s e^(-s f)
        h       = e^(-s f)

    The minimiser of the expected loss is f = log(p / (1 - p)) / 2, so p = 1 / (1 + e^(-2 f)).
    Friedman, Hastie and Tibshirani (2000), section 4; notes 2, page 2; notes 0, part II.
    """

    n_outputs: int = 1

    def loss(self, y: float, f: float) -> float:
        return exp((1.0 - 2.0 * y) * f)

    def gradient(self, y: float, f: float) -> float:
        return (1.0 - 2.0 * y) * exp((1.0 - 2.0 * y) * f)

    def hessian(self, y: float, f: float) -> float:
        return exp((1.0 - 2.0 * y) * f)

    def start(self, y: Array, w: Array) -> float:
        return 0.5 * _log_odds(y, w)

    def link(self, raw: Array) -> Array:
        return logistic_of_array(2.0 * raw)

    def check(self, y: Array) -> None:
        demand_classes(y, 2, "Exponential")


class Multinomial(NamedTuple):
    """Minus the log-likelihood of K = n_outputs classes; f is [K], a score for each class.

        l(y, f)  = log sum_j e^f_j - f_y
        dl/df_k  = p_k - 1(y = k),       p_k = e^f_k / sum_j e^f_j
        h_k      = p_k (1 - p_k)         (the diagonal of the second derivative)

    A constant added to all scores changes nothing; `start` makes them sum to zero. Friedman
    (2001), section 4.6; notes 0, pages 31-32, where the sum's logarithm should be added.
    """

    n_outputs: int

    def loss_of(self, y: float, f: Array) -> float:
        most = f[0]
        for k in range(1, self.n_outputs):
            most = max(most, f[k])
        total = 0.0
        for k in range(self.n_outputs):
            total += exp(f[k] - most)
        return log(total) + float(most - f[int(y)])

    def gradients(self, y: float, f: Array, g: Array, h: Array) -> None:
        """Set g[k] to dl/df_k and h[k] to h_k. g and h are float64 [K]; f is only read."""
        most = f[0]
        for k in range(1, self.n_outputs):
            most = max(most, f[k])
        total = 0.0
        for k in range(self.n_outputs):
            g[k] = exp(f[k] - most)
            total += g[k]
        for k in range(self.n_outputs):
            p = g[k] / total
            g[k] = p - (1.0 if int(y) == k else 0.0)
            h[k] = p * (1.0 - p)

    def start(self, y: Array, w: Array) -> Array:
        """Return the logarithms of the classes' shares, float64 [K], less their mean."""
        total, weights = total_weight(w), class_weights(y, w, self.n_outputs)
        priors = np.array([log(max(weight / total, _LEAST_SHARE)) for weight in weights])
        return priors - weighted_mean(priors, np.ones(self.n_outputs))

    def link(self, raw: Array) -> Array:
        """Return the classes' probabilities of each row; raw is float64 [n, K]."""
        shares = np.array(raw, np.float64, order="C")
        with interpreted(Little(1e-7 * shares.size, fill_softmax)):
            fill_softmax(shares)
        return shares

    def check(self, y: Array) -> None:
        demand_within(self.n_outputs, "n_outputs", 1, np.inf, "Pass the number of classes.")
        demand_classes(y, self.n_outputs, "Multinomial")


def _log_odds(y: Array, w: Array) -> float:
    """Return log(weight of class 1 / weight of class 0), within what a probability can show."""
    zeros, ones = class_weights(y, w, 2)
    odds = ones / max(zeros, _LEAST_SHARE * ones)
    return min(max(log(odds), -_MOST_LOG_ODDS), _MOST_LOG_ODDS)


def logistic_of_array(raw: Array) -> NDArray[np.float64]:
    """Return 1 / (1 + e^-raw) of each number."""
    shares = np.array(raw, np.float64, order="C")
    with interpreted(Little(1e-7 * shares.size, fill_logistic)):
        fill_logistic(shares.reshape(-1))
    return shares
