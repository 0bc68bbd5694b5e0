"""Trails: packed trees made ready for many rows, and rows made ready for them.

A step down a tree is then one addition: children stand side by side, and a row goes to the second
one if its key is above that of the split.

    node    two words: where its children are, above the bits of the column that is looked at; a key
    leaf    has itself for a child and a key that none is above: who is there stays

A *key* is an unsigned integer in the order of the numbers: the bits of a float of single precision.
Thresholds are rounded down to one; values must be such floats, as whole numbers and flags are. A
missing value has a key below all and, in a second column of its feature, one above all.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.machine import bits_of_float, double_of_bits
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.packed import FEATURE, MISSING_LEFT

LONG, MISSING = 1, 2  # what is found in values: one that is no float32, one that is missing
BLOCK = 480  # rows that go down a tree before the next ones: a number of groups
_ABREAST = 6  # rows of a group
_STRIDES = 3  # steps before the last one that tells whether all have arrived
_LARGEST = float(np.finfo(np.float32).max)
_BELOW, _ABOVE = np.uint32(0), np.uint32(0xFFFFFFFF)  # all keys of numbers


class Trails(NamedTuple):
    """Rows and trees made ready; what belongs to a thread has its number first.

    keys     uint32 [n_rows, n_columns]      n_columns: of features, or twice as many
    found    int64 [n_threads]               LONG and MISSING
    nodes    uint32 [2 n_nodes]              of some trees, one after another
    origins  int32 [n_nodes]                 the number of each in its tree
    slots    int32 [n_threads, n_nodes + 2]  where nodes of a tree will stand
    places   int64 [n_threads, BLOCK]        where rows have come to
    shape    n_features, bits of a column's number
    """

    keys: NDArray[np.uint32]
    found: NDArray[np.int64]
    nodes: NDArray[np.uint32]
    origins: NDArray[np.int32]
    slots: NDArray[np.int32]
    places: NDArray[np.int64]
    shape: tuple[int, int]


@inlined_part
def _key(x):
    """Return the key of a number, rounded down, and whether it had to be rounded."""
    held = x if x < _LARGEST else _LARGEST
    held = held if held > -_LARGEST else -_LARGEST
    near = np.float32(held) + np.float32(0.0)  # there is no negative zero
    bits = np.int64(bits_of_float(near))
    sign = bits >> 63
    key = ((bits & 0x7FFFFFFF) ^ sign) - sign + (1 << 31) - np.int64(np.float64(near) > x)
    return np.uint32(key), np.float64(near) != x


@team_kernel
def read_keys(team, values, rows, trails):
    """Set trails.keys[i] to the keys of row rows[i], and what was found.

    values  float64 [n_rows, n_features]   read    NaN is missing
    rows    int64 [n]                      read    a thread owns a range of them
    trails  Trails                         write   keys and found; if it is LONG, keys are garbage
    """
    begin, end = share(team, rows.shape[0])
    n_features, found = trails.shape[0], np.int64(0)
    has_second = trails.keys.shape[1] > n_features
    for i in range(begin, end):
        row, keys = values[np.uint64(rows[i])], trails.keys[i]
        for feature in range(n_features):
            is_missing = np.isnan(row[feature])
            key, is_long = _key(0.0 if is_missing else row[feature])
            found |= LONG * np.int64(is_long) | MISSING * np.int64(is_missing)
            keys[feature] = _BELOW if is_missing else key
            if has_second:
                keys[n_features + feature] = _ABOVE if is_missing else key
        if found & LONG:
            break
    trails.found[team.thread] = found


@team_kernel
def lay_trails(team, thicket, begin_tree, end_tree, trails):
    """Make trees begin_tree .. end_tree - 1 ready, one after another.

    thicket  Thicket   read    without sets of categories
    trails   Trails    write   nodes, origins and slots; a thread has every n_threads-th tree
    """
    start = thicket.first[begin_tree, 0]
    for tree in range(begin_tree + team.thread, end_tree, team.n_threads):
        if cancelled(team):
            return
        first, end = thicket.first[tree, 0], thicket.first[tree + 1, 0]
        laid, origins = trails.nodes[2 * (first - start) :], trails.origins[first - start :]
        _lay(thicket.nodes[first:end], trails, laid, origins, trails.slots[team.thread])


@part
def _lay(nodes, trails, laid, origins, slots):
    """Put the nodes of a tree where their siblings are.

    What is done is the same for splits and leaves, as which of them comes next nobody can guess:
    a leaf sends its children to the last two slots, which nobody reads.
    """
    n_features, bits = trails.shape
    second = trails.keys.shape[1] - n_features  # how far the second column of a feature is
    free, nowhere = np.int64(1), np.int64(nodes.shape[0])
    slots[0] = 0
    for place in range(nodes.shape[0]):
        node, slot = nodes[np.uint64(place)], np.int64(slots[np.uint64(place)])
        is_leaf = np.int64(node.feature) >> 63  # all bits, or none
        feature, link = np.int64(node.feature) & ~is_leaf, np.int64(node.link)
        key, _ = _key(double_of_bits(node.steps & ~is_leaf))
        laid[2 * slot + 1] = np.uint32(np.int64(key) | is_leaf)
        column = (feature & FEATURE) + second * np.int64((feature & MISSING_LEFT) == 0)
        laid[2 * slot] = np.uint32(((free & ~is_leaf) | (slot & is_leaf)) << bits | column)
        origins[slot] = place
        slots[np.uint64(((place + 1) & ~is_leaf) | (nowhere & is_leaf))] = free
        slots[np.uint64((link & ~is_leaf) | ((nowhere + 1) & is_leaf))] = free + 1
        free += 2 + (is_leaf + is_leaf)


@team_kernel
def add_along(team, rows, thicket, begin_tree, end_tree, trails, way, out):
    """Add what the leaf of each row holds to out[row], for trees that have been laid.

    rows    int64 [n]                     read    a thread owns a range of them
    trails  Trails                        both    places
    way     Proportions, Votes or Means           what is added
    out     float64 [n_rows, n_values]    both

    Cost: 4 to 6 cycles a step, as rows of a group take theirs at once.
    """
    begin, end = share(team, rows.shape[0])
    start, places = thicket.first[begin_tree, 0], trails.places[team.thread]
    for tree in range(begin_tree, end_tree):
        first, first_row = thicket.first[tree, 0], thicket.first[tree, 2]
        laid, origins = trails.nodes[2 * (first - start) :], trails.origins[first - start :]
        for begin_block in range(begin, end, BLOCK):
            if cancelled(team):
                return
            n_rows = min(BLOCK, end - begin_block)
            for i in range(0, n_rows, _ABREAST):
                _walk(trails.keys[begin_block:], i, n_rows - 1, laid, trails.shape[1], places)
            for i in range(n_rows):
                leaf = thicket.nodes[first + origins[np.uint64(places[i])]]
                way.add_leaf(leaf, thicket.extra, first_row, out[rows[begin_block + i]])


@inlined_part
def _next(keys, row, laid, place, bits):
    """Return where a row goes from a place. It is a sum: a choice would become a branch."""
    about, cut = np.int64(laid[np.uint64(2 * place)]), laid[np.uint64(2 * place + 1)]
    key = keys[np.uint64(row), np.uint64(about & ((1 << bits) - 1))]
    return (about >> bits) + np.int64(key > cut)


@inlined_part
def _walk(keys, first, last, laid, bits, places):
    """Let a group walk from row `first` on; instead of rows behind `last` it walks again."""
    j, k, m = min(first + 1, last), min(first + 2, last), min(first + 3, last)
    p, q = min(first + 4, last), min(first + 5, last)
    a = b = c = d = e = f = np.int64(0)
    is_going = True
    while is_going:
        for _ in range(_STRIDES):
            a, b = _next(keys, first, laid, a, bits), _next(keys, j, laid, b, bits)
            c, d = _next(keys, k, laid, c, bits), _next(keys, m, laid, d, bits)
            e, f = _next(keys, p, laid, e, bits), _next(keys, q, laid, f, bits)
        before = a, b, c, d, e, f
        a, b = _next(keys, first, laid, a, bits), _next(keys, j, laid, b, bits)
        c, d = _next(keys, k, laid, c, bits), _next(keys, m, laid, d, bits)
        e, f = _next(keys, p, laid, e, bits), _next(keys, q, laid, f, bits)
        moved = (a ^ before[0]) | (b ^ before[1]) | (c ^ before[2])
        is_going = (moved | (d ^ before[3]) | (e ^ before[4]) | (f ^ before[5])) != 0
    places[first], places[j], places[k] = a, b, c
    places[m], places[p], places[q] = d, e, f
