"""Derivatives: from a loss, targets and raw scores to records of whole steps.

Rows are worked on in chunks that stay in the nearest cache. What is summed is whole: a
sum does not depend on the order of rows or on the number of threads.
"""

import numpy as np

from hedgerow.kernels import in_bulk
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.exponential import exp_below
from hedgerow.kernels.jit import interpreted_as, part
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.moments import gradient_record

_CHUNK = 2048
_ZERO = np.float32(0.0)
# The bits of float32, which order as the numbers do: gradients without their sign, Hessians
# with it, so that one below zero is beyond all others.
_MASKS = (np.uint32(0x7FFFFFFF), np.uint32(0xFFFFFFFF))


@team_kernel
def derive(team, loss, y, weights, raw, pairs, bits, peaks):
    """Set each row's gradient and Hessian, and raise each thread's largest ones.

    y        float64 or uint8 [n_rows]     read    a byte is the number of a class
    raw      float64 [1, n_rows]           read
    weights  float64 [n_rows] or [1]       read    times the derivatives; [1]: no weights
    pairs    float32 [1, 2, n_rows]        write   gradients, Hessians
    bits     uint32  [1, 2, n_rows]                the memory of `pairs`
    peaks    uint32  [n_threads, 1, 2]     both    as largest_bits sets them
    """
    begin, end = share(team, y.shape[0])
    g, h, scores = pairs[0, 0], pairs[0, 1], raw[0]
    for first in range(begin, end, _CHUNK):
        if cancelled(team):
            return
        last = min(first + _CHUNK, end)
        _derive(loss, y[first:last], scores[first:last], g[first:last], h[first:last])
        if weights.shape[0] > 1:
            _scale(weights[first:last], g[first:last])
            _scale(weights[first:last], h[first:last])
        _raise_peaks(bits[0, 0, first:last], bits[0, 1, first:last], peaks[team.thread, 0])


@interpreted_as(in_bulk.derive)
@part
def _derive(loss, y, raw, g, h):
    for i in range(y.shape[0]):
        target, score = np.float64(y[i]), raw[i]  # once: a store might be to the same memory
        g[i] = loss.gradient(target, score)
        h[i] = loss.hessian(target, score) + _ZERO  # no zero has a sign


@interpreted_as(in_bulk.scale)
@part
def _scale(weights, numbers):
    for i in range(weights.shape[0]):
        numbers[i] *= weights[i]


@part
def _raise_peaks(g_bits, h_bits, peaks):
    """Note the largest of numbers that were just written, and so are still near."""
    peaks[0] = max(peaks[0], _largest(g_bits, _MASKS[0]))
    peaks[1] = max(peaks[1], _largest(h_bits, _MASKS[1]))


@interpreted_as(in_bulk.largest)
@part
def _largest(bits, mask):
    largest = np.uint32(0)
    for i in range(bits.shape[0]):
        largest = max(largest, bits[i] & mask)
    return largest


@team_kernel
def derive_classes(team, labels, weights, raw, pairs, bits, peaks):
    """Set the derivatives of the multinomial loss, p - [y = k] and K / (K - 1) p (1 - p).

    labels  uint8 or int32 [n_rows]    read
    raw     float64 [K, n_rows]        read    p = e^raw / sum e^raw
    pairs   float32 [K, 2, n_rows]     write
    bits, peaks: as those of `derive`, of K outputs

    The Hessian is the diagonal's bound that makes two outputs of two classes take the step
    that one output would.
    """
    begin, end = share(team, labels.shape[0])
    for first in range(begin, end, _CHUNK):
        if cancelled(team):
            return
        last = min(first + _CHUNK, end)
        _soften(raw, first, last, pairs)
        for k in range(raw.shape[0]):
            g, h = pairs[k, 0, first:last], pairs[k, 1, first:last]
            _subtract_class(labels[first:last], np.int32(k), raw.shape[0], g, h)
            if weights.shape[0] > 1:
                _scale(weights[first:last], g)
                _scale(weights[first:last], h)
            _raise_peaks(bits[k, 0, first:last], bits[k, 1, first:last], peaks[team.thread, k])


@part
def _soften(raw, first, last, pairs):
    """Set pairs[k, 0] to the share of class k; pairs[0, 1] and pairs[1, 1] are overwritten.

    The loops are over slices of one row each, whose numbers lie side by side.
    """
    largest, total = pairs[0, 1, first:last], pairs[1, 1, first:last]
    largest[:] = -np.inf
    for k in range(raw.shape[0]):
        _raise(raw[k, first:last], largest, total)
        largest, total = total, largest
    total[:] = 0.0
    for k in range(raw.shape[0]):
        odds = pairs[k, 0, first:last]
        _set_below(raw[k, first:last], largest, odds)
        _add_odds(odds, total)
    for k in range(raw.shape[0]):
        _divide(pairs[k, 0, first:last], total)


