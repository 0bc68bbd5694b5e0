"""Histograms: the moments of a large node's rows, summed by column and joint code.

A histogram is flat, int64 [n_columns padded to pairs * 256 * width]: joint code c of column
p is cell number 256 p + c. The larger child's is its parent's minus the smaller child's:
integers, so exact. Features that share a column have one owner among the threads.
"""

import numpy as np

from hedgerow.kernels import in_bulk
from hedgerow.kernels.codes import N_BINS, PAIR
from hedgerow.kernels.jit import inlined_part, interpreted_as, part
from hedgerow.kernels.kinds import add_kinds
from hedgerow.kernels.machine import load_four, load_two, prefetch
from hedgerow.kernels.moments import row_of

_AHEAD = 20  # rows between asking for a cache line and reading it
_ALIKE = 2  # kinds of a block for each row, up to which rows are summed by kinds


@part
def build(codes, records, moments, hist, pile):
    """Set hist to the summed moments of `records`.

    codes    Codes                     read
    records  int64 [n]                 read   in any order: integer sums do not depend on it
    moments  one of moments.py         read
    hist     int64 [n_cells * width]   write  need not be zero on entry
    pile     int64 [n_kinds * width]   write  room for the sums of kinds, if there are any

    Cost: n updates per column; see `kinds`.
    """
    size = N_BINS * moments.width()
    for block in range(codes.blocks.shape[0]):
        end, first = pairs_of_block(codes, block), block * codes.blocks.shape[2] * size
        hist[first : first + end * PAIR * size] = 0
        add_block(codes, block, np.int64(0), end, records, moments, hist, pile)


@part
def pairs_of_block(codes, block):
    """Return how many pairs of columns a block of a histogram has; one may be of one column."""
    return (codes.panels[block].n_columns + PAIR - 1) // PAIR


@part
def add_block(codes, block, begin, end, records, moments, hist, pile):
    """Add the moments of `records` to the pairs begin..end-1 of a block's columns."""
    size, before = PAIR * N_BINS * moments.width(), block * codes.blocks.shape[2] // PAIR
    cells = hist[(before + begin) * size : (before + end) * size]
    if end > begin and is_of_kinds(codes, block, records.shape[0]):
        add_kinds(codes, block, PAIR * begin, records, moments, cells, pile)
    elif end > begin:
        n_columns = min(PAIR * end, codes.panels[block].n_columns) - PAIR * begin
        _add_rows(codes.blocks[block], PAIR * begin, records, moments, cells, n_columns)


@part
def is_of_kinds(codes, block, n_rows):
    """Tell whether so many rows are summed by kinds in a block: for all its columns at once."""
    return 0 < codes.panels[block].n_kinds <= _ALIKE * n_rows


@interpreted_as(in_bulk.add_rows)
@part
def _add_rows(codes, lane, records, moments, cells, n_columns):
    n_asked = max(records.shape[0] - _AHEAD, 0)
    if n_columns > 8:
        _add_many(codes, lane, records, n_asked, moments, cells, n_columns)
    else:
        _add_few(codes, lane, records, n_asked, moments, cells, n_columns)
    for i in range(n_asked, records.shape[0]):
        _add_row(codes, lane, records[i], moments, cells, n_columns)


@inlined_part
def _add_many(codes, lane, records, n_asked, moments, cells, n_columns):
    """Call the one text below with a constant width, so that the compiler unrolls it."""
    if n_columns == 16:
        _add_columns(codes, lane, records, n_asked, moments, cells, 16)
    elif n_columns == 15:
        _add_columns(codes, lane, records, n_asked, moments, cells, 15)
    elif n_columns == 14:
        _add_columns(codes, lane, records, n_asked, moments, cells, 14)
    elif n_columns == 13:
        _add_columns(codes, lane, records, n_asked, moments, cells, 13)
    elif n_columns == 12:
        _add_columns(codes, lane, records, n_asked, moments, cells, 12)
    elif n_columns == 11:
        _add_columns(codes, lane, records, n_asked, moments, cells, 11)
    elif n_columns == 10:
        _add_columns(codes, lane, records, n_asked, moments, cells, 10)
    else:
        _add_columns(codes, lane, records, n_asked, moments, cells, 9)


