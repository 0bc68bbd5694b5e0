"""The bed of seedlings: what one thread needs to grow small nodes, see `seedlings`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import Records
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.lanes import MOST_CLASSES, N_LANES, SUMS, WIDE

_MOST_WAITING = 16  # each has at most half of the rows of the one below
TOTAL, LEFT, CLASS, WAITING = 0, 1, 2, 3  # rows of Bed.sums; those of waiting seedlings are last
FOUND, NOT_FOUND, DECLINED = 1, 0, -1

# What is known of a node. begin, end: its records; active: bits of the features that are not
# known to be constant; its score and weight; then its best cut: after code `cut`, before
# `following`, and a threshold if it was drawn.
SEEDLING = np.dtype(
    [(name, "i8") for name in ("begin", "end", "node", "depth", "bits", "active")]
    + [(name, "f8") for name in ("score", "weight", "gain", "margin", "threshold")]
    + [(name, "i8") for name in ("feature", "cut", "following")],
    align=True,
)


class Bed(NamedTuple):
    """What one thread needs to grow seedlings; garbage before and after.

    lanes    int16 [SUMS + MOST_CLASSES, N_LANES]   see `lanes`
    waiting  SEEDLING [_MOST_WAITING]
    sums     int64 [.., MOST_CLASSES]    weights of the node that is searched, of the left side of
                                         its best cut; classes; weights of those that wait
    right    int64 [N_LANES]             records that go right
    bit_of   int64 [n_features]          of an active feature its bit, of others 0
    words    int64 [2, N_LANES / 64]     codes that occur, and lanes of promising cuts, as bits
    rough    float32 [N_LANES]           estimates, see `code_lanes`
    """

    lanes: NDArray[np.int16]
    waiting: Records
    sums: NDArray[np.int64]
    right: NDArray[np.int64]
    bit_of: NDArray[np.int64]
    words: NDArray[np.int64]
    rough: NDArray[np.float32]


def beds_for(n_threads: int, n_features: int) -> Bed:
    """Allocate every thread's bed."""
    return Bed(
        lanes=np.zeros((n_threads, SUMS + MOST_CLASSES, N_LANES), np.int16),
        waiting=with_fields(np.zeros((n_threads, _MOST_WAITING), SEEDLING)),
        sums=np.zeros((n_threads, WAITING + _MOST_WAITING, MOST_CLASSES), np.int64),
        right=np.zeros((n_threads, N_LANES), np.int64),
        bit_of=np.zeros((n_threads, n_features), np.int64),
        words=np.zeros((n_threads, 2, N_LANES // WIDE), np.int64),
        rough=np.zeros((n_threads, N_LANES), np.float32),
    )
