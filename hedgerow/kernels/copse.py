"""Copses: the rows of a leaf, gathered into a small table of their own.

Deep in a tree the rows of a node lie far apart, and each look at a code waits for memory. So
the codes of a leaf that is small enough, and what its moments know of its rows, are copied
side by side once, and all that grows below it reads the copy. Rows have new numbers there.
"""

import numpy as np

from hedgerow.kernels.codes import BLOCK, N_BINS, Codes, leads
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.machine import prefetch
from hedgerow.kernels.menu import varies
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.shared_histogram import is_worth
from hedgerow.kernels.workspace import TILE, Problem

_ROW, _ONE = 0xFFFFFFFF, np.uint64(1)
_AHEAD = np.uint64(16)  # rows whose codes are on their way


@part
def is_copse(problem, space, desk, leaf):
    """Tell whether a LEAF is to have a table of its own.

    It and its children must want no histogram, and no criterion may look at rows by their number.
    """
    room = space.copse.origin.shape[0]
    is_small = leaf.n_rows <= room and problem.moments.moves() and desk.scratch.lines.shape[0] == 0
    has_histograms = space.hists.shape[0] > 0 and is_worth(problem, leaf.n_rows)
    return is_small and not leaf.has_histogram and not has_histograms


@part
def gather(problem, space, desk, leaf):
    """Return the problem of a LEAF's rows, whose records are given new numbers."""
    copse, records = space.copse, space.records[leaf.side, leaf.begin : leaf.end]
    origin, codes = copse.origin[: records.shape[0]], problem.codes
    for i in range(records.shape[0]):
        origin[i] = row_of(records[i])
    # What is active may be of the leaf alone.
    varied = varies(problem.rules.menu)
    active = problem.rules.menu.own if varied else desk.active[: leaf.n_active]
    for first in range(0, origin.shape[0], TILE):
        _gather_tile(codes, first, origin[first : first + TILE], active, copse)
    if not varied:
        leaf.n_active = _drop_constants(codes, desk.active, leaf.n_active, origin.shape[0], copse)
    active = problem.rules.menu.own if varied else desk.active[: leaf.n_active]
    for k in range(active.shape[0]):
        about = codes.features[active[k]]
        if about.place < 0:
            _copy(codes.wide[-1 - about.place], origin, copse.wide[-1 - about.place])
        elif about.shared >= 0:
            _read_digits(about, copse.shared[about.shared], origin.shape[0], copse)
    moments = problem.moments.moved(origin, copse.numbers)
    for i in range(records.shape[0]):
        records[i] = (records[i] & ~_ROW) | i
    own = Codes(codes.blocks, copse.columns, copse.wide, copse.shared, codes.features, codes.bins)
    return Problem(own, moments, problem.criterion, problem.rules)


@part
def _gather_tile(codes, first, rows, active, copse):
    """Copy the codes of some rows, first those of all features of a row, which lie together."""
    n = np.uint64(rows.shape[0])
    for block in range(codes.blocks.shape[0]):
        source, tile = codes.blocks[block], copse.tile[block]
        for i in range(n):
            prefetch(source, rows[min(i + _AHEAD, n - _ONE)] * BLOCK)
            for lane in range(BLOCK):
                tile[i, lane] = source[np.uint64(rows[i]), lane]
    for k in range(active.shape[0]):
        about = codes.features[active[k]]
        if about.place >= 0 and about.shared < 0:
            _copy_lane(copse.tile, about.column, n, copse.columns[about.place, first:])
    for feature in range(codes.features.shape[0]):
        about = codes.features[feature]
        if about.shared >= 0 and leads(about):
            _copy_lane(copse.tile, about.column, n, copse.shared[about.shared, first:])


@part
def _copy_lane(tiles, number, n, column):
    tile, own = tiles[number // BLOCK], np.uint64(number % BLOCK)
    for i in range(n):
        column[i] = tile[i, own]


@part
def _read_digits(about, shared, n_rows, copse):
    """Set the codes of a FEATURE to what joint codes say of them: see `codes`."""
    digits, column = copse.digits, copse.columns[about.place]
    for joint in range(N_BINS):
        digits[joint] = _code_of(about, joint)
    for i in range(np.uint64(n_rows)):
        column[i] = digits[np.uint64(shared[i])]


@inlined_part
def _code_of(about, joint):
    """Return the code of a FEATURE in a joint code."""
    digit = joint // about.stride % about.n_codes
    if about.flag > 0:
        return np.int64(digit == about.flag)
    is_missing = digit == about.n_codes - 1 and about.n_codes > about.n_bins
    return about.missing if is_missing else np.int64(digit)


@part
def _drop_constants(codes, active, n_active, n_rows, copse):
    """Move active features that are constant in a copse behind the others; return how many stay."""
    for shared in range(copse.shared.shape[0]):
        present, column = copse.present[shared], copse.shared[shared]
        present[:] = 0
        for i in range(np.uint64(n_rows)):
            present[np.uint64(column[i])] = 1
    for k in range(n_active - 1, -1, -1):
        feature = active[k]
        if _is_constant(codes.features[feature], n_rows, copse):
            n_active -= 1
            active[k], active[n_active] = active[n_active], feature
    return n_active


@part
def _is_constant(about, n_rows, copse):
    """Tell whether all rows of a copse have one code of a FEATURE; a wide one is not asked."""
    if about.place < 0:
        return False
    if about.shared < 0:
        column, differs = copse.columns[about.place], np.uint8(0)
        for i in range(np.uint64(n_rows)):
            differs |= column[i] ^ column[0]
        return differs == 0
    only = np.int64(-1)
    for joint in range(N_BINS):
        if copse.present[about.shared, joint]:
            code = _code_of(about, joint)
            if only >= 0 and code != only:
                return False
            only = code
    return True


@part
def _copy(column, rows, copy):
    for i in range(rows.shape[0]):
        copy[i] = column[np.uint64(rows[i])]
