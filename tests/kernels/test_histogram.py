"""Histograms: the same sums for all narrow features at once, which add and subtract exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.kernels.codes import N_BINS, leads
from hedgerow.kernels.histogram import build, merge, subtract
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.targets import Targets
from tests.oracle.histogram import sums_by_code
from tests.strategies import (
    CodedColumn,
    class_counts,
    class_moments,
    coded_columns,
    codes_of,
    repeated_rows,
)


@kernel
def built(codes, records, moments, hist, pile):
    build(codes, records, moments, hist, pile)


@kernel
def merged(parts, first, end, hist):
    merge(parts, first, end, hist)


@kernel
def subtracted(hist, features, first, end, width, smaller):
    for feature in range(first, end):
        if leads(features[feature]):
            subtract(hist, features[feature], width, smaller)


@st.composite
def tables(draw):
    """Draw one block of features, or two, or a part of one; and moments that reach far."""
    n_rows = draw(st.integers(1, 30))
    n_features = draw(st.sampled_from([1, 2, 3, 4, 9, 15, 16, 18]))
    n_bins = st.sampled_from([1, 2, 200, 255])
    columns = [draw(coded_columns(n_rows, n_bins)) for _ in range(n_features)]
    numbers = st.lists(st.integers(-(2**55), 2**55), min_size=n_rows, max_size=n_rows)
    weights = st.lists(st.integers(1, 2**50), min_size=n_rows, max_size=n_rows)
    return columns, np.array(draw(numbers)), np.array(draw(weights)), draw(st.randoms())


def histogram_of(codes, records, moments):
    """Return the sums of each feature and bin; what is in memory before must not matter."""
    n_features = len(codes.columns)
    n_padded = -(-n_features // 4) * 4
    hist = np.full(n_padded * N_BINS * moments.width(), -7, np.int64)
    pile = np.full(int(codes.panels.n_kinds.max(initial=0)) * moments.width(), -7)
    built(codes, records, moments, hist, pile)
    return hist.reshape(n_padded, N_BINS, -1)[:n_features]


def expected_of(columns, by_row, width):
    expected = np.zeros((len(columns), N_BINS, width), np.int64)
    for feature, column in enumerate(columns):
        codes = [255 if code is None else code for code in column.codes]
        for code, sums in sums_by_code(codes, by_row).items():
            expected[feature, code] = sums
    return expected


def targets_of(products, weights):
    return Targets(products, weights, -1, np.zeros(len(weights), np.int64))


@given(tables())
def test_a_histogram_of_targets_has_the_sums_of_each_feature_and_code(table):
    columns, products, weights, shuffler = table
    records = repeated_rows(np.arange(len(weights)))
    shuffler.shuffle(records)
    by_row = [(int(p), int(w), 1) for p, w in zip(products, weights, strict=True)]
    hist = histogram_of(codes_of(columns), records, targets_of(products, weights))
    assert_array_equal(hist, expected_of(columns, by_row, 3))


@given(tables())
def test_a_histogram_of_classes_has_the_sums_of_each_feature_and_code(table):
    columns, products, weights, _ = table
    labels = products % 3
    by_row = [
        (*(int(w) if k == label else 0 for k in range(3)), 1)
        for label, w in zip(labels, weights, strict=True)
    ]
    records = np.arange(len(weights)) | (labels << 32)
    hist = histogram_of(codes_of(columns), records, class_moments(weights))
    assert_array_equal(hist, expected_of(columns, by_row, 4))


@given(tables())
def test_a_histogram_of_counted_classes_has_the_sums_of_each_feature_and_code(table):
    columns, products, weights, _ = table
    labels, weights = products % 3, 1 + weights % 99
    by_row = [
        tuple(2**32 + int(w) if k == label else 0 for k in range(3))
        for label, w in zip(labels, weights, strict=True)
    ]
    records = repeated_rows(np.arange(len(weights)) | (labels << 32), weights)
    hist = histogram_of(codes_of(columns), records, class_counts())
    assert_array_equal(hist, expected_of(columns, by_row, 3))


@kernel
def widened(moments, cells, n_cells):
    moments.widen(cells, n_cells)


@given(st.lists(st.tuples(*[st.integers(0, 2**31 - 1)] * 6), max_size=6))
def test_cells_of_counted_classes_are_widened_to_sums_in_their_place(cells):
    packed = [(n << 32) + W for *counts, a, b, c in cells for n, W in zip(counts, (a, b, c))]  # noqa: B905
    room = np.array([*packed, *[-7] * (len(cells) + 2)])
    widened(class_counts(), room, len(cells))
    expected = [number for *counts, a, b, c in cells for number in (a, b, c, sum(counts))]
    assert room.tolist() == [*expected, -7, -7]


@given(tables(), st.integers(0, 30))
def test_merged_parts_are_the_whole_and_the_whole_less_a_part_is_the_other(table, cut):
    columns, products, weights, _ = table
    codes, moments = codes_of(columns), targets_of(products, weights)
    records = repeated_rows(np.arange(len(weights)))
    whole = histogram_of(codes, records, moments).reshape(-1)
    parts = np.stack(
        [histogram_of(codes, part, moments).reshape(-1) for part in (records[:cut], records[cut:])]
    )
    total = np.full_like(whole, -7)
    merged(parts, 0, len(whole), total)
    assert_array_equal(total, whole)
    subtracted(total, codes.features, 0, len(columns), moments.width(), parts[0])
    assert_array_equal(total, parts[1])


@pytest.mark.parametrize("n_bins", [2, 3, 7])
def test_the_whole_less_a_part_is_the_other_where_features_share_columns(n_bins):
    rng = np.random.default_rng(n_bins)
    drawn = rng.integers(0, n_bins, (21, 50)).tolist()
    columns = [CodedColumn(tuple(own), n_bins) for own in drawn]
    columns += [CodedColumn((None, *own[1:]), n_bins) for own in drawn[:9]]
    codes, moments = codes_of(columns, 16), targets_of(np.arange(50), np.arange(1, 51))
    assert (codes.features.n_codes < N_BINS).sum() > 1
    records = repeated_rows(np.arange(50))
    whole, part, other = (
        histogram_of(codes, own, moments) for own in (records, records[:20], records[20:])
    )
    n_columns = int(codes.features.column.max()) + 1
    given = codes.features, 0, len(columns), moments.width()
    subtracted(whole.reshape(-1), *given, part.reshape(-1))
    assert_array_equal(whole[:n_columns], other[:n_columns])


def test_a_thread_merges_its_own_cells_and_no_others():
    parts = np.arange(30).reshape(3, 10)
    hist = np.full(10, -7)
    merged(parts, 4, 7, hist)
    assert hist.tolist() == [-7, -7, -7, -7, 42, 45, 48, -7, -7, -7]


def test_of_a_column_only_the_cells_of_its_codes_are_subtracted():
    codes = codes_of([CodedColumn((0,), n_bins) for n_bins in (3, 200, 2)])
    hist = np.full(4 * N_BINS, 9)
    subtracted(hist, codes.features, 1, 2, 1, np.arange(4 * N_BINS))
    cells = hist.reshape(4, N_BINS)
    assert (cells[[0, 2, 3]] == 9).all()
    assert cells[1, :200].tolist() == list(range(9 - N_BINS, 9 - N_BINS - 200, -1))
    assert (cells[1, 200:255] == 9).all()
    assert cells[1, 255] == 9 - N_BINS - 255
