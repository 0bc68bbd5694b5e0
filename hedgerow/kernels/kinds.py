"""Kinds: rows that have the same codes in all columns of a block.

A table often says more than once what one thing is like: all purchases of a customer have the
same age, town and tariff; words that are rare are absent from most texts. A block of such columns
has few different rows, its kinds, each with a number that the rows of the table keep as a key.
A node's rows are summed by their keys, and what was summed is then added to all columns of
the block as if each kind were one row. Integers: the same sums, to the last bit.
"""

import numpy as np

from hedgerow.kernels.codes import N_BINS
from hedgerow.kernels.jit import inlined_part, kernel, part
from hedgerow.kernels.machine import load_four
from hedgerow.kernels.moments import row_of

_LANES = 4  # columns that are added at once
_SOME = 512  # rows that are compared at once


@kernel
def join_columns(sample, most_kinds, most_columns, open, ids, slots, bundle):
    """Set bundle[c] to a number that column c shares with columns of which few rows differ.

    sample   uint8 [n_columns, n]      read   codes of some rows
    open     int64 [m, 2]              write  bundles that may take more columns: number, columns
    ids      int32 [m + 1, n]          write  the kind of each row in these, and room for one more
    slots    int32 [2, 256 * most_kinds]   both   zero on entry and after it
    bundle   int64 [n_columns]         write

    Each column joins the first bundle in which it leaves at most most_kinds of the rows different,
    or begins one, in the place of the open bundle that has the fewest columns.
    """
    n_bundles, room, n_kinds = np.int64(0), ids[open.shape[0]], np.int64(0)
    open[:] = 0
    for column in range(sample.shape[0]):
        place = np.int64(0)
        while place < open.shape[0]:
            n_kinds = most_kinds + 1
            if 0 < open[place, 1] < most_columns:
                n_kinds = _refine(sample[column], ids[place], most_kinds, slots, room)
            if n_kinds <= most_kinds:
                break
            place += 1
        if place == open.shape[0]:
            place = _fewest(open)
            ids[place] = 0
            open[place, 0], open[place, 1] = n_bundles, 0
            n_bundles += 1
            n_kinds = _refine(sample[column], ids[place], most_kinds, slots, room)
        bundle[column] = open[place, 0]
        if n_kinds <= most_kinds:
            open[place, 1] += 1
            for i in range(sample.shape[1]):
                ids[place, i] = room[i]


@part
def _fewest(open):
    place = np.int64(0)
    for other in range(1, open.shape[0]):
        if open[other, 1] < open[place, 1]:
            place = np.int64(other)
    return place


@kernel
def meet(flags, others):
    """Tell whether a row has two flags, both uint8 [n] of 0 and 1; most often soon."""
    for first in range(0, flags.shape[0], _SOME):
        own, theirs = flags[first : first + _SOME], others[first : first + _SOME]
        both = np.uint8(0)
        for i in range(own.shape[0]):
            both |= own[i] & theirs[i]
        if both:
            return True
    return False


@kernel
def refine(column, ids, most_kinds, slots, refined):
    """Number the pairs (ids[i], column[i]) in the order in which they first occur.

    column   uint8 [n]                     read
    ids      int32 [n]                     read   0 .. most_kinds - 1
    slots    int32 [2, 256 * most_kinds]   both   zero on entry and after it
    refined  int32 [n]                     write  may be `ids`

    Returns how many pairs there are, or a larger number than most_kinds: then `refined` is garbage.
    """
    return _refine(column, ids, most_kinds, slots, refined)


@part
def _refine(column, ids, most_kinds, slots, refined):
    n_kinds, numbers, used = np.int64(0), slots[0], slots[1]
    for i in range(column.shape[0]):
        place = np.int64(ids[i]) * N_BINS + np.int64(column[i])
        number = np.int64(numbers[place])
        if number == 0:
            n_kinds += 1
            if n_kinds > most_kinds:
                break
            numbers[place], used[n_kinds - 1], number = n_kinds, place, n_kinds
        refined[i] = number - 1
    for i in range(min(n_kinds, most_kinds)):
        numbers[used[i]] = 0
        used[i] = 0
    return n_kinds


@part
def add_kinds(codes, block, lane, records, moments, cells, pile):
    """Add the moments of `records` to the cells of a block's columns from `lane` on, by kinds.

    cells  int64 [n * 256 * width]         both    of n columns
    pile   int64 [n_kinds * width or more] write   garbage

    Cost: an update per row, and one per column and kind that occurs.
    """
    panel, width = codes.panels[block], moments.width()
    keys, kinds = codes.keys[panel.keys], codes.kinds[panel.keys]
    pile[: panel.n_kinds * width] = 0
    for i in range(records.shape[0]):
        moments.put(moments.load(records[i]), pile, np.int64(keys[row_of(records[i])]))
    for kind in range(panel.n_kinds):
        if moments.occurs(pile, kind * width):
            _add_kind(kinds, kind, lane, pile, width, cells)


@inlined_part
def _add_kind(kinds, kind, lane, pile, width, cells):
    n_columns, first = cells.shape[0] // (N_BINS * width), kind * kinds.shape[1] + lane
    for column in range(0, n_columns - n_columns % _LANES, _LANES):
        four = load_four(kinds, first + column)
        for j in range(_LANES):
            cell = (column + j) * N_BINS + ((four >> (8 * j)) & 255)
            for k in range(width):
                cells[cell * width + k] += pile[kind * width + k]
    for column in range(n_columns - n_columns % _LANES, n_columns):
        cell = column * N_BINS + np.int64(kinds[kind, lane + column])
        for k in range(width):
            cells[cell * width + k] += pile[kind * width + k]
