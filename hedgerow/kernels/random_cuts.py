"""Random cuts: one cut of a feature, drawn between a node's smallest and largest value.

It needs no tally: one pass over the rows finds the ends, and where the cut is known, another
adds up both sides. The split is the one that a tally would have led to, to the last bit.
"""

import numpy as np

from hedgerow.kernels.codes import high_of, low_of, threshold_between
from hedgerow.kernels.cuts import margin_between
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.lines import collect
from hedgerow.kernels.moments import add, row_of
from hedgerow.kernels.random import mixed, uniform
from hedgerow.kernels.split import beats, drawn_between, judge_values, standing
from hedgerow.kernels.tally import clear

_MANY = 8  # rows per bin from which a tally is cheaper


@part
def draws_cut(problem, number, node, scratch):
    """Tell whether a feature's cut is drawn without a tally: of values, judged by sums alone."""
    about, n_rows = problem.codes.features[number], node.rows.n_rows
    is_simple = about.n_categories == 0 and scratch.lines.shape[0] == 0
    return problem.rules.random_cut and is_simple and n_rows < _MANY * about.n_bins


@part
def search_drawn(problem, number, node, scratch, found):
    """Set `found` to a feature's drawn cut, if it beats it; return 1 if it is constant, else 0.

    Returns -1, and has done nothing, if the cut needs a list of all codes: an end is infinite.
    """
    about, codes = problem.codes.features[number], problem.codes
    low, high, top = _ends(problem.codes, about, node.rows)
    if low == top:
        return np.int64(1)
    drawn, cut = np.nan, low
    if low < high:
        u = uniform(mixed(mixed(node.bits, number), 1))
        drawn = drawn_between(u, low_of(codes, about, low), high_of(codes, about, high))
        if np.isnan(drawn):
            return np.int64(-1)
        cut = last_below(drawn, codes, about, low, high - 1)
    n_codes = _sum_sides(problem, about, node.rows, cut, scratch)
    one = np.int64(1)
    judge_values(problem, number, n_codes, drawn, np.int64(0), one, node, scratch, found)
    clear(scratch, n_codes, problem.moments.width())
    return np.int64(0)


@inlined_part
def judge_drawn(problem, number, node, scratch, found):
    """The same for the few rows of a line that have values, without a call; -1: or not."""
    line, place = scratch.line, problem.codes.features[number].place
    n = collect(problem.codes.columns[place], node.rows, line.codes[0], line.records[0])
    return _judge_line(problem, number, node, scratch, found, line.codes[0], n)


@part
def judge_wide(problem, number, node, scratch, found):
    """The same for a wide feature."""
    line, place = scratch.line, problem.codes.features[number].place
    n = collect(problem.codes.wide[-1 - place], node.rows, line.wide, line.records[0])
    return _judge_line(problem, number, node, scratch, found, line.wide, n)


@inlined_part
def _judge_line(problem, number, node, scratch, found, own, n):
    """The same for n rows of the codes `own`, or constant ones, if n is below 0."""
    about, codes, line = problem.codes.features[number], problem.codes, scratch.line
    if n < 0:
        return np.int64(1)
    low, high, n = about.missing, np.int64(0), np.uint64(n)
    for i in range(n):
        low, high = min(low, np.int64(own[i])), max(high, np.int64(own[i]))
    if high == about.missing:
        return np.int64(-1)
    u = uniform(mixed(mixed(node.bits, number), 1))
    drawn = drawn_between(u, low_of(codes, about, low), high_of(codes, about, high))
    if np.isnan(drawn):
        return np.int64(-1)
    cut = last_below(drawn, codes, about, low, high - 1)
    last, following = low, high
    cells, width = scratch.running[0], problem.moments.width()
    for k in range(2 * width):
        cells[k] = 0
    for i in range(n):
        code = np.int64(own[i])
        is_above = code > cut
        last = max(last, low if is_above else code)
        following = min(following, code if is_above else high)
        add(problem.moments, line.records[0, i], cells, np.int64(is_above))
    _judge_sides(problem, number, node, scratch, found, drawn, last, following)
    return np.int64(0)


