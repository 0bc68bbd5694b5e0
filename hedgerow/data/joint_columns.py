"""Joint columns: features of few codes share a column of the histogram.

A histogram costs one update per row and column. Features share a
column as long as their joint code fits into a byte: eight flags, or five features of three
values. Flags of which no row has two, as those that one category was turned into, share a
*digit*, and there is room for 254 of them. See kernels.codes for joint codes.
"""

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

Digit: TypeAlias = list[int]  # the features that share it


def lay_out(
    features: Records, has_missing: NDArray[np.bool_], most_codes: int, columns: NDArray[np.uint8]
) -> int:
    """Set where features stand in joint codes (column .. shared); return the number of columns.

    Columns are shared only if that makes fewer pairs of them.
    """
    narrow = features.place >= 0
    n_codes = np.maximum(features.n_bins + has_missing, 2)  # strides differ if all have two
    few = narrow & (n_codes <= most_codes)
    is_flag = few & (features.n_bins == 2) & ~has_missing
    digits = _exclusive(np.flatnonzero(is_flag), features.place, columns)
    digits += [[int(feature)] for feature in np.flatnonzero(few & ~is_flag)]
    sizes = [len(digit) + 1 if len(digit) > 1 else int(n_codes[digit[0]]) for digit in digits]
    n_set = [_n_set(digit, is_flag, features.place, columns) for digit in digits]
    groups = [group for group in _grouped(digits, sizes, n_set) if _n_features(group) > 1]
    alone = narrow.copy()
    alone[[feature for group in groups for _, digit in group for feature in digit]] = False
    features.column = np.where(alone, np.cumsum(alone) - 1, -1)
    features.stride, features.n_codes, features.n_high = alone, N_BINS, 1
    features.flag, features.shared, features.margin = 0, -1, 0
    n_columns = int(alone.sum())
    for shared, group in enumerate(groups):
        sizes = [size for size, _ in group]
        ends, margins = np.cumprod(sizes), 1 + np.cumsum(sizes) - sizes
        for (size, digit), end, margin in zip(group, ends, margins, strict=True):
            features.column[digit], features.shared[digit] = n_columns + shared, shared
            features.stride[digit], features.n_codes[digit] = end // size, size
            features.n_high[digit] = ends[-1] // end
            features.flag[digit] = np.arange(1, size) if len(digit) > 1 else 0
            features.margin[digit] = margin
    return n_columns + len(groups)


def digits_of(features: Records) -> NDArray[np.int64]:
    """Return the digits of each shared column: see kernels.codes."""
    digits = np.zeros((int(features.shared.max(initial=-1)) + 1, _MOST_DIGITS, 3), np.int64)
    for shared, room in enumerate(digits):
        own = features[(features.shared == shared) & (features.flag <= 1)]
        own = own[np.argsort(-own.stride)]
        room[: len(own)] = np.stack([own.stride, own.n_codes, own.margin], axis=1)
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
