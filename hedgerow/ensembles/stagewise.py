"""Boosting as descent along functional gradients, in any space of functions.

Each round asks a hypothesis space for the function that is nearest to the negative gradient,
steps along it, and adds it. Friedman (2001), algorithm 1; Mason et al. (1999); notes 0, page 28;
notes 1, "Restricted functional gradient descent"; notes 2, "Formal gradient boosting description".
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.curve import Scored, mean_loss, steady_sum
from hedgerow.ensembles.line_search import EXACT, least_step
from hedgerow.kernels.derivatives import derive
from hedgerow.kernels.team import Team
from hedgerow.losses import AbsoluteError, Exponential, Multinomial, Quantile, SquaredError
from hedgerow.losses.formulas import exp
from hedgerow.losses.weighted import weighted_quantile

MOST_HALF_LOG_ODDS = 18.021826694558577  # beyond, a probability is 0 or 1 to the last bit


class Direction(NamedTuple):
    """What a hypothesis space has found.

    elements  one for each output: a fitted learner, or the number of a function
    factors   float64 [n_outputs]          what each is multiplied by
    said      float64 [n_outputs, n_rows]  factors times what they say of the rows
    """

    elements: tuple[Any, ...]
    factors: Floats
    said: Floats


class Space(Protocol):
    """A space of functions to descend in."""

    def nearest(self, target: Floats, weights: Floats, number: int) -> Direction:
        """Return what is nearest to targets, float64 [n_outputs, n_rows], in the given round."""
        ...


class Scores:
    """Rows of a fit with their current scores.

    y, weights  float64 [n_rows]; a row of weight 0 is not learnt from, but has scores
    raw         float64 [n_outputs, n_rows]
    """

    def __init__(self, y: Floats, weights: Floats, loss: Any, start: Floats, team: Team) -> None:
        self.y, self.weights, self.loss, self._team = y, weights, loss, team
        self.raw = np.tile(start[:, None], (1, len(y)))
        self._shift = 0.0
        self._measure: Any = None

    def adapt(self, relative: bool) -> None:
        """Begin a round: a loss may adapt to the scores, an exponential one be of them relative.

        relative: exponential weights are divided by their largest, which changes neither the
        direction nor the step, if these do not depend on the length of gradients.
        """
        if hasattr(self.loss, "adapted"):
            own = self.weights > 0.0
            self.loss = self.loss.adapted(self.y[own], self.raw[0, own], self.weights[own])
            self._measure = self.loss if self._measure is None else self._measure
        if relative and isinstance(self.loss, Exponential):
            own = self.weights > 0.0
            self._shift = float(((1.0 - 2.0 * self.y) * self.raw[0])[own].max())

    def gradients(self, raw: Floats | None = None) -> Floats:
        """Return dl/df of each output and row, float64 [n_outputs, n_rows], without weights."""
        raw = self.raw if raw is None else raw
        if isinstance(self.loss, Exponential):
            sign = 1.0 - 2.0 * self.y
            return np.asarray(sign * exp(sign * raw - self._shift))
        if isinstance(self.loss, Multinomial):
            shares = np.ascontiguousarray(self.loss.link(raw.T).T)
            shares[self.y.astype(np.int64), np.arange(len(self.y))] -= 1.0
            return shares
        if hasattr(self.loss, "derivatives"):
            return np.asarray(self.loss.derivatives(self.y, raw[0])[:1])
        pairs, bits = np.empty((1, 2, len(self.y))), np.zeros((1, 2, len(self.y)), np.uint32)
        peaks = np.zeros((self._team.n_threads, 1, 2), np.uint32)
        given = self.loss, self.y, np.ones(1), np.ascontiguousarray(raw)
        self._team.sweep(len(self.y), derive, *given, pairs, bits, peaks)
        return pairs[:, 0]

    def slope(self, along: Floats, step: float) -> float:
        """Return d/dt sum w l(y, f + t d) at t = step; inf if gradients are not finite there."""
        terms = (self.gradients(self.raw + step * along) * along * self.weights).ravel()
        return steady_sum(terms) if np.isfinite(terms).all() else math.inf

    def mean_loss(self, weights: Floats, number: int) -> float:
        """Return the mean loss of rows by these weights; one that adapts keeps its first form."""
        own = np.flatnonzero(weights > 0.0)
        y, raw, weights = self.y[own], np.ascontiguousarray(self.raw[:, own]), weights[own]
        scored = Scored(y, raw, weights, steady_sum(weights), number)
        return mean_loss(self._measure or self.loss, scored, self._team)


# ------------------------------------------------------------------ steps


Stepping = Callable[[Scores, Floats], float]


def searched_step(scores: Scores, along: Floats) -> float:
    """Return argmin over t >= 0 of sum w l(y, f + t d), found numerically.

    Line search boosting: notes 0, page 27; notes 2, step 3.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return least_step(lambda step: scores.slope(along, step), EXACT)


