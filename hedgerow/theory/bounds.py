"""Bounds: of the training error of AdaBoost, and of the risk of boosted classifiers.

n is the number of rows, drawn independently; M the number of functions, with values in [-1, 1]
and fixed in advance, whose combinations sum b_j f_j, |b|_1 <= radius, are chosen from; delta
the chance that a bound fails with. Logarithms are natural.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from hedgerow.theory.checks import (
    Floats,
    demand_between,
    demand_count,
    demand_errors,
    demand_probability,
    demand_radius,
)
from hedgerow.theory.surrogates import Surrogate, surrogate


def edges(errors: Any) -> Floats:
    """Return the edge of each round over a random guess, gamma = 1/2 - error.

    Notes 1, "Bounding the empirical risk", whose theorem calls 1 - 2 error the edge, but whose
    bound is right for this one; notes 0, page 13.

    >>> edges([0.3, 0.21]).tolist()
    [0.2, 0.29000000000000004]
    """
    return np.asarray(0.5 - demand_errors(errors))


class TrainingBounds(NamedTuple):
    """Bounds of the training error after each round, float64 [n_rounds]; see below."""

    product: Floats
    exponential: Floats


def training_error_bounds(errors: Any, alphas: Any = None) -> TrainingBounds:
    """Return the bounds of AdaBoost's training error after each round.

        (1/n) sum 1(y_i f(x_i) <= 0) <= prod Z_t          product
                                     <= exp(-2 sum gamma_t^2)     exponential
        Z_t = (1 - e_t) e^-a_t + e_t e^a_t = 2 sqrt(e_t (1 - e_t)),     gamma_t = 1/2 - e_t

    The second form of Z_t is for AdaBoost's own a_t = log((1 - e_t) / e_t) / 2; the first holds
    for any, and then the exponential bound need not. Freund and Schapire (1997), theorem 6; notes
    0, pages 13-15; notes 1, "Bounding the empirical risk".

    Parameters
    ----------
    errors : array [n_rounds]
        Weighted errors.
    alphas : array [n_rounds] or None
        What the learners were multiplied by, if not by AdaBoost's own (a learning rate).

    Examples
    --------
    >>> product, exponential = training_error_bounds([0.3, 3 / 14])
    >>> product.round(4).tolist(), exponential.round(4).tolist()
    ([0.9165, 0.7521], [0.9231, 0.7841])
    """
    e = demand_errors(errors)
    if alphas is None:
        factors = 2.0 * np.sqrt(e * (1.0 - e))
    else:
        a = np.asarray(alphas, np.float64)
        if a.shape != e.shape:
            raise ValueError(
                f"alphas has shape {a.shape}, but there are {len(e)} errors. Pass one a round."
            )
        factors = (1.0 - e) * np.exp(-a) + e * np.exp(a)
    exponents = -2.0 * np.cumsum((0.5 - e) ** 2)
    return TrainingBounds(np.asarray(np.cumprod(factors)), np.asarray(np.exp(exponents)))


def rademacher_bound(n: int, M: int, radius: float = 1.0) -> float:
    """Return a bound of the Rademacher complexity of convex combinations.

        R_n(F) <= radius sqrt(2 log(2 M) / n)

    Notes 0, pages 4-6: the largest of 2 M vertices, by Hoeffding's lemma; Massart (2000).

    >>> round(rademacher_bound(10_000, 100), 6)
    0.032552
    """
    n, M = demand_count("n", n), demand_count("M", M)
    return demand_radius(radius) * math.sqrt(2.0 * math.log(2 * M) / n)


def confidence_term(n: int, delta: float, radius: float = 1.0) -> float:
    """Return radius sqrt(log(2 / delta) / (2 n)), of the bounded difference inequality.

    McDiarmid (1989); notes 0, page 3.

    >>> round(confidence_term(10_000, 0.05), 6)
    0.013581
    """
    n, delta = demand_count("n", n), demand_probability("delta", delta)
    return demand_radius(radius) * math.sqrt(math.log(2.0 / delta) / (2.0 * n))


def deviation_bound(
    n: int, M: int, delta: float = 0.05, phi: str | Surrogate = "hinge", radius: float = 1.0
) -> float:
    """Return how far empirical and true phi-risk of any combination are apart at most.

        sup_f |R_n,phi(f) - R_phi(f)| <= 4 L R_n(F) + 2 L radius sqrt(log(2 / delta) / (2 n))

    with probability 1 - delta, R_n(F) as in `rademacher_bound`, L the Lipschitz constant of phi on
    [-radius, radius]. It holds for whichever f was chosen, by whatever means. Notes 0, pages 2-6;
    Koltchinskii and Panchenko (2002).

    >>> round(deviation_bound(10_000, 100), 5)
    0.15737
    """
    constant = surrogate(phi).lipschitz(radius)
    return 4.0 * constant * rademacher_bound(n, M, radius) + 2.0 * constant * confidence_term(
        n, delta, radius
    )


def risk_bound(
    n: int, M: int, delta: float = 0.05, phi: str | Surrogate = "hinge", radius: float = 1.0
) -> float:
    """Return how far the phi-risk of the empirical minimiser is above the best at most.

        R_phi(f_n) - min_f R_phi(f) <= 8 L radius sqrt(2 log(2 M) / n)
                                       + 4 L radius sqrt(log(2 / delta) / (2 n))

    with probability 1 - delta. Twice `deviation_bound`. Notes 0, page 6.

    >>> round(risk_bound(10_000, 100), 5), round(risk_bound(1_000_000, 100), 6)
    (0.31474, 0.031474)
    """
    return 2.0 * deviation_bound(n, M, delta, phi, radius)


class ExcessRisk(NamedTuple):
    """The three terms of the bound of the excess risk, which add up to it."""

    approximation: float
    complexity: float
    confidence: float

    @property
    def total(self) -> float:
        """The bound."""
        return self.approximation + self.complexity + self.confidence


def excess_risk_bound(
    n: int,
    M: int,
    delta: float = 0.05,
    phi: str | Surrogate = "hinge",
    radius: float = 1.0,
    approximation: float = 0.0,
) -> ExcessRisk:
    """Return the terms of the risk bound for boosting.

        R(sign f_n) - R* <= 2 c a^g + 2 c (8 L radius sqrt(2 log(2 M) / n))^g
                            + 2 c (4 L radius sqrt(log(2 / delta) / (2 n)))^g

    with probability 1 - delta, for the empirical minimiser f_n of the phi-risk; a = min_f R_phi(f)
    - R_phi*, what the class cannot represent, is `approximation`; c and g are Zhang's. Notes 0,
    page 7, which call both g and the chance of failure delta.

    Examples
    --------
    >>> terms = excess_risk_bound(10_000, 100, 0.05, "hinge")
    >>> round(terms.complexity, 5), round(terms.confidence, 5), round(terms.total, 5)
    (0.26042, 0.05432, 0.31474)
    """
    loss = surrogate(phi)
    if not float(approximation) >= 0.0:
        raise ValueError(
            f"approximation={approximation!r} is below zero, but no class is better than the best "
            "of all functions. Pass min R_phi(f) - R_phi*, or 0 if the class contains the best."
        )
    constant, zhang = loss.lipschitz(radius), loss.zhang
    return ExcessRisk(
        zhang.excess_risk(approximation),
        zhang.excess_risk(8.0 * constant * rademacher_bound(n, M, radius)),
        zhang.excess_risk(4.0 * constant * confidence_term(n, delta, radius)),
    )


def vc_bound(n_rounds: int, vc_dimension: int) -> float:
    """Return a bound of the VC dimension of signs of combinations of M = n_rounds learners.

        VC(F_M) <= 2 (d + 1) (M + 1) log2(e (M + 1)),     d = vc_dimension >= 2

    of one learner: O(d M log M). Freund and Schapire (1997), theorem 8, after Baum and Haussler
    (1989); notes 0, page 16.

    >>> round(vc_bound(100, 2))
    4909
    """
    M, d = demand_count("n_rounds", n_rounds), demand_count("vc_dimension", vc_dimension, 2)
    return 2.0 * (d + 1) * (M + 1) * math.log2(math.e * (M + 1))


def stump_vc_dimension(n_features: int) -> int:
    """Return a bound of the VC dimension of stumps s sign(x_j - t) of p numeric features.

    m points are told apart in at most 2 p (m - 1) + 2 ways: between neighbours in each feature,
    with either sign, or not at all. So m points that are told apart in all 2^m ways have 2^m <=
    2 p (m - 1) + 2. With one feature it is 2, with two 3, as it must be.

    >>> [stump_vc_dimension(p) for p in (1, 2, 10, 100)]
    [2, 3, 6, 10]
    """
    p, m = demand_count("n_features", n_features), 1
    while 2 ** (m + 1) <= 2 * p * m + 2:
        m += 1
    return m


def stump_count(n_features: int, n: int) -> int:
    """Return the number M of stumps that n rows can tell apart, up to their sign: p (n + 1).

    The bounds above count what functions can say of n rows, so with this M they hold for the stumps
    of all thresholds together, and also if thresholds are chosen by the rows.

    >>> stump_count(20, 1000)
    20020
    """
    return demand_count("n_features", n_features) * (demand_count("n", n) + 1)


def rows_needed(
    gap: float, M: int, delta: float = 0.05, phi: str | Surrogate = "hinge", radius: float = 1.0
) -> int:
    """Return how many rows make `risk_bound` at most `gap`.

    The bound falls as 1 / sqrt(n), so n = (risk_bound of one row / gap)^2.

    >>> rows_needed(0.1, 100)
    99064
    """
    gap = demand_between("gap", gap, 0.0, math.inf, "Pass a difference of risks such as 0.1.")
    return math.ceil((risk_bound(1, M, delta, phi, radius) / gap) ** 2)
