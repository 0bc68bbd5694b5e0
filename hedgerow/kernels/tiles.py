"""Tiles: bytes of some rows that lie far apart, copied side by side."""

import numpy as np
from llvmlite import ir
from numba import types

from hedgerow.kernels.codes import BLOCK
from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import instruction, prefetch

TILE = 256  # rows that are copied at a time
_AHEAD, _ONE = np.uint64(16), np.uint64(1)  # rows that are on their way
_CODES = ir.VectorType(ir.IntType(8), BLOCK)


def _copy_plain(source, first, target, place):
    own = source.reshape(-1)[first : first + BLOCK]  # of the last row there may be fewer
    target.reshape(-1)[place : place + len(own)] = own


@instruction(_copy_plain)
def copy_codes(_typing, source, first, target, place):  # noqa: ARG001
    """Copy the BLOCK bytes that begin at `first`, as one vector."""

    def generate(context, builder, signature, arguments):
        starts = []
        for which in (0, 2):
            array = context.make_array(signature.args[which])(context, builder, arguments[which])
            byte = builder.gep(array.data, [arguments[which + 1]])
            starts.append(builder.bitcast(byte, _CODES.as_pointer()))
        builder.store(builder.load(starts[0], align=1), starts[1], align=1)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64), generate


@part
def gather_blocks(blocks, rows, tiles):
    """Copy the bytes of each row in each block.

    blocks  uint8 [n_blocks, n_rows, w]    read    with room for 16 bytes of the last row
    rows    int64 [n <= TILE]              read
    tiles   uint8 [n_blocks, TILE, 16]     write
    """
    n, width = np.uint64(rows.shape[0]), blocks.shape[2]
    for block in range(blocks.shape[0]):
        source, tile = blocks[block], tiles[block]
        for i in range(n):
            prefetch(source, rows[min(i + _AHEAD, n - _ONE)] * width)
            copy_codes(source, rows[i] * width, tile, np.int64(i) * BLOCK)


@part
def copy_lane(tiles, width, number, n, column):
    """Set column[:n] to lane `number` of the tiles, counted over all of them, `width` each."""
    tile, own = tiles[number // width], np.uint64(number % width)
    for i in range(n):
        column[i] = tile[i, own]
