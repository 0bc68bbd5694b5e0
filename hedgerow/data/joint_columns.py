"""Joint columns: features of few codes share a column of the histogram.

A histogram costs one update per row and column. Features share a
column as long as their joint code fits into a byte: eight flags, or five features of three
values. Flags of which no row has two, as those that one category was turned into, share a
*digit*, and there is room for 254 of them. See kernels.codes for joint codes.
"""

import math
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import N_BINS, Records
from hedgerow.kernels.kinds import meet

MOST_CODES = 16  # of a feature that shares a column
_MOST_FLAGS = N_BINS - 2  # that share a digit, so that its codes are not those of a feature alone
_MOST_DIGITS = 8  # of a joint code: each has two codes or more
_OPEN = 8  # digits that a flag may join

_PLACE = ("shared", "stride", "n_codes", "n_high", "margin", "flag")  # in kernels.codes

Digit: TypeAlias = list[int]  # the features that share it


def lay_out(
    features: Records, has_missing: NDArray[np.bool_], most_codes: int, columns: NDArray[np.uint8]
) -> int:
    """Set where features stand in joint codes (column .. shared); return the number of columns.

    A column is shared by two features or more.
    """
    place = features.place
    narrow = place >= 0
    n_codes = np.maximum(features.n_bins + has_missing, 2)  # strides differ if all have two
    few = narrow & (n_codes <= most_codes)
    is_flag = few & (features.n_bins == 2) & ~has_missing
    digits = _exclusive(np.flatnonzero(is_flag), place, columns)
    digits += [[int(feature)] for feature in np.flatnonzero(few & ~is_flag)]
    sizes = [len(digit) + 1 if len(digit) > 1 else int(n_codes[digit[0]]) for digit in digits]
    n_set = [_n_set(digit, is_flag, place, columns) for digit in digits]
    groups = [group for group in _grouped(digits, sizes, n_set) if _n_features(group) > 1]
    alone = narrow.copy()
    alone[[feature for group in groups for _, digit in group for feature in digit]] = False
    features.column = np.where(alone, np.cumsum(alone) - 1, -1)
    features.stride, features.n_codes, features.n_high = alone, N_BINS, 1
    features.flag, features.shared, features.margin = 0, -1, 0
    n_columns, places = int(alone.sum()), _places(groups)
    for name, own in zip(_PLACE, places[:, 1:].T, strict=True):
        features[name][places[:, 0]] = own
    features.column[places[:, 0]] = n_columns + places[:, 1]
    return n_columns + len(groups)


def _places(groups: list[list[tuple[int, Digit]]]) -> NDArray[np.int64]:
    """Return the features that share columns, and what _PLACE names of each."""
    places = []
    for shared, group in enumerate(groups):
        n_all, stride, margin = math.prod(size for size, _ in group), 1, 1
        for size, digit in group:
            flags = range(1, size) if len(digit) > 1 else (0,)
            about = shared, stride, size, n_all // (stride * size), margin
            places += [(feature, *about, flag) for feature, flag in zip(digit, flags, strict=True)]
            stride, margin = stride * size, margin + size
    return np.array(places, np.int64).reshape(-1, 1 + len(_PLACE))


def digits_of(features: Records) -> NDArray[np.int64]:
    """Return the digits of each shared column: see kernels.codes."""
    digits = np.zeros((int(features.shared.max(initial=-1)) + 1, _MOST_DIGITS, 3), np.int64)
    first = np.flatnonzero((features.shared >= 0) & (features.flag <= 1))
    own = features[first]
    order = np.lexsort((-own.stride, own.shared))
    shared, about = own.shared[order], np.stack([own.stride, own.n_codes, own.margin], axis=1)
    begin = np.searchsorted(shared, shared)  # where the digits of its column begin
    digits[shared, np.arange(len(shared)) - begin] = about[order]
    return digits


def _exclusive(
    flags: NDArray[np.int64], place: NDArray[np.int64], columns: NDArray[np.uint8]
) -> list[Digit]:
    """Put flags together of which no row has two: each joins the first digit that it can."""
    digits: list[Digit] = []
    taken: list[NDArray[np.uint8]] = []
    for flag in flags.tolist():
        column = columns[place[flag]]
        for digit, used in zip(digits[:_OPEN], taken, strict=False):
            if len(digit) < _MOST_FLAGS and not meet(column, used):
                digit.append(flag)
                np.bitwise_or(used, column, out=used)
                break
        else:
            digits.append([flag])
            taken.append(column.copy())
            del taken[_OPEN:]
    return digits


def _n_set(
    digit: Digit, is_flag: NDArray[np.bool_], place: NDArray[np.int64], columns: NDArray[np.uint8]
) -> int:
    """Return how many rows have a flag that has a digit for itself, else 0."""
    if len(digit) > 1 or not is_flag[digit[0]]:
        return 0
    return int(np.count_nonzero(columns[place[digit[0]]].view(np.bool_)))


def _grouped(
    digits: list[Digit], sizes: list[int], n_set: list[int]
) -> list[list[tuple[int, Digit]]]:
    """Part the digits, those of fewest codes first, where a joint code would be too large.

    Of flags, the rarest first: columns of these have few kinds of rows.
    """
    by = sorted(range(len(digits)), key=lambda each: (sizes[each], n_set[each]))
    ordered = [(sizes[each], digits[each]) for each in by]
    starts, product = [0], 1
    for position, (size, _) in enumerate(ordered):
        product *= size
        if product > N_BINS:
            starts.append(position)
            product = size
    return [ordered[begin:end] for begin, end in pairwise([*starts, len(ordered)])]


def _n_features(group: list[tuple[int, Digit]]) -> int:
    return sum(len(digit) for _, digit in group)
