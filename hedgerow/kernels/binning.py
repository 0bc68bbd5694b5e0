"""Binning: from values to codes, the numbers of bins below them."""

import numpy as np

from hedgerow.kernels import in_bulk
from hedgerow.kernels.codes import MISSING
from hedgerow.kernels.dealing import N_DEALT
from hedgerow.kernels.jit import inlined_part, interpreted_as, kernel, part
from hedgerow.kernels.rulers import bucket_of, lay_ruler

N_BUCKETS = 4096
_SOME = 1024  # rows that are looked at before it is asked whether there were other values
_MOST_ENDS = 3  # of bins inside a bucket that two comparisons tell apart


@kernel
def bin_narrow(values, high, first, column):
    """Set each code to the number of bins below the value, or 255 if it is NaN.

    values  float64 [n_rows]     read
    high    float64 [256]        read    ascending, padded with inf
    first   uint8 [N_BUCKETS]    write   bins below all values of a bucket
    column  uint8 [n_rows]       write

    The value's bucket tells how many bins end before it; those that end inside are compared.
    Cost: 2 comparisons a value if no bucket has more than 3 ends, as in most columns, else 8.
    """
    _bin(values, high, first, column)


@kernel
def bin_two(values, column, found):
    """Set the codes of a column of two values, none of them NaN; tell whether it is one.

    values  float64 [n_rows]   read
    column  uint8 [n_rows]     write   garbage if it is not
    found   float64 [2]        write   the values, ascending

    Cost: a pass over the rows, several at once; far less if there are other values.
    """
    n_rows, other = values.shape[0], np.int64(1)
    while other < n_rows and values[other] == values[0]:
        other += 1
    if other >= n_rows:
        return False
    low, high = min(values[0], values[other]), max(values[0], values[other])
    found[0], found[1] = low, high
    for first in range(0, n_rows, _SOME):
        own, codes = values[first : first + _SOME], column[first : first + _SOME]
        n_others = np.int64(0)
        for i in range(own.shape[0]):
            is_high = own[i] == high
            codes[i] = np.uint8(is_high)
            n_others += np.int64(not (is_high | (own[i] == low)))
        if n_others > 0:
            return False
    return True


@kernel
def bin_dealt(ends, values, buckets, high, first, column):
    """Do as bin_narrow, of values whose buckets are known.

    ends     float64 [N_ENDS + 1]   read    that the ruler of the buckets was laid along
    buckets  uint16 [n_rows]        read    as dealing.deal sets them
    first    uint8 [N_DEALT + 1]    write
    """
    ruler = lay_ruler(ends, N_DEALT)
    if _fill_buckets(ruler, high, first) <= _MOST_ENDS:
        for row in range(values.shape[0]):
            column[row] = _code(values[row], first[buckets[row]], high)
    else:  # bins end where the ruler has few marks
        _bin(values, high, first[:N_BUCKETS], column)


@interpreted_as(in_bulk.bin_all)
@part
def _bin(values, high, first, column):
    ruler = lay_ruler(high, N_BUCKETS)
    if _fill_buckets(ruler, high, first) <= _MOST_ENDS:
        for row in range(values.shape[0]):
            column[row] = _code(values[row], first[bucket_of(ruler, values[row])], high)
    else:
        _search_all(values, high, column)


@inlined_part
def _code(value, first, high):
    """Return the code of a value in a bucket with so many bins below it, and few ends inside."""
    below = np.int64(first)
    below += 2 if high[below + 1] < value else 0
    below += 1 if high[below] < value else 0
    return MISSING if np.isnan(value) else below


@part
def _search_all(values, high, column):
    for row in range(values.shape[0]):
        value, below = values[row], np.int64(0)
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            below += step if high[below + step - 1] < value else 0
        column[row] = MISSING if np.isnan(value) else below


@part
def _fill_buckets(ruler, high, first):
    """Set the bins below each bucket; return the most ends of bins that one has inside."""
    next_bucket, inside, fullest, below = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while high[below] < np.inf:
        bucket = bucket_of(ruler, high[below])
        inside = inside + 1 if bucket + 1 == next_bucket else np.int64(1)
        fullest = max(fullest, inside)
        first[next_bucket : bucket + 1] = below
        next_bucket = bucket + 1
        below += 1
    first[next_bucket:] = below
    return fullest


@kernel
def bin_wide(values, high, column):
    """Set each code to the number of bins below the value, or their number if it is NaN.

    values  float64 [n_rows]   read
    high    float64 [n_bins]   read    ascending
    column  int32 [n_rows]     write

    Cost: log2(n_bins) comparisons a value.
    """
    n_bins = high.shape[0]
    for row in range(values.shape[0]):
        value = values[row]
        below, size = np.int64(0), n_bins - 1
        while size > 0:
            half = size - (size >> 1)
            below += half if high[below + half - 1] < value else np.int64(0)
            size >>= 1
        column[row] = n_bins if np.isnan(value) else below
