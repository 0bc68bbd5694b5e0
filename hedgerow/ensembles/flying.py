"""Flying: rows go down trees three steps at once, where registers hold all keys of a row."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.scaling import Reading, on_lines
from hedgerow.ensembles.species import Counts, Floats
from hedgerow.kernels.flights import BLOCK, Flights, all_ways, descend, make_ready, room_for
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.stairs import ABREAST
from hedgerow.kernels.team import Team

_SLAB = 1 << 18  # rows whose keys are there at once, at most
_CACHED = 1 << 17  # nodes of trees that are laid at once, unless there are more threads


def flown(
    thickets: Sequence[Thicket],
    reading: Reading,
    values: Floats,
    rows: Counts,
    way: Any,
    team: Team,
    out: Floats,
) -> None:
    """Add what all trees say of some rows to out."""
    for slab in np.array_split(rows, -(-len(rows) // _SLAB)):
        keys = reading.lines(values, slab, team)
        team.run(make_ready, keys)
        for number, thicket in enumerate(thickets):
            flights = _flights(thicket, keys, reading.second, team.n_threads)
            team.run(descend, thicket, way, reading.scales(number), flights, slab, out)


def _flights(thicket: Thicket, keys: NDArray[np.uint16], second: int, n_threads: int) -> Flights:
    """Return rows made ready, and room for trees and for rows on their way."""
    sizes = np.diff(thicket.first[:, 0])
    groups = _groups(sizes, n_threads)
    bounds, n_words = np.zeros((len(sizes), 2), np.int64), 0
    for begin, end in pairwise(groups):
        needed = np.cumsum([room_for(int(size)) for size in sizes[begin:end]])
        bounds[begin + 1 : end, 0], n_words = needed[:-1], max(n_words, int(needed[-1]))
    words = on_lines((n_words,), np.int32)
    waiting = np.empty((n_threads, int(sizes.max()) // 2 + 1), np.int32)
    rows, places = (on_lines((n_threads, BLOCK + ABREAST), np.int32) for _ in range(2))
    return Flights(
        keys,
        second,
        all_ways(),
        np.array(groups),
        np.zeros(2 * len(groups), np.int64),
        bounds,
        words,
        words.view(np.uint16),
        waiting,
        rows,
        places,
        on_lines((n_threads, BLOCK), np.int32),
    )


def _groups(sizes: NDArray[np.int64], n_threads: int) -> list[int]:
    """Return the first tree of each group that is laid at once, and the first beyond the last."""
    groups, n_nodes = [0], 0
    for tree, size in enumerate(sizes.tolist()):
        if tree - groups[-1] >= n_threads and n_nodes + size > _CACHED:
            groups.append(tree)
            n_nodes = 0
        n_nodes += size
    return [*groups, len(sizes)]
