"""Rows for training, validation and test: 60, 20 and 20 per cent, if nothing else is said."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import _safe_indexing, indexable

Rows = NDArray[np.int64]
_NAMES = ("training", "validation", "test")


def train_validation_test_split(
    *arrays: Any,
    sizes: Any = (0.6, 0.2, 0.2),
    stratify: Any = None,
    groups: Any = None,
    time: Any = None,
    random_state: Any = None,
) -> list[Any]:
    """Divide rows into those to fit models to, those to choose by, and those to judge by at last.

    A choice among models by their score makes the best score too good; a third set of rows, that
    had no part in it, judges the one that was chosen. Notes 2, "Validation and cross validation".

    Parameters
    ----------
    *arrays : tables and arrays with the same rows
    sizes : three numbers, or two (no validation, or no test: 80-20)
        Shares that add up to 1, or numbers of rows.
    stratify : array [n_rows] or None
        Classes that have the same shares in all sets.
    groups : array [n_rows] or None
        Rows of a group stay together; sizes are then shares of the groups.
    time : array [n_rows] or None
        Rows are taken in this order, the earliest to train by. Rows of one time stay together,
        with the earlier set.
    random_state : int, RandomState or None

    Returns
    -------
    list : for each array its training, validation and test rows, in the order of the arrays

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.evaluation import train_validation_test_split
    >>> X, y = np.arange(20).reshape(10, 2), np.arange(10)
    >>> split = train_validation_test_split(X, y, time=y)
    >>> X_train, X_validation, X_test, y_train, y_validation, y_test = split
    >>> y_train, y_validation, y_test
    (array([0, 1, 2, 3, 4, 5]), array([6, 7]), array([8, 9]))
    """
    if not arrays:
        raise ValueError("There is nothing to divide. Pass X and y, or any arrays of equal length.")
    given = {"stratify": stratify, "groups": groups, "time": time}
    asked = [name for name, value in given.items() if value is not None]
    if len(asked) > 1:
        raise ValueError(
            f"{' and '.join(asked)} are given, and rows can be divided by one of them. Leave the "
            "others out."
        )
    arrays = tuple(indexable(*arrays))
    n_rows = _length(arrays[0])
    for name in asked:
        if len(given[name]) != n_rows:
            raise ValueError(f"{name} has {len(given[name])} entries, but there are {n_rows} rows.")
    rows = np.arange(n_rows)
    if time is not None:
        parts = _by_time(np.asarray(time), _shares(sizes, n_rows))
    else:
        parts = _at_random(rows, sizes, stratify, groups, random_state)
    return [_safe_indexing(array, part) for array in arrays for part in parts]


def _length(array: Any) -> int:
    return int(array.shape[0] if hasattr(array, "shape") else len(array))


def _shares(sizes: Any, n_rows: int) -> list[float]:
    """Return sizes as shares that add up to 1, or raise."""
    numbers = [float(size) for size in sizes if isinstance(size, Real)]
    if len(numbers) != len(list(sizes)) or len(numbers) not in (2, 3) or min(numbers) <= 0.0:
        raise ValueError(
            f"sizes={sizes!r} are not two or three numbers above 0. Pass shares that add up to 1, "
            "such as (0.6, 0.2, 0.2) or (0.8, 0.2), or numbers of rows."
        )
    total = sum(numbers)
    if abs(total - 1.0) > 1e-9 and total != n_rows:
        raise ValueError(
            f"sizes={sizes!r} add up to {total:g}, neither 1 nor the {n_rows} rows. Pass shares "
            "such as (0.6, 0.2, 0.2), or numbers of rows."
        )
    return [number / total for number in numbers]


def _at_random(rows: Rows, sizes: Any, stratify: Any, groups: Any, random_state: Any) -> list[Rows]:
    """Take the last set from all rows, then the next from the rest."""
    shares = _shares(sizes, len(rows))
    by = groups if groups is not None else stratify
    labels = None if by is None else np.asarray(by)
    n_units = len(np.unique(labels)) if groups is not None and labels is not None else len(rows)
    if n_units < len(shares):
        raise ValueError(
            f"There are {n_units} {'groups' if groups is not None else 'rows'} for {len(shares)} "
            "sets, and each needs one. Pass fewer sizes, or more rows."
        )
    counts = _whole_numbers(shares, n_units)
    parts: list[Rows] = []
    left, n_left = rows, n_units
    for count in reversed(counts[1:]):
        way = {"test_size": count, "train_size": n_left - count, "random_state": random_state}
        own = None if labels is None else labels[left]
        if groups is not None:
            splits = GroupShuffleSplit(1, **way).split(left, groups=own)
        elif stratify is not None:
            splits = StratifiedShuffleSplit(1, **way).split(left, own)
        else:
            splits = ShuffleSplit(1, **way).split(left)
        kept, taken = next(iter(splits))
        parts.append(np.sort(left[taken]))
        left, n_left = np.sort(left[kept]), n_left - count
    return [left, *reversed(parts)]


def _whole_numbers(shares: list[float], n_units: int) -> list[int]:
    """Return how many rows or groups each set has, one at least; the first has the rest."""
    others = [max(1, round(share * n_units)) for share in shares[1:]]
    return [n_units - sum(others), *others]


def _by_time(time: NDArray[Any], shares: list[float]) -> list[Rows]:
    """Divide rows by time; rows of the same time go with the earlier ones."""
    order = np.argsort(time, kind="stable")
    counts, parts, begin = _whole_numbers(shares, len(time)), [], 0
    for number, count in enumerate(counts):
        end = len(time) if number == len(counts) - 1 else sum(counts[: number + 1])
        end = max(end, begin)
        while 0 < end < len(time) and time[order[end]] == time[order[end - 1]]:
            end += 1
        if begin == end or count < 1:
            raise ValueError(
                f"No rows are left for the {_NAMES[number if len(counts) == 3 else 2 * number]} "
                "set: too many have the same time. Pass a finer time, or other sizes."
            )
        parts.append(np.asarray(order[begin:end]))
        begin = end
    return parts
