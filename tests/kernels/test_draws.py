"""Drawing rows, against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.codes import BIN, FEATURE, Codes, no_kinds
from hedgerow.kernels.draws import (
    N_SIZES,
    Lots,
    amplify,
    count_sizes,
    draw,
    measure_sizes,
    mix_contents,
    mix_repeats,
    set_chances,
)
from hedgerow.kernels.random import mixed_bits
from hedgerow.kernels.team import hired


def run(n_threads, kernel, *arguments):
    with hired(n_threads, 1e9) as team:
        team.run(kernel, *arguments)


def fraction(bits):
    return ((bits >> 11) & (2**53 - 1)) / 2**53


@st.composite
def urns(draw_from):
    """Make rows with keys, numbers of repeats, and some of them to draw from."""
    n = draw_from(st.integers(1, 30))
    rng = np.random.default_rng(draw_from(st.integers(0, 99)))
    weighted = draw_from(st.booleans())
    keys, first, names = rng.integers(-(2**63), 2**63 - 1, n), rng.integers(0, 3, n), np.zeros(n)
    names = names.astype(np.int64)
    run(1, mix_repeats, keys, first, names)
    return Lots(
        keys=keys,
        first=first,
        names=names,
        weights=rng.integers(1, 5, n) if weighted else np.ones(1, np.int64),
        mask=-1 if weighted else 0,
        rows=np.flatnonzero(rng.random(n) < 0.8),
    )


@given(urns(), st.integers(-(2**62), 2**62), st.integers(1, 3), st.booleans())
def test_a_repeat_is_drawn_by_the_bits_of_its_name(lots, bits, n_threads, even):
    n = len(lots.keys)
    chances = np.array([0.4]) if even else np.random.default_rng(0).random(n)
    counts, drawn = np.zeros(n, np.int64), np.full((2, len(lots.rows)), -7, np.int64)
    told = np.full((n_threads, 2), -7, np.int64)
    run(n_threads, draw, lots, bits, chances, counts, drawn, told)
    expected = np.zeros(n, np.int64)
    for row in lots.rows.tolist():
        for repeat in range(int(lots.weights[row & lots.mask])):
            name = mixed_bits(int(lots.keys[row]), int(lots.first[row]) + repeat)
            u = fraction(mixed_bits(bits, name))
            expected[row] += u < chances[0 if even else row]
    assert_array_equal(counts, expected if lots.mask else 0)
    assert_array_equal(drawn[0, : int(told[:, 0].sum())], np.flatnonzero(expected))
    assert told[:, 1].sum() == expected.sum()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_key_is_mixed_from_all_that_a_row_is(n_threads):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 3, (2, 50)).astype(np.uint8)
    wide = rng.integers(0, 1000, (1, 50)).astype(np.int32)
    blocks = np.zeros((1, 50, 16), np.uint8)
    features, bins = (np.zeros(0, kind).view(np.recarray) for kind in (FEATURE, BIN))
    none = np.zeros((0, 50), np.uint8)
    no_levels = none.reshape(0, 50, 1), bins, 1, np.zeros((0, 2), np.int64)
    no_digits, kinds = np.zeros((0, 8, 3), np.int64), no_kinds(2, 50)
    codes = Codes(blocks, columns, wide, none, features, bins, *no_levels, no_digits, *kinds)
    numbers = rng.normal(size=(2, 50)).view(np.int64)
    keys = np.zeros(50, np.int64)
    run(n_threads, mix_contents, codes, numbers, keys)
    for row in range(50):
        key = 0
        for part in (*columns[:, row], wide[0, row], *numbers[:, row]):
            key = mixed_bits(key, int(part))
        assert keys[row] == key


@given(urns(), st.integers(1, 3))
def test_sizes_are_counted_and_chances_given_by_size(lots, n_threads):
    n = len(lots.keys)
    pairs = np.random.default_rng(1).normal(size=(2, 2, n)).astype(np.float32)
    sizes = np.full(n, np.nan, np.float32)
    run(n_threads, measure_sizes, pairs, sizes)
    assert_allclose(sizes, np.abs(pairs[:, 0] * pairs[:, 1]).sum(axis=0), rtol=1e-6)
    bits, places = sizes.view(np.int32), sizes.view(np.int32) >> 16
    counts = np.zeros((n_threads, N_SIZES), np.int64)
    run(n_threads, count_sizes, lots, bits, counts)
    weights = lots.weights[lots.rows & lots.mask]
    expected = np.bincount(places[lots.rows], weights, minlength=N_SIZES)
    assert_array_equal(counts.sum(axis=0), expected)
    chances, edge = np.full(n, np.nan), int(places[0])
    run(n_threads, set_chances, lots, bits, 5, edge, 0.5, 0.25, chances)
    for row in range(n):
        if row not in lots.rows:
            assert np.isnan(chances[row])
            continue
        lot = fraction(mixed_bits(mixed_bits(5, 1), int(lots.keys[row])))
        is_above = places[row] > edge or (places[row] == edge and lot < 0.5)
        assert chances[row] == (1.0 if is_above else 0.25)


def test_what_is_drawn_stands_for_what_is_not():
    pairs = np.arange(1, 13, dtype=np.float32).reshape(1, 2, 6)
    before, chances = pairs.copy(), np.array([1.0, 0.25, 0.5, 1.0, 0.125, 0.5])
    drawn = np.array([0, 2, 4])
    run(2, amplify, drawn, chances, pairs)
    factors = np.array([1, 1, 2, 1, 8, 1])
    assert_array_equal(pairs, before * factors)
