"""Lanes: what vectors say of the rows or codes of a node, by its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.kernels.code_lanes import accumulate, keep_promising
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.keys import equal_to, key_above, key_up_to, weigh
from hedgerow.kernels.lanes import (
    CLASSES,
    KEYS,
    MOST_CLASSES,
    N_LANES,
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
from hedgerow.kernels.tiles import copy_codes


@kernel
def summed(lanes, n_rows, n_classes):
    if n_rows <= NARROW:
        sum_narrow(lanes, n_rows, n_classes)
    else:
        sum_wide(lanes, n_rows, n_classes)


@kernel
def promising(lanes, n_rows, totals, n_classes, least, floor):
    if n_rows <= NARROW:
        return promising_narrow(lanes, totals, n_classes, least, floor)
    return promising_wide(lanes, totals, n_classes, least, floor)


@kernel
def accumulated(lanes, n_chunks, n_classes, words):
    accumulate(lanes, n_chunks, n_classes, words)


@kernel
def kept(lanes, totals, n_classes, least, floor, n_chunks, words, rough):
    keep_promising(lanes, totals, n_classes, least, floor, n_chunks, words, rough)


@kernel
def asked(lanes, key, first, n_classes, sums):
    weigh(lanes, key, first, n_classes, sums)
    return equal_to(lanes, key), key_above(lanes, key, first), key_up_to(lanes, key, first)


@kernel
def copied(source, first, target, place):
    copy_codes(source, first, target, place)


def lanes_of(random, n_rows, n_codes, n_classes):
    """Return lanes of random rows; what is not a row's is garbage, but for keys and weights."""
    lanes = random.integers(-999, 999, (SUMS + MOST_CLASSES, N_LANES)).astype(np.int16)
    lanes[KEYS], lanes[WEIGHTS] = NO_KEY, 0
    lanes[KEYS, :n_rows] = random.integers(0, n_codes, n_rows)
    lanes[WEIGHTS, :n_rows] = random.integers(1, 4, n_rows)
    lanes[CLASSES, :n_rows] = random.integers(0, n_classes, n_rows)
    return lanes


def totals_of(lanes, n_classes, is_there):
    """Return the weight of each class among some rows, int64 [n_classes]."""
    some = lanes[CLASSES][is_there], lanes[WEIGHTS][is_there].astype(float)
    return np.bincount(*some, minlength=n_classes).astype(np.int64)


def squares_after(lanes, n_classes, key):
    """Return what cuts are estimated by, for the one after a key; and the smaller side's weight."""
    is_row = lanes[KEYS] != NO_KEY
    left = totals_of(lanes, n_classes, is_row & (lanes[KEYS] <= key)).astype(float)
    right = totals_of(lanes, n_classes, is_row & (lanes[KEYS] > key)).astype(float)
    if min(left.sum(), right.sum()) == 0:
        return -1.0, 0.0
    squares = (left @ left) / left.sum() + (right @ right) / right.sum()
    return squares, min(left.sum(), right.sum())


def bits(words):
    return {64 * i + bit for i, word in enumerate(words) for bit in range(64) if word >> bit & 1}


SIZES = st.sampled_from([2, 3, 31, 32, 33, 63, 64])
CODES = st.sampled_from([2, 5, 64, 65, 200, 255])


@given(SIZES, CODES, st.integers(2, MOST_CLASSES), st.integers(0, 2**31))
def test_a_lane_has_the_weight_of_each_class_up_to_its_key(n_rows, n_codes, n_classes, seed):
    lanes = lanes_of(np.random.default_rng(seed), n_rows, n_codes, n_classes)
    summed(lanes, n_rows, n_classes)
    for lane in range(n_rows):
        is_left = lanes[KEYS] <= lanes[KEYS, lane]
        expected = totals_of(lanes, n_classes, is_left)
        assert_array_equal(lanes[SUMS : SUMS + n_classes, lane], expected)


