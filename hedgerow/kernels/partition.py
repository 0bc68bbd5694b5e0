"""Partition: a node's records to its left or right child."""

import numpy as np

from hedgerow.kernels import in_bulk
from hedgerow.kernels.jit import inlined_part, interpreted_as, part
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.sides import abreast, deal_out, sides_of_set, sides_up_to

_ONE, _WORD = np.uint64(1), 64
_WORD_BITS, _LAST_BIT = np.uint64(6), np.uint64(_WORD - 1)


@part
def partition(codes, split, words, source, target):
    """Write left records upwards from the start, right ones downwards from the end.

    split           SPLIT          read          feature, cut and where missing goes
    words           int64 [..]     read          of a category split: codes that go left, as bits
    source, target  int64 [n]      read, write   this thread's records of the node

    Returns the number of left records. The order inside a child is free: sums are integers.
    """
    feature = codes.features[split.feature]
    place, missing = feature.place, feature.missing
    if feature.n_categories > 0:
        if place >= 0 and feature.n_categories < _WORD:
            return _by_word(codes.columns[place], words[0], split, source, target)
        if place >= 0:
            return _by_set(codes.columns[place], words, missing, split, source, target)
        return _by_set(codes.wide[-1 - place], words, missing, split, source, target)
    if place >= 0:
        return _by_byte(codes.columns[place], split, source, target)
    return _by_cut(codes.wide[-1 - place], missing, split, source, target)


@interpreted_as(in_bulk.by_byte)
@part
def _by_byte(column, split, source, target):
    """Part by a narrow code: 255, missing, becomes 0 if it goes left and all others one more."""
    shift = np.int64(split.missing_left)
    limit, low = split.cut + shift, np.int64(0)
    n_dealt, last = _n_dealt(source), source.shape[0] - 1
    for i in range(0, n_dealt, abreast()):
        bits = sides_up_to(column, source, i, shift, limit)
        low = deal_out(source, i, target, low, last - i + low, bits)
    for i in range(n_dealt, source.shape[0]):
        record = source[i]
        # Both ends are free: what is written to the wrong one is written over.
        target[low], target[last - i + low] = record, record
        low += np.int64(((np.int64(column[row_of(record)]) + shift) & 255) <= limit)
    return low


@inlined_part
def _n_dealt(source):
    """Return how many records fill registers that are dealt out; those of the last are not."""
    return max(source.shape[0] // abreast() - 1, 0) * abreast()


@interpreted_as(in_bulk.by_cut)
@part
def _by_cut(column, missing, split, source, target):
    low, high = np.int64(0), source.shape[0] - 1
    cut, missing_left = split.cut, split.missing_left
    for i in range(source.shape[0]):
        record = source[i]
        code = np.int64(column[row_of(record)])
        goes_left = missing_left if code == missing else np.int64(code <= cut)
        target[low], target[high] = record, record
        low += goes_left
        high += goes_left - 1
    return low


@inlined_part
def with_missing(word, missing_left):
    """Return a set of fewer than 64 categories with 63, where bits of code 255 are looked for."""
    missing = np.uint64(_WORD - 1)
    return (np.uint64(word) & ~(_ONE << missing)) | (np.uint64(missing_left) << missing)


@part
def _by_word(column, word, split, source, target):
    """Part by a narrow code and a set that is one word."""
    word = with_missing(word, split.missing_left)
    low, n_dealt, last = np.int64(0), _n_dealt(source), source.shape[0] - 1
    for i in range(0, n_dealt, abreast()):
        bits = sides_of_set(column, source, i, word)
        low = deal_out(source, i, target, low, last - i + low, bits)
    for i in range(n_dealt, source.shape[0]):
        record = source[i]
        code = np.uint64(column[row_of(record)])
        target[low], target[last - i + low] = record, record
        low += np.int64((word >> (code & np.uint64(_WORD - 1))) & _ONE)
    return low


@part
def _by_set(column, words, missing, split, source, target):
    low, last = np.uint64(0), np.uint64(max(source.shape[0] - 1, 0))
    missing, missing_left = np.uint64(missing), np.uint64(split.missing_left)
    for i in range(source.shape[0]):
        record = source[i]
        code = np.uint64(column[row_of(record)])
        goes_left = missing_left
        if code != missing:
            goes_left = (np.uint64(words[code >> _WORD_BITS]) >> (code & _LAST_BIT)) & _ONE
        target[low], target[last - np.uint64(i) + low] = record, record
        low += goes_left
    return np.int64(low)
