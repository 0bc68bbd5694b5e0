"""Codes: which bin a value is in, and where the line between two bins is drawn."""

import math
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.data.dealt import deal_out
from hedgerow.data.pages import Room
from hedgerow.kernels.binning import N_BUCKETS, bin_dealt, bin_narrow, bin_two, bin_wide
from hedgerow.kernels.codes import (
    BLOCK,
    FEATURE,
    MISSING,
    fill_blocks,
    fill_shared,
    threshold_between,
)
from hedgerow.kernels.dealing import N_DEALT
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.team import hired

LARGEST, SMALLEST = sys.float_info.max, 5e-324


@kernel
def between(left, right):
    return threshold_between(left, right)


def edges(max_size):
    values = st.floats(allow_nan=False).map(lambda x: x + 0.0)
    return st.lists(values, min_size=1, max_size=max_size, unique=True).map(sorted)


@st.composite
def binned_values(draw, max_bins):
    """Draw bins, and values inside them, between them, beyond them, and missing."""
    high = draw(edges(max_bins))
    near = [math.nextafter(x, math.inf) for x in high] + [
        math.nextafter(x, -math.inf) for x in high
    ]
    values = draw(st.lists(st.sampled_from([*high, *near, math.nan]), max_size=30))
    return high, np.array(values)


def code_of(value, high, missing):
    """Count the bins below a value; the last bin has no upper end."""
    return missing if math.isnan(value) else sum(x < value for x in high[:-1])


def narrow_codes(values, high):
    padded = np.full(256, np.inf)
    padded[: len(high) - 1] = high[:-1]
    column = np.full(len(values), 77, np.uint8)
    bin_narrow(values, padded, np.full(N_BUCKETS, 77, np.uint8), column)
    dealt, again = deal_out(values + 0.0, Room(0)), np.full(len(values), 77, np.uint8)
    first = np.full(N_DEALT + 1, 77, np.uint8)
    bin_dealt(dealt.ends, values, dealt.buckets, padded, first, again)
    assert again.tolist() == column.tolist()
    return column.tolist()


@given(binned_values(max_bins=255))
@example((list(map(float, range(255))), np.append(np.arange(-1.0, 256), math.nan)))
def test_a_narrow_code_is_the_number_of_bins_below(problem):
    high, values = problem
    assert narrow_codes(values, high) == [code_of(value, high, MISSING) for value in values]


CLOSE = [math.nextafter(1.0, 2.0) + i * 2.0**-52 for i in range(5)]


