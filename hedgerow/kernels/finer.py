"""Finer bins: codes of a copse that are pieces of bins, where its rows lie in few of them.

A feature has as many codes as bins, at most 255. If a copse has rows in m of its n bins, each of
these is parted into k = n // m pieces, of 1/k of its levels each (see `levels`).
"""

import numpy as np

from hedgerow.kernels.codes import BLOCK, MISSING, N_BINS
from hedgerow.kernels.jit import part
from hedgerow.kernels.tiles import TILE, copy_lane, gather_blocks


@part
def refine(codes, active, origin, copse):
    """Set the codes of a copse's active features to pieces of bins, and what they stand for.

    codes   Codes               read    of the whole table
    active  int64 [n_active]    read
    origin  int64 [n]           read    the copse's rows
    copse   Copse               both    its columns have the codes of the table
    """
    for first in range(0, origin.shape[0], TILE):
        rows = origin[first : first + TILE]
        n = np.uint64(rows.shape[0])
        gather_blocks(codes.fine, rows, copse.fine_tile)
        for lane in range(copse.fine.shape[0]):
            copy_lane(copse.fine_tile, BLOCK, lane, n, copse.fine[lane, first:])
    for feature in range(codes.features.shape[0]):
        copse.features[feature] = codes.features[feature]
    for k in range(active.shape[0]):
        about = codes.features[active[k]]
        if about.fine >= 0:
            _refine_one(codes, about, copse.features[active[k]], np.uint64(origin.shape[0]), copse)


@part
def _refine_one(codes, about, own, n, copse):
    """Give a FEATURE codes of its own; first_code: of each of the table's, where it is used."""
    column, first_code, n_used = copse.columns[about.place], copse.digits, np.int64(0)
    for code in range(N_BINS):
        first_code[code] = 0
    for i in range(n):
        first_code[np.uint64(column[i])] = 1
    for code in range(about.n_bins):
        n_used += np.int64(first_code[code])
    n_pieces = min(about.n_bins // max(n_used, 1), codes.n_levels)
    if n_pieces < 2:
        return
    own.pieces, own.n_bins = N_BINS * about.fine, np.int64(0)
    for code in range(about.n_bins):
        is_used = first_code[code] == 1
        first_code[code] = own.n_bins
        if is_used:
            _set_pieces(codes, about.first_level + code * codes.n_levels, n_pieces, own, copse)
    fine = copse.fine[about.fine]
    for i in range(n):
        piece = np.int64(fine[i]) * n_pieces // codes.n_levels
        is_missing = column[i] == MISSING
        column[i] = MISSING if is_missing else first_code[np.uint64(column[i])] + piece


@part
def _set_pieces(codes, level, n_pieces, own, copse):
    """Add the pieces of the bin that begins at a level to those of a FEATURE."""
    for piece in range(n_pieces):
        pieces = copse.pieces[own.pieces + own.n_bins]
        pieces[0] = level - (-piece * codes.n_levels // n_pieces)
        pieces[1] = level - (-(piece + 1) * codes.n_levels // n_pieces) - 1
        own.n_bins += 1
