"""Tally: the moments of a node's rows, summed by the codes of one feature.

What a histogram is to a large node, a tally is to a small one: it costs as much as the
node has rows, not as the feature has bins, so that full-depth trees and features of a
million distinct values stay cheap.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import N_BINS
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.lines import MOST, Line
from hedgerow.kernels.machine import lowest_bit
from hedgerow.kernels.marginals import BY_CODES
from hedgerow.kernels.moments import add, row_of

_NO_SIGN = 0x7FFFFFFF
_FEW = 24  # codes that are sorted by insertion
LANES, _FEW_BINS = 4, 16  # cells of a code that rows are added to in turn, if there are few codes


class Rows(NamedTuple):
    """The records of a node: records[begin:end] for each (begin, end) of `bounds`."""

    records: NDArray[np.int64]
    bounds: NDArray[np.int64]  # [n_segments, 2]
    n_rows: int


class Scratch(NamedTuple):
    """What one thread needs to look at one feature of one node.

    cells   int64 [n * width]                n: see desks_for; zero between uses
    order   int64 [max_bins + 1]             codes that occur, in the order of the cuts
    keys    float64 [max_bins + 1]           what categories are ordered by
    bits    int64 [2, max_bins // 64 + 2]    bits of codes, bits of words; zero between uses
    sides   int64 [2, sum_width]             sums left and right of a cut
    running int64 [2, 256 * sum_width]       sums left and right of every cut of a histogram
    halves  int32 [2, 512 * sum_width]       the memory of running
    rough   float32 [256]                    estimates of the cuts' scores
    rough_bits int32 [256]                   the memory of rough
    lines   int64 [5, n]                     what absolute error needs, see there; or [0, 0]
    line    Line                             the rows of a small node
    shared  int64 [n_shared, 256 * width]    sums of a node by joint codes; or [0, ..]
    summed  int64 [n_shared]                 what they are of this node: 0 nothing, see `marginals`
    """

    cells: NDArray[np.int64]
    order: NDArray[np.int64]
    keys: NDArray[np.float64]
    bits: NDArray[np.int64]
    sides: NDArray[np.int64]
    running: NDArray[np.int64]
    halves: NDArray[np.int32]
    rough: NDArray[np.float32]
    rough_bits: NDArray[np.int32]
    lines: NDArray[np.int64]
    line: Line
    shared: NDArray[np.int64]
    summed: NDArray[np.int64]


@part
def tally(codes, feature, rows, moments, scratch):
    """Sum the rows' moments by the codes of a FEATURE into scratch.cells; list those that occur.

    Returns their number. scratch.order holds them ascending, so missing comes last. The
    caller gives the cells back with `clear`. Cost: one update per row, and per bin if
    there are as many rows as bins.
    """
    n_codes, place = np.int64(0), feature.place
    dense = rows.n_rows >= feature.n_bins
    has_room = scratch.cells.shape[0] >= LANES * N_BINS * moments.width()
    is_few = dense and place >= 0 and feature.n_bins <= _FEW_BINS
    lanes = np.int64(LANES - 1 if is_few and has_room else 0)
    for segment in range(rows.bounds.shape[0]):
        records = rows.records[rows.bounds[segment, 0] : rows.bounds[segment, 1]]
        if place >= 0:
            n_codes = _add(codes.columns[place], records, moments, dense, lanes, scratch, n_codes)
        else:
            n_codes = _add(codes.wide[-1 - place], records, moments, dense, lanes, scratch, n_codes)
    if lanes > 0:
        _join_lanes(feature, moments.width(), scratch.cells)
    if dense:
        return sweep(scratch, feature, moments)
    if n_codes <= _FEW:
        _sort_few(scratch.order, n_codes)
    else:
        _sort_many(scratch, n_codes)
    return n_codes


@part
def is_shared(feature, rows, scratch):
    """Tell whether a FEATURE of a node is to be read from sums by joint codes.

    Not in the undergrowth: there scratch.summed is not set to zero for each node.
    """
    return rows.n_rows > MOST and 0 <= feature.shared < scratch.shared.shape[0]


@part
def tally_shared(codes, feature, rows, moments, scratch, own):
    """Set `own` to the sums of a node's rows by the joint codes of a FEATURE's column.

    The first of a node's features that asks for them has them summed.
    """
    if scratch.summed[feature.shared] != BY_CODES:
        scratch.summed[feature.shared] = BY_CODES
        for i in range(np.uint64(own.shape[0])):
            own[i] = 0
        for segment in range(rows.bounds.shape[0]):
            records = rows.records[rows.bounds[segment, 0] : rows.bounds[segment, 1]]
            _add_all(codes.shared[feature.shared], records, moments, own)


@part
def _add_all(column, records, moments, cells):
    for i in range(records.shape[0]):
        add(moments, records[i], cells, _code_of(column, records[i]))


@inlined_part
def _code_of(column, record):
    """Return the code of a record's row. A compiler is shown that it is not negative."""
    return np.int64(column[row_of(record)]) & _NO_SIGN


@part
def _add(column, records, moments, dense, lanes, scratch, n_codes):
    cells, order, width = scratch.cells, scratch.order, moments.width()
    if dense and lanes > 0:
        for i in range(records.shape[0]):
            code = _code_of(column, records[i])
            add(moments, records[i], cells, code + (i & lanes) * N_BINS)
        return n_codes
    if dense:
        _add_all(column, records, moments, cells)
        return n_codes
    for i in range(records.shape[0]):
        code = _code_of(column, records[i])
        order[np.uint64(n_codes)] = code
        n_codes += np.int64(not moments.occurs(cells, code * width))
        add(moments, records[i], cells, code)
    return n_codes


@part
def _join_lanes(feature, width, cells):
    """Add the cells of all lanes to those of the first, and set them to zero."""
    for which in range(feature.n_bins + 1):
        code = feature.missing if which == feature.n_bins else np.int64(which)
        for lane in range(1, LANES):
            first, other = code * width, (code + lane * N_BINS) * width
            for k in range(width):
                cells[first + k] += cells[other + k]
                cells[other + k] = 0


@part
def sweep(scratch, feature, moments):
    """List the codes whose cells have rows, ascending; return their number."""
    n_codes, width = np.int64(0), moments.width()
    for code in range(feature.n_bins):
        scratch.order[n_codes] = code
        n_codes += np.int64(moments.occurs(scratch.cells, code * width))
    if moments.occurs(scratch.cells, feature.missing * width):
        scratch.order[n_codes] = feature.missing
        n_codes += 1
    return n_codes


@part
def _sort_few(order, n_codes):
    for i in range(1, n_codes):
        code, j = order[i], i
        while j > 0 and order[j - 1] > code:
            order[j] = order[j - 1]
            j -= 1
        order[j] = code


@part
def _sort_many(scratch, n_codes):
    """Sort by marking each code as a bit, and each used word of bits as a bit."""
    order, words, tops = scratch.order, scratch.bits[0], scratch.bits[1]
    last = np.int64(0)
    for i in range(n_codes):
        word = order[i] >> 6
        words[word] |= np.int64(1) << (order[i] & 63)
        tops[word >> 6] |= np.int64(1) << (word & 63)
        last = max(last, word >> 6)
    n = np.int64(0)
    for top in range(last + 1):
        while tops[top] != 0:
            bit = lowest_bit(tops[top])
            word = (top << 6) + bit
            tops[top] ^= np.int64(1) << bit
            while words[word] != 0:
                bit = lowest_bit(words[word])
                order[n] = (word << 6) + bit
                words[word] ^= np.int64(1) << bit
                n += 1


@part
def clear(scratch, n_codes, width):
    """Set the cells of the listed codes to zero again."""
    for i in range(n_codes):
        first = scratch.order[i] * width
        for k in range(width):
            scratch.cells[first + k] = 0
