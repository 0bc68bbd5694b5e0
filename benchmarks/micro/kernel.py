"""What is timed here: one kernel on one thread, in nanoseconds an update, after it was checked."""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.macro.boosting import collisions
from hedgerow.data.binned import BinnedTable, Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.team import Team, hired

N_FEATURES = 28
_RUN = 0.02  # seconds that a run takes at least


class Kernel(NamedTuple):
    """A call, how many updates it makes, and of what."""

    name: str
    call: Callable[[], object]
    n_updates: int
    unit: str


def ns_per_update(kernel: Kernel, n_calls: int) -> float:
    """Return the mean of some calls."""
    begun = time.perf_counter()
    for _ in range(n_calls):
        kernel.call()
    return round((time.perf_counter() - begun) / n_calls / kernel.n_updates * 1e9, 5)


def calls_of(kernel: Kernel) -> int:
    """Return how many calls make a run that a clock can measure."""
    begun = time.perf_counter()
    kernel.call()
    return max(1, math.ceil(_RUN / max(time.perf_counter() - begun, 1e-7)))


def alone() -> Team:
    """Return a team of one: the caller."""
    with hired(1, 0.0) as team:
        return team


def binned(n_rows: int) -> BinnedTable:
    """Return rows of collisions as codes, each feature in a column of its own."""
    X, _ = collisions(n_rows, N_FEATURES, 0)
    return bin_table(read_table(X), Recipe(255, most_codes=0), alone())


def pairs(n_rows: int) -> tuple[Any, Any, GradientPairs]:
    """Return gradients and Hessians in whole steps, [2, n_rows], their records and moments."""
    random = np.random.default_rng(0)
    steps = np.stack([random.integers(-99, 100, n_rows), random.integers(1, 100, n_rows)])
    records = (steps[0] << 48) | (steps[1] << 32) | np.arange(n_rows)
    return steps, records, GradientPairs(np.ones(1, np.int64), 0, 0.0)


def scattered(records: Any) -> Any:
    """Return half of the records, as in a node whose rows lie all over the table."""
    return np.ascontiguousarray(records[np.random.default_rng(1).random(len(records)) < 0.5])
