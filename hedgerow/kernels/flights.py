"""Flights: packed trees made ready for rows that take three steps at once, see stairs.py.

    words   0 .. 3     columns of splits 1 .. 7, 16 bits each; split 0 is none. See stairs.column_of
            4 .. 7     their keys: a row goes right whose key is above. See stairs.cut_of
            8 .. 15    where the ways out lead: the first word of another flight,
                       or -1 - (class of all rows of a leaf), or -1 - NO_CLASS - (number of a leaf)

Below split s are 2 s and 2 s + 1, be they splits or ways out. Where there is no split, no key is
above, so that a leaf of the upper levels is at the leftmost of the ways out below it. All ways
out of flight 0 lead to itself: who has arrived stays there. Flight 1 is the root's.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.groups import sure_steps
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.machine import atomic_add, prefetch
from hedgerow.kernels.meeting import cancelled, meet, share
from hedgerow.kernels.packed import FEATURE, MISSING_LEFT
from hedgerow.kernels.scales import cut_key
from hedgerow.kernels.stairs import ABREAST, SPLITS, answers, close_up, column_of, cut_of, ready

WORDS = 16  # of a flight: a line of the cache
LEVELS = 3
NO_CLASS = (1 << 16) - 1
BLOCK = 256  # rows that go down a tree before the next ones
CHUNK = 4096  # rows that go down some trees before the next ones: their keys stay in the cache
_BYTES, _LINE = 4, 64  # of a word, and of a line of the cache
_HIGHEST = (1 << 16) - 1  # key


class Flights(NamedTuple):
    """Rows made ready, and room for trees; what belongs to a thread has its number first.

    keys      uint16 [n_rows, 32 or 64]            see scales.read_keys and make_ready
    second    how far the second column of a feature is, or 0
    ways      uint8 [256]                          the way out of a flight, by its answers
    groups    int64 [n_groups + 1]                 the first tree of each group that is laid at once
    turns     int64 [2 n_groups + 2]               trees begun of a group, and chunks; 0 on entry
    bounds    int64 [n_trees, 2]                   where the words of a tree begin and, laid, end
    words     int32 [n_words]                      flights of the trees of a group
    halves    uint16 [2 n_words]                   the same memory
    waiting   int32 [n_threads, n_splits + 1]      right children that have not come yet
    rows      int32 [n_threads, BLOCK + ABREAST]   that are on their way
    places    int32 [n_threads, BLOCK + ABREAST]   the flight that each of them has come to
    verdicts  int32 [n_threads, BLOCK]             where rows have arrived
    """

    keys: NDArray[np.uint16]
    second: int
    ways: NDArray[np.uint8]
    groups: NDArray[np.int64]
    turns: NDArray[np.int64]
    bounds: NDArray[np.int64]
    words: NDArray[np.int32]
    halves: NDArray[np.uint16]
    waiting: NDArray[np.int32]
    rows: NDArray[np.int32]
    places: NDArray[np.int32]
    verdicts: NDArray[np.int32]


def all_ways() -> NDArray[np.uint8]:
    """Return the way out of a flight, for all answers of its splits."""
    found, ways = np.arange(1 << SPLITS), np.ones(1 << SPLITS, np.int64)
    for _ in range(LEVELS):
        ways = 2 * ways + ((found >> ways) & 1)
    return ways.astype(np.uint8)


def room_for(n_nodes: int) -> int:
    """Return how many words the flights of a tree need at most: two, and one for each split."""
    return WORDS * (2 + n_nodes // 2)


@team_kernel
def make_ready(team, keys):
    """Make the keys of all rows ready to be compared with flights, where machines ask for it.

    keys  uint16 [n_rows, 32 or 64]   both   a thread owns a range of the rows
    """
    begin, end = share(team, keys.shape[0])
    for row in range(begin, end):
        ready(keys, row)


@team_kernel
def descend(team, thicket, way, scales, flights, rows, out):
    """Add what all trees say of some rows to out[row], one tree after another.

    thicket  Thicket                       read    without sets of categories
    way      Proportions, Votes or Means           what is added
    scales   Scales                        read    its marks are those of the thicket
    flights  Flights                       both    of rows 0, 1, ...: see there; the rest is garbage
    rows     int64 [n_rows]                read    no row twice
    out      float64 [.., n_values]        both

    Trees are laid in groups that stay in the cache, and so do the keys of a chunk of rows while it
    goes down all trees of a group. A thread that is free takes the next tree, then the next chunk.

    Cost: 6 nanoseconds a node, and 4 cycles a flight.
    """
    n_threads, n_rows = team.n_threads, rows.shape[0]
    n_chunks = n_threads * ((n_rows + n_threads * CHUNK - 1) // (n_threads * CHUNK))
    for group in range(flights.groups.shape[0] - 1):
        begin, end = flights.groups[group], flights.groups[group + 1]
        tree = begin + atomic_add(flights.turns, 2 * group, 1)
        while tree < end and not cancelled(team):
            _lay(team.thread, thicket, tree, way, scales, flights)
            tree = begin + atomic_add(flights.turns, 2 * group, 1)
        meet(team)
        chunk = atomic_add(flights.turns, 2 * group + 1, 1)
        while chunk < n_chunks and not cancelled(team):
            bounds = n_rows * chunk // n_chunks, n_rows * (chunk + 1) // n_chunks
            for tree in range(begin, end):
                _descend(team, thicket, tree, way, flights, bounds, rows, out)
            chunk = atomic_add(flights.turns, 2 * group + 1, 1)
        meet(team)


@part
def _descend(team, thicket, tree, way, flights, bounds, rows, out):
    """Let a chunk of rows go down a tree, and add what it says of them."""
    begin, end = flights.bounds[tree, 0], flights.bounds[tree, 1]
    if _BYTES * (end - begin) <= _LINE * (bounds[1] - bounds[0]):  # most of it will be needed
        for byte in range(_BYTES * begin, _BYTES * end, _LINE):
            prefetch(flights.words, byte)
    n_sure = sure_steps(thicket, tree) // LEVELS
    verdicts = flights.verdicts[team.thread]
    for block in range(bounds[0], bounds[1], BLOCK):
        if cancelled(team):
            return
        stop = min(block + BLOCK, bounds[1])
        _go(flights.keys[block:stop], flights, team.thread, flights.words[begin:], n_sure)
        _add(thicket, tree, way, verdicts, rows[block:stop], out)


@inlined_part
def _add(thicket, tree, way, verdicts, rows, out):
    """Add what a tree says of some rows, given where they have arrived."""
    first, first_row = thicket.first[tree, 0], thicket.first[tree, 2]
    for i in range(rows.shape[0]):
        found, row = -1 - np.int64(verdicts[i]), np.uint64(rows[i])
        if found < NO_CLASS:
            out[row, np.uint64(found)] += 1.0
        else:
            leaf = thicket.nodes[np.uint64(first + found - NO_CLASS)]
            way.add_leaf(leaf, thicket.extra, first_row, out[row])


@part
def _lay(thread, thicket, tree, way, scales, flights):
    """Put the nodes of a tree into flights.

    In preorder a split is followed by its left child, and a leaf by the right child of the last
    split that still waits for one.
    """
    first, begin = thicket.first[tree, 0], flights.bounds[tree, 0]
    nodes = thicket.nodes[first : thicket.first[tree + 1, 0]]
    words, halves = flights.words[begin:], flights.halves[2 * begin :]
    waiting = flights.waiting[thread]
    for word in range(WORDS):
        words[word] = 0
    _begin(halves, WORDS)
    place, end, n_waiting = np.int64(WORDS + 1), np.int64(2 * WORDS), np.int64(0)
    for number in range(nodes.shape[0]):
        node = nodes[np.uint64(number)]
        if node.feature < 0:
            vote = np.int64(way.vote(node))
            words[np.uint64(_leftmost(place))] = -1 - (vote if vote >= 0 else NO_CLASS + number)
            n_waiting -= 1
            place = np.int64(waiting[np.uint64(n_waiting if n_waiting > 0 else 0)])
            continue
        if place % WORDS >= SPLITS:  # a way out
            words[np.uint64(place)] = end
            _begin(halves, end)
            place, end = end + 1, end + WORDS
        about, split = np.int64(node.feature), place % WORDS
        feature = about & FEATURE
        half = np.uint64(2 * (place - split) + split)
        halves[half] = column_of(feature + (0 if about & MISSING_LEFT else flights.second))
        key = cut_key(scales, feature, node.number, first + number)
        halves[half + np.uint64(SPLITS)] = cut_of(np.int64(key))
        waiting[np.uint64(n_waiting)] = place + split + 1
        n_waiting += 1
        place += split
    flights.bounds[tree, 1] = begin + end


@inlined_part
def _begin(halves, place):
    """Make a flight of no splits: no key is above."""
    for split in range(SPLITS):
        halves[np.uint64(2 * place + split)] = column_of(np.int64(0))
        halves[np.uint64(2 * place + SPLITS + split)] = cut_of(np.int64(_HIGHEST))


@inlined_part
def _leftmost(place):
    """Return the way out of a flight that is reached from one of its places by going left."""
    at = place % WORDS
    return place - at + (at << (np.int64(at < 8) + np.int64(at < 4) + np.int64(at < 2)))


@part
def _go(keys, flights, thread, words, n_sure):
    """Set verdicts to where ways out have led rows in the end.

    words   int32 [n_words]   of the tree
    n_sure  flights that all rows take, before those that have arrived leave the list
    """
    ways, verdicts = flights.ways, flights.verdicts[thread]
    rows, places = flights.rows[thread], flights.places[thread]
    n_going = keys.shape[0]
    for i in range(n_going):
        rows[i], places[i], verdicts[i] = i, WORDS, 0
    for _ in range(n_sure):
        for i in range(n_going):
            places[i] = _next(keys, i, words, ways, places[i])
        _stay(places[:n_going], verdicts)
    n_going = _closed(rows, places, n_going)
    while n_going > 0:
        for i in range(n_going):
            row = np.uint64(rows[i])
            places[i] = verdicts[row] = _next(keys, row, words, ways, places[i])
        n_going = _closed(rows, places, n_going)


@inlined_part
def _next(keys, row, words, ways, place):
    """Return where a row goes from a flight."""
    found = answers(keys, np.int64(row), words, np.int64(place))
    return words[np.uint64(place) + np.uint64(ways[np.uint64(found)])]


@part
def _stay(places, verdicts):
    """Write down where rows have arrived, and let them stay."""
    for i in range(places.shape[0]):
        place = places[i]
        verdicts[i] = min(verdicts[i], place)
        places[i] = max(place, np.int32(0))


@part
def _closed(rows, places, n_going):
    """Let rows that have arrived leave the list; return how many go on."""
    n_kept = np.int64(0)
    for first in range(0, n_going, ABREAST):
        n_kept = close_up(rows, places, (first, n_going - first, n_kept))
    return n_kept
