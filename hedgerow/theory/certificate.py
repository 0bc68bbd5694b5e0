"""Certificates: what is guaranteed of a fitted classifier, with the theorem's name and page."""

from typing import Any, NamedTuple

import numpy as np

from hedgerow.theory.bounds import (
    deviation_bound,
    edges,
    risk_bound,
    training_error_bounds,
    vc_bound,
)
from hedgerow.theory.checks import Floats, demand_count, demand_probability
from hedgerow.theory.margins import margin_error
from hedgerow.theory.surrogates import surrogate

_FREUND = "Freund and Schapire (1997), theorem 6; notes 0, pages 13-15"
_UNIFORM = "Koltchinskii and Panchenko (2002); notes 0, pages 2-6"
_ORACLE = "risk bound for boosting; notes 0, pages 6-7"
_VC = "Freund and Schapire (1997), theorem 8; notes 0, page 16"


class Guarantee(NamedTuple):
    """One statement: `what` is at most `bound`, if `assumes` is true.

    observed  what it is on the rows that were given; None: it cannot be seen
    broken    an assumption that is known to be false, or empty
    """

    what: str
    bound: float
    observed: float | None
    assumes: str
    source: str
    broken: str = ""

    @property
    def says_something(self) -> bool:
        """Whether the bound is below 1, and no assumption is known to be false."""
        return not self.broken and self.bound < 1.0

    def __str__(self) -> str:
        seen = "" if self.observed is None else f"  (observed {self.observed:.4g})"
        lines = [f"{self.what} <= {self.bound:.4g}{seen}", f"    if {self.assumes}"]
        if self.broken:
            lines.append(f"    DOES NOT APPLY: {self.broken}")
        return "\n".join([*lines, f"    {self.source}"])


class Certificate(NamedTuple):
    """What is guaranteed of a model.

    Examples
    --------
    >>> rounds = Rounds(errors=[0.3, 3 / 14], training_error=0.1)
    >>> print(certificate_of("AdaBoost", n=10, rounds=rounds))
    AdaBoost, fitted to 10 rows
    training error <= 0.7521  (observed 0.1)
        if nothing: it is a product of what was measured
        Freund and Schapire (1997), theorem 6; notes 0, pages 13-15
    training error <= 0.7841  (observed 0.1)
        if every round has a positive edge; the least is 0.2
        Freund and Schapire (1997), theorem 6; notes 0, pages 13-15
    """

    title: str
    n: int
    guarantees: tuple[Guarantee, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers and words, for JSON."""
        return {
            "title": self.title,
            "n": self.n,
            "guarantees": [each._asdict() for each in self.guarantees],
        }

    def __str__(self) -> str:
        rows = "row" if self.n == 1 else "rows"
        told = list(map(str, self.guarantees)) or ["nothing is guaranteed: no theorem applies"]
        return "\n".join([f"{self.title}, fitted to {self.n:,} {rows}", *told])


class Rounds(NamedTuple):
    """The rounds of AdaBoost, of two classes.

    errors          weighted error of each learner, of values -1 and 1
    training_error  share of rows, by their first weights, with y f <= 0
    alphas          what learners were multiplied by; None: AdaBoost's own, log((1 - e) / e) / 2
    vc_dimension    of the learners; None: not known
    """

    errors: Any
    training_error: float
    alphas: Any = None
    vc_dimension: int | None = None


class Combination(NamedTuple):
    """A combination of functions with values in [-1, 1], the sum of |coefficients| <= radius.

    margins      y f(x) of the n training rows, all of weight 1
    n_functions  how many functions there were to choose from
    gap          how far the empirical phi-risk is from the least; None: f is not its minimiser
    broken       why rows or functions are not what theorems assume; empty: nothing is known
    """

    margins: Floats
    n_functions: int
    phi: str = "hinge"
    radius: float = 1.0
    gap: float | None = None
    broken: str = ""


def certificate_of(
    title: str,
    *,
    n: int,
    rounds: Rounds | None = None,
    combination: Combination | None = None,
    delta: float = 0.05,
) -> Certificate:
    """Return what theorems guarantee of a classifier of two classes.

    Parameters
    ----------
    title : str
        What the model is called.
    n : int
        Number of training rows.
    rounds : Rounds or None
        For the bounds of the training error, and of the VC dimension.
    combination : Combination or None
        For the bounds of the risk.
    delta : float
        Chance that bounds of the risk may fail with, each.

    Examples
    --------
    >>> import numpy as np
    >>> seen = Combination(np.full(100_000, 0.9), n_functions=50, gap=0.0)
    >>> found = certificate_of("F", n=100_000, combination=seen)
    >>> [round(each.bound, 3) for each in found.guarantees]
    [0.147, 0.094]
    """
    n, delta = demand_count("n", n), demand_probability("delta", delta)
    found: list[Guarantee] = []
    if rounds is not None:
        found += _of_rounds(rounds)
    if combination is not None:
        found += _of_combination(combination, n, delta)
    return Certificate(title, n, tuple(found))


def _of_rounds(rounds: Rounds) -> list[Guarantee]:
    errors = np.asarray(rounds.errors, np.float64)
    if not len(errors):
        return []
    product, exponential = training_error_bounds(errors, rounds.alphas)
    what, seen, least = "training error", float(rounds.training_error), float(edges(errors).min())
    assumes = "nothing: it is a product of what was measured"
    found = [Guarantee(what, float(product[-1]), seen, assumes, _FREUND)]
    broken = "" if least > 0.0 else f"a round has the edge {least:.4g}"
    if rounds.alphas is not None:
        inside = (errors > 0.0) & (errors < 1.0)  # elsewhere its own are infinite
        own = 0.5 * np.log((1.0 - errors[inside]) / errors[inside])
        if not np.allclose(np.asarray(rounds.alphas)[inside], own, rtol=1e-6):
            broken = broken or "steps are not AdaBoost's own (a learning rate)"
    assumes = f"every round has a positive edge; the least is {least:.4g}"
    found.append(Guarantee(what, float(exponential[-1]), seen, assumes, _FREUND, broken))
    if rounds.vc_dimension is not None:
        bound = vc_bound(len(errors), rounds.vc_dimension)
        assumes = f"learners have VC dimension {rounds.vc_dimension} at most"
        found.append(Guarantee("VC dimension of the rounds", bound, None, assumes, _VC))
    return found


def _of_combination(own: Combination, n: int, delta: float) -> list[Guarantee]:
    phi, m = surrogate(own.phi), np.asarray(own.margins, np.float64)
    if m.shape != (n,):
        raise ValueError(
            f"There are margins of shape {m.shape}, but n={n}: the bounds are of the rows that the "
            "model was fitted to. Pass the margins of all of them, and of no others."
        )
    about = n, own.n_functions, delta, phi, own.radius
    empirical = phi.risk(m)
    assumes = (
        f"rows are independent draws; f is of {own.n_functions:,} functions in [-1, 1], |b|_1 <= "
        f"{own.radius:g}; with probability {1.0 - delta:g}"
    )
    bound = empirical + deviation_bound(*about)
    what = f"true error and {own.phi} risk"
    seen = margin_error(m)
    found = [Guarantee(what, bound, seen, assumes, _UNIFORM, own.broken)]
    if own.gap is not None:
        bound = risk_bound(*about) + own.gap
        what = f"{own.phi} risk above the best of the class"
        found.append(Guarantee(what, bound, None, assumes, _ORACLE, own.broken))
    return found
