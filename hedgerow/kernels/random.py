"""Random bits as a function of what they are for: no order, no shared state.

A draw is named by whole numbers (seed, node, feature, ...). The same name gives the same
bits on any thread and in any order, so a tree does not depend on how its growth was
scheduled. A node's name is its path from the root.
"""

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import config, interpreted_as, part

_MASK = 0xFFFFFFFFFFFFFFFF
_STEP, _FIRST, _SECOND = -7046029254386353131, -4658895280553007687, -7723592293110705685
_FRACTION = 2.0**-53
_HIGHEST = 0x1FFFFFFFFFFFFF


def _mixed_compiled(state, more):
    """Return 64 bits that depend on every bit of both numbers (splitmix64's finaliser)."""
    z = (state ^ (more * _STEP)) + _STEP
    z = (z ^ ((z >> 30) & 0x3FFFFFFFF)) * _FIRST
    z = (z ^ ((z >> 27) & 0x1FFFFFFFFF)) * _SECOND
    return z ^ ((z >> 31) & 0x1FFFFFFFF)


def _mixed_plain(state, more):
    """Twin of the above in Python integers, which do not wrap by themselves."""
    z = ((int(state) ^ (int(more) * _STEP)) + _STEP) & _MASK
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    z ^= z >> 31
    return z - (1 << 64) if z >> 63 else z


mixed = _mixed_plain if config.DISABLE_JIT else interpreted_as(_mixed_plain)(part(_mixed_compiled))


def mixed_bits(state: int, more: int) -> int:
    """The same, for Python."""
    return _mixed_plain(state, more)


def chosen(state: int, n_items: int, n_wanted: int) -> NDArray[np.int64]:
    """Draw n_wanted of the numbers 0 .. n_items - 1, ascending: those of the highest bits."""
    draws = [(mixed_bits(state, item) >> 11) & _HIGHEST for item in range(n_items)]
    order = np.argsort(np.array(draws), kind="stable")
    return np.sort(order[n_items - n_wanted :])


def uniform_bits(state: int, more: int) -> float:
    """Return a float in [0, 1) named by two numbers, for Python."""
    return ((_mixed_plain(state, more) >> 11) & _HIGHEST) * _FRACTION


@part
def uniform(bits):
    """Return a float in [0, 1) from 64 random bits."""
    return ((bits >> 11) & _HIGHEST) * _FRACTION