@pytest.mark.parametrize(
    "high",
    [
        [0.0],
        [-math.inf, 0.0, math.inf],
        [-math.inf, math.inf],
        [SMALLEST * i for i in range(-9, 10)],
        [-LARGEST, -LARGEST / 2, -1.0, 0.0, SMALLEST, 1.0, LARGEST / 4, LARGEST / 2, LARGEST],
        [-(2.0**1021), -(2.0**-1074), 2.0**-1074, 2.0**1021, 2.0**1022],
        [2.0**i for i in range(-120, 130)],
        [math.copysign(2.0 ** abs(i), i) for i in range(-120, 120) if i],
        [-1.0, *CLOSE, 2.0],  # so many in one bucket that all are compared
        [float(i % 100 + 1e9 * (i // 100)) for i in range(200)],
    ],
)
def test_a_narrow_code_is_the_number_of_bins_below_wherever_the_bins_lie(high):
    near = [math.nextafter(x, side) for x in high for side in (-math.inf, math.inf)]
    ends = [-math.inf, -LARGEST, -0.0, LARGEST, math.inf, math.nan, -math.nan]
    middles = [0.5 * x + 0.5 * y for x, y in pairwise(high) if -math.inf < x and y < math.inf]
    values = np.array([*high, *near, *ends, *middles])
    assert narrow_codes(values, high) == [code_of(value, high, MISSING) for value in values]


@pytest.mark.parametrize("n_rows", [2, 5, 1024, 3000])
@pytest.mark.parametrize("two", [(0.0, 1.0), (7.5, -2.0), (-math.inf, 3.0), (SMALLEST, 0.0)])
def test_a_column_of_two_values_is_told_and_coded_at_once(two, n_rows):
    values = np.array(two)[np.random.default_rng(n_rows).integers(0, 2, n_rows)]
    values[:2] = two
    column, found = np.full(n_rows, 77, np.uint8), np.zeros(2)
    assert bin_two(values, column, found)
    assert found.tolist() == sorted(two)
    assert_array_equal(column, values == max(two))


@pytest.mark.parametrize("place", [0, 1, 2, 1500, 2999])
@pytest.mark.parametrize("other", [0.5, math.nan, 2.0, -1.0])
def test_a_column_that_has_another_value_anywhere_is_none_of_two_values(place, other):
    values = np.arange(3000) % 2 * 1.0
    values[place] = other
    assert not bin_two(values, np.zeros(3000, np.uint8), np.zeros(2))


@pytest.mark.parametrize("values", [[], [1.0], [2.0] * 9, [math.nan] * 3])
def test_a_column_of_one_value_or_none_is_not_one_of_two(values):
    assert not bin_two(np.array(values), np.zeros(len(values), np.uint8), np.zeros(2))


@given(binned_values(max_bins=20))
@example((list(map(float, range(300))), np.append(np.arange(-1.0, 302), math.nan)))
def test_a_wide_code_is_the_number_of_bins_below(problem):
    high, values = problem
    column = np.full(len(values), 77, np.int32)
    bin_wide(values, np.array(high), column)
    assert column.tolist() == [code_of(value, high, len(high)) for value in values]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize(("n_narrow", "n_rows"), [(0, 5), (1, 1), (16, 3), (18, 5), (2, 2500)])
def test_blocks_hold_sixteen_features_of_a_row_together(n_narrow, n_rows, n_threads):
    columns = np.random.default_rng(0).integers(0, 256, (n_narrow, n_rows), np.uint8)
    features = np.zeros(n_narrow, FEATURE).view(np.recarray)
    features.place, features.column = np.arange(n_narrow), np.arange(n_narrow)
    features.stride, features.n_codes, features.n_high, features.shared = 1, 256, 1, -1
    lanes, _ = filled(n_threads, columns, features, -(-n_narrow // BLOCK))
    assert_array_equal(lanes[:n_narrow], columns)
    assert (lanes[n_narrow:] == 88).all()


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_a_column_that_features_share_holds_their_joint_codes(n_threads):
    flag, tag, third = [0, 1, 1, 0], [2, 0, MISSING, 1], [MISSING, 0, 4, MISSING]
    columns = np.array([tag, third, flag], np.uint8)
    # In order of the table: the tag after the flag in column 16, a wide feature, the third last.
    features = np.zeros(4, FEATURE).view(np.recarray)
    features.place, features.column = [0, -1, 1, 2], [16, -1, 16, 16]
    features.stride, features.n_codes, features.n_high = [2, 0, 8, 1], [4, 256, 6, 2], [6, 1, 1, 24]
    features.shared = [0, -1, 0, 0]
    lanes, shared = filled(n_threads, columns, features, 2)
    assert lanes[16].tolist() == [0 + 2 * (2 + 4 * 5), 1, 1 + 2 * (3 + 4 * 4), 0 + 2 * (1 + 4 * 5)]
    assert (np.delete(lanes, 16, axis=0) == 88).all()
    assert_array_equal(shared, lanes[16:17])


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_flags_that_share_a_digit_add_their_own_number_to_the_joint_code(n_threads):
    columns = np.array([[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 1, 1], [0, 0, 0, 1]], np.uint8)
    features = np.zeros(4, FEATURE).view(np.recarray)
    features.place, features.column, features.shared = np.arange(4), 0, 0
    features.stride, features.n_codes, features.flag = [1, 1, 3, 3], 3, [1, 2, 1, 2]
    features.n_high = [3, 3, 1, 1]
    columns[2, 3] = 0
    _, shared = filled(n_threads, columns, features, 1)
    assert shared.tolist() == [[2, 3, 1 + 3, 6]]


def filled(n_threads, columns, features, n_blocks):
    """Return the lanes of the blocks, one after another, and the columns that are shared."""
    n_rows = columns.shape[1]
    blocks = np.full((n_blocks, n_rows, BLOCK), 88, np.uint8)
    with hired(n_threads, 1e9) as team:
        shared = np.full((int(features.shared.max(initial=-1)) + 1, n_rows), 88, np.uint8)
        team.run(fill_shared, columns, features, shared)
        team.run(fill_blocks, columns, shared, features, blocks)
    return blocks.transpose(0, 2, 1).reshape(-1, n_rows), shared


def neighbours():
    """Two different numbers; often as close together, or as far apart, as floats can be."""
    any_two = st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False))
    next_up = st.floats(allow_nan=False, max_value=LARGEST).map(
        lambda x: (x, math.nextafter(x, math.inf))
    )
    return (any_two | next_up).map(sorted).filter(lambda pair: pair[0] < pair[1])


@given(neighbours())
@example((-SMALLEST, 0.0))
@example((0.0, SMALLEST))
@example((SMALLEST, 2 * SMALLEST))
@example((-LARGEST, LARGEST))
@example((math.nextafter(LARGEST, 0), LARGEST))
@example((LARGEST, math.inf))
@example((-math.inf, -LARGEST))
def test_a_threshold_has_the_left_value_on_its_left_and_the_right_on_its_right(pair):
    left, right = pair
    assert left <= between(left, right) < right


def test_a_threshold_between_the_infinities_is_the_lower_one():
    # As numpy's floats, which is what a table of bins holds.
    assert between(np.float64(-math.inf), np.float64(math.inf)) == -math.inf


@given(st.integers(-(2**40), 2**40), st.integers(1, 2**40))
def test_a_threshold_between_whole_numbers_is_half_way(left, distance):
    assert between(float(left), float(left + distance)) == left + distance / 2
