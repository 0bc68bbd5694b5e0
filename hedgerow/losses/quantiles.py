"""Several quantiles of one target, which never cross."""

# The interface fixes the arguments.
# ruff: noqa: D102

from typing import NamedTuple

import numpy as np

from hedgerow.losses.regression import Quantile
from hedgerow.losses.targets import Array, demand_finite, demand_within


class Quantiles(NamedTuple):
    """Mean pinball loss of K = n_outputs increasing levels; f is [K], a score for each level.

        l(y, f) = 1/K sum_k l_k(y, f_(k)),     f_(1) <= ... <= f_(K) the scores in order

    with l_k the pinball loss of level k. Each score is boosted by its own trees to its own
    level; what is predicted are the scores in order, so that quantiles cannot cross whatever
    the row. Putting them in order never raises the loss: if f_i > f_j for levels i < j, then

        l_i(f_i) + l_j(f_j) - l_i(f_j) - l_j(f_i) = (level_j - level_i) (f_i - f_j) > 0

    because l_i - l_j is a line in f, of slope level_j - level_i, whatever y is. Chernozhukov,
    Fernandez-Val and Galichon (2010), section 2.
    """

    levels: tuple[float, ...]

    @property
    def n_outputs(self) -> int:
        """Number of levels."""
        return len(self.levels)

    def of_output(self, output: int) -> Quantile:
        """Return the loss of a level."""
        return Quantile(self.levels[output])

    @property
    def least_leaf(self) -> float:
        """Return that of the level which asks for most: trees of all levels have one rule."""
        return max(self.of_output(k).least_leaf for k in range(self.n_outputs))

    def start(self, y: Array, w: Array) -> Array:
        return np.array([self.of_output(k).start(y, w) for k in range(self.n_outputs)])

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row; raw is float64 [n, K]."""
        shown, levels = self.link(raw), np.array(self.levels)
        above = y[:, None] - shown
        losses = np.maximum(levels * above, (levels - 1.0) * above)
        total = np.zeros(len(y))
        for k in range(self.n_outputs):
            total += losses[:, k]
        return np.asarray(total / self.n_outputs)

    def link(self, raw: Array) -> Array:
        """Return the quantiles of each row in order; raw is float64 [n, K]."""
        return np.sort(raw, axis=1)

    def check(self, y: Array) -> None:
        for level in self.levels:
            demand_within(level, "alpha", 0.0, 1.0, "Pass levels such as [0.1, 0.5, 0.9].")
        if not self.levels or (np.diff(self.levels) <= 0.0).any():
            raise ValueError(
                f"alpha={list(self.levels)} was given, and levels that increase are accepted: "
                "column k of the predictions is the quantile of level k. Sort them, and pass "
                "each once."
            )
        demand_finite(y, "Quantiles")
