"""Cuts of seedlings: a feature's best cut of few rows, or a random one, without sorting them.

At most 64 rows have lanes of their own. Of more the codes have: see `lanes` and `code_lanes`.
"""

import numpy as np

from hedgerow.kernels.bed import DECLINED, FOUND, LEFT, NOT_FOUND, TOTAL
from hedgerow.kernels.code_lanes import accumulate, keep_promising
from hedgerow.kernels.codes import MISSING, high_of, low_of
from hedgerow.kernels.cuts import margin_between
from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.keys import equal_to, key_above, key_up_to, weigh
from hedgerow.kernels.lanes import (
    CLASSES,
    KEYS,
    NARROW,
    NO_KEY,
    SUMS,
    WEIGHTS,
    WIDE,
    promising_narrow,
    promising_wide,
    sum_narrow,
    sum_wide,
)
from hedgerow.kernels.machine import lowest_bit
from hedgerow.kernels.moments import row_of
from hedgerow.kernels.random import mixed, uniform
from hedgerow.kernels.random_cuts import last_below
from hedgerow.kernels.split import beats, drawn_between, standing

_OCCURS, _PROMISING = 0, 1  # rows of Bed.words
_ONE = np.uint64(1)


@inlined_part
def try_feature(problem, feature, bed, records, own):
    """Take a feature's cut if it is the best; FOUND if it varies, NOT_FOUND if it is constant."""
    about, lanes = problem.codes.features[feature], bed.lanes
    column, place = problem.codes.columns[about.place], np.uint64(0)
    n = own.end - own.begin
    for i in range(np.uint64(rounded_up(n))):
        lanes[KEYS, i] = NO_KEY
    differs, above = np.uint8(0), np.uint64(0)
    first = column[row_of(records[np.uint64(own.begin)])]
    for i in range(np.uint64(own.begin), np.uint64(own.end)):
        code = column[row_of(records[i])]
        lanes[KEYS, place] = code
        differs, above = differs | (code ^ first), above | (np.uint64(code) + _ONE)
        place += _ONE
    if differs == 0:
        return np.int64(NOT_FOUND)
    if above > MISSING:
        return np.int64(DECLINED)
    if problem.rules.random_cut:
        return _try_random(problem, feature, bed, own)
    n_chunks = _find_promising(problem, about, n, bed, own)
    _judge(problem, feature, n_chunks, n > WIDE, bed, own)
    return np.int64(FOUND)


@inlined_part
def rounded_up(n):
    """Return how many lanes the vectors have that n rows need."""
    return (n + (WIDE - 1)) & -WIDE


@inlined_part
def _find_promising(problem, about, n, bed, own):
    """Set bed.words to the lanes of promising cuts; return how many words that are."""
    lanes, totals, n_classes = bed.lanes, bed.sums[TOTAL], problem.moments.n_classes
    least, floor, near = problem.rules.min_weight, 0.0, bed.words[_PROMISING]
    if own.feature >= 0:
        floor = own.gain + own.score + own.weight
    if n <= NARROW:
        sum_narrow(lanes, n, n_classes)
        near[0] = promising_narrow(lanes, totals, n_classes, least, floor)
        return np.int64(1)
    if n <= WIDE:
        sum_wide(lanes, n, n_classes)
        near[0] = promising_wide(lanes, totals, n_classes, least, floor)
        return np.int64(1)
    n_codes = rounded_up(about.n_bins)
    n_chunks = n_codes // WIDE
    for k in range(n_classes):
        for code in range(np.uint64(n_codes)):
            lanes[np.uint64(SUMS + k), code] = 0
    for i in range(np.uint64(n)):
        own, key = np.uint64(SUMS + lanes[CLASSES, i]), np.uint64(lanes[KEYS, i])
        lanes[own, key] += lanes[WEIGHTS, i]
    accumulate(lanes, n_chunks, n_classes, bed.words[_OCCURS])
    for chunk in range(n_chunks):
        near[chunk] = bed.words[_OCCURS, chunk]
    keep_promising(lanes, totals, n_classes, least, floor, n_chunks, near, bed.rough)
    return n_chunks


