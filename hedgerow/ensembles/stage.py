"""The rows of a fit: their targets, weights, raw scores and derivatives."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.kernels.derivatives import derive, derive_classes, largest_bits
from hedgerow.kernels.steps import class_losses, row_losses
from hedgerow.kernels.team import Team
from hedgerow.trees.quantise import Steps

_MANY = 2**24  # whole weights that add up to more are multiplied in before rounding
_INFINITE = 0x7F800000


class Stage:
    """The rows of a fit: their targets, weights, raw scores and derivatives."""

    def __init__(
        self, y: Floats, weights: Steps, factors: Floats, loss: Any, rows: NDArray[np.int64]
    ) -> None:
        """Take all rows of a table; trees are grown from `rows`, or from all if it is empty.

        y is float64 [n_rows], or [n_rows, n_outputs]: the loss is then summed over outputs.
        factors, float64 [n_rows] or [1], multiply the weights.
        """
        counts, n_rows = weights.counts, len(y)
        is_whole = weights.exact and weights.unit == 1.0 and int(counts.sum()) <= _MANY
        self.y, self.loss, self.rows = y, loss, rows
        self.targets = np.ascontiguousarray(np.atleast_2d(y.T))
        self.labels = y.astype(np.int64) if loss.n_outputs > 1 else np.zeros(0, np.int64)
        self.weights = counts * (weights.unit * factors)
        # Whole weights multiply whole steps: three repeats of a row are three times its steps.
        self.whole = counts if is_whole and counts.max() > 1 else np.ones(1, np.int64)
        self.mask = 0 if len(self.whole) == 1 else -1
        self.real = factors if is_whole else self.weights
        self.total_weight = int(self.whole.sum()) if self.mask else n_rows
        own = slice(None) if not len(rows) else rows
        starts = [loss.start(each[own], self.weights[own]) for each in self.targets]
        self.start = np.concatenate([np.atleast_1d(start) for start in starts])
        self.raw = np.tile(self.start[:, None], (1, n_rows))
        self.pairs = np.empty((len(self.start), 2, n_rows), np.float32)
        self.ones = np.ones(n_rows, np.float32) if len(self.real) == 1 else None

    def derive(self, team: Team) -> None:
        """Set the derivatives at the current scores."""
        if hasattr(self.loss, "adapted"):
            own = slice(None) if not len(self.rows) else self.rows
            self.loss = self.loss.adapted(self.y[own], self.raw[0, own], self.weights[own])
        self.differentiate(team)

    def differentiate(self, team: Team) -> None:
        """Set the derivatives of the loss as it is."""
        if len(self.labels):
            team.run(derive_classes, self.labels, self.real, self.raw, self.pairs)
            return
        for k, y in enumerate(self.targets):
            scores, pairs = self.raw[k : k + 1], self.pairs[k : k + 1]
            team.run(derive, self.loss, y, self.real, scores, pairs)

    def losses(self, rows: NDArray[np.int64], team: Team) -> Floats:
        """Return the losses of some rows at the current scores, without their weights."""
        out, total = np.empty(len(rows)), np.zeros(len(rows))
        if len(self.labels):
            team.run(class_losses, self.labels, self.raw, rows, out)
            return out
        for k, y in enumerate(self.targets):
            team.run(row_losses, self.loss, y, self.raw[k : k + 1], rows, out)
            total += out
        return total

    def peaks(self, output: int, team: Team) -> Floats:
        """Return the largest |g| and h of an output; raise if they are not finite."""
        bits = self.pairs[output].view(np.int32)
        found = np.zeros((team.n_threads, 2), np.int32)
        team.run(largest_bits, bits, found)
        largest = found.max(axis=0)
        if (largest >= _INFINITE).any():
            row = int(np.flatnonzero(~np.isfinite(self.pairs[output]).all(axis=0))[0])
            g, h = self.pairs[output, :, row]
            y = self.targets[output % len(self.targets), row]
            raise FloatingPointError(
                f"{type(self.loss).__name__} has gradient {g} and Hessian {h} for row {row} "
                f"(y = {y:g}, raw score {self.raw[output, row]:g}), and finite "
                "ones are needed. Use a smaller learning_rate, or rescale y."
            )
        return np.asarray(largest.view(np.float32), np.float64)
