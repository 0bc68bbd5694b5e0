"""Ranking: derivatives of losses of pairs of documents, and gains of ranked lists.

The rows of a query are its *documents*. A thread works on one query at a time, with room of
its own, and queries do not meet: who works on which makes no difference. Within a query
documents are summed in the order of their scores, and of their gains where scores are
equal; documents that are equal in both have the same numbers, whichever comes first. The
order of rows therefore makes no difference either, to the bit.

Equal scores say nothing about the order of documents: what depends on ranks is the mean
over all orders of such documents.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.exponential import exp
from hedgerow.kernels.heap import heap_sort
from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.machine import atomic_add
from hedgerow.kernels.meeting import cancelled


class Queries(NamedTuple):
    """Rows by query.

    first  int64 [n_queries + 1]    number of each query's first document
    rows   int64 [n_rows]           row of each document
    gains  float64 [n_rows]         gain of each document; within a query they fall
    ideal  float64 [n_queries]      discounted gain of the best order
    """

    first: NDArray[np.int64]
    rows: NDArray[np.int64]
    gains: NDArray[np.float64]
    ideal: NDArray[np.float64]


class Room(NamedTuple):
    """Where threads work; n is the number of documents of the longest query.

    items    int64 [n_threads, n]         documents in the order of their scores
    falling  float64 [n_threads, n]       minus their scores
    numbers  float64 [n_threads, 7, n]    in that order: gain, mean discount, mean gap of two
             discounts among equal scores, gradient, Hessian, and both of one document's pairs
    turn     int64 [1]                    next query that nobody works on
    """

    items: NDArray[np.int64]
    falling: NDArray[np.float64]
    numbers: NDArray[np.float64]
    turn: NDArray[np.int64]


def room_for(queries: Queries, n_threads: int) -> Room:
    """Return room for a team."""
    longest = int(np.diff(queries.first).max())
    return Room(
        items=np.empty((n_threads, longest), np.int64),
        falling=np.empty((n_threads, longest)),
        numbers=np.empty((n_threads, 7, longest)),
        turn=np.zeros(1, np.int64),
    )


@kernel
def ideal_gains(first, gains, discounts, ideal):
    """Set ideal[query] to the discounted gain of its documents from the best to the worst.

    first, gains  as in Queries           read
    discounts     float64 [longest]       read    of each rank
    ideal         float64 [n_queries]     write
    """
    for query in range(ideal.shape[0]):
        own, total = gains[first[query] : first[query + 1]], 0.0
        for rank in range(own.shape[0]):
            total += own[rank] * discounts[rank]
        ideal[query] = total


@team_kernel
def discounted_gains(team, queries, listed, discounts, scores, room, out):
    """Set out[i] to the discounted gain of query listed[i], its documents ranked by scores.

    queries    Queries                read
    listed     int64 [n]              read
    discounts  float64 [longest]      read    of each rank
    scores     float64 [n_rows]       read
    room       Room                   both    turn is 0 on entry
    out        float64 [n]            write
    """
    turn = atomic_add(room.turn, 0, 1)
    while turn < listed.shape[0] and not cancelled(team):
        query, total = listed[turn], 0.0
        n = queries.first[query + 1] - queries.first[query]
        _rank(queries, query, discounts, scores, room, team.thread)
        gains, places = room.numbers[team.thread, 0], room.numbers[team.thread, 1]
        for i in range(n):
            total += gains[i] * places[i]
        out[turn] = total
        turn = atomic_add(room.turn, 0, 1)


@team_kernel
def derive_pairs(team, loss, queries, units, discounts, weights, scores, room, pairs):
    """Set each row's gradient and Hessian: the sums over its pairs with unequal gains.

    loss       LambdaRank | Pairwise    read
    queries    Queries                  read
    units      float64 [n_queries]      read    what pairs of a query are worth is times this
    discounts  float64 [longest]        read    not rising; pairs of two ranks of 0 are left out
    weights    float64 [n_rows] or [1]  read    times the derivatives; [1]: no weights
    scores     float64 [n_rows]         read
    room       Room                     both    turn is 0 on entry
    pairs      float32 [2, n_rows]      write   gradients, Hessians

    Cost: an exponential for each pair.
    """
    first = queries.first
    query = atomic_add(room.turn, 0, 1)
    while query < first.shape[0] - 1 and not cancelled(team):
        begin, end = first[query], first[query + 1]
        if queries.gains[begin] > queries.gains[end - 1]:
            _rank(queries, query, discounts, scores, room, team.thread)
            _sum_pairs(loss, end - begin, room, team.thread)
            unit = loss.sigma * units[query], loss.sigma * loss.sigma * units[query]
            _hand_out(queries.rows[begin:end], weights, unit, room, team.thread, pairs)
        else:
            for document in range(begin, end):
                row = queries.rows[document]
                pairs[0, row], pairs[1, row] = np.float32(0), np.float32(0)
        query = atomic_add(room.turn, 0, 1)


@part
def _rank(queries, query, discounts, scores, room, thread):
    """Order a query's documents by their scores; set their gains, mean discounts and mean gaps."""
    begin, n = queries.first[query], queries.first[query + 1] - queries.first[query]
    items, falling = room.items[thread], room.falling[thread]
    for i in range(n):
        items[i], falling[i] = i, -scores[queries.rows[begin + i]]
    heap_sort(falling, items, n)
    gains = room.numbers[thread, 0]
    start = np.int64(0)
    while start < n:
        end = start + 1
        while end < n and falling[end] == falling[start]:
            end += 1
        _share_ranks(discounts, start, end, room.numbers[thread])
        start = end
    for i in range(n):
        gains[i] = queries.gains[begin + items[i]]


