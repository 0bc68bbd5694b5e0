"""What a tree is grown from, what growing writes, and the buffers in between."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels import cells
from hedgerow.kernels.codes import BLOCK, FEATURE, N_BINS, Codes, Records
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.menu import Menu
from hedgerow.kernels.split import SPLIT
from hedgerow.kernels.tiles import TILE

# Which open leaf is divided next: the one of the highest gain, the oldest, or the newest.
BY_GAIN, OLDEST, NEWEST = 0, 1, 2

LANES = cells.LANES
N_NUMBERS = 3  # that any moments copy for a row of a copse
APART = 16  # words between what two threads write: no cache line is of both

# What a thread knows of an open leaf. begin, end: its own records, in buffer `side`; n_rows: of
# all threads; node: its place in the tree; bits: its name for random draws; n_active: features
# not known to be constant; has_histogram: in the histogram of its own number; is_listed, is_masked:
# see `masks`; low, high: bounds of the values below it; then its split.
LEAF = np.dtype(
    [(name, "i8") for name in ("begin", "end", "side", "n_rows", "node", "depth", "bits")]
    + [(name, "i8") for name in ("n_active", "has_histogram", "is_listed", "is_masked")]
    + [(name, "f8") for name in ("low", "high")]
    + SPLIT.descr,
    align=True,
)

# A node of a growing tree. parent: -1 of the root. left: -1 in a leaf; the right child follows
# the left. cut: last code on the left. category_start: first word of its set of categories, or -1.
NODE = np.dtype(
    [("threshold", "f8"), ("gain", "f8")]
    + [(name, "i8") for name in ("left", "feature", "cut", "missing_left")]
    + [(name, "i8") for name in ("category_start", "n_rows", "parent")],
    align=True,
)


class Rules(NamedTuple):
    """When to stop, and what a node may try.

    min_weight is in steps of the moments' weight, min_gain in the criterion's score.
    n_candidates: features tried per node, of those that the menu offers. random_cut: one
    random cut a feature instead of the best. by_lot: lots decide between features of equal
    gain, not margins. small: nodes of fewer rows are put aside as tasks, 0 if none is.
    fine_rows: a node of at most so many rows has finer bins.
    """

    max_leaves: int
    max_depth: int
    min_split_rows: int
    min_rows: int
    min_weight: int
    min_gain: float
    n_candidates: int
    random_cut: int
    by_lot: int
    seed: int
    order: int
    small: int
    fine_rows: int
    menu: Menu


class Problem(NamedTuple):
    """What a tree is grown from."""

    codes: Codes
    moments: Any
    criterion: Any
    rules: Rules


class Nodes(NamedTuple):
    """The nodes of a growing tree, in the order in which they were made.

    table        NODE [max_nodes]
    sums         int64 [max_nodes, sum_width]  zero on entry
    words        int64 [max_words]         sets of categories that go left, as bits
    leaf_of_row  int32 [n_rows] or [0]     the leaf that a training row ends in
    counters     int64 [24]                nodes made, words used, whether words were wanting
    """

    table: Records
    sums: NDArray[np.int64]
    words: NDArray[np.int64]
    leaf_of_row: NDArray[np.int32]
    counters: NDArray[np.int64]


N_NODES, N_WORDS, OVERFLOW = 0, 8, 16


class Copse(NamedTuple):
    """A table of the rows of one leaf: see `copse`.

    columns  uint8 [n_narrow, n]   of the features that the leaf may try
    wide     int32 [n_wide, n]
    shared   uint8 [n_shared, n]
    numbers  int64 [N_NUMBERS, n]  what the moments know of rows
    origin   int64 [n]             the rows' numbers in the whole table
    tile     uint8 [n_blocks, TILE, 16]   joint codes of some rows
    present  uint8 [n_shared, 256]        whether a row has a joint code
    digits   uint8 [256]                  codes of a feature, by joint code
    fine     uint8 [n_fine, n]            levels inside bins
    fine_tile uint8 [n_fine_blocks, TILE, 16]   the same of some rows
    features FEATURE [n_features]         of finer bins
    pieces   int64 [256 * n_fine, 2]      first and last level of finer bins
    active   int64 [n_features]           features that were active before, if bins are finer
    """

    columns: NDArray[np.uint8]
    wide: NDArray[np.int32]
    shared: NDArray[np.uint8]
    numbers: NDArray[np.int64]
    origin: NDArray[np.int64]
    tile: NDArray[np.uint8]
    present: NDArray[np.uint8]
    digits: NDArray[np.uint8]
    fine: NDArray[np.uint8]
    fine_tile: NDArray[np.uint8]
    features: Records
    pieces: NDArray[np.int64]
    active: NDArray[np.int64]


class Workspace(NamedTuple):
    """Buffers of `grow`. Arrays that begin with n_threads are each thread's own.

    records   int64 [2, n_rows], or [3, n_rows]    two buffers; the caller fills the first, or with
              masks the third
    masks     int64 [max_open, n_rows / 64], or [0, 0]    see `masks`
    hists     int64 [n_hists, n_cells * width]     histograms of the first leaves
    parts     int64 [n_threads, n_cells * width]   histograms of the threads' segments
    piles     int64 [n_threads, n_kinds * width]   sums of the kinds of rows in a block
    leaves    LEAF  [n_threads, max_open]          the caller opens the first
    tasks     LEAF  [n_threads, max_tasks]         leaves put aside
    queue     int64, keys float64 [n_threads, max_open]   heap of open leaves
    n_tasks   int64 [n_threads]

    What threads tell each other, each row in its turn:
    told      int64 [2, n_threads, LANES * sum_width + APART]
    found     SPLIT [2, n_threads, 2]              of two leaves
    constant  int64 [2, n_features]                of both: whether a candidate has one code only
    tickets   int64 [2, n_threads * APART]         chunks of each thread's rows that were summed
    n_sums    int64 [n_threads * APART]            histograms that a thread has helped to sum
    asked     int64 [1, APART] or [0, APART]       the histogram that others may help to sum
    copse     Copse                                of one thread alone
    """

    records: NDArray[np.int64]
    masks: NDArray[np.int64]
    hists: NDArray[np.int64]
    parts: NDArray[np.int64]
    piles: NDArray[np.int64]
    leaves: Records
    tasks: Records
    queue: NDArray[np.int64]
    keys: NDArray[np.float64]
    n_tasks: NDArray[np.int64]
    told: NDArray[np.int64]
    found: Records
    constant: NDArray[np.int64]
    tickets: NDArray[np.int64]
    n_sums: NDArray[np.int64]
    asked: NDArray[np.int64]
    copse: Copse


class Size(NamedTuple):
    """How large a workspace must be. n_copse: rows of its copse."""

    n_rows: int
    n_features: int
    width: int
    sum_width: int
    max_open: int
    max_tasks: int
    n_hists: int
    n_cells: int
    n_copse: int = 0
    n_narrow: int = 0
    n_wide: int = 0
    n_shared: int = 0
    n_blocks: int = 0
    n_fine: int = 0
    n_kinds: int = 0
    masked: bool = False


def workspace(n_threads: int, size: Size) -> Workspace:
    """Allocate what growing needs."""
    n_parts = n_threads if size.n_hists and n_threads > 1 else 0
    n_cells = size.n_cells * size.width
    return Workspace(
        records=np.empty((3 if size.masked else 2, size.n_rows), np.int64),
        masks=np.empty((size.max_open, -(-size.n_rows // 64)) if size.masked else (0, 0), np.int64),
        hists=np.empty((size.n_hists, n_cells if size.n_hists else 0), np.int64),
        parts=np.empty((n_parts, n_cells), np.int64),
        piles=np.empty((n_threads, size.n_kinds * size.width), np.int64),
        leaves=with_fields(np.zeros((n_threads, size.max_open), LEAF)),
        tasks=with_fields(np.zeros((n_threads, size.max_tasks), LEAF)),
        queue=np.zeros((n_threads, size.max_open + APART), np.int64),
        keys=np.zeros((n_threads, size.max_open + APART)),
        n_tasks=np.zeros(n_threads, np.int64),
        told=np.zeros((2, n_threads, LANES * size.sum_width + APART), np.int64),
        found=with_fields(np.zeros((2, n_threads, 2), SPLIT)),
        constant=np.zeros((2, size.n_features), np.int64),
        tickets=np.zeros((2, n_threads * APART), np.int64),
        n_sums=np.zeros(n_threads * APART, np.int64),
        asked=np.zeros((0, APART), np.int64),
        copse=Copse(
            np.empty((size.n_narrow, size.n_copse), np.uint8),
            np.empty((size.n_wide, size.n_copse), np.int32),
            np.empty((size.n_shared, size.n_copse), np.uint8),
            np.empty((N_NUMBERS, size.n_copse), np.int64),
            np.empty(size.n_copse, np.int64),
            np.empty((size.n_blocks, TILE, BLOCK), np.uint8),
            np.empty((size.n_shared, N_BINS), np.uint8),
            np.empty(N_BINS, np.uint8),
            np.empty((size.n_fine, size.n_copse), np.uint8),
            np.empty((-(-size.n_fine // BLOCK), TILE, BLOCK), np.uint8),
            with_fields(np.zeros(size.n_features if size.n_fine else 0, FEATURE)),
            np.zeros((N_BINS * size.n_fine, 2), np.int64),
            np.zeros(size.n_features if size.n_fine else 0, np.int64),
        ),
    )


def empty_nodes(max_leaves: int, n_rows: int, sum_width: int, n_words: int) -> Nodes:
    """Allocate a tree of at most `max_leaves` leaves."""
    n_nodes = 2 * max_leaves - 1
    return Nodes(
        table=with_fields(np.empty(n_nodes, NODE)),
        sums=np.zeros((n_nodes, sum_width), np.int64),
        words=np.zeros(n_words, np.int64),
        leaf_of_row=np.full(n_rows, -1, np.int32),
        counters=np.zeros(24, np.int64),
    )
