"""Rows as bits: what is asked of a block's rows, and the leaves that they reach."""

import numba
import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features
from numpy.testing import assert_array_equal

from hedgerow.kernels import leaf_values
from hedgerow.kernels.blocks import LANE
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.leaf_values import SMALL, add_small
from hedgerow.kernels.reached import BITS, MOST_PLANES, mark, number_leaves, part_rows

FIRST = 3 * LANE  # bits
PLANES = FIRST + 256 * BITS
N_BYTES = PLANES + MOST_PLANES * BITS


@kernel
def marked(lanes, test, limit, target):
    mark(lanes, test, limit, target)


@kernel
def parted(lanes, condition, source, left, right):
    part_rows(lanes, condition, source, left, right)


@kernel
def numbered(lanes, n_planes):
    number_leaves(lanes, FIRST, n_planes, PLANES, LANE)


def bits_at(lanes, place):
    return np.unpackbits(lanes[place : place + BITS], bitorder="little").astype(bool)


def random_bytes(seed):
    return np.random.default_rng(seed).integers(256, size=N_BYTES).astype(np.uint8)


@pytest.mark.parametrize("limit", [0, 1, 127, 128, 254, 255])
def test_rows_are_marked_whose_byte_is_at_most_the_limit(limit):
    lanes = random_bytes(limit)
    before = lanes.copy()
    marked(lanes, LANE, limit, FIRST)
    assert_array_equal(bits_at(lanes, FIRST), before[LANE : 2 * LANE] <= limit)
    lanes[FIRST : FIRST + BITS] = before[FIRST : FIRST + BITS]
    assert_array_equal(lanes, before)


def test_a_condition_parts_the_rows_of_a_node():
    lanes = random_bytes(0)
    rows, meets = bits_at(lanes, FIRST), bits_at(lanes, FIRST + BITS)
    left, right = FIRST + 2 * BITS, FIRST + 5 * BITS
    parted(lanes, FIRST + BITS, FIRST, left, right)
    assert_array_equal(bits_at(lanes, left), rows & meets)
    assert_array_equal(bits_at(lanes, right), rows & ~meets)


@pytest.mark.parametrize("n_planes", [4, 5, 6, 7, 8])
def test_rows_have_the_numbers_of_the_leaves_that_they_reach(n_planes):
    lanes, rng = random_bytes(n_planes), np.random.default_rng(n_planes)
    leaves = rng.integers(1 << n_planes, size=LANE)
    for leaf in range(1 << n_planes):
        place = FIRST + leaf * BITS
        lanes[place : place + BITS] = np.packbits(leaves == leaf, bitorder="little")
    numbered(lanes, n_planes)
    assert_array_equal(lanes[LANE : 2 * LANE], leaves)


@pytest.mark.parametrize("is_wide", [True, False])  # the processor that code is made for
def test_the_values_of_leaves_are_added(is_wide, monkeypatch):
    if is_wide and not get_host_cpu_features().get("avx512f", False):
        pytest.skip("this processor has no registers of 64 bytes")
    monkeypatch.setattr(leaf_values, "_has_wide_registers", lambda _: is_wide)

    @numba.njit
    def added(lanes, values, first, sums):
        add_small(lanes, 0, values, first, sums)

    rng = np.random.default_rng(0)
    lanes, values = rng.integers(SMALL, size=LANE).astype(np.uint8), rng.normal(size=SMALL + 7)
    sums = rng.normal(size=LANE)
    expected = sums + values[7:][lanes]
    added(lanes, values, 7, sums)
    assert_array_equal(sums, expected)
