"""The order of rows in memory: rows that early trees put into one leaf lie side by side.

The rows of a leaf of a large table are scattered over it, and to sum them up is to wait for a
line of memory for each. No model depends on the order of rows, as sums are integers. So they are
put into the order of the leaves of a few trees, grown from some of them: those of later trees
part rows much alike.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.edges import ascending
from hedgerow.ensembles.sampling import EVERY_ROW
from hedgerow.estimators.ground import ALL, Ground

# Bytes of codes that near caches do not hold, and those times trees from which on it pays.
_MANY_BYTES, _LEAST_WORK = 8 << 20, 24e8
_MANY_ROWS = 200_000
_SOME, _N_TREES = 20_000, 4  # rows that the first trees are grown from
_MOST_KEYS, _EXACT = 1 << 24, 1 << 52  # whole numbers, times those of rows, that floats hold
_STRIPE = 1024  # rows in order that one thread is given before the next


def in_order_of_leaves(ground: Ground, loss: Any) -> Ground:
    """Return a ground with its rows in another order, if there is time to be gained."""
    n_rows, rules = len(ground.y), ground.rules
    n_bytes, n_trees = ground.binned.bytes_used, rules.n_rounds * ground.n_outputs(loss)
    is_small = n_rows < _MANY_ROWS or n_bytes < _MANY_BYTES or n_bytes * n_trees < _LEAST_WORK
    if is_small or rules.sampling is not EVERY_ROW:
        return ground
    if hasattr(loss, "derive") or hasattr(loss, "derivatives"):
        return ground  # these are of lists of rows, or written by users, who know the order
    early = ground.some(np.arange(0, n_rows, n_rows // _SOME)).boosting(ALL, loss, ground.team)
    while early.n_rounds * len(early.stage.start) < _N_TREES and early.next_round():
        pass
    keys = early.leaf_keys(ground.binned.codes, n_rows, min(_MOST_KEYS, _EXACT // n_rows))
    keys *= n_rows
    keys += np.arange(n_rows)
    order = keys.view(np.int64)  # in the same memory
    order[:] = ascending(keys)
    order %= n_rows
    return ground.moved(_dealt_out(order, ground.team.n_threads))


def _dealt_out(order: NDArray[np.int64], n_threads: int) -> NDArray[np.int64]:
    """Give each thread, which owns a range of rows, a share of every leaf."""
    dealt, begin = np.empty_like(order), 0
    for thread in range(n_threads):
        for first in range(thread * _STRIPE, len(order), n_threads * _STRIPE):
            stripe = order[first : first + _STRIPE]
            dealt[begin : begin + len(stripe)] = stripe
            begin += len(stripe)
    return dealt
