"""Convex surrogates of the 0/1 loss, and the constants that theorems need of them.

A surrogate phi is convex, does not fall, and phi(0) = 1; the phi-risk of a soft classifier f is
R_phi(f) = E phi(-Y f(X)), Y in {-1, 1}. As phi(x) >= 1(x >= 0) it is never below the
probability of an error. Notes 0, page 2; Bartlett, Jordan and McAuliffe (2006).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from hedgerow.theory.checks import Floats, demand_radius

_LOG2_E = 1.0 / math.log(2.0)


class Zhang(NamedTuple):
    """The constants of Zhang's lemma.

        R(sign f) - R* <= 2 c (R_phi(f) - R_phi*)^exponent

    for every f, if |eta - 1/2| <= c (1 - inf_a {eta phi(-a) + (1 - eta) phi(a)})^exponent for every
    eta in [0, 1]. Zhang (2004), theorem 2.1; notes 0, page 6.
    """

    c: float
    exponent: float

    def excess_risk(self, excess_surrogate_risk: float) -> float:
        """Return the excess risk that an excess phi-risk allows, 2 c x^exponent.

        >>> Zhang(0.5, 1.0).excess_risk(0.25)
        0.25
        """
        return 2.0 * self.c * math.pow(excess_surrogate_risk, self.exponent)


class Surrogate(NamedTuple):
    """A surrogate by its name: "hinge", "exponential" or "logistic".

    ===========  ==================  =========================================  ==============
    name         phi(x)              Lipschitz constant on [-r, r]              Zhang's c, exponent
    ===========  ==================  =========================================  ==============
    hinge        max(1 + x, 0)       1                                          1/2, 1
    exponential  e^x                 e^r                                        1/sqrt(2), 1/2
    logistic     log2(1 + e^x)       log2(e) e^r / (1 + e^r)                    1/sqrt(2), 1/2
    ===========  ==================  =========================================  ==============

    Notes 0, page 2, where the last constant at r = 1 is printed as 2.43; its formula is 1.0547.
    """

    name: str

    def phi(self, x: Any) -> Floats:
        """Return phi(x), of numbers x = -y f."""
        x = np.asarray(x, np.float64)
        if self.name == "hinge":
            return np.asarray(np.maximum(1.0 + x, 0.0))
        if self.name == "exponential":
            return np.asarray(np.exp(x))
        return np.asarray(np.logaddexp(0.0, x) * _LOG2_E)

    def slope(self, x: Any) -> Floats:
        """Return phi'(x); of the hinge at its corner, 1."""
        x = np.asarray(x, np.float64)
        if self.name == "hinge":
            return np.asarray(x >= -1.0, np.float64)
        if self.name == "exponential":
            return np.asarray(np.exp(x))
        e = np.exp(-np.abs(x))
        return np.asarray(np.where(x < 0.0, e, 1.0) / (1.0 + e) * _LOG2_E)

    def curvature(self, x: Any) -> Floats:
        """Return phi''(x); of the hinge, 0."""
        x = np.asarray(x, np.float64)
        if self.name == "hinge":
            return np.zeros_like(x)
        if self.name == "exponential":
            return np.asarray(np.exp(x))
        e = np.exp(-np.abs(x))
        return np.asarray(e / (1.0 + e) ** 2 * _LOG2_E)

    def risk(self, margins: Any) -> float:
        """Return the mean of phi(-m): the empirical phi-risk of rows with margins m = y f."""
        return float(np.mean(self.phi(-np.asarray(margins, np.float64))))

    def lipschitz(self, radius: float = 1.0) -> float:
        """Return the largest slope of phi on [-radius, radius]: that at its upper end.

        >>> [round(surrogate(name).lipschitz(), 4) for name in SURROGATES]
        [1.0, 2.7183, 1.0547]
        """
        return float(self.slope(demand_radius(radius)))

    @property
    def zhang(self) -> Zhang:
        """Zhang's constants."""
        return Zhang(0.5, 1.0) if self.name == "hinge" else Zhang(math.sqrt(0.5), 0.5)


SURROGATES = ("hinge", "exponential", "logistic")


def surrogate(name: str | Surrogate) -> Surrogate:
    """Return the surrogate of a name.

    Examples
    --------
    >>> from hedgerow.theory import surrogate
    >>> surrogate("logistic").phi([0.0]), surrogate("exponential").zhang.exponent
    (array([1.]), 0.5)
    """
    if isinstance(name, Surrogate):
        return name
    if name not in SURROGATES:
        accepted = ", ".join(map(repr, SURROGATES))
        raise ValueError(f"surrogate={name!r} is not known. Pass one of {accepted}.")
    return Surrogate(name)