@inlined_part
def _add_few(codes, lane, records, n_asked, moments, cells, n_columns):
    """Do the same with up to 8 columns."""
    if n_columns == 8:
        _add_columns(codes, lane, records, n_asked, moments, cells, 8)
    elif n_columns == 7:
        _add_columns(codes, lane, records, n_asked, moments, cells, 7)
    elif n_columns == 6:
        _add_columns(codes, lane, records, n_asked, moments, cells, 6)
    elif n_columns == 5:
        _add_columns(codes, lane, records, n_asked, moments, cells, 5)
    elif n_columns == 4:
        _add_columns(codes, lane, records, n_asked, moments, cells, 4)
    elif n_columns == 3:
        _add_columns(codes, lane, records, n_asked, moments, cells, 3)
    elif n_columns == 2:
        _add_columns(codes, lane, records, n_asked, moments, cells, 2)
    else:
        _add_columns(codes, lane, records, n_asked, moments, cells, 1)


@inlined_part
def _add_columns(codes, lane, records, n_asked, moments, cells, n_columns):
    for i in range(n_asked):
        prefetch(codes, row_of(records[i + _AHEAD]) * codes.shape[1])
        _add_row(codes, lane, records[i], moments, cells, n_columns)


@inlined_part
def _add_row(codes, lane, record, moments, cells, n_columns):
    loaded, first = moments.load(record), row_of(record) * codes.shape[1] + lane
    for quad in range(n_columns // 4):
        four = load_four(codes, first + 4 * quad)
        for j in range(4):
            moments.put(loaded, cells, (4 * quad + j) * N_BINS + ((four >> (8 * j)) & 255))
    if n_columns % 4 >= PAIR:
        column = n_columns - n_columns % 4
        two = load_two(codes, first + column)
        for j in range(PAIR):
            moments.put(loaded, cells, (column + j) * N_BINS + ((two >> (8 * j)) & 255))
    if n_columns % PAIR == 1:
        code = np.int64(codes[np.uint64(row_of(record)), np.uint64(lane + n_columns - 1)])
        moments.put(loaded, cells, (n_columns - 1) * N_BINS + code)


@part
def owner(codes, feature, n_columns, n_threads):
    """Return the thread that merges, subtracts and searches a feature: one for each column.

    Of each block of a histogram, if there is one (n_columns > 0), threads own neighbouring pairs
    of columns, as many as the others: thread t those from t n_pairs // n_threads on.
    """
    column, per_block = codes.features[feature].column, codes.blocks.shape[2]
    if n_threads == 1:  # no division, of which there would be one for each feature and node
        return np.int64(0)
    if column < 0 or n_columns == 0:
        return (column if column >= 0 else feature) % n_threads
    block, pair = column // per_block, column % per_block // PAIR
    n_pairs = pairs_of_block(codes, block)
    return ((pair + 1) * n_threads - 1) // n_pairs


@part
def merge(parts, first, end, hist):
    """Set hist[first:end] to the sum of the threads' parts."""
    total = hist[first:end]
    for thread in range(parts.shape[0]):
        more = parts[thread, first:end]
        for cell in range(total.shape[0]):
            total[cell] = more[cell] if thread == 0 else total[cell] + more[cell]


@part
def subtract(hist, about, width, smaller):
    """Take the smaller child from its parent: the larger child is left. Integers: exact.

    about   FEATURE   read   that leads the column; cells of codes that it has not are left alone
    """
    first, is_alone = about.column * N_BINS * width, about.n_codes == N_BINS
    n_codes = about.n_bins if is_alone else about.n_codes * about.n_high
    _take(hist, first, first + n_codes * width, smaller)
    if is_alone:
        last = first + about.missing * width
        _take(hist, last, last + width, smaller)


@interpreted_as(in_bulk.take)
@part
def _take(hist, first, end, smaller):
    rest, less = hist[first:end], smaller[first:end]
    for cell in range(rest.shape[0]):
        rest[cell] -= less[cell]
