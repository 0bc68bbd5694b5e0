"""Following trails: how many rows go down many trees, where that is faster than to walk."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hedgerow.ensembles.species import Counts, Floats
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.team import Team
from hedgerow.kernels.trails import BLOCK, LONG, MISSING, Trails, add_along, lay_trails, read_keys

SLAB = 1 << 16  # rows whose keys are there at once
_LAID = 1 << 18  # nodes that are laid at once, if threads have a tree each
_PER_ROW = 8  # nodes of a tree for each row; if there are more, to lay them takes longer
_FEW = 8  # trees that had better be walked: rows would have to be read for them
_WORD = 32  # bits for a node's children and column


def followed(
    thickets: Sequence[Thicket], values: Floats, rows: Counts, way: Any, team: Team, out: Floats
) -> bool:
    """Add what all trees say of some rows to out, or say that they had better be walked."""
    trails = _trails(thickets, values, rows, team)
    if trails is None:
        return False
    for thicket in thickets:
        for begin, end in _groups(thicket, team.n_threads):
            team.run(lay_trails, thicket, begin, end, trails)
            team.run(add_along, rows, thicket, begin, end, trails, way, out)
    return True


def _trails(thickets: Sequence[Thicket], values: Floats, rows: Counts, team: Team) -> Trails | None:
    """Return the keys of rows and room for trees, or None if these rows or trees have none."""
    sizes = np.concatenate([np.diff(each.first[:, 0]) for each in thickets])
    n_features = values.shape[1]
    if len(sizes) < _FEW or sizes.sum() > _PER_ROW * len(rows) * len(sizes):
        return None
    largest = int(sizes.max())
    has_sets = any(len(each.words) for each in thickets)
    if has_sets or largest.bit_length() + (2 * n_features).bit_length() > _WORD:
        return None
    for n_columns in (n_features, 2 * n_features):
        trails = Trails(
            np.empty((len(rows), n_columns), np.uint32),
            np.zeros(team.n_threads, np.int64),
            np.empty(2 * max(_LAID, largest * team.n_threads), np.uint32),
            np.empty(max(_LAID, largest * team.n_threads), np.int32),
            np.empty((team.n_threads, largest + 2), np.int32),
            np.empty((team.n_threads, BLOCK), np.int64),
            (n_features, n_columns.bit_length()),
        )
        team.run(read_keys, values, rows, trails)
        found = np.bitwise_or.reduce(trails.found)
        if found & LONG:
            return None
        if not found & MISSING:
            break
    return trails


def _groups(thicket: Thicket, n_threads: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of trees that are laid at once: one for each thread at least."""
    begin, n_trees, first = 0, len(thicket.first) - 1, thicket.first[:, 0]
    while begin < n_trees:
        end = min(begin + n_threads, n_trees)
        while end < n_trees and first[end + 1] - first[begin] <= _LAID:
            end += 1
        yield begin, end
        begin = end
