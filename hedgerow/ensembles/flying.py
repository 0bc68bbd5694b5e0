"""Flying: rows go down trees three steps at once, where registers hold all keys of a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.scaling import Reading, on_lines
from hedgerow.ensembles.species import Counts, Floats
from hedgerow.kernels.flights import BLOCK, Flights, all_ways, descend, room_for
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.scales import Scales
from hedgerow.kernels.stairs import ABREAST
from hedgerow.kernels.team import Team
from hedgerow.kernels.trails import add_verdicts

_SLAB = 1 << 17  # rows whose keys are there at once, at most
_ROUNDS = 8  # trees for each thread before verdicts are added up


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
    largest = max(int(np.diff(each.first[:, 0]).max()) for each in thickets)
    rooms = _rooms(largest, team.n_threads)
    for slab in np.array_split(rows, -(-len(rows) // _SLAB)):
        flights = Flights(reading.lines(values, slab, team), reading.second, all_ways(), *rooms)
        sums = out[slab]
        for number, thicket in enumerate(thickets):
            _add(thicket, reading.scales(number), flights, way, team, sums)
        out[slab] = sums


def _rooms(largest: int, n_threads: int) -> tuple[NDArray[Any], ...]:
    """Return room for trees, and for rows on their way."""
    words = on_lines((n_threads, room_for(largest)), np.int32)
    waiting = np.empty((n_threads, largest // 2 + 1), np.int32)
    rows, places = (np.empty((n_threads, BLOCK + ABREAST), np.int32) for _ in range(2))
    return words, words.view(np.uint16), waiting, rows, places


def _add(
    thicket: Thicket, scales: Scales, flights: Flights, way: Any, team: Team, sums: Floats
) -> None:
    """Add what the trees of a thicket say of all rows."""
    n_trees, n_group = len(thicket.first) - 1, _ROUNDS * team.n_threads
    room = np.empty((min(n_group, n_trees), len(sums)), np.int32)
    for first in range(0, n_trees, n_group):
        verdicts, turn = room[: n_trees - first], np.zeros(1, np.int64)
        team.run(descend, thicket, first, way, scales, flights, turn, verdicts)
        team.run(add_verdicts, thicket, first, way, verdicts, sums)
