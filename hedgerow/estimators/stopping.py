"""Early stopping: watch the loss of rows that were held out, keep the best round."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.boosting import Boosting
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
        losses = stage.losses(self._rows, self._team)
        self.losses.append(_mean(losses, stage.weights[self._rows]))

    def __call__(self, boosting: Boosting) -> bool:
        """Measure, and tell whether to go on."""
        self.measure(boosting.stage)
        reference = self.losses[: -self._patience]
        if len(reference) == 0:
            return True
        return min(self.losses[-self._patience :]) < min(reference) - self._tol


def _mean(losses: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the weighted mean, the same in any order of the rows: sums are integers."""
    products = losses * weights
    peak, total = float(np.abs(products).max()), float(np.sort(weights).sum())
    if peak == 0.0 or not np.isfinite(peak):
        return peak / total
    bits = 61 - int(np.frexp(float(len(losses)))[1]) - int(np.frexp(peak)[1])
    steps = np.rint(np.ldexp(products, bits)).astype(np.int64)
    return float(np.ldexp(float(steps.sum()), -bits)) / total
