"""Tiles: bytes of some rows that lie far apart, copied side by side."""

import numpy as np

from hedgerow.kernels.codes import BLOCK
from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import prefetch

TILE = 256  # rows that are copied at a time
_AHEAD, _ONE = np.uint64(16), np.uint64(1)  # rows that are on their way


@part
def gather_blocks(blocks, rows, tiles):
    """Copy the 16 bytes of each row in each block.

    blocks  uint8 [n_blocks, n_rows, 16]   read
    rows    int64 [n <= TILE]              read
    tiles   uint8 [n_blocks, TILE, 16]     write
    """
    n = np.uint64(rows.shape[0])
    for block in range(blocks.shape[0]):
        source, tile = blocks[block], tiles[block]
        for i in range(n):
            prefetch(source, rows[min(i + _AHEAD, n - _ONE)] * BLOCK)
            for lane in range(BLOCK):
                tile[i, lane] = source[np.uint64(rows[i]), lane]


@part
def copy_lane(tiles, number, n, column):
    """Set column[:n] to lane `number` of the tiles, counted over all of them."""
    tile, own = tiles[number // BLOCK], np.uint64(number % BLOCK)
    for i in range(n):
        column[i] = tile[i, own]