@inlined_part
def _judge_sides(problem, number, node, scratch, found, drawn, last, following):
    """Set `found` to the cut between two codes, if it beats it; its left cell is the first."""
    moments, criterion, rules = problem.moments, problem.criterion, problem.rules
    below, above, about = scratch.sides[0], scratch.sides[1], problem.codes.features[number]
    for k in range(moments.sum_width()):
        below[k] = 0
    moments.read(scratch.running[0], np.int64(0), below)
    for k in range(moments.sum_width()):
        above[k] = node.total[k] - below[k]
    left, whole = criterion.mass(below), criterion.mass(node.total)
    if min(moments.count(below), moments.count(above)) < rules.min_rows:
        return
    both = criterion.both(below, above) if min(left, whole - left) >= rules.min_weight else -np.inf
    gain = both - criterion.score(node.total)
    margin = margin_between(problem.codes, number, last, following)
    margin = standing(rules, node.bits, number, gain, margin, found)
    if both > -np.inf and beats(gain, margin, number, found):
        found.gain, found.margin, found.feature, found.order = gain, margin, number, 0
        found.cut, found.heavier_left = last, np.int64(2 * left >= whole)
        found.missing_left = found.heavier_left
        codes = problem.codes
        low, high = high_of(codes, about, last), low_of(codes, about, following)
        found.threshold = drawn if low <= drawn < high else threshold_between(low, high)


@part
def _ends(codes, about, rows):
    """Return the smallest code, the largest that is not missing (or -1), and the largest."""
    low, high, top = about.missing, np.int64(-1), np.int64(-1)
    for segment in range(rows.bounds.shape[0]):
        records = rows.records[rows.bounds[segment, 0] : rows.bounds[segment, 1]]
        if about.place >= 0:
            column = codes.columns[about.place]
            low, high, top = _ends_of(column, records, about.missing, low, high, top)
        else:
            wide = codes.wide[-1 - about.place]
            low, high, top = _ends_of(wide, records, about.missing, low, high, top)
    return low, high, top


@part
def _ends_of(column, records, missing, low, high, top):
    for i in range(records.shape[0]):
        code = np.int64(column[row_of(records[i])])
        low, top = min(low, code), max(top, code)
        high = max(high, code if code != missing else np.int64(-1))
    return low, high, top


@part
def last_below(drawn, codes, about, low, top):
    """Return the last code of low..top whose values are all at most `drawn`, or low."""
    size = top - low
    while size > 0:  # which half it is cannot be guessed: no branch
        half = size - (size >> 1)
        low += half if high_of(codes, about, low + half) <= drawn else np.int64(0)
        size >>= 1
    return low


@part
def _sum_sides(problem, about, rows, cut, scratch):
    """Tally three codes: all up to the cut as the last of them, all above as the first, missing.

    Returns how many there are. scratch.running[0] holds their cells, until they are known.
    """
    codes, moments, sides = problem.codes, problem.moments, scratch.running[0]
    width, missing = moments.width(), about.missing
    last, following, top = np.int64(-1), missing, np.int64(-1)
    for k in range(3 * width):
        sides[k] = 0
    for segment in range(rows.bounds.shape[0]):
        records = rows.records[rows.bounds[segment, 0] : rows.bounds[segment, 1]]
        if about.place >= 0:
            column = codes.columns[about.place]
            a, b, c = _add_sides(column, records, moments, missing, cut, sides)
        else:
            wide = codes.wide[-1 - about.place]
            a, b, c = _add_sides(wide, records, moments, missing, cut, sides)
        last, following, top = max(last, a), min(following, b), max(top, c)
    n_codes = _set_cell(scratch, last, np.int64(0), width, np.int64(0))
    if following != missing:
        n_codes = _set_cell(scratch, following, np.int64(1), width, n_codes)
    if top == missing:
        n_codes = _set_cell(scratch, missing, np.int64(2), width, n_codes)
    return n_codes


@part
def _add_sides(column, records, moments, missing, cut, sides):
    """Add records to side 0, 1 or 2; return the last code left, the first right, the largest."""
    last, following, top = np.int64(-1), missing, np.int64(-1)
    for i in range(records.shape[0]):
        code = np.int64(column[row_of(records[i])])
        is_above = code > cut
        last = max(last, np.int64(-1) if is_above else code)
        following, top = min(following, code if is_above else missing), max(top, code)
        add(moments, records[i], sides, np.int64(is_above) + np.int64(code == missing))
    return last, following, top


@part
def _set_cell(scratch, code, side, width, n_codes):
    """List a code and copy the cell of its side; return how many are listed."""
    scratch.order[n_codes] = code
    for k in range(width):
        scratch.cells[code * width + k] = scratch.running[0, side * width + k]
    return n_codes + 1
