"""Screens: quick estimates of the scores of all cuts of a feature's bins.

scratch.running[0] holds the sums of bins 0..b for each cut b. A screen sets rough[b] to
the score of both sides over a unit, off by less than a share SLACK of itself, or to a
negative number if a side is too small. It returns the largest and the unit. Only the
cuts that may be the best are then judged to the last bit.
"""

import numpy as np

from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.machine import float_of_bits

SLACK = 2.0**-19
_HUGE = 2.0**40  # squares and products of smaller numbers fit into a float32
_NEGATIVE = -(2**31)


@inlined_part
def screen_sums(criterion, moments, rules, total, n_cuts, width, scratch):
    """Estimate by the criterion's own score, whatever the moments are."""
    below, above, rough = scratch.running[0], scratch.running[1], scratch.rough
    for i in range(n_cuts * width):
        above[i] = total[i % width] - below[i]
    largest = np.float32(-np.inf)
    for bin in range(n_cuts):
        at = bin * width
        enough = min(criterion.mass(below, at), criterion.mass(above, at)) >= rules.min_weight
        enough &= min(moments.count(below, at), moments.count(above, at)) >= rules.min_rows
        rough[bin] = np.float32(criterion.both(below, above, at) if enough else -np.inf)
        largest = max(largest, rough[bin])
    return np.float64(largest), 1.0


@inlined_part
def screen_pairs(newton, min_weight, total, n_cuts, scratch):
    """Estimate Newton scores from packed pairs, in single precision, eight bins at once.

    G_L^2 / a + G_R^2 / b = (G_L^2 b + G_R^2 a) / (a b),     a = H_L + l2, b = H_R + l2

    in whole steps of G and H. scratch.halves is the memory of running[0]: H, G of each bin.
    """
    unit = newton.g_unit * newton.g_unit / (2.0 * newton.h_unit)
    if newton.l1 > 0.0 or newton.l2 > _HUGE * newton.h_unit:
        _score_pairs(newton, min_weight, total, n_cuts, unit, scratch)
    else:
        _estimate_pairs(newton, min_weight, total, n_cuts, scratch)
    bits, largest = scratch.rough_bits, np.int32(_NEGATIVE)
    for bin in range(n_cuts):  # numbers that are not negative are ordered as their bits
        largest = max(largest, bits[bin])
    return (np.float64(float_of_bits(largest)) if largest >= 0 else -np.inf), unit


@inlined_part
def _estimate_pairs(newton, min_weight, total, n_cuts, scratch):
    halves, rough = scratch.halves[0], scratch.rough
    penalty = np.float32(newton.l2 / newton.h_unit)
    G, H, least = np.int32(total >> 32), np.int32(total & 0x7FFFFFFF), np.int32(min_weight)
    for bin in range(n_cuts):
        h_left, g_left = halves[2 * bin], halves[2 * bin + 1]
        h_right, g_right = np.int32(H - h_left), np.int32(G - g_left)
        a, b = np.float32(h_left) + penalty, np.float32(h_right) + penalty
        left, right = np.float32(g_left), np.float32(g_right)
        both = (left * left * b + right * right * a) / max(a * b, np.float32(1.0))
        rough[bin] = both if min(h_left, h_right) >= least else np.float32(-1.0)


@inlined_part
def _score_pairs(newton, min_weight, total, n_cuts, unit, scratch):
    below, above, rough = scratch.running[0], scratch.running[1], scratch.rough
    for bin in range(n_cuts):
        above[bin] = total - below[bin]
        enough = min(newton.mass(below, bin), newton.mass(above, bin)) >= min_weight
        both = newton.both(below, above, bin) / unit if enough else -1.0
        rough[bin] = np.float32(both)
