"""Following trails: how many rows go down many trees, where that is faster than to walk."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.ensembles.flying import flown
from hedgerow.ensembles.scaling import Known, Reading, bounds_of, reading_of
from hedgerow.ensembles.species import Counts, Floats
from hedgerow.kernels.codes import Codes
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.scales import LANES, Scales
from hedgerow.kernels.team import Team
from hedgerow.kernels.trails import BLOCK, NO_CLASS, Trails, add_verdicts, arrange, follow

_SLAB = 1 << 16  # rows whose keys are there at once, at most
_ROUNDS = 4  # trees that each thread follows before verdicts are added up
_PER_ROW = 8  # nodes of a tree for each row; if there are more, to lay them takes longer
_STEPS = 1.5  # down all trees for each column: if there are fewer, to read rows takes longer
_FEW_ROWS = 12  # that had better walk: to look at the trees takes longer
_READY = 1 << 24  # nodes of a forest that is made ready before anybody asks
_MANY = 24  # trees for which rows had better be arranged


def followed(
    trees: tuple[Sequence[Thicket], Known],
    values: Floats,
    rows: Counts,
    way: Any,
    team: Team,
    out: Floats,
) -> bool:
    """Add what all trees say of some rows to out, or say that they had better be walked.

    trees: with what is known of their thresholds; more is added.
    """
    thickets, known = trees
    if len(rows) < _FEW_ROWS or not _are_laid(thickets, values.shape[1]):
        return False
    sizes = _sizes(thickets)
    if sizes.sum() > _PER_ROW * min(len(rows), _SLAB) * len(sizes):
        return False
    if max(2 * LANES * values.shape[1], out.shape[1]) >= NO_CLASS - LANES:
        return False
    reading = reading_of(thickets, values, rows, team, known)
    if reading is None:
        return False
    if reading.flies:
        flown(thickets, reading, values, rows, way, team, out)
        return True
    for slab in np.array_split(rows, -(-len(rows) // _SLAB)):
        some, trails = slab, _trails(reading, values, slab, int(sizes.max()), team)
        if len(sizes) >= _MANY:
            trails, some = _arranged(thickets[0], reading, trails, way, some, team)
        sums = out[some]
        for number, thicket in enumerate(thickets):
            _add(thicket, reading.scales(number), trails, way, team, sums)
        out[some] = sums
    return True


def make_ready(trees: tuple[Sequence[Thicket], Known], codes: Codes, team: Team) -> None:
    """Look for the thresholds that rows like those of a table are read by, if they go this way."""
    thickets, known = trees
    if _sizes(thickets).sum() <= _READY and _are_laid(thickets, len(codes.features)):
        bounds = bounds_of(codes)
        reading_of(thickets, bounds, np.arange(len(bounds)), team, known)


def _sizes(thickets: Sequence[Thicket]) -> Counts:
    """Return how many nodes each tree has."""
    return np.concatenate([np.diff(each.first[:, 0]) for each in thickets])


def _are_laid(thickets: Sequence[Thicket], n_features: int) -> bool:
    """Tell whether trees are such that it may be worth it to lay them."""
    is_high = np.log2(_sizes(thickets)).sum() >= _STEPS * n_features
    return bool(is_high) and not any(len(each.words) for each in thickets)


def _trails(reading: Reading, values: Floats, rows: Counts, largest: int, team: Team) -> Trails:
    """Return the keys of rows and room for trees."""
    room = team.n_threads, largest
    return Trails(
        reading.keys(values, rows, team),
        np.empty(room, reading.node).view(np.recarray),
        np.empty(room, np.int32),
        np.empty((team.n_threads, largest + 2), np.int32),
        np.empty((team.n_threads, BLOCK), np.uint32),
        reading.n_columns,
    )


def _arranged(
    thicket: Thicket, reading: Reading, trails: Trails, way: Any, rows: Counts, team: Team
) -> tuple[Trails, Counts]:
    """Return rows, and trails with their keys, such that neighbours go similar ways."""
    leaves, order = np.empty(len(rows), np.int32), np.empty(len(rows), np.int64)
    keys = reading.room(len(rows))
    team.run(arrange, thicket, way, reading.scales(0), trails, leaves, order, keys)
    return trails._replace(keys=keys), rows[order]


def _add(
    thicket: Thicket, scales: Scales, trails: Trails, way: Any, team: Team, sums: Floats
) -> None:
    """Add what the trees of a thicket say of all rows."""
    n_trees, n_group = len(thicket.first) - 1, _ROUNDS * team.n_threads
    room = np.empty((min(n_group, n_trees), len(sums)), np.int32)
    for first in range(0, n_trees, n_group):
        verdicts = room[: n_trees - first]
        team.run(follow, thicket, first, way, scales, trails, verdicts)
        team.run(add_verdicts, thicket, first, way, verdicts, sums)
