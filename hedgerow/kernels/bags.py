"""Bags: how often each row is drawn for one tree.

Rows are laid out one after another in an order that depends on their content only, each as
long as its weight. Draw k is named by (tree, k), so what is drawn does not depend on threads
or on the order in which rows came.
"""

import numpy as np

from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.random import mixed, uniform


@kernel
def draw_with_replacement(bits, rank, ends, n_draws, drawn, counts):
    """Count how often each row is drawn: every draw is one of all places.

    bits     int64            the tree's name
    rank     int32 [n]        read    of each row, in the order of the places
    ends     int64 [n] or [0] read    place behind each rank; [0]: a place each
    drawn    int32 [n]        both    how often each rank is drawn; zero on entry
    counts   int64 [n]        write

    Cost: one draw each, and log2(n) comparisons if rows have several places.
    """
    n_places = ends[ends.shape[0] - 1] if ends.shape[0] > 0 else rank.shape[0]
    for k in range(n_draws):
        place = np.int64(uniform(mixed(bits, k)) * n_places)
        drawn[np.uint64(_owner(ends, place))] += 1
    for row in range(rank.shape[0]):
        counts[row] = drawn[np.uint64(rank[row])]


@part
def _owner(ends, place):
    """Return the first whose end is behind a place."""
    if ends.shape[0] == 0:
        return place
    low, size = np.int64(0), ends.shape[0] - 1
    while size > 0:
        half = size - (size >> 1)
        low += half if ends[low + half - 1] <= place else np.int64(0)
        size >>= 1
    return low


@kernel
def draw_without_replacement(bits, order, n_draws, places, counts):
    """Count the rows drawn: every draw is one of those left (Fisher and Yates).

    order    int64 [n]        read    a row may stand there several times
    places   int64 [n]        write   garbage on entry
    counts   int64 [n_rows]   both    zero on entry
    """
    n = order.shape[0]
    for i in range(n):
        places[i] = order[i]
    for k in range(n_draws):
        other = k + np.int64(uniform(mixed(bits, k)) * (n - k))
        places[k], places[other] = places[other], places[k]
        counts[places[k]] += 1
