"""Reweighting: what rows weigh after a round of AdaBoost, from their margins to whole steps."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.exponential import exp, log
from hedgerow.kernels.jit import inlined_part, kernel, part
from hedgerow.kernels.machine import bits_of_double, double_of_bits
from hedgerow.kernels.meeting import cancelled, meet, share

_CHUNK = 4096
# Adding it rounds a number to a whole one, which is then in the lowest bits.
_ROUNDING, _ROUNDING_BITS = 1.5 * 2.0**52, 0x4338000000000000
_NO_SIGN, _LEAST = 0x7FFFFFFFFFFFFFFF, np.int64(-0x7FFFFFFFFFFFFFFF)


class Standing(NamedTuple):
    """What rows are, whatever the rounds say of them.

    labels  int32 [n_rows]            their classes
    counts  int64 [n_rows] or [1]     how many rows each stands for; [1]: one
    logs    float64 [n_rows] or [1]   logarithm of the weight of each of these; [1]: 0
    slope   float64                   of the logarithm of a weight in the margin, below 0
    scale   float64                   steps of the largest weight, at most 2^51
    """

    labels: NDArray[np.int32]
    counts: NDArray[np.int64]
    logs: NDArray[np.float64]
    slope: float
    scale: float


@team_kernel
def reweigh(team, rows, places, scores, margins, marks, steps):
    """Add scores[place, class] to each row's margin; set steps to what rows weigh then.

        margin = margin + scores[place, class]
        w      = exp(log + slope margin)
        steps  = count max(round(scale w / (largest w)), 1)

    rows     Standing                   read
    places   int32 [n_rows], or [0]     read    what was said of a row: its leaf; [0]: nothing
    scores   float64 [n_places, K]      read
    margins  float64 [n_rows]           both
    marks    int64 [n_threads]          write   of each thread's largest logarithm
    steps    int64 [n_rows]             write

    A thread owns a range of rows. The largest of all is the same whoever finds it, and e^x gives
    the same bits everywhere: so do the steps. No row weighs nothing: a bin has rows if it has
    weight, and trees part rows as they will part them again.
    """
    begin, end = share(team, margins.shape[0])
    mark, slope, has_logs = _LEAST, rows.slope, rows.logs.shape[0] > 1
    for first in range(begin, end, _CHUNK):
        if cancelled(team):
            return
        last = min(first + _CHUNK, end)
        own = margins[first:last]
        if places.shape[0] > 0:
            _add(places[first:last], rows.labels[first:last], scores, own)
        mark = max(mark, _largest(rows.logs[first if has_logs else 0 : last], slope, own))
    marks[team.thread] = mark
    meet(team)
    for thread in range(team.n_threads):
        mark = max(mark, marks[thread])
    peak = double_of_bits(_mark(mark))
    for first in range(begin, end, _CHUNK):
        if cancelled(team):
            return
        last = min(first + _CHUNK, end)
        own = steps[first:last]
        logs = rows.logs[first if has_logs else 0 : last]
        _weigh(logs, slope, margins[first:last], peak, rows.scale, own)
        if rows.counts.shape[0] > 1:
            _multiply(rows.counts[first:last], own)


@part
def _add(places, labels, scores, margins):
    for i in range(margins.shape[0]):
        margins[i] += scores[np.uint32(places[i]), np.uint32(labels[i])]


@part
def _largest(logs, slope, margins):
    """Return the mark of the largest logarithm: whole numbers are compared several at a time."""
    largest = _LEAST
    if logs.shape[0] == margins.shape[0]:
        for i in range(margins.shape[0]):
            largest = max(largest, _mark(bits_of_double(logs[i] + slope * margins[i])))
    else:
        for i in range(margins.shape[0]):
            largest = max(largest, _mark(bits_of_double(logs[0] + slope * margins[i])))
    return largest


@inlined_part
def _mark(bits):
    """Return a whole number that is ordered as the float64 of these bits; of it, the bits."""
    return bits ^ ((bits >> 63) & _NO_SIGN)


@part
def _weigh(logs, slope, margins, peak, scale, steps):
    if logs.shape[0] == margins.shape[0]:
        for i in range(margins.shape[0]):
            steps[i] = max(_whole(exp(logs[i] + slope * margins[i] - peak) * scale), np.int64(1))
    else:
        own = logs[0] - peak
        for i in range(margins.shape[0]):
            steps[i] = max(_whole(exp(own + slope * margins[i]) * scale), np.int64(1))


@inlined_part
def _whole(x):
    """Return the whole number next to x, 0 <= x <= 2^51, in a way that vectors know."""
    return bits_of_double(x + _ROUNDING) - _ROUNDING_BITS


@part
def _multiply(counts, steps):
    for i in range(counts.shape[0]):
        steps[i] *= counts[i]


@kernel
def take_logs(numbers):
    """Replace numbers, float64 [n], by their natural logarithms, the same bits everywhere."""
    for i in range(numbers.shape[0]):
        numbers[i] = log(numbers[i])
