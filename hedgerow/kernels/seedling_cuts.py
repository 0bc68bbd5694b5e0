"""Cuts of seedlings: a feature's best cut of at most 64 rows, or a random one, without sorting."""

import numpy as np

from hedgerow.kernels.bed import DECLINED, FOUND, LEFT, NOT_FOUND, TOTAL
from hedgerow.kernels.codes import MISSING, high_of, low_of
from hedgerow.kernels.cuts import margin_between
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.lanes import (
    FEW_LANES,
    KEYS,
    N_LANES,
    NO_KEY,
    SUMS,
    equal_to,
    key_above,
    key_up_to,
    promising_all,
    promising_few,
    sum_all,
    sum_few,
    up_to,
    weigh,
)
from hedgerow.kernels.machine import lowest_bit
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.random import mixed, uniform
from hedgerow.kernels.random_cuts import last_below
from hedgerow.kernels.split import beats, drawn_between


@inlined_part
def try_feature(problem, feature, bed, records, own):
    """Take a feature's cut if it is the best; FOUND if it varies, NOT_FOUND if it is constant."""
    about, lanes, n_classes = problem.codes.features[feature], bed.lanes, problem.moments.n_classes
    column, place = problem.codes.columns[about.place], np.uint64(0)
    for i in range(N_LANES):
        lanes[KEYS, i] = NO_KEY
    differs, top = np.uint8(0), np.uint8(0)
    first = column[row_of(records[np.uint64(own.begin)])]
    for i in range(np.uint64(own.begin), np.uint64(own.end)):
        code = column[row_of(records[i])]
        lanes[KEYS, place] = code
        differs, top = differs | (code ^ first), max(top, code)
        place += np.uint64(1)
    if differs == 0:
        return np.int64(NOT_FOUND)
    if top == MISSING:
        return np.int64(DECLINED)
    if problem.rules.random_cut:
        return _try_random(problem, feature, np.int64(top), bed, own)
    n, totals, least = np.int64(place), bed.sums[TOTAL], problem.rules.min_weight
    floor = own.gain + _squares(totals, n_classes) if own.feature >= 0 else 0.0
    if n <= FEW_LANES:
        sum_few(lanes, n, n_classes)
        promising = promising_few(lanes, totals, n_classes, least, floor)
    else:
        sum_all(lanes, n, n_classes)
        promising = promising_all(lanes, totals, n_classes, least, floor)
    _judge(problem, feature, promising, bed, own)
    return np.int64(FOUND)


@part
def _squares(totals, n_classes):
    """Return sum_k W_k^2 / W: a node's score and its weight."""
    W, squares = 0.0, 0.0
    for k in range(n_classes):
        W += totals[k]
        squares += float(totals[k]) * float(totals[k])
    return squares / W


@inlined_part
def _judge(problem, feature, promising, bed, own):
    """Take the best of the cuts after the keys of promising lanes, if it beats what was found."""
    lanes, totals, n_classes = bed.lanes, bed.sums[TOTAL], problem.moments.n_classes
    best, margin, cut, best_lane, best_right = -np.inf, -1.0, np.int64(-1), np.int64(0), np.int64(0)
    while promising != 0:
        lane = lowest_bit(promising)
        key = np.int64(lanes[KEYS, np.uint64(lane)])
        promising &= ~equal_to(lanes, key)
        both = _score(lanes, lane, totals, n_classes)
        if both < best:
            continue
        right = key_above(lanes, key)
        wider = margin_between(problem.codes, feature, key, right)
        if both > best or wider > margin or (wider == margin and key < cut):
            best, margin, cut, best_lane, best_right = both, wider, key, lane, right
    gain = best - problem.criterion.score(totals)
    if cut >= 0 and beats(gain, margin, feature, own):
        own.gain, own.margin, own.feature, own.threshold = gain, margin, feature, np.nan
        own.cut, own.following, own.left = cut, best_right, up_to(lanes, cut)
        for k in range(n_classes):
            bed.sums[LEFT, k] = lanes[SUMS + k, np.uint64(best_lane)]


@inlined_part
def _score(lanes, lane, totals, n_classes):
    """Return the score of both sides of the cut after a lane's key, to the last bit."""
    L, R, squares, others = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for k in range(n_classes):
        left = np.int64(lanes[np.uint64(SUMS + k), np.uint64(lane)])
        right = totals[k] - left
        L, R = L + left, R + right
        squares, others = squares + left * left, others + right * right
    return (squares / L - L) + (others / R - R)


@inlined_part
def _try_random(problem, feature, high, bed, own):
    """Take a feature's random cut, if it beats what was found; DECLINED if an end is infinite."""
    codes, about, lanes = problem.codes, problem.codes.features[feature], bed.lanes
    n_classes = problem.moments.n_classes
    totals, sums, low = bed.sums[TOTAL], bed.right, key_above(bed.lanes, np.int64(-1))
    u = uniform(mixed(mixed(own.bits, feature), 1))
    drawn = drawn_between(u, low_of(codes, about, low), high_of(codes, about, high))
    if np.isnan(drawn):
        return np.int64(DECLINED)
    cut = last_below(drawn, codes, about, low, high - 1)
    weigh(lanes, cut, n_classes, sums)
    L, R, squares, others = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for k in range(n_classes):
        right = totals[k] - sums[k]
        L, R = L + sums[k], R + right
        squares, others = squares + sums[k] * sums[k], others + right * right
    if min(L, R) >= problem.rules.min_weight:
        both = (squares / L - L) + (others / R - R)
        gain = both - problem.criterion.score(totals)
        if gain >= own.gain:
            last, following = key_up_to(lanes, cut), key_above(lanes, cut)
            margin = margin_between(codes, feature, last, following)
            if beats(gain, margin, feature, own):
                own.gain, own.margin, own.feature, own.threshold = gain, margin, feature, drawn
                own.cut, own.following, own.left = last, following, up_to(lanes, cut)
                for k in range(n_classes):
                    bed.sums[LEFT, k] = sums[k]
    return np.int64(FOUND)