@part
def _share_ranks(discounts, start, end, numbers):
    """Set the mean discount of the ranks start .. end, and the mean gap of two of them.

    The sum of D_p - D_q over p < q is that of D_p (m - 1 - 2 p), m = end - start, p from 0.
    """
    m, total, gaps = end - start, 0.0, 0.0
    for rank in range(start, end):
        total += discounts[rank]
        gaps += discounts[rank] * (m - 1.0 - 2.0 * (rank - start))
    gap = gaps / (0.5 * m * (m - 1.0)) if m > 1 else 0.0
    for rank in range(start, end):
        numbers[1, rank], numbers[2, rank] = total / m, gap


@part
def _sum_pairs(loss, n, room, thread):
    """Sum the derivatives of all pairs of n ranked documents, in units that come later."""
    falling, numbers = room.falling[thread], room.numbers[thread]
    gains, places, gaps, g, h = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    for i in range(n):
        g[i], h[i] = 0.0, 0.0
    for i in range(n):
        if places[i] <= 0.0:
            return  # as those of all that follow
        push, curve = numbers[5, i + 1 : n], numbers[6, i + 1 : n]
        here = (falling[i], gains[i], places[i], gaps[i])
        _pair(loss, here, falling[i + 1 : n], gains[i + 1 : n], places[i + 1 : n], push, curve)
        _add(push, curve, g[i + 1 : n], h[i + 1 : n])
        own_g, own_h = g[i], h[i]
        for j in range(push.shape[0]):
            own_g -= push[j]
            own_h += curve[j]
        g[i], h[i] = own_g, own_h


@part
def _pair(loss, here, falling, gains, places, push, curve):
    """Pair a document with those ranked behind it.

    Sets what each pair adds to the other's gradient, and to the Hessians of both.
    """
    own_falling, own_gain, own_place, own_gap = here
    sigma = loss.sigma
    for j in range(push.shape[0]):
        difference = own_gain - gains[j]
        gap = own_gap if falling[j] == own_falling else own_place - places[j]
        worth = loss.worth(abs(difference), gap)
        upside_down = difference < 0.0
        e = exp(-sigma * (falling[j] - own_falling))
        share = worth / (1.0 + e)
        push[j] = -share if upside_down else e * share
        curve[j] = e * share / (1.0 + e)


@part
def _add(push, curve, g, h):
    for j in range(push.shape[0]):
        g[j] += push[j]
        h[j] += curve[j]


@part
def _hand_out(rows, weights, unit, room, thread, pairs):
    """Write the sums of a query's documents, times the units, to their rows."""
    items, g, h = room.items[thread], room.numbers[thread, 3], room.numbers[thread, 4]
    for i in range(rows.shape[0]):
        row = rows[items[i]]
        w = weights[row] if weights.shape[0] > 1 else 1.0
        pairs[0, row] = np.float32(w * (unit[0] * g[i]))
        pairs[1, row] = np.float32(w * (unit[1] * h[i]))
