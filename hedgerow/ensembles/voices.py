"""Voices: what each tree of a forest says by itself, some rows at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.forest import Forest
from hedgerow.kernels.spread import tell_leaves
from hedgerow.kernels.team import Team
from hedgerow.kernels.walks import walkers_of

Floats = NDArray[np.float64]

_MOST_CELLS = 1 << 22  # numbers that are there at a time


def blocks_of(n_rows: int, n_numbers: int) -> Iterator[slice]:
    """Yield rows in blocks that have room for so many numbers each."""
    size = max(1, _MOST_CELLS // max(n_numbers, 1))
    for first in range(0, n_rows, size):
        yield slice(first, min(first + size, n_rows))


def voices(forest: Forest, values: Floats, way: Any, n_values: int, team: Team) -> Floats:
    """Return what each tree says of each row, float64 [n_rows, n_values, n_trees]."""
    spoken = np.zeros((len(values), n_values, forest.n_trees))
    walkers = walkers_of(team.n_threads)
    rows, first = np.arange(len(values)), 0
    for thicket in forest.thickets:
        end = first + len(thicket.first) - 1
        team.run(tell_leaves, values, rows, thicket, way, walkers, spoken[:, :, first:end])
        first = end
    return spoken
