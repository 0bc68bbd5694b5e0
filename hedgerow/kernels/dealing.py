"""Dealing: the values of a column to buckets, to sort only those where an end of a bin can be.

Buckets are in order, and equal values are in one bucket. How many values each bucket has tells
which rank is in which of them.
"""

import numpy as np

from hedgerow.kernels.jit import kernel
from hedgerow.kernels.rulers import bucket_of, lay_ruler

N_DEALT = 1 << 14


@kernel
def deal(ends, values, buckets, counts, changes, some):
    """Set each value's bucket and count them.

    ends     float64 [N_ENDS + 1]   read    ascending, padded with inf: some of the values
    values   float64 [n_rows]       read
    buckets  uint16 [n_rows]        write   N_DEALT if it is NaN
    counts   int64 [N_DEALT + 1]    both    values of each bucket, zero before
    changes  int64 [N_DEALT + 1]    both    of those, unlike the one before; zero before
    some     float64 [N_DEALT + 1]  both    one of them; NaN before

    All values of a bucket are equal if they change once.
    """
    ruler = lay_ruler(ends, N_DEALT)
    for row in range(values.shape[0]):
        value = values[row]
        bucket = N_DEALT if np.isnan(value) else bucket_of(ruler, value)
        buckets[row] = bucket
        counts[bucket] += 1
        changes[bucket] += np.int64(some[bucket] != value)
        some[bucket] = value


@kernel
def take(values, buckets, is_taken, taken):
    """Set `taken` to the values of some buckets, in any order.

    is_taken  uint8 [N_DEALT + 1]   read    1 or 0
    taken     float64 [n + 1]       write   there is room for one more, that is not taken
    """
    n_taken = np.int64(0)
    for row in range(values.shape[0]):
        taken[n_taken] = values[row]
        n_taken += np.int64(is_taken[buckets[row]])
