"""Summaries: the distinct values of a sorted column, and how they are shared out to bins."""

import numpy as np

from hedgerow.kernels.jit import kernel, part


@kernel
def count_values(ordered, weights):
    """Move each distinct value to the front, and set its weight to how often it occurs.

    ordered  float64 [n]   both    ascending, without NaN
    weights  int64 [n]     write

    Returns the number of distinct values.
    """
    n_values = np.int64(0)
    begin = np.int64(0)
    for i in range(1, ordered.shape[0] + 1):
        if i == ordered.shape[0] or ordered[i] != ordered[begin]:
            ordered[n_values], weights[n_values] = ordered[begin], i - begin
            n_values += 1
            begin = np.int64(i)
    return n_values


@kernel
def mark_heavy(weights, max_bins, heavy):
    """Mark the values heavier than an even share of what the others leave.

    weights  int64 [n_values]    read
    heavy    uint8 [n_values]    both   zero on entry

    Returns how many bins the marked ones and the stretches between them need.
    """
    light, n_heavy, n_before = np.int64(0), np.int64(0), np.int64(-1)
    for i in range(weights.shape[0]):
        light += weights[i]
    while n_before < n_heavy < max_bins - 1:
        n_before = n_heavy
        share = light // (max_bins - n_heavy)
        for i in range(weights.shape[0]):
            if weights[i] > share and heavy[i] == 0:
                heavy[i] = 1
                light -= weights[i]
                n_heavy += 1
    return n_heavy + _n_stretches(heavy)


@part
def _n_stretches(heavy):
    n_stretches, before = np.int64(0), np.uint8(1)
    for i in range(heavy.shape[0]):
        n_stretches += np.int64(before == 1 and heavy[i] == 0)
        before = heavy[i]
    return n_stretches


@kernel
def share_out(weights, heavy, max_bins, ends):
    """Close bins from the left: a heavy value is a bin, others fill one up to its share.

    weights  int64 [n_values]   read
    heavy    uint8 [n_values]   read
    ends     int64 [max_bins]   write   last value of each bin

    The share is the weight still to be shared out over the bins left for it, less one for
    each later stretch of light values; the last bin of a stretch takes its rest. Returns the
    number of bins.
    """
    n_values, light, n_left = weights.shape[0], np.int64(0), np.int64(max_bins)
    for i in range(n_values):
        light += 0 if heavy[i] else weights[i]
        n_left -= heavy[i]
    later, n_bins, value = _n_stretches(heavy), np.int64(0), np.int64(0)
    while value < n_values:
        if heavy[value] == 0:
            later -= np.int64(value == 0 or heavy[value - 1] == 1)
            is_last, taken = n_left - later <= 1, weights[value]
            share = -(-light // max(n_left - later, 1))
            while value + 1 < n_values and not heavy[value + 1] and (is_last or taken < share):
                value += 1
                taken += weights[value]
            light -= taken
            n_left -= 1
        ends[n_bins] = value
        n_bins += 1
        value += 1
    return n_bins
