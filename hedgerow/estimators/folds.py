"""Dealing rows out to folds by their content, so that their order does not matter."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = Iterable[NDArray[np.float64]]


def content_folds(columns: Columns, targets: NDArray[Any], n_folds: int) -> NDArray[np.int64]:
    """Deal rows out to folds, those of equal values together: by their least target, then values.

    columns: of the table, each float64 [n_rows]; they are looked at one after another.

    Neighbours in this order go to different folds, which balances classes and targets. Equal
    values with different targets stay together: apart, a model would be judged by the very
    rows that its training rows contradict.
    """
    digests, place = np.unique(_digests(columns, len(targets)), return_inverse=True)
    order = np.argsort(place, kind="stable")
    first = np.searchsorted(place[order], np.arange(len(digests)))
    least = [np.minimum.reduceat(target[order], first) for target in np.atleast_2d(targets.T)]
    return _dealt([digests, *least], n_folds)[place]


def query_folds(
    columns: Columns,
    targets: NDArray[np.float64],
    query_of_row: NDArray[np.int64],
    n_folds: int,
) -> NDArray[np.int64]:
    """Deal rows out to folds, those of a query together: by its size, then by its content.

    What a query is called makes no difference, nor does the order of rows.
    """
    order = np.argsort(query_of_row, kind="stable")
    sizes = np.bincount(query_of_row)
    # A sum does not depend on the order of the rows.
    digests = _digests(chain(columns, [targets]), len(targets))[order]
    content = np.add.reduceat(digests, np.cumsum(sizes) - sizes)
    return _dealt([content, sizes], n_folds)[query_of_row]


def _digests(columns: Columns, n_rows: int) -> NDArray[np.uint64]:
    """Return a number for each row that depends on its values only."""
    digest = np.zeros(n_rows, np.uint64)
    for column in columns:
        bits = np.where(np.isnan(column), np.nan, column + 0.0).view(np.uint64)
        digest = (digest ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        digest ^= digest >> np.uint64(29)
        del column, bits  # before the next is read
    return digest


def _dealt(keys: list[NDArray[Any]], n_folds: int) -> NDArray[np.int64]:
    """Deal out by keys, the last one first; what is equal in all goes together."""
    order = np.lexsort(keys)
    new = np.zeros(len(order), bool)
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    folds = np.empty(len(order), np.int64)
    folds[order] = np.cumsum(new) % n_folds
    return folds
