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


@kernel
def thin(counts, some, is_lump, is_sorted, ordered, rows, through, lumps):
    """Lay out a summary in which some buckets have all of their values, others one for all.

    counts     int64 [N_DEALT + 1]     read
    some       float64 [N_DEALT + 1]   read
    is_lump    uint8 [N_DEALT + 1]     read    whether a bucket has several values
    is_sorted  uint8 [N_DEALT + 1]     read    whether it is to have all of them
    ordered    float64 [n_taken]       read    the values of those buckets, ascending
    rows       float64 [n]             write   values of the summary
    through    int64 [n]               write   how many values there are up to each
    lumps      int32 [n]               write   the bucket that a row stands for, or -1
    """
    n, n_through, n_taken = np.int64(0), np.int64(0), np.int64(0)
    for bucket in range(N_DEALT):
        if counts[bucket] > 0:
            has_all = is_sorted[bucket] > 0
            lump = np.int32(-1 if has_all or is_lump[bucket] == 0 else bucket)
            for _ in range(counts[bucket] if has_all else 1):
                n_through += np.int64(1) if has_all else counts[bucket]
                rows[n] = ordered[n_taken] if has_all else some[bucket]
                through[n], lumps[n] = n_through, lump
                n, n_taken = n + 1, n_taken + np.int64(has_all)
