"""Sorting of many numbers by their digits, the least significant first.

The bits of float64, read as whole numbers, are ordered as the numbers are once the sign is seen to.
They are dealt out by eleven bits at a time, six times, and a digit that all have is left out.
"""

import numpy as np

from hedgerow.kernels.jit import kernel, part

N_DIGITS, _BITS = 6, 11
N_BUCKETS = 1 << _BITS
_SIGN, _BELOW = np.int64(-(2**63)), np.int64(2**63 - 1)


@kernel
def sort_keys(bits, keys, counts):
    """Sort the bits of numbers; return which row of `keys` has them, as bits again.

    bits    int64 [n]                     read    the memory of float64; NaN comes last
    keys    int64 [2, n]                  write
    counts  int64 [N_DIGITS, N_BUCKETS]   write

    Cost: up to 2 + N_DIGITS passes.
    """
    _count(bits, keys[0], counts)
    side = np.int64(0)
    for digit in range(N_DIGITS):
        if counts[digit, _digit(keys[side, 0], digit)] < bits.shape[0]:
            _deal(keys[side], keys[1 - side], digit, counts[digit])
            side = 1 - side
    own = keys[side]
    for i in range(own.shape[0]):
        own[i] = _turned(own[i])
    return side


@part
def _count(bits, keys, counts):
    """Set keys that are ordered as the numbers; count how many have each digit."""
    counts[:] = 0
    for i in range(bits.shape[0]):
        key = _turned(bits[i])
        if (bits[i] & _BELOW) > 0x7FF0000000000000:
            key = _BELOW  # not a number, of either sign
        keys[i] = key
        for digit in range(N_DIGITS):
            counts[digit, _digit(key, digit)] += 1


@part
def _turned(word):
    """Let numbers below zero be ordered by size, too; what is turned twice is as it was."""
    return word ^ ((word >> 63) & _BELOW)


@part
def _digit(key, digit):
    """Return a digit of a key; that of the sign is the highest."""
    return ((key ^ _SIGN) >> (_BITS * digit)) & (N_BUCKETS - 1)


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
