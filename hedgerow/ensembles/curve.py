"""Curves: the mean loss of rows after each round, by which the number of rounds is chosen."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.kernels.steps import class_losses, row_losses
from hedgerow.kernels.team import Team


class Patience(NamedTuple):
    """How long to go on in vain.

    n_rounds : int
        Rounds without a value that is better by more than `tol`.
    """

    n_rounds: int
    tol: float

    def is_over(self, curve: Sequence[float]) -> bool:
        """Tell whether the last rounds of a curve, smaller is better, were in vain."""
        reference = curve[: -self.n_rounds]
        if not len(reference):
            return False
        return not min(curve[-self.n_rounds :]) < min(reference) - self.tol


def best_round(curve: Sequence[float], allowance: float = 0.0) -> int:
    """Return the first round whose loss is the smallest, or beyond it by at most `allowance`."""
    values = np.asarray(curve)
    return int(np.argmax(values <= values.min() + allowance)) if len(values) else 0


def mean_loss(loss: Any, scored: Any, rows: NDArray[np.int64], team: Team) -> float:
    """Return the mean loss of some rows at their current scores.

    scored has y, labels, raw and weights of all rows: a Stage, or what looks like one.
    """
    if hasattr(loss, "measure"):
        return steady_mean(*loss.measure(team, scored, rows))
    losses = np.empty(len(rows))
    if len(scored.labels):
        team.run(class_losses, scored.labels, scored.raw, rows, losses)
    else:
        team.run(row_losses, loss, scored.y, scored.raw, rows, losses)
    return steady_mean(losses, scored.weights[rows])


def steady_loss(stage: Any) -> Any:
    """Return the loss that rounds are compared by: one that adapts keeps its first form."""
    if not hasattr(stage.loss, "adapted"):
        return stage.loss
    own = slice(None) if not len(stage.rows) else stage.rows
    return stage.loss.adapted(stage.y[own], stage.raw[0, own], stage.weights[own])


def steady_mean(values: Floats, weights: Floats) -> float:
    """Return the weighted mean, the same in any order of the rows: sums are integers."""
    products = values * weights
    peak, total = float(np.abs(products).max()), float(np.sort(weights).sum())
    if peak == 0.0 or not np.isfinite(peak):
        return peak / total
    bits = 61 - int(np.frexp(float(len(values)))[1]) - int(np.frexp(peak)[1])
    steps = np.rint(np.ldexp(products, bits)).astype(np.int64)
    return float(np.ldexp(float(steps.sum()), -bits)) / total