@given(SIZES, CODES, st.integers(2, 4), st.sampled_from([1, 3, 40]), st.integers(0, 2**31))
def test_promising_lanes_are_those_of_nearly_the_best_cut(n_rows, n_codes, n_classes, least, seed):
    random = np.random.default_rng(seed)
    lanes = lanes_of(random, n_rows, n_codes, n_classes)
    summed(lanes, n_rows, n_classes)
    totals = totals_of(lanes, n_classes, lanes[KEYS] != NO_KEY)
    known = [squares_after(lanes, n_classes, key) for key in lanes[KEYS, :n_rows]]
    scores = [squares if lighter >= least else -1.0 for squares, lighter in known]
    for floor in (0.0, 0.9 * max(scores), 1.1 * max(scores)):
        found = bits([promising(lanes, n_rows, totals, n_classes, least, max(floor, 0.0))])
        bar = max(*scores, floor, 0.0)
        # Rounding decides about those in between.
        assert {i for i, each in enumerate(scores) if each >= bar and each > 0} <= found
        assert found <= {i for i, each in enumerate(scores) if each >= bar * (1 - 2.0**-16) > 0}


@given(CODES, st.integers(2, 5), st.integers(0, 2**31))
def test_codes_have_the_sums_of_all_codes_up_to_them(n_codes, n_classes, seed):
    random = np.random.default_rng(seed)
    n_chunks, lanes = -(-n_codes // WIDE), lanes_of(random, 300, n_codes, n_classes)
    cells, words = np.zeros((n_classes, N_LANES), np.int16), np.full(8, -1)
    np.add.at(cells, (lanes[CLASSES, :300], lanes[KEYS, :300]), lanes[WEIGHTS, :300])
    lanes[SUMS : SUMS + n_classes] = cells
    accumulated(lanes, n_chunks, n_classes, words)
    expected = np.cumsum(cells, axis=1)[:, : WIDE * n_chunks]
    assert_array_equal(lanes[SUMS : SUMS + n_classes, : WIDE * n_chunks], expected)
    assert bits(words[:n_chunks]) == set(lanes[KEYS, :300].tolist())
    assert (words[n_chunks:] == -1).all()


@given(CODES, st.integers(2, 4), st.sampled_from([1, 3, 40]), st.integers(0, 2**31))
def test_promising_codes_are_those_of_nearly_the_best_cut(n_codes, n_classes, least, seed):
    random = np.random.default_rng(seed)
    n_chunks, lanes = -(-n_codes // WIDE), lanes_of(random, 300, n_codes, n_classes)
    cells, words = np.zeros((n_classes, N_LANES), np.int16), np.zeros(8, np.int64)
    np.add.at(cells, (lanes[CLASSES, :300], lanes[KEYS, :300]), lanes[WEIGHTS, :300])
    lanes[SUMS : SUMS + n_classes] = cells
    accumulated(lanes, n_chunks, n_classes, words)
    totals, rough = cells.sum(axis=1).astype(np.int64), np.empty(N_LANES, np.float32)
    scores = {}
    for code in sorted(set(lanes[KEYS, :300].tolist())):
        squares, lighter = squares_after(lanes, n_classes, code)
        scores[code] = squares if lighter >= least else -1.0
    best = max(scores.values())
    kept(lanes, totals, n_classes, least, 0.5 * max(best, 0.0), n_chunks, words, rough)
    found = bits(words[:n_chunks])
    assert {code for code, each in scores.items() if each == best and each > 0} <= found
    assert found <= {code for code, each in scores.items() if each >= best * (1 - 2.0**-16) > 0}


@given(
    st.integers(1, 128), CODES, st.integers(-1, 255), st.sampled_from([0, 64]), st.integers(0, 99)
)
def test_keys_of_64_lanes_are_compared_at_once(n_rows, n_codes, key, first, seed):
    lanes, n_classes = lanes_of(np.random.default_rng(seed), n_rows, n_codes, 3), 3
    some, sums = lanes[:, first : first + WIDE], np.array([10, 20, 30])
    equal, above, below = asked(lanes, key, first, n_classes, sums)
    assert bits([equal]) == set(np.flatnonzero(lanes[KEYS, :WIDE] == key).tolist())
    assert above == min((x for x in some[KEYS].tolist() if x > key), default=NO_KEY)
    assert below == max((x for x in some[KEYS].tolist() if x <= key), default=-1)
    is_left = (some[KEYS] <= key) & (some[WEIGHTS] > 0)
    assert_array_equal(sums - [10, 20, 30], totals_of(some, n_classes, is_left))


@pytest.mark.parametrize("place", [0, 16, 32])
def test_sixteen_codes_of_a_row_are_copied_and_no_others(place):
    source = np.arange(96, dtype=np.uint8).reshape(6, 16)
    target = np.full((4, 16), 200, np.uint8)
    copied(source, 48, target, place)
    expected = np.full((4, 16), 200, np.uint8)
    expected[place // 16] = source[3]
    assert_array_equal(target, expected)
