"""Cells: what the sums of a tree's gradients and Hessians are kept in, and judged by."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.sampling import Drawn
from hedgerow.kernels.bounds import Bounded
from hedgerow.kernels.counted import CountedNewton, GradientCounts
from hedgerow.kernels.derivatives import total_steps
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.newton import Newton
from hedgerow.kernels.team import Team
from hedgerow.kernels.units import COARSE, STEPS, fitting_steps, peak_of, rare_steps, scale_of
from hedgerow.trees.rules import GrowthRules

_FEW = 32_000  # rows whose steps fit into the narrowest cells, however many they are
_MANY_ROWS = 2**25  # beyond, packed sums leave less than 6 bits to a row


class Penalties(NamedTuple):
    """What a leaf's value costs, how far categories' means are drawn to 0, and which are rare."""

    l1: float
    l2: float
    smooth: float
    rare: float


Peaks = tuple[float, float]  # the largest |g| and h


class Cells(NamedTuple):
    """Packed pairs, or wider cells if rows are to be counted or are very many.

    bits: for the number of rows; 0 if they are not counted.
    """

    bits: int

    @classmethod
    def of(cls, n_rows: int, total_weight: int, growth: GrowthRules) -> "Cells":
        """Return the narrowest cells that will do."""
        counted = growth.min_leaf_rows > 1 or total_weight > _MANY_ROWS
        return cls(n_rows.bit_length() if counted else 0)

    @property
    def largest(self) -> tuple[float, float]:
        """Largest sums of gradients and of Hessians, in steps."""
        if self.bits:
            return 2.0**62 - 1.0, 2.0 ** (63 - self.bits) - 1.0
        return 2.0**31 - 1.0, 2.0**31 - 1.0

    @staticmethod
    def may_overflow(total_weight: int) -> bool:
        """Tell whether the steps of so many rows may be more than cells have room for."""
        return total_weight > _FEW

    def rooms(self, total_weight: int) -> tuple[float, float]:
        """Return the room for steps of g and h: rounding and the least Hessian take some of it."""
        g, h = self.largest
        return g - 1.5 * total_weight, h - 1.5 * total_weight

    def scales(
        self,
        drawn: Drawn,
        g: NDArray[np.float32],
        h: NDArray[np.float32],
        peak: Peaks,
        team: Team,
    ) -> NDArray[np.float32]:
        """Return steps per 1.0 of g and h: as many as 16 bits a row, and the cells, allow.

        The largest magnitude is a whole number of steps, so that equal numbers stay exact.
        """
        peaks, steps = [peak_of(most) for most in peak], list(STEPS)
        if self.may_overflow(drawn.total_weight):
            coarse = np.array([COARSE / most for most in peaks], np.float32)
            totals = np.zeros((team.n_threads, 2), np.int64)
            weights = drawn.weights, drawn.mask
            team.sweep(len(g), total_steps, g, h, *weights, drawn.rows, coarse, totals)
            rooms = self.rooms(drawn.total_weight)
            for k, total in enumerate(totals.sum(axis=0).tolist()):
                given = steps[k], peaks[k], rooms[k], total, float(coarse[k])
                steps[k] = float(fitting_steps(*given))
        return np.array([scale_of(*each) for each in zip(steps, peaks, strict=True)], np.float32)

    def judged(
        self,
        weights: tuple[NDArray[np.int64], int],
        units: tuple[float, float],
        penalties: Penalties,
        signs: NDArray[np.int64] | None,
    ) -> tuple[Any, Any]:
        """Return moments and criterion; units are what the steps of g and h are worth."""
        smooth = penalties.smooth / units[1]
        least = rare_steps(penalties.rare, units[1])
        worth = *units, penalties.l1, penalties.l2
        moments: Any = GradientPairs(*weights, smooth, least)
        criterion: Any = Newton(*worth)
        if self.bits:
            moments = GradientCounts(*weights, smooth, self.bits, least)
            criterion = CountedNewton(*worth, self.bits)
        if signs is not None:
            criterion = Bounded(criterion, signs, 0, -np.inf, np.inf)
        return moments, criterion
