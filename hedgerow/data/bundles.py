"""Bundles: columns of which few rows differ are put into one block, whose rows have kinds.

Which columns belong together is seen in a sample; that few rows differ is then made sure of in
all. See kernels.kinds. A bundle changes no model: neither which columns are in it, nor the numbers
of its kinds.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import BLOCK, N_BINS, PANEL, Kinds, Records, leading, no_kinds
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.kinds import join_columns, refine
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.team import Team

_FEWEST_ROWS = 8192  # of a table in which kinds are looked for
_SAMPLE, _DIFFERENT = 2048, 512  # rows of the sample, and those of a bundle that may differ in it
_OPEN = 16  # bundles that a column may join
_FEWEST = 6  # columns that are worth a block of their own
_ROWS_A_KIND, _MOST_KINDS = 8, 4096

Column = NDArray[np.uint8]
Positions = NDArray[np.int64]


class Bundle(NamedTuple):
    """Columns that have a block of their own, their kinds, [n_kinds, n], and that of each row."""

    columns: Positions
    kinds: NDArray[np.uint8]
    keys: NDArray[np.uint16]


def find_kinds(
    features: Records,
    n_columns: int,
    columns: NDArray[np.uint8],
    shared: NDArray[np.uint8],
    team: Team,
) -> Kinds:
    """Put columns of histograms that have kinds into blocks of their own, behind the others.

    features.column is set anew.
    """
    n_rows = columns.shape[1]
    if n_rows < _FEWEST_ROWS or n_columns < _FEWEST:
        return no_kinds(n_columns, n_rows)
    first = leading(features)
    places = zip(features.place[first], features.shared[first], strict=True)
    given = [shared[own] if own >= 0 else columns[place] for place, own in places]
    likely = _bundled(given)
    found: dict[int, Bundle] = {}

    def number(_: Member, which: int) -> None:
        if bundle := _numbered(likely[which], given):
            found[which] = bundle

    team.run_each(number, range(len(likely)))
    if not found:
        return no_kinds(n_columns, n_rows)
    return _laid_out(features, n_columns, [found[which] for which in sorted(found)])


def _laid_out(features: Records, n_columns: int, bundles: list[Bundle]) -> Kinds:
    """Number the columns anew: other columns, then bundles, each of which begins a block."""
    alone = np.setdiff1d(np.arange(n_columns), np.concatenate([each.columns for each in bundles]))
    parts = [alone[begin : begin + BLOCK] for begin in range(0, len(alone), BLOCK)]
    n_alone = len(parts)
    parts += [each.columns for each in bundles]
    panels = with_fields(np.zeros(len(parts), PANEL))
    panels.n_columns = [len(part) for part in parts]
    panels.keys[n_alone:] = np.arange(len(bundles))
    panels.n_kinds[n_alone:] = [len(each.kinds) for each in bundles]
    position = np.empty(n_columns, np.int64)
    for block, part in enumerate(parts):
        position[part] = block * BLOCK + np.arange(len(part))
    narrow = features.column >= 0
    features.column[narrow] = position[features.column[narrow]]
    kinds = np.zeros((len(bundles), int(panels.n_kinds.max()), BLOCK), np.uint8)
    for room, each in zip(kinds, bundles, strict=True):
        room[: len(each.kinds), : len(each.columns)] = each.kinds
    return Kinds(panels, np.stack([each.keys for each in bundles]), kinds)


def _bundled(columns: Sequence[Column]) -> list[Positions]:
    """Return the columns of bundles that are worth it, as a sample shows."""
    rows = np.arange(_SAMPLE) * len(columns[0]) // _SAMPLE
    sample = np.stack([column[rows] for column in columns])
    bundle = np.empty(len(columns), np.int64)
    room = np.empty((_OPEN, 2), np.int64), np.empty((_OPEN + 1, _SAMPLE), np.int32)
    join_columns(sample, _DIFFERENT, BLOCK, *room, _slots(_DIFFERENT), bundle)
    sizes = np.bincount(bundle)
    return [np.flatnonzero(bundle == which) for which in np.flatnonzero(sizes >= _FEWEST)]


def _numbered(bundle: Positions, columns: Sequence[Column]) -> Bundle | None:
    """Number the kinds of rows that columns have; None if there are too many."""
    n_rows = len(columns[0])
    most = min(_MOST_KINDS, n_rows // _ROWS_A_KIND)
    ids, slots, n_kinds = np.zeros(n_rows, np.int32), _slots(most), 0
    for column in bundle:
        n_kinds = refine(columns[column], ids, most, slots, ids)
        if n_kinds > most:
            return None
    example = np.empty(n_kinds, np.int64)
    example[ids] = np.arange(n_rows)
    kinds = np.stack([columns[column][example] for column in bundle], axis=1)
    return Bundle(bundle, kinds, ids.astype(np.uint16))


def _slots(most: int) -> NDArray[np.int32]:
    return np.zeros((2, N_BINS * most), np.int32)