def exact_step(scores: Scores, along: Floats) -> float:
    """Return argmin over t of sum w l(y, f + t h) by the formula that a loss has.

        squared       sum w r h / sum w h^2,     r = y - f
        absolute      the median of r / h, weighted by w |h|
        quantile      of r / h, weighted by w |h|, the quantile of the level that is
                      sum w |h| (level where h > 0, 1 - level where h < 0) / sum w |h|
        exponential   log(W+ / W-) / 2, the weights w e^(-s f) where h agrees with s and where not,
                      for h in {-1, 0, 1}: AdaBoost's alpha

    Notes 0, pages 12 and 29.
    """
    loss, h, w = scores.loss, along[0], scores.weights
    if isinstance(loss, Exponential) and np.isin(h, (-1.0, 0.0, 1.0)).all():
        return _half_log_odds(-scores.gradients()[0] * w, h)
    residual = scores.y - scores.raw[0]
    if isinstance(loss, SquaredError):
        return steady_sum(w * residual * h) / steady_sum(w * h * h)
    if isinstance(loss, (AbsoluteError, Quantile)):
        own = (w > 0.0) & (h != 0.0)
        residual, h, size = residual[own], h[own], (w * np.abs(h))[own]
        level = loss.level if isinstance(loss, Quantile) else 0.5
        above = steady_sum(size * np.where(h > 0.0, level, 1.0 - level))
        share = 0.5 if level == 0.5 else above / steady_sum(size)
        return weighted_quantile(residual / h, size, share)
    other = " and functions of other values than -1 and 1" * isinstance(loss, Exponential)
    raise ValueError(
        f"step='exact' has no formula for {loss}{other}: there is one for squared_error, "
        "absolute_error, quantile, and for exponential with classifiers. Pass step='line_search'."
    )


def _half_log_odds(pull: Floats, h: Floats) -> float:
    """Return log(W+ / W-) / 2, cut where a probability would be 0 or 1 to the last bit."""
    agrees = pull * h > 0.0
    right = steady_sum(np.where(agrees, np.abs(pull), 0.0))
    wrong = steady_sum(np.where((h != 0.0) & ~agrees, np.abs(pull), 0.0))
    if right == 0.0 or wrong == 0.0:
        return math.copysign(MOST_HALF_LOG_ODDS, right - wrong)
    most = MOST_HALF_LOG_ODDS
    return min(max(0.5 * math.log(right / wrong), -most), most)


# ------------------------------------------------------------------ rounds


class Round(NamedTuple):
    """One term of the sum: step times each output's factor times its element."""

    elements: tuple[Any, ...]
    coefficients: Floats  # [n_outputs], step times factors
    error: float  # share of the weighted gradient that the elements are against; NaN: not +-1
    loss: float  # mean loss afterwards; NaN: not known


class Descent(NamedTuple):
    """How to descend."""

    space: Space
    stepping: Stepping | None  # None: `rate` is the step
    rate: float
    relative: bool


def descended(
    scores: Scores, descent: Descent, n_rounds: int, go_on: Callable[[list[Round]], bool]
) -> tuple[list[Round], str]:
    """Add rounds; return them and why there are no more.

    The scores are those after the last round. go_on is asked after each round.
    """
    rounds: list[Round] = []
    has_values = not hasattr(scores.loss, "derivatives")
    while len(rounds) < n_rounds:
        number = len(rounds) + 1
        scores.adapt(descent.relative)
        target = -scores.gradients()
        _demand_finite(target, scores, number)
        if not (target * scores.weights).any():
            return rounds, f"Round {number} was not begun: the gradient is zero."
        found = descent.space.nearest(target, scores.weights, number)
        step = 1.0 if descent.stepping is None else descent.stepping(scores, found.said)
        if not step > 0.0 or not found.said.any():
            return rounds, f"Round {number} was not added: no step along the learner falls."
        error = _error(target * scores.weights, found.said)
        scores.raw = scores.raw + (descent.rate * step) * found.said
        after = scores.mean_loss(scores.weights, number) if has_values else math.nan
        own = Round(found.elements, descent.rate * step * found.factors, error, after)
        rounds.append(own)
        if error == 0.0 and isinstance(scores.loss, Exponential) and descent.stepping:
            return rounds, f"The learner of round {number} makes no error: no step is the best."
        if not go_on(rounds):
            return rounds, f"Stopped after round {number}: held-out rows gain no more."
    return rounds, ""


def _error(pull: Floats, said: Floats) -> float:
    """Return the share of |pull| whose sign a learner of -1 and 1 misses, or NaN."""
    if len(said) > 1 or not (np.abs(said) == 1.0).all():
        return math.nan
    size = np.abs(pull[0])
    return steady_sum(np.where(pull[0] * said[0] < 0.0, size, 0.0)) / steady_sum(size)


def _demand_finite(target: Floats, scores: Scores, number: int) -> None:
    bad = np.argwhere(~np.isfinite(target))
    if len(bad):
        output, row = bad[0]
        raise FloatingPointError(
            f"In round {number} {scores.loss} has gradient {-target[output, row]} for a row with "
            f"y = {scores.y[row]:g} and raw score {scores.raw[output, row]:g}, and finite ones are "
            "needed. Use a smaller learning_rate, or rescale y."
        )
