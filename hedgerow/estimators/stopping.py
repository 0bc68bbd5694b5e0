"""Early stopping: watch the loss of rows that were held out, keep the best round."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.boosting import Boosting
from hedgerow.kernels.steps import class_losses, row_losses
from hedgerow.kernels.team import Team


class Watch:
    """Measures the mean loss of some rows after each round."""

    def __init__(self, rows: NDArray[np.int64], patience: int, tol: float, team: Team) -> None:
        """Stop when the loss has not fallen by more than `tol` for `patience` rounds."""
        self._rows, self._patience, self._tol, self._team = rows, patience, tol, team
        self.losses: list[float] = []

    @property
    def best_round(self) -> int:
        """The number of rounds of the smallest loss, the first if there are several."""
        return int(np.argmin(self.losses))

    def measure(self, stage: Any) -> None:
        """Add the mean loss at the current scores."""
        if hasattr(stage.loss, "derivatives"):
            raise ValueError(
                f"Early stopping was asked for, but {stage.loss} only knows derivatives: there "
                "is no loss to watch. Pass early_stopping=False, or a class with the method "
                "`loss(self, y, f)`."
            )
        losses = np.empty(len(self._rows))
        if len(stage.labels):
            self._team.run(class_losses, stage.labels, stage.raw, self._rows, losses)
        elif hasattr(stage.loss, "row_losses"):
            losses = stage.loss.row_losses(stage.y[self._rows], stage.raw[:, self._rows].T)
        else:
            self._team.run(row_losses, stage.loss, stage.y, stage.raw, self._rows, losses)
        bad = np.flatnonzero(~np.isfinite(losses))
        if len(bad):
            raise _no_loss(stage, int(self._rows[bad[0]]), float(losses[bad[0]]), len(self.losses))
        weights = stage.weights[self._rows]
        self.losses.append(_mean(losses, weights))

    def __call__(self, boosting: Boosting) -> bool:
        """Measure, and tell whether to go on."""
        self.measure(boosting.stage)
        reference = self.losses[: -self._patience]
        if len(reference) == 0:
            return True
        return min(self.losses[-self._patience :]) < min(reference) - self._tol


def _no_loss(stage: Any, row: int, loss: float, number: int) -> FloatingPointError:
    """Build the error for a loss that is not finite."""
    when = f"After round {number}" if number else "Before the first round"
    return FloatingPointError(
        f"{when} {stage.loss} is {loss} for row {stage.number_of(row)}, which is "
        f"held out (y = {stage.y[row]:g}, raw scores {stage.raw[:, row].tolist()}), and early "
        "stopping needs finite losses. Use a smaller learning_rate, rescale y, or pass "
        "early_stopping=False."
    )


def _mean(losses: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the weighted mean, the same in any order of the rows: sums are integers."""
    products = losses * weights
    peak, total = float(np.abs(products).max()), float(np.sort(weights).sum())
    if peak == 0.0 or not np.isfinite(peak):
        return peak / total
    bits = 61 - int(np.frexp(float(len(losses)))[1]) - int(np.frexp(peak)[1])
    steps = np.rint(np.ldexp(products, bits)).astype(np.int64)
    return float(np.ldexp(float(steps.sum()), -bits)) / total
