"""Routes: the leaves that rows reach in a new tree, whether or not they helped to grow it.

As in kernels.scorer all splits are tried for a block of rows at once, but from codes: a code
is a byte already, and a split is a comparison of bytes. A lane is a byte for each row of a
block; each node of the tree has one, and one more holds what the split at hand looks at.

    lane of a leaf    the number of the leaf
    lane of a split   the number of the leaf that the row would reach from there
"""

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels import in_bulk
from hedgerow.kernels.blocks import LANE, choose
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.codes import MISSING, Codes
from hedgerow.kernels.errands import Errand, Noted
from hedgerow.kernels.jit import interpreted_as, part
from hedgerow.kernels.meeting import share
from hedgerow.kernels.partition import with_missing
from hedgerow.kernels.steps import add_values, goes_left
from hedgerow.kernels.team import Team
from hedgerow.kernels.workspace import N_NODES, Nodes

_MAX_LEAVES = 256  # a leaf's number is a byte
MAX_NODES = 2 * _MAX_LEAVES  # that a tree of more leaves has at least
_WORD = 64  # categories from which a set has more than one word


class Router:
    """Adds one tree after another to raw scores, in the same buffers."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._routed, self._walked = Errand(add_routed), Errand(add_values)
        self._lanes = np.empty((team.n_threads, 0), np.uint8)
        self._leaf_values = np.empty((team.n_threads, _MAX_LEAVES))

    def add(
        self, codes: Codes, nodes: Nodes, values: NDArray[np.float64], raw: NDArray[np.float64]
    ) -> None:
        """Add the value of its leaf to each row's score; values, [max_nodes], are of the nodes."""
        team, n_nodes = self._team, int(nodes.counters[N_NODES])
        if n_nodes >= MAX_NODES:
            team.repeat(len(raw), self._walked, codes, nodes, values, raw)
            return
        if self._lanes.shape[1] < (n_nodes + 1) * LANE:
            n_most = min(len(values), MAX_NODES)
            self._lanes = np.empty((team.n_threads, (n_most + 1) * LANE), np.uint8)
        given = codes, nodes, values, self._leaf_values, self._lanes
        team.repeat(len(raw), self._routed, *given, raw)

    def note(
        self, codes: Codes, nodes: Nodes, values: NDArray[np.float64], raw: NDArray[np.float64]
    ) -> Noted:
        """Write down `add`, once it has been done, of trees that have fewer than MAX_NODES."""
        given = codes, nodes, values, self._leaf_values, self._lanes, raw
        return self._team.noted(len(raw), Errand(add_routed), *given)


@team_kernel
def add_routed(team, codes, nodes, values, leaf_values, lanes, raw):
    """Add the value of its leaf to each row's raw score.

    codes        Codes                                  read
    nodes        Nodes                                  read    children follow their parents
    values       float64 [max_nodes]                    read
    leaf_values  float64 [n_threads, 256]               write   of the leaves alone
    lanes        uint8 [n_threads, at least (n_nodes + 1) * LANE]   write
    raw          float64 [n_rows]                       both    a thread owns a range of rows

    Blocks all of whose rows were in the tree know their leaves; others cost n_splits / 32
    comparisons a row.
    """
    begin, end = share(team, raw.shape[0])
    n_nodes = nodes.counters[N_NODES]
    _number_leaves(nodes, values[:n_nodes], leaf_values[team.thread], lanes[team.thread])
    for first in range(begin, end, LANE):
        last = min(first + LANE, end)
        own, known = raw[first:last], nodes.leaf_of_row[first:last]
        if _are_known(known):
            _add_known(values, known, own)
            continue
        for node in range(n_nodes - 1, -1, -1):
            if nodes.table[node].left >= 0:
                _step(codes, nodes, node, n_nodes * LANE, first, last, lanes[team.thread])
        leaves = lanes[team.thread, :LANE]
        for i in range(own.shape[0]):
            own[i] += leaf_values[team.thread, leaves[i]]


@interpreted_as(in_bulk.are_known)
@part
def _are_known(known):
    """Tell whether all rows of a block were in the tree."""
    lowest = np.int32(0)
    for i in range(known.shape[0]):
        lowest = min(lowest, known[i])
    return lowest >= 0


@interpreted_as(in_bulk.add_known)
@part
def _add_known(values, known, raw):
    for i in range(raw.shape[0]):
        raw[i] += values[np.uint32(known[i])]


@part
def _number_leaves(nodes, values, leaf_values, lanes):
    """Set the lane of each leaf to its number, and list their values."""
    n_leaves = np.int64(0)
    for node in range(values.shape[0]):
        if nodes.table[node].left < 0:
            lanes[node * LANE : (node + 1) * LANE] = n_leaves
            leaf_values[n_leaves] = values[node]
            n_leaves += 1


@part
def _step(codes, nodes, node, free, first, last, lanes):
    """Set a split's lane from those of its children; the lane at `free` is scratch."""
    split = nodes.table[node]
    about, test, limit = codes.features[split.feature], lanes[free : free + LANE], split.cut
    if 0 < about.n_categories < _WORD and about.place >= 0:
        word = with_missing(nodes.words[split.category_start], split.missing_left)
        _set_sides_by_word(codes.columns[about.place, first:last], word, test)
        limit = np.int64(0)
    elif about.n_categories > 0 or about.place < 0:
        _set_sides(codes, nodes, split, first, last, test)
        limit = np.int64(0)
    else:
        column = codes.columns[about.place, first:last]
        # A missing value, the largest code, goes right by itself.
        if_missing = np.uint8(0 if split.missing_left else MISSING)
        _set_codes(column, if_missing, test)
    left = split.left * LANE
    choose(lanes, free, np.uint8(limit), left, left + LANE, node * LANE)


@interpreted_as(in_bulk.set_codes)
@part
def _set_codes(column, if_missing, test):
    for i in range(column.shape[0]):
        test[i] = if_missing if column[i] == np.uint8(MISSING) else column[i]


@part
def _set_sides_by_word(column, word, test):
    """Set the lane to 0 where a set of categories, a single word, sends a row left."""
    for i in range(column.shape[0]):
        test[i] = ~(word >> np.uint64(column[i] & np.uint8(_WORD - 1))) & np.uint64(1)


@part
def _set_sides(codes, nodes, split, first, last, test):
    """Set the lane to 0 where a split by categories, or of a wide feature, sends a row left."""
    for row in range(first, last):
        test[row - first] = 1 - goes_left(codes, nodes, split, row)
