"""AdaBoost.R2: rounds of a regressor, each on rows that count more the further they were missed.

    r_i  = |y_i - h_m(x_i)| / (largest of them)
    L_i  = r_i                 linear
           r_i^2               square
           1 - exp(-r_i)       exponential
    e_m  = sum of w_i L_i / sum of w_i
    alpha_m = rate log((1 - e_m) / e_m)
    w_i  = w_i exp(-alpha_m (1 - L_i))

The prediction is the median of what the rounds say, weighted by alpha. Drucker (1997).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hedgerow.ensembles.adaboost import CHANCE, PERFECT, SURE, Round
from hedgerow.ensembles.curve import steady_sum
from hedgerow.ensembles.row_weights import Floats, RowWeights, logs_of
from hedgerow.kernels.exponential import exp

LOSSES = ("linear", "square", "exponential")


class Heard(NamedTuple):
    """A fitted learner, and what it predicts of the training rows, float64 [n_rows]."""

    model: Any
    predicted: Floats


class Deviations(NamedTuple):
    """How far rows are missed, between 0 and 1."""

    loss: str

    def of(self, y: Floats, predicted: Floats) -> Floats:
        """Return L of each row; all 0 if no row is missed."""
        errors = np.abs(predicted - y)
        largest = float(errors.max())
        ratios = errors / largest if largest > 0 else errors
        if self.loss == "square":
            return np.asarray(ratios * ratios)
        return np.asarray(1.0 - exp(-ratios)) if self.loss == "exponential" else ratios


class AdaBoostR2:
    """Rounds that are added one after another.

    teach(number) fits the learner of a round to rows as heavy as `weights` says.
    """

    def __init__(
        self,
        deviations: Deviations,
        rate: float,
        y: Floats,
        weights: RowWeights,
        teach: Callable[[int], Heard],
    ) -> None:
        self._deviations, self._rate, self._y, self._teach = deviations, rate, y, teach
        self.weights, self.stopped = weights, ""
        self.rounds: list[Round] = []

    def next_round(self) -> bool:
        """Add a round; return whether another one may follow. `stopped` says why not."""
        heard = self._teach(len(self.rounds))
        missed = self._deviations.of(self._y, heard.predicted)
        steps = self.weights.steps.astype(np.float64)
        error = steady_sum(steps * missed) / float(self.weights.total)
        if not missed.any():
            alpha = SURE + sum(each.alpha for each in self.rounds)
            self.rounds.append(Round(heard.model, 0.0, alpha))
            self.stopped = PERFECT
            return False
        if error >= 0.5:
            self.stopped = CHANCE
            if not self.rounds:  # alone it is the median, whatever its weight
                self.rounds.append(Round(heard.model, error, 1.0))
            return False
        alpha = self._rate * float(logs_of(np.array([(1.0 - error) / error]))[0])
        self.rounds.append(Round(heard.model, error, alpha))
        self.weights.resume(self.weights.margins + alpha * (1.0 - missed))
        return True

    def run(self, n_rounds: int, go_on: Callable[[], bool]) -> None:
        """Add rounds until there are so many, one is the last, or `go_on` says so.

        An interrupt keeps the rounds that are done; before the first, it goes on to the caller.
        """
        try:
            while len(self.rounds) < n_rounds and self.next_round() and go_on():
                pass
        except KeyboardInterrupt:
            if not self.rounds:
                raise


def weighted_medians(said: Floats, alpha: Floats) -> Floats:
    """Return the median of each row of numbers, [n_rows, n_rounds], weighted by alpha > 0.

    The smallest number such that those up to it have at least half of the weight.
    """
    order = np.argsort(said, axis=1, kind="stable")
    below = np.cumsum(alpha[order], axis=1)
    middle = np.argmax(below >= 0.5 * below[:, -1:], axis=1)
    rows = np.arange(len(said))
    return np.asarray(said[rows, order[rows, middle]])
