"""Sorting of many numbers by their digits, the least significant first.

The bits of float64, read as whole numbers, are ordered as the numbers are once the sign is seen to.
Zeros, of which many columns have most, are counted and put between the others in the end.
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
    n_keys = _count(bits, keys[0], counts)
    side = _deal_out(keys, np.int64(0), n_keys, N_DIGITS - _UPPER, counts)
    if not _put_in_order(keys[side, :n_keys]):
        _count(bits, keys[side], counts)
        side = _deal_out(keys, side, n_keys, 0, counts)
    _put_zeros(keys[side, :n_keys], keys[1 - side])
    return 1 - side


@part
def _count(bits, keys, counts):
    """Set keys that are ordered as the numbers, but for zeros; count how many have each digit.

    Only the upper digits are counted. Returns how many keys there are.
    """
    counts[:] = 0
    n_keys = np.int64(0)
    for i in range(bits.shape[0]):
        key = _turned(bits[i])
        if (bits[i] & _BELOW) > 0x7FF0000000000000:
            key = _BELOW  # not a number, of either sign
        if key != 0:
            keys[n_keys] = key
            n_keys += 1
            for digit in range(N_DIGITS - _UPPER, N_DIGITS):
                counts[digit, _digit(key, digit)] += 1
    return n_keys


@part
def _deal_out(keys, side, n_keys, first, counts):
    """Sort the keys of a side by the digits from `first` on; return which row has them then."""
    for i in range(n_keys if first < N_DIGITS - _UPPER else 0):
        for digit in range(first, N_DIGITS - _UPPER):
            counts[digit, _digit(keys[side, i], digit)] += 1
    for digit in range(first, N_DIGITS):
        if n_keys > 0 and counts[digit, _digit(keys[side, 0], digit)] < n_keys:
            _deal(keys[side, :n_keys], keys[1 - side], digit, counts[digit])
            side = 1 - side
    return side


@part
def _put_zeros(keys, numbers):
    """Set the bits of all numbers in order: those of the sorted keys, and zeros between them."""
    n_below, n_zeros = np.int64(0), numbers.shape[0] - keys.shape[0]
    while n_below < keys.shape[0] and keys[n_below] < 0:
        numbers[n_below] = _turned(keys[n_below])
        n_below += 1
    numbers[n_below : n_below + n_zeros] = 0
    for i in range(n_below, keys.shape[0]):
        numbers[n_zeros + i] = keys[i]


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
