"""Copses: the rows of a leaf, gathered into a small table of their own.

Deep in a tree the rows of a node lie far apart, and each look at a code waits for memory. So
the codes of a leaf that is small enough, and what its moments know of its rows, are copied
side by side once, and all that grows below it reads the copy. Rows have new numbers there.
"""

import numpy as np

from hedgerow.kernels.codes import Codes, leads
from hedgerow.kernels.finer import refine
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.menu import varies
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.shared_histogram import is_worth
from hedgerow.kernels.tiles import TILE, copy_lane, gather_blocks
from hedgerow.kernels.workspace import Problem

_ROW = 0xFFFFFFFF


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
    is_fine = copse.fine.shape[0] > 0
    for i in range(records.shape[0]):
        origin[i] = row_of(records[i])
    # What is active may be of the leaf alone.
    varied = varies(problem.rules.menu)
    if is_fine and not varied:
        leaf.n_active = _all_active(problem.rules.menu, desk, copse)
    active = problem.rules.menu.own if varied else desk.active[: leaf.n_active]
    for first in range(0, origin.shape[0], TILE):
        _gather_tile(codes, first, origin[first : first + TILE], active, copse)
    if is_fine:
        refine(codes, active, origin, copse)
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
    own = Codes(
        codes.blocks,
        copse.columns,
        copse.wide,
        copse.shared,
        copse.features if is_fine else codes.features,
        codes.bins,
        codes.fine,
        codes.levels,
        codes.n_levels,
        copse.pieces,
        codes.digits,
        codes.panels,
        codes.keys,
        codes.kinds,
    )
    return Problem(own, moments, problem.criterion, problem.rules)


@part
def _all_active(menu, desk, copse):
    """Keep what is active, and return how many features there are in all.

    What has one bin may have several pieces of it.
    """
    for k in range(copse.active.shape[0]):
        copse.active[k] = desk.active[k]
    return menu.own.shape[0]


@part
def leave(space, desk):
    """Leave a copse: what its features were before it."""
    for k in range(space.copse.active.shape[0]):
        desk.active[k] = space.copse.active[k]


@part
def _gather_tile(codes, first, rows, active, copse):
    """Copy the codes of some rows, first those of all features of a row, which lie together."""
    n, width = np.uint64(rows.shape[0]), codes.blocks.shape[2]
    gather_blocks(codes.blocks, rows, copse.tile)
    for k in range(active.shape[0]):
        about = codes.features[active[k]]
        if about.place >= 0 and about.shared < 0:
            copy_lane(copse.tile, width, about.column, n, copse.columns[about.place, first:])
    for feature in range(codes.features.shape[0]):
        about = codes.features[feature]
        if about.shared >= 0 and leads(about):
            copy_lane(copse.tile, width, about.column, n, copse.shared[about.shared, first:])


@part
def _read_digits(about, shared, n_rows, copse):
    """Set the codes of a FEATURE to what joint codes say of them: see `codes`."""
    digits, column, joint = copse.digits, copse.columns[about.place], np.int64(0)
    for _ in range(about.n_high):
        for digit in range(about.n_codes):
            for _ in range(about.stride):
                digits[joint] = _code_of(about, digit)
                joint += 1
    for i in range(np.uint64(n_rows)):
        column[i] = digits[np.uint64(shared[i])]


@inlined_part
def _code_of(about, digit):
    """Return the code of a FEATURE that a digit of a joint code is."""
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
    only, joint, present = np.int64(-1), np.int64(0), copse.present[about.shared]
    for _ in range(about.n_high):
        for digit in range(about.n_codes):
            for _ in range(about.stride):
                code = _code_of(about, digit)
                if present[joint] and only >= 0 and code != only:
                    return False
                only, joint = code if present[joint] else only, joint + 1
    return True


@part
def _copy(column, rows, copy):
    for i in range(rows.shape[0]):
        copy[i] = column[np.uint64(rows[i])]
