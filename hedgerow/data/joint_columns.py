"""Joint columns: features of few codes share a column of the histogram.

A histogram costs one update per row and column, four columns at a time. Features share a
column as long as their joint code fits into a byte: eight flags, or five features of three
values. See kernels.codes for joint codes.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.codes import N_BINS, PAIR, Records

MOST_CODES = 16  # of a feature that shares a column


def lay_out(features: Records, has_missing: NDArray[np.bool_], most_codes: int) -> int:
    """Set column, stride, n_codes and n_high of the features; return the number of columns.

    Columns are shared only if that makes fewer quads of them.
    """
    narrow = features.place >= 0
    n_codes = np.maximum(features.n_bins + has_missing, 2)  # strides differ if all have two
    few = np.flatnonzero(narrow & (n_codes <= most_codes))
    groups = _worth_it(_grouped(few, n_codes), int(narrow.sum()))
    shared = np.isin(np.arange(len(features)), np.concatenate([[], *groups]))
    alone = narrow & ~shared
    features.column = np.where(alone, np.cumsum(alone) - 1, -1)
    features.stride, features.n_codes, features.n_high = alone, N_BINS, 1
    n_columns = int(alone.sum())
    for group in groups:
        ends = np.cumprod(n_codes[group])
        features.column[group], features.n_codes[group] = n_columns, n_codes[group]
        features.stride[group] = ends // n_codes[group]
        features.n_high[group] = ends[-1] // ends
        n_columns += 1
    return n_columns


def _grouped(few: NDArray[np.int64], n_codes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Part the features, those of fewest codes first, where a joint code would be too large."""
    ordered = few[np.argsort(n_codes[few], kind="stable")]
    starts, size = [0], 1
    for position, feature in enumerate(ordered):
        size *= int(n_codes[feature])
        if size > N_BINS:
            starts.append(position)
            size = int(n_codes[feature])
    return [ordered[begin:end] for begin, end in pairwise([*starts, len(ordered)])]


def _worth_it(groups: list[NDArray[np.int64]], n_narrow: int) -> list[NDArray[np.int64]]:
    """Leave out groups, the smallest first, whose features alone do not take one more pair."""
    n_saved = sum(len(group) - 1 for group in groups if len(group))
    spare = -(n_narrow - n_saved) % PAIR
    kept = []
    for group in sorted(groups, key=len):
        if len(group) - 1 <= spare:
            spare -= max(len(group) - 1, 0)
        else:
            kept.append(group)
    return kept
