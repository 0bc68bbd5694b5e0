"""Absolute error: a criterion whose score is not a function of sums.

The best constant is the median, so a side of a cut is judged from its rows: they are
added in the order of the cuts to a Fenwick tree over the ranks of their targets, which
finds a median and the sums on both sides of it in log(n) steps.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.bounds import without_bounds
from hedgerow.kernels.jit import part
from hedgerow.kernels.moments import row_of

# Scratch.lines: Fenwick trees of weights and of weighted targets (zero between uses); the
# position of each code; where each position's rows begin; the node's rows by position.
_WEIGHTS, _SUMS, _SPOT, _BEGIN, _ROWS = 0, 1, 2, 3, 4


@without_bounds
class AbsoluteError(NamedTuple):
    """Absolute error around the median.

        score = -sum w |y - median|

    rank     int64 [n_rows]    of the row's target among the distinct targets
    step     int64 [n_ranks]   the target of each rank, in whole steps from a common centre
    weights  int64 [n_rows]    in whole steps

    Notes 0, table of gradient boosting losses; notes 4.
    """

    rank: NDArray[np.int64]
    step: NDArray[np.int64]
    weights: NDArray[np.int64]

    def at(self, moments, sums):
        return self

    def mass(self, sums, first=0):
        return sums[first + 1]

    def score(self, sums, first=0):
        return np.nan  # sums do not tell

    def screen(self, moments, rules, total, n_cuts, width, scratch):
        return -np.inf, 1.0  # no histograms are made for it

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        _line_up(codes, feature, n_codes, start, node, width, scratch)
        _judge_cuts(self, n_codes, scratch)
        return True


@part
def _line_up(codes, feature, n_codes, start, node, width, scratch):
    """List the node's rows by the position of their code; `start` comes before all others."""
    lines, order, cells = scratch.lines, scratch.order, scratch.cells
    spot, begin, listed = lines[_SPOT], lines[_BEGIN], lines[_ROWS]
    total = np.int64(0)
    if start >= 0:
        spot[start] = 0
        begin[0] = 0
        total = cells[start * width + width - 1]
    else:
        begin[0] = 0
    for i in range(n_codes):
        if order[i] != start:
            spot[order[i]] = i + 1
        begin[i + 1] = total
        total += cells[order[i] * width + width - 1] if order[i] != start else 0
    place, rows = codes.features[feature].place, node.rows
    for segment in range(rows.bounds.shape[0]):
        for i in range(rows.bounds[segment, 0], rows.bounds[segment, 1]):
            row = row_of(rows.records[i])
            code = np.int64(
                codes.columns[place, row] if place >= 0 else codes.wide[-1 - place, row]
            )
            at = spot[code]
            listed[begin[at]] = row
            begin[at] += 1


@part
def _judge_cuts(criterion, n_codes, scratch):
    """Set keys[i] to the score of the cut after position i, keys[n_codes] to the node's own.

    After _line_up, begin[i] is where the rows of position i - 1 end.
    """
    lines, keys = scratch.lines, scratch.keys
    end, listed, next_row = lines[_BEGIN], lines[_ROWS], np.int64(0)
    mass, total = np.int64(0), np.int64(0)
    for i in range(n_codes):
        while next_row < end[i + 1]:
            row = listed[next_row]
            w, rank = criterion.weights[row], criterion.rank[row]
            _add(lines, rank, w, w * criterion.step[rank])
            mass, total, next_row = mass + w, total + w * criterion.step[rank], next_row + 1
        keys[i] = -_error(lines, criterion.step, mass, total)
    keys[n_codes] = keys[n_codes - 1]
    next_row = np.int64(0)
    for i in range(n_codes):
        while next_row < end[i + 1]:
            row = listed[next_row]
            w, rank = criterion.weights[row], criterion.rank[row]
            _add(lines, rank, -w, -w * criterion.step[rank])
            mass, total, next_row = mass - w, total - w * criterion.step[rank], next_row + 1
        if i < n_codes - 1 and mass > 0:
            keys[i] -= _error(lines, criterion.step, mass, total)


@part
def _add(lines, rank, w, wy):
    """Add to the Fenwick trees at `rank`."""
    place, size = rank + 1, lines.shape[1]
    while place < size:
        lines[_WEIGHTS, place] += w
        lines[_SUMS, place] += wy
        place += place & -place


@part
def _error(lines, step, mass, total):
    """Return sum w |y - median| of what has been added: sum w = mass, sum w y = total."""
    if mass == 0:
        return 0.0
    place, below, sum_below = np.int64(0), np.int64(0), np.int64(0)
    jump, size = np.int64(1), lines.shape[1]
    while 2 * jump < size:
        jump *= 2
    while jump > 0:
        upper = place + jump
        if upper < size and 2 * (below + lines[_WEIGHTS, upper]) < mass:
            place = upper
            below += lines[_WEIGHTS, upper]
            sum_below += lines[_SUMS, upper]
        jump >>= 1
    median = step[place]  # the first rank at which half of the weight is reached
    return float(median * below - sum_below + total - sum_below - median * (mass - below))
