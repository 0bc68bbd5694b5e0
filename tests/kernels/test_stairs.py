"""Stairs: all splits of a flight are tried at once, and lists keep those who go on, in order."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.kernels.flights import all_ways
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.stairs import (
    ABREAST,
    REGISTER,
    SPLITS,
    answers,
    close_up,
    column_of,
    cut_of,
    ready,
    widest,
)

WORDS = 16


@kernel
def answer(keys, halves, words, found):
    for flight in range(halves.shape[0]):
        for split in range(SPLITS):
            halves[flight, split] = column_of(np.int64(halves[flight, split]))
            halves[flight, SPLITS + split] = cut_of(np.int64(halves[flight, SPLITS + split]))
    for row in range(keys.shape[0]):
        ready(keys, row)
    for row in range(found.shape[0]):
        for flight in range(found.shape[1]):
            found[row, flight] = answers(keys, row, words, flight * WORDS)


@kernel
def close(rows, places, n_rows):
    n_kept = np.int64(0)
    for first in range(0, n_rows, ABREAST):
        n_kept = close_up(rows, places, (first, n_rows - first, n_kept))
    return n_kept


@pytest.mark.parametrize("width", [REGISTER, 2 * REGISTER])
def test_each_split_compares_the_key_of_its_own_column(width):
    if width > widest():
        pytest.skip("Registers of this machine do not hold as many keys, or cannot permute them.")
    rng = np.random.default_rng(width)
    keys = rng.choice(np.array([0, 1, 7, 40_000, 65_534, 65_535], np.uint16), (40, width))
    halves = np.zeros((9, 2 * WORDS), np.uint16)
    halves[:, :SPLITS] = rng.integers(0, width, (9, SPLITS))
    halves[:, SPLITS : 2 * SPLITS] = rng.choice(keys.reshape(-1), (9, SPLITS))
    columns, cuts = halves[:, :SPLITS], halves[:, SPLITS : 2 * SPLITS]
    expected = (keys[:, columns] > cuts[None]) @ (1 << np.arange(SPLITS))
    found = np.zeros((40, 9), np.int64)
    answer(keys, halves, halves.view(np.int32).reshape(-1), found)
    assert_array_equal(found, expected)
    assert len(np.unique(found)) > 50


def test_the_way_out_is_that_of_a_row_which_asks_one_split_after_another():
    for found, way in enumerate(all_ways()):
        split = 1
        for _ in range(3):
            split = 2 * split + (found >> split & 1)
        assert way == split


@pytest.mark.skipif(not widest(), reason="registers cannot be permuted here")
@pytest.mark.parametrize("n_rows", [1, ABREAST - 1, ABREAST, ABREAST + 1, 100])
def test_those_who_go_on_stay_in_the_list_in_their_order(n_rows):
    rng = np.random.default_rng(n_rows)
    rows, places = np.zeros((2, n_rows + ABREAST), np.int32)
    rows[:], places[:] = rng.permutation(len(rows)), rng.integers(-3, 4, len(rows))
    goes_on = places[:n_rows] > 0
    expected = rows[:n_rows][goes_on], places[:n_rows][goes_on]
    n_kept = close(rows, places, n_rows)
    assert n_kept == goes_on.sum()
    assert_array_equal(rows[:n_kept], expected[0])
    assert_array_equal(places[:n_kept], expected[1])
