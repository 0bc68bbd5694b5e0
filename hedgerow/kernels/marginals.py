"""Marginals: the sums of one feature, from a column of a histogram that it may share.

Sums over all joint codes with the same digit are integers: the same as if the feature had
been summed alone, to the last bit. See codes.py for joint codes.
"""

import numpy as np

from hedgerow.kernels.jit import inlined_part, part

# What a thread has of a shared column of the node: `summed` of Scratch.
BY_CODES, BY_DIGITS = 1, 2


@inlined_part
def read_column(about, column, width, scratch):
    """Set scratch.cells to the sums of the codes of a FEATURE; `clear_codes` gives them back.

    column  int64 [256 * width]   read   of the histogram

    Cost: twice as many additions as there are joint codes, several at once.
    """
    source = scratch.running[1] if about.n_high > 1 else column
    if about.n_high > 1:
        _fold(about, column, width, source)
    if about.flag > 0:
        _sum_flag(about, source, width, scratch.cells)
        return
    for digit in range(about.n_bins):
        _sum_digits(about, source, (digit, digit + 1), digit, width, scratch.cells)
    if about.n_codes > about.n_bins:
        last = about.n_codes - 1
        _sum_digits(about, source, (last, last + 1), about.missing, width, scratch.cells)


@inlined_part
def read_node(codes, about, column, width, scratch):
    """Do as read_column, of the node's own histogram: sums of all digits are made at once.

    scratch.shared[about.shared] then holds the sums of all codes, and those of each code of each
    digit (codes.digits). Cost, for all features of a column: about two additions a joint code.
    """
    if about.shared >= scratch.shared.shape[0]:
        read_column(about, column, width, scratch)
        return
    margins, cells = scratch.shared[about.shared], scratch.cells
    if scratch.summed[about.shared] != BY_DIGITS:
        scratch.summed[about.shared] = BY_DIGITS
        _sum_margins(codes.digits[about.shared], column, width, scratch.running[1], margins)
    own = margins[about.margin * width :]
    if about.flag > 0:
        for k in range(width):
            cells[width + k] = own[about.flag * width + k]
            cells[k] = margins[k] - own[about.flag * width + k]
        return
    for i in range(about.n_bins * width):
        cells[i] = own[i]
    if about.n_codes > about.n_bins:
        for k in range(width):
            cells[about.missing * width + k] = own[(about.n_codes - 1) * width + k]


@part
def _sum_margins(digits, column, width, folded, margins):
    """Set the margins of a column, the last digit first: without it the column is shorter."""
    source, n_digits = column, np.int64(0)
    while n_digits < digits.shape[0] and digits[n_digits, 1] > 0:
        size, n_codes, first = digits[n_digits, 0] * width, digits[n_digits, 1], digits[n_digits, 2]
        for code in range(1, n_codes):
            own = source[code * size : (code + 1) * size]
            for k in range(width):
                total = np.int64(0)
                for low in range(size // width):
                    total += own[low * width + k]
                margins[(first + code) * width + k] = total
            before = source if code == 1 else folded
            for i in range(size):
                folded[i] = before[i] + own[i]
        source = folded
        n_digits += 1
    for k in range(width):
        margins[k] = folded[k]
    for digit in range(n_digits):  # what the other codes leave is the first one's
        n_codes, first = digits[digit, 1], digits[digit, 2]
        for k in range(width):
            rest = margins[k]
            for code in range(1, n_codes):
                rest -= margins[(first + code) * width + k]
            margins[first * width + k] = rest


@inlined_part
def _fold(about, column, width, folded):
    """Sum over the features after this one: lay the upper half on the lower until one is left."""
    size, n_left = about.stride * about.n_codes * width, about.n_high
    half = n_left // 2
    n_left -= half
    above = column[n_left * size : (n_left + half) * size]
    for i in range(above.shape[0]):
        folded[i] = column[i] + above[i]
    for i in range(above.shape[0], n_left * size):  # of an odd number, the middle one
        folded[i] = column[i]
    while n_left > 1:
        half = n_left // 2
        n_left -= half
        above = folded[n_left * size : (n_left + half) * size]
        for i in range(above.shape[0]):
            folded[i] += above[i]


@inlined_part
def _sum_digits(about, source, digits, code, width, cells):
    """Sum digits[0]..digits[1]-1 over the features before this one, and set the cell of a code."""
    size = about.stride * width
    for k in range(width):
        own, total = source[digits[0] * size + k : digits[1] * size], np.int64(0)
        for low in range((digits[1] - digits[0]) * about.stride):
            total += own[low * width]
        cells[code * width + k] = total


@part
def _sum_flag(about, source, width, cells):
    """Set both cells of a flag that shares its digit: all digits but its own are code 0."""
    _sum_digits(about, source, (np.int64(0), about.n_codes), 0, width, cells)
    _sum_digits(about, source, (about.flag, about.flag + 1), 1, width, cells)
    for k in range(width):
        cells[k] -= cells[width + k]


@inlined_part
def clear_codes(about, width, cells):
    """Set the cells of a feature to zero again."""
    for i in range(about.n_bins * width):
        cells[i] = 0
    for k in range(width):
        cells[about.missing * width + k] = 0


@part
def sum_left(about, column, split, width, sums):
    """Add the sums of a feature's codes left of a cut.

    column  int64 [256 * width or more]   read   of the histogram
    """
    stride, last = about.stride, about.n_codes - 1
    is_flag = about.flag > 0
    missing_left = split.missing_left and not is_flag and about.n_codes > about.n_bins
    end = about.n_codes if is_flag else split.cut + 1
    for k in range(width):
        for high in range(about.n_high):
            first = high * about.n_codes * stride
            for joint in range(first, first + end * stride):
                sums[k] += column[joint * width + k]
            if is_flag and split.cut == 0:
                own = first + about.flag * stride
                for joint in range(own, own + stride):
                    sums[k] -= column[joint * width + k]
            if missing_left:
                for joint in range(first + last * stride, first + (last + 1) * stride):
                    sums[k] += column[joint * width + k]