@interpreted_as(in_bulk.raise_all)
@part
def _raise(raw, largest, larger):
    """Set `larger` to the larger of two: written elsewhere, or else only some would be written."""
    for i in range(raw.shape[0]):
        larger[i] = max(largest[i], np.float32(raw[i]))


@interpreted_as(in_bulk.set_below)
@part
def _set_below(raw, largest, below):
    for i in range(raw.shape[0]):
        below[i] = np.float32(raw[i] - largest[i])


@interpreted_as(in_bulk.add_odds)
@part
def _add_odds(odds, total):
    """Replace what is in `odds` by its exponential: all in single precision, eight at once."""
    for i in range(odds.shape[0]):
        odd = exp_below(odds[i])
        odds[i] = odd
        total[i] += odd


@interpreted_as(in_bulk.divide)
@part
def _divide(odds, total):
    for i in range(odds.shape[0]):
        odds[i] /= total[i]


@interpreted_as(in_bulk.subtract_class)
@part
def _subtract_class(labels, k, n_classes, g, h):
    factor = np.float32(n_classes / (n_classes - 1.0))
    for i in range(labels.shape[0]):
        p = g[i]
        h[i] = factor * p * (np.float32(1) - p)
        g[i] = p - np.float32(labels[i] == k)


@team_kernel
def largest_bits(team, bits, rows, peaks):
    """Set each thread's largest |g| and h; NaN is beyond infinity, h below zero beyond NaN.

    bits   uint32 [2, n_rows]       read     the memory of float32 derivatives
    rows   int64 [n] or [0]         read     [0]: all
    peaks  uint32 [n_threads, 2]    write
    """
    begin, end = share(team, rows.shape[0] if rows.shape[0] > 0 else bits.shape[1])
    for which in range(2):
        largest, mask = np.uint32(0), _MASKS[which]
        if rows.shape[0] > 0:
            some, own = rows[begin:end], bits[which]
            for i in range(some.shape[0]):
                largest = max(largest, own[np.uint64(some[i])] & mask)
        else:
            largest = _largest(bits[which, begin:end], mask)
        peaks[team.thread, which] = largest


@team_kernel
def total_steps(team, g, h, weights, mask, rows, scales, totals):
    """Sum each thread's magnitudes in whole steps, rounded up.

    g, h           float32 [n_rows]           read
    weights, mask  as in GradientPairs        read
    rows           int64 [n] or [0]           read    [0]: all
    scales         float32 [2]                read    steps per 1.0
    totals         int64 [n_threads, 2]       write
    """
    if rows.shape[0] > 0:
        _total_some(team, g, h, weights, mask, rows, scales, totals)
        return
    begin, end = share(team, g.shape[0])
    for which in range(2):
        numbers = g[begin:end] if which == 0 else h[begin:end]
        scale, total = scales[which], np.int64(0)
        if mask == 0:
            for i in range(numbers.shape[0]):
                total += np.int64(np.int32(abs(numbers[i]) * scale)) + 1
            total *= weights[0]
        else:
            for i in range(numbers.shape[0]):
                steps = np.int64(np.int32(abs(numbers[i]) * scale)) + 1
                total += weights[begin + i] * steps
        totals[team.thread, which] = total


@part
def _total_some(team, g, h, weights, mask, rows, scales, totals):
    begin, end = share(team, rows.shape[0])
    own, g_scale, h_scale = rows[begin:end], scales[0], scales[1]
    G, H = np.int64(0), np.int64(0)
    for i in range(own.shape[0]):
        row = np.uint64(own[i])  # a number without a sign needs no check
        w = weights[own[i] & mask]
        G += w * (np.int64(np.int32(abs(g[row]) * g_scale)) + 1)
        H += w * (np.int64(np.int32(abs(h[row]) * h_scale)) + 1)
    totals[team.thread, 0], totals[team.thread, 1] = G, H


@team_kernel
def write_records(team, g, h, scales, rows, records):
    """Set the records to rows with their derivatives, rounded to the nearest whole step.

    scales   float32 [2]             read    steps per 1.0 of g and of h
    rows     int64 [n] or [0]        read    the rows of the tree; [0]: all
    records  int64 [n]               write   a thread owns a range of them
    """
    begin, end = share(team, records.shape[0])
    if rows.shape[0] == 0:
        _set_records(begin, g[begin:end], h[begin:end], scales, records[begin:end])
        return
    own, some = records[begin:end], rows[begin:end]
    for i in range(own.shape[0]):
        row = np.uint64(some[i])
        own[i] = _record(some[i], g[row], h[row], scales)


@interpreted_as(in_bulk.set_records)
@part
def _set_records(first, g, h, scales, records):
    for i in range(records.shape[0]):
        records[i] = _record(first + i, g[i], h[i], scales)


@part
def _record(row, g, h, scales):
    half = np.float32(0.5)
    g_steps = np.int32(np.floor(g * scales[0] + half))
    h_steps = max(np.int32(h * scales[1] + half), np.int32(1))
    return gradient_record(row, g_steps, h_steps)