@inlined_part
def _judge(problem, feature, n_chunks, by_code, bed, own):
    """Take the best of the cuts after the keys of promising lanes, if it beats what was found."""
    lanes, totals, n_classes = bed.lanes, bed.sums[TOTAL], problem.moments.n_classes
    best, margin, cut, best_lane, following = -np.inf, -1.0, np.int64(-1), np.int64(0), np.int64(0)
    for chunk in range(n_chunks):
        promising = bed.words[_PROMISING, chunk]
        while promising != 0:
            bit = lowest_bit(promising)
            lane = chunk * WIDE + bit
            key = lane if by_code else np.int64(lanes[KEYS, np.uint64(lane)])
            promising &= ~(np.int64(1) << bit if by_code else equal_to(lanes, key))
            both = _score(lanes, lane, totals, n_classes)
            if both < best:
                continue
            right = _code_after(bed.words[_OCCURS], key) if by_code else key_above(lanes, key, 0)
            wider = margin_between(problem.codes, feature, key, right)
            if both > best or wider > margin or (wider == margin and key < cut):
                best, margin, cut, best_lane, following = both, wider, key, lane, right
    gain = best - own.score
    margin = standing(problem.rules, own.bits, feature, gain, margin, own)
    if cut >= 0 and beats(gain, margin, feature, own):
        own.gain, own.margin, own.feature, own.threshold = gain, margin, feature, np.nan
        own.cut, own.following = cut, following
        for k in range(n_classes):
            bed.sums[LEFT, k] = lanes[np.uint64(SUMS + k), np.uint64(best_lane)]


@part
def _code_after(words, code):
    """Return the next code whose bit is set."""
    chunk = (code + 1) // WIDE
    word = words[chunk] & (np.int64(-1) << ((code + 1) % WIDE))
    while word == 0:
        chunk += 1
        word = words[chunk]
    return chunk * WIDE + lowest_bit(word)


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
def _try_random(problem, feature, bed, own):
    """Take a feature's random cut, if it beats what was found; DECLINED if an end is infinite."""
    codes, about, lanes = problem.codes, problem.codes.features[feature], bed.lanes
    totals, sums, n_classes = bed.sums[TOTAL], bed.right, problem.moments.n_classes
    n_lanes, low, high = rounded_up(own.end - own.begin), np.int64(NO_KEY), np.int64(-1)
    for first in range(0, n_lanes, WIDE):
        low = min(low, key_above(lanes, np.int64(-1), first))
        high = max(high, key_up_to(lanes, np.int64(MISSING), first))
    u = uniform(mixed(mixed(own.bits, feature), 1))
    drawn = drawn_between(u, low_of(codes, about, low), high_of(codes, about, high))
    if np.isnan(drawn):
        return np.int64(DECLINED)
    cut = last_below(drawn, codes, about, low, high - 1)
    for k in range(n_classes):
        sums[k] = 0
    for first in range(0, n_lanes, WIDE):
        weigh(lanes, cut, first, n_classes, sums)
    both = _score_of(sums, totals, n_classes, problem.rules.min_weight)
    gain = both - own.score
    if both > -np.inf and gain >= own.gain:
        _take_random(problem, feature, gain, drawn, cut, bed, own)
    return np.int64(FOUND)


@inlined_part
def _score_of(sums, totals, n_classes, min_weight):
    """Return the score of a cut with these sums on its left; -inf if it is not allowed."""
    L, R, squares, others = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for k in range(n_classes):
        right = totals[k] - sums[k]
        L, R = L + sums[k], R + right
        squares, others = squares + sums[k] * sums[k], others + right * right
    return (squares / L - L) + (others / R - R) if min(L, R) >= min_weight else -np.inf


@inlined_part
def _take_random(problem, feature, gain, drawn, cut, bed, own):
    """Take a random cut, if it beats what was found also by its margin."""
    last, following = np.int64(-1), np.int64(NO_KEY)
    for first in range(0, rounded_up(own.end - own.begin), WIDE):
        last = max(last, key_up_to(bed.lanes, cut, first))
        following = min(following, key_above(bed.lanes, cut, first))
    margin = margin_between(problem.codes, feature, last, following)
    margin = standing(problem.rules, own.bits, feature, gain, margin, own)
    if beats(gain, margin, feature, own):
        own.gain, own.margin, own.feature, own.threshold = gain, margin, feature, drawn
        own.cut, own.following = last, following
        for k in range(problem.moments.n_classes):
            bed.sums[LEFT, k] = bed.right[k]
