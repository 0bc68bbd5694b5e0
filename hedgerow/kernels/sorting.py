"""Sorting of many numbers by their digits, the least significant first.

The bits of float64, read as whole numbers, are ordered as the numbers are once the sign is seen to.
They are dealt out by nine bits at a time. Most numbers differ in their upper half, four digits:
they are dealt out by those, and the few that are not yet in order then change places. If these
are many, all are dealt out again by all eight digits. A digit that all have is left out.
"""

import numpy as np

from hedgerow.kernels.jit import kernel, part

N_DIGITS, _UPPER, _BITS = 8, 4, 9
N_BUCKETS = 1 << _BITS
_MOST_MOVES = 4  # places a number, until dealing out is quicker
_SIGN, _BELOW = np.int64(-(2**63)), np.int64(2**63 - 1)


@kernel
def sort_keys(bits, keys, counts):
    """Sort the bits of numbers; return which row of `keys` has them, as bits again.

    bits    int64 [n]                     read    the memory of float64; NaN comes last
    keys    int64 [2, n]                  write
    counts  int64 [N_DIGITS, N_BUCKETS]   write

    Cost: 4 passes and 4 of dealing, of numbers that are alike 5 and 12.
    """
    _count(bits, keys[0], counts)
    side = _deal_out(keys, np.int64(0), N_DIGITS - _UPPER, counts)
    if not _put_in_order(keys[side]):
        _count(bits, keys[side], counts)
        side = _deal_out(keys, side, 0, counts)
    own = keys[side]
    for i in range(own.shape[0]):
        own[i] = _turned(own[i])
    return side


@part
def _count(bits, keys, counts):
    """Set keys that are ordered as the numbers; count how many have each of the upper digits."""
    counts[:] = 0
    for i in range(bits.shape[0]):
        key = _turned(bits[i])
        if (bits[i] & _BELOW) > 0x7FF0000000000000:
            key = _BELOW  # not a number, of either sign
        keys[i] = key
        for digit in range(N_DIGITS - _UPPER, N_DIGITS):
            counts[digit, _digit(key, digit)] += 1


@part
def _deal_out(keys, side, first, counts):
    """Sort keys[side] by the digits from `first` on; return which row has them then."""
    for i in range(keys.shape[1] if first < N_DIGITS - _UPPER else 0):
        for digit in range(first, N_DIGITS - _UPPER):
            counts[digit, _digit(keys[side, i], digit)] += 1
    for digit in range(first, N_DIGITS):
        if counts[digit, _digit(keys[side, 0], digit)] < keys.shape[1]:
            _deal(keys[side], keys[1 - side], digit, counts[digit])
            side = 1 - side
    return side


@part
def _put_in_order(keys):
    """Move each key before larger ones; return False if that takes long, with keys in any order."""
    n_moves = np.int64(0)
    for i in range(1, keys.shape[0]):
        key, place = keys[i], i
        while place > 0 and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            place -= 1
            n_moves += 1
        keys[place] = key
        if n_moves > _MOST_MOVES * keys.shape[0]:
            return False
    return True


@part
def _turned(word):
    """Let numbers below zero be ordered by size, too; what is turned twice is as it was."""
    return word ^ ((word >> 63) & _BELOW)


@part
def _digit(key, digit):
    """Return a digit of a key; that of the sign is the highest. The two lowest share bits."""
    return ((key ^ _SIGN) >> max(64 - _BITS * (N_DIGITS - digit), 0)) & (N_BUCKETS - 1)


@part
def _deal(keys, dealt, digit, counts):
    """Deal out keys by one digit, in the order in which they come."""
    begin = np.int64(0)
    for bucket in range(counts.shape[0]):
        counts[bucket], begin = begin, begin + counts[bucket]
    for i in range(keys.shape[0]):
        bucket = _digit(keys[i], digit)
        dealt[counts[bucket]] = keys[i]
        counts[bucket] += 1
