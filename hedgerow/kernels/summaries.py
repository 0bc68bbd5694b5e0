"""Summaries: the values of a sorted column, and how they are shared out to bins.

Rows of equal value are a run; runs are found by leaps, so no loop looks at all rows. How
much the rows up to and with each weigh is its running weight.

A row may be a lump: it stands for rows of several values that were not sorted. Inside of one it
is guessed that no two values are equal; who asks has to sort what he was told of, and ask again.
"""

import numpy as np

from hedgerow.kernels.jit import kernel, part


@kernel
def first_values(values, ends):
    """Find the smallest values of a column, as many as there is room for.

    values  float64 [n_rows]   read    ascending, without NaN
    ends    int64 [room]       write   first row beyond each value

    Returns how many there are. Cost: log2 of its rows comparisons a value.
    """
    n_values, row = np.int64(0), np.int64(0)
    while row < values.shape[0] and n_values < ends.shape[0]:
        row = _run_end(values, row, values.shape[0])
        ends[n_values] = row
        n_values += 1
    return n_values


@kernel
def heavy_values(values, through, max_bins, runs):
    """Find the values heavier than an even share of what the others leave.

    values   float64 [n_rows]        read    ascending; more than max_bins differ
    through  int64 [n_rows]          read    running weights
    runs     int64 [max_bins, 2]     write   first row of each heavy value, and first beyond it

    Returns how many there are, fewer than max_bins. From the end of a run on, the first that
    can be heavier than a share is the one in which more than a share has gone by: those before
    it fit into the share. Cost: about max_bins leaps a round, each of log2(n_rows) comparisons;
    the share falls from round to round, most often two or three times.
    """
    n_rows = values.shape[0]
    light, n_heavy, n_before = through[n_rows - 1], np.int64(0), np.int64(-1)
    while n_before < n_heavy < max_bins - 1:
        n_before, share = n_heavy, light // (max_bins - n_heavy)
        light, n_heavy, row = through[n_rows - 1], np.int64(0), np.int64(0)
        while row < n_rows:
            inside = _row_at(through, row, n_rows, _before(through, row) + share + 1)
            if inside == n_rows:
                break
            begin, end = _run_begin(values, inside, row), _run_end(values, inside, n_rows)
            weight = _before(through, end) - _before(through, begin)
            if weight > share:
                runs[n_heavy, 0], runs[n_heavy, 1] = begin, end
                n_heavy += 1
                light -= weight
            row = end
    return n_heavy


@kernel
def share_out(values, through, is_lump, borders, marks, ends):
    """Close bins from the left: a heavy value is a bin, others fill one up to its share.

    values   float64 [n_rows]             read    ascending
    through  int64 [n_rows]               read    running weights
    is_lump  bool [n_rows] or [0]         read    [0]: none is
    borders  int64 [2 + 2 * n_heavy]      read    rows where stretches of light values, some
                                                  empty, and between them heavy values begin
    marks    int64 [n_light + 1]          read    how large bins of light values are meant to
                                                  be, those up to each of them together, from 0
    ends     int64 [max_bins]             write   first row beyond each bin; a lump in which
                                                  one ends is beyond it

    The weight still to be shared out is for the bins that are left, less one for each later
    stretch of light values, and a bin's share is in proportion to its size; if that is one
    bin, it takes the rest of its stretch. Returns the number of bins.
    """
    light, later, n_bins = np.int64(0), np.int64(0), np.int64(0)
    n_light, closed = marks.shape[0] - 1, np.int64(0)
    for i in range(0, borders.shape[0], 2):
        light += _before(through, borders[i + 1]) - _before(through, borders[i])
        later += np.int64(borders[i] < borders[i + 1])
    for i in range(0, borders.shape[0], 2):
        row, end = borders[i], borders[i + 1]
        before, later = _before(through, row), later - np.int64(row < end)
        while row < end:
            size, left = marks[closed + 1] - marks[closed], marks[n_light - later] - marks[closed]
            after = before + -(-light * size // left)
            row = _row_at(through, row, end - 1, after)
            if is_lump.shape[0] == 0 or not is_lump[row] or through[row] <= after:
                row = _run_end(values, row, end)
                after = through[row - 1]
            light, before = light - (after - before), after
            closed += 1
            ends[n_bins] = row
            n_bins += 1
        if i + 2 < borders.shape[0]:
            ends[n_bins] = borders[i + 2]
            n_bins += 1
    return n_bins


@part
def _before(through, row):
    """Return the weight of the rows before this one."""
    return through[row - 1] if row > 0 else np.int64(0)


@part
def _row_at(through, begin, end, weight):
    """Return the first row from `begin` on whose running weight is at least this, or `end`."""
    while begin < end:
        middle = (begin + end) >> 1
        if through[middle] < weight:
            begin = middle + 1
        else:
            end = middle
    return begin


@part
def _run_end(values, row, end):
    """Return the first row from `row` on, before `end`, that has another value, or `end`."""
    value, last, step = values[row], row, np.int64(1)
    while last + step < end and values[last + step] == value:
        last += step
        step *= 2
    while step > 0:
        last += step if last + step < end and values[last + step] == value else np.int64(0)
        step >>= 1
    return last + 1


@part
def _run_begin(values, row, begin):
    """Return the first row, none before `begin`, from which on all values to `row` are equal."""
    value, first, step = values[row], row, np.int64(1)
    while first - step >= begin and values[first - step] == value:
        first -= step
        step *= 2
    while step > 0:
        first -= step if first - step >= begin and values[first - step] == value else np.int64(0)
        step >>= 1
    return first
