"""Watching rows that no tree is grown from: their loss and other metrics after each round."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.boosting import Boosting
from hedgerow.ensembles.curve import Patience, Scored, best_round, steady_sum
from hedgerow.ensembles.stage import floats
from hedgerow.estimators.metrics import Metric
from hedgerow.kernels.team import Team

History = dict[str, dict[str, NDArray[np.float64]]]


class Watched(Protocol):
    """Rows to be watched."""

    name: str

    def scored(self, boosting: Boosting) -> Scored:
        """Return the rows with their scores after the newest round."""
        ...


class HeldOut:
    """Rows of the table that the model is not grown from: their scores come with each round."""

    name = "validation"

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self._rows = rows
        self._scored: Scored | None = None

    def scored(self, boosting: Boosting) -> Scored:
        """Return the rows with their scores after the newest round."""
        stage, rows = boosting.stage, self._rows
        if self._scored is None:
            weights = stage.weights[rows]
            own = floats(stage.y[rows]), stage.raw, weights, steady_sum(weights)
            self._scored = Scored(*own, stage=stage, rows=rows)
        return self._scored._replace(raw=stage.raw[:, rows], number=boosting.n_rounds)


class GivenRows:
    """Rows of a table of their own: the newest trees are added to their scores."""

    def __init__(
        self, name: str, values: Floats, y: Floats, weights: Floats, offset: Floats | float
    ) -> None:
        """Take rows; offset is float64 [n_rows, n_outputs] or 0."""
        self.name, self._values, self._offset = name, values, offset
        self._y, self._weights, self._total = y, weights, steady_sum(weights)
        self._out = np.zeros((len(y), 0))
        self._n_rounds = 0

    def scored(self, boosting: Boosting) -> Scored:
        """Add the rounds that are new; return the rows with their scores."""
        start = boosting.stage.start
        if not self._out.shape[1]:
            self._out = np.tile(start, (len(self._y), 1)) + self._offset
        while self._n_rounds < boosting.n_rounds:
            boosting.add_round(self._n_rounds, self._values, self._out)
            self._n_rounds += 1
        raw = np.ascontiguousarray(self._out.T)
        return Scored(self._y, raw, self._weights, self._total, self._n_rounds)


class Watch:
    """Measures watched rows after each round, and tells by the last of them whether to go on."""

    def __init__(
        self, watched: list[Watched], metrics: list[Metric], patience: Patience | None, team: Team
    ) -> None:
        """Watch rows; without patience they are only watched. The first metric decides."""
        self._watched, self._metrics, self._team = watched, metrics, team
        self._patience = patience if watched else None
        self._values: dict[str, dict[str, list[float]]] = {
            each.name: {metric.name: [] for metric in metrics} for each in watched
        }

    @property
    def curve(self) -> list[float]:
        """What decides, after each round; smaller is better."""
        metric = self._metrics[0]
        return [metric.sign * value for value in self._values[self._watched[-1].name][metric.name]]

    @property
    def stops(self) -> bool:
        """Whether the best round is to be kept."""
        return self._patience is not None

    @property
    def history(self) -> History:
        """All that was measured: name of the rows, name of the metric, value of each round."""
        return {
            rows: {name: np.array(values) for name, values in each.items()}
            for rows, each in self._values.items()
        }

    def measure(self, boosting: Boosting) -> None:
        """Measure all rows at their current scores."""
        for each in self._watched:
            scored = each.scored(boosting)
            for metric in self._metrics:
                value = metric.measure(scored, boosting.stage.loss, self._team)
                self._values[each.name][metric.name].append(value)

    def __call__(self, boosting: Boosting) -> bool:
        """Measure, and tell whether to go on."""
        self.measure(boosting)
        return self._patience is None or not self._patience.is_over(self.curve)

    def best_round(self, n_rounds: int) -> int:
        """Return the round to be kept: all rounds if rows were only watched."""
        return best_round(self.curve) if self.stops else n_rounds
