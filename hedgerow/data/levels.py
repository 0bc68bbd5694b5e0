"""Levels: the values of each bin parted once more, for the small nodes of deep trees.

See kernels.levels for what they are and kernels.finer for what is made of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.edges import Bins, Summary, Values
from hedgerow.kernels.codes import BIN, BLOCK, Records
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.levels import fill_levels, find_levels


class Levels(NamedTuple):
    """The level of each row inside its bin, uint8, and what the levels of all bins hold, BIN."""

    lane: NDArray[np.uint8]
    bounds: Records


class Joined(NamedTuple):
    """The levels of all features that have some: see kernels.codes."""

    fine: NDArray[np.uint8]
    levels: Records
    n_levels: int


def levels_of(
    values: Values, codes: NDArray[np.uint8], bins: Bins, summary: Summary, n_levels: int
) -> Levels | None:
    """Part each bin into n_levels of about equal weight; None if each value has its own bin."""
    if n_levels < 2 or (bins.low == bins.high).all():
        return None
    last = np.searchsorted(summary.values, bins.high, side="right") - 1
    through = summary.through[last]
    before = np.concatenate([[0], through[:-1]])
    upto = -(-np.multiply.outer(through - before, np.arange(1, n_levels + 1)) // n_levels)
    ends = summary.values[np.searchsorted(summary.through, before[:, None] + upto)]
    lane = np.empty(len(values), np.uint8)
    find_levels(values, codes, ends, lane)
    bounds = with_fields(np.zeros(ends.size, BIN))
    fill_levels(summary.values, ends.reshape(-1), bounds)
    return Levels(lane, bounds)


def join_levels(found: Sequence[Levels | None], features: Records, n_rows: int) -> Joined:
    """Put the levels of features together, and tell the features where they are.

    Features that share a column are without: they have few codes.
    """
    features.fine, features.first_level, features.pieces = -1, 0, -1
    kept = [
        (feature, each)
        for feature, each in enumerate(found)
        if each is not None and features.shared[feature] < 0
    ]
    fine = np.zeros((-(-len(kept) // BLOCK), n_rows, BLOCK), np.uint8)
    n_before, n_levels = 0, 1
    for place, (feature, each) in enumerate(kept):
        about = features[feature]
        about.fine, about.first_level = place, n_before
        fine[place // BLOCK, :, place % BLOCK] = each.lane
        n_before, n_levels = n_before + len(each.bounds), len(each.bounds) // int(about.n_bins)
    bounds = [np.zeros(0, BIN), *(each.bounds for _, each in kept)]
    return Joined(fine, with_fields(np.concatenate(bounds)), n_levels)
