"""Curves: the mean loss of rows after each round, by which the number of rounds is chosen."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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


class Scored(NamedTuple):
    """Rows with their scores, targets and weights.

    y       float64 [n_rows], or [n_rows, n_outputs]
    raw     float64 [n_outputs, n_rows]
    number  rounds behind these scores
    stage, rows   where these rows come from, if they were held out
    loss    that of these rows, if a loss is one of some rows only: of their lists
    """

    y: Floats
    raw: Floats
    weights: Floats
    total_weight: float
    number: int = 0
    stage: Any = None
    rows: Any = None
    loss: Any = None


def mean_loss(loss: Any, scored: Scored, team: Team) -> float:
    """Return the mean loss of rows at their current scores, or what the loss measures instead."""
    if hasattr(loss, "measure"):
        own = loss if scored.loss is None else scored.loss
        values, weights = own.measure(team, scored.stage, scored.rows)
        return steady_sum(values * weights) / steady_sum(weights)
    if hasattr(loss, "derivatives"):
        raise ValueError(
            f"Early stopping was asked for, but {loss} only knows derivatives: there is no loss "
            "to watch. Pass early_stopping=False, an eval_metric, or a class with the method "
            "`loss(self, y, f)`."
        )
    losses = losses_of(loss, scored.y, scored.raw, team)
    bad = np.flatnonzero(~np.isfinite(losses))
    if len(bad):
        raise _no_loss(loss, scored, int(bad[0]), float(losses[bad[0]]))
    return steady_sum(losses * scored.weights) / scored.total_weight


def mean_losses(loss: Any, scored: Scored, seen: Floats, team: Team) -> list[float]:
    """Return `mean_loss` after each of several rounds, at the scores [n_outputs, n_rounds, n_rows].

    Of a loss of rows, each of which has one target; scored.number is that of the last round.
    """
    n_outputs, n_rounds, n_rows = seen.shape
    y, raw = np.tile(scored.y, n_rounds), np.ascontiguousarray(seen).reshape(n_outputs, -1)
    losses = losses_of(loss, y, raw, team).reshape(n_rounds, n_rows)
    bad = np.argwhere(~np.isfinite(losses))
    if len(bad):
        number, row = bad[0].tolist()
        then = scored._replace(raw=seen[:, number], number=scored.number - n_rounds + number + 1)
        raise _no_loss(loss, then, row, float(losses[number, row]))
    sums: list[float] = steady_sums(losses * scored.weights).tolist()
    return [total / scored.total_weight for total in sums]


def losses_of(loss: Any, y: Floats, raw: Floats, team: Team) -> Floats:
    """Return the losses of rows, float64 [n], without their weights; see Scored for y, raw.

    One target with several scores is a class, unless the loss knows what to do with them; the
    loss of several targets is summed over them.
    """
    if hasattr(loss, "row_losses"):
        return np.asarray(loss.row_losses(y, raw.T))
    targets, raw = np.ascontiguousarray(np.atleast_2d(y.T)), np.ascontiguousarray(raw)
    losses, total = np.empty(len(y)), np.zeros(len(y))
    if len(targets) < len(raw):
        team.sweep(len(y), class_losses, targets[0].astype(np.int32), raw, losses)
        return losses
    for target, scores in zip(targets, raw[:, None], strict=True):
        team.sweep(len(y), row_losses, loss, target, scores, losses)
        total += losses
    return total


def _no_loss(loss: Any, scored: Scored, row: int, value: float) -> FloatingPointError:
    """Build the error for a loss that is not finite."""
    when = f"After round {scored.number}" if scored.number else "Before the first round"
    place = f"row {row} of the rows that are watched"
    y = ", ".join(f"{target:g}" for target in np.atleast_1d(scored.y[row]))
    if scored.stage is not None:
        place = f"row {scored.stage.number_of(int(scored.rows[row]))}, which is held out"
    return FloatingPointError(
        f"{when} {loss} is {value} for {place} (y = {y}, raw scores "
        f"{scored.raw[:, row].tolist()}), and early stopping needs finite losses. Use a smaller "
        "learning_rate, rescale y, or pass early_stopping=False."
    )


def steady_loss(stage: Any) -> Any:
    """Return the loss that rounds are compared by: one that adapts keeps its first form."""
    if not hasattr(stage.loss, "adapted"):
        return stage.loss
    own = slice(None) if not len(stage.rows) else stage.rows
    return stage.loss.adapted(stage.numbers(stage.rows), stage.raw[0, own], stage.weights[own])


def steady_sum(values: Floats) -> float:
    """Return the sum, the same in any order of the rows: it is one of whole steps."""
    peak = float(np.abs(values).max())
    return float(steady_sums(values[None])[0]) if np.isfinite(peak) else peak


def steady_sums(values: Floats) -> Floats:
    """Return such sums of the rows of a table of finite numbers, float64 [n_sums]."""
    peaks = np.abs(values).max(axis=1)
    bits = 61 - int(np.frexp(float(values.shape[1]))[1]) - np.frexp(peaks)[1]
    steps = np.rint(np.ldexp(values, bits[:, None])).astype(np.int64)
    return np.asarray(np.ldexp(steps.sum(axis=1).astype(np.float64), -bits))
