"""Records of the rows that a tree is grown from: see `moments`."""

import numpy as np

from hedgerow.kernels.jit import kernel


@kernel
def write_records(counts, labels, records):
    """Write the records of rows that count; return how many there are.

    counts   int64 [n_rows]        read    how often each counts, or weighs: below 2^15
    labels   int64 [n_rows]        read    16 bits of each, or [0]
    records  int64 [n_rows + 1]    write
    """
    n = np.uint64(0)
    for row in range(counts.shape[0]):
        label = labels[row] if labels.shape[0] > 0 else np.int64(0)
        records[n] = (counts[row] << 48) | (label << 32) | row
        n += np.uint64(counts[row] > 0)
    return n
