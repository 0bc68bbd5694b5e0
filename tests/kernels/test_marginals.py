"""Marginals: a feature's own sums, read from the column of a histogram that it shares."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.kernels.codes import MISSING, N_BINS
from hedgerow.kernels.desks import desk_of, desks_for
from hedgerow.kernels.histogram import build
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.marginals import clear_codes, read_column, read_node, sum_left
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.split import SPLIT
from hedgerow.kernels.targets import Targets
from tests.oracle.histogram import added, sums_by_code
from tests.strategies import CodedColumn, coded_columns, codes_of, repeated_rows


@kernel
def read(codes, records, moments, feature, desks, hist):
    """Build a histogram and read one feature from it."""
    about, n_cells = codes.features[feature], N_BINS * moments.width()
    build(codes, records, moments, hist, hist[:0])
    column = hist[about.column * n_cells : (about.column + 1) * n_cells]
    read_column(about, column, moments.width(), desk_of(desks, 0).scratch)


@kernel
def read_all(codes, hist, width, desks, told):
    """Read all features of one node, one after another."""
    scratch, n_cells = desk_of(desks, 0).scratch, N_BINS * width
    for feature in range(codes.features.shape[0]):
        about = codes.features[feature]
        if about.n_codes < N_BINS and about.shared >= 0:
            column = hist[about.column * n_cells : (about.column + 1) * n_cells]
            read_node(codes, about, column, width, scratch)
            for i in range(n_cells):
                told[feature, i] = scratch.cells[i]
            clear_codes(about, width, scratch.cells)


@kernel
def cleared(codes, feature, width, desks):
    clear_codes(codes.features[feature], width, desk_of(desks, 0).scratch.cells)


@kernel
def added_left(codes, hist, split, width, sums):
    about = codes.features[split[0].feature]
    sum_left(about, hist[about.column * N_BINS * width :], split[0], width, sums)


@st.composite
def tables(draw):
    """Draw features that mostly share columns, the same in any order, and what their rows add."""
    n_rows = draw(st.integers(1, 30))
    n_bins = st.sampled_from([1, 2, 2, 2, 3, 3, 5, 15, 200, 255])
    n_features = draw(st.sampled_from([5, 9, 13]))
    columns = [draw(coded_columns(n_rows, n_bins)) for _ in range(n_features)]
    pairs = st.tuples(st.integers(-(2**14), 2**14), st.integers(1, 2**15))
    return columns, draw(st.lists(pairs, min_size=n_rows, max_size=n_rows))


FLAGS = [CodedColumn(tuple(row >> k & 1 for row in range(256)), 2) for k in range(8)]
TAGS = [CodedColumn(tuple(row // 3**k % 3 for row in range(243)), 3) for k in range(5)]
SOILS = [CodedColumn(tuple(int(row % 25 == k) for row in range(256)), 2) for k in range(20)]
AREAS = [CodedColumn(tuple(int(row // 7 % 5 == k) for row in range(256)), 2) for k in range(4)]
EXAMPLES = [(columns, [(row - 99, row + 1) for row in range(256)][: len(columns[0].codes)])
            for columns in (FLAGS, TAGS, [*SOILS, *AREAS, *FLAGS[:2]])]  # fmt: skip


def targets_of(rows):
    """Return moments of three numbers a cell, records, and what a row adds."""
    products, weights = np.array(rows).T.copy()
    moments = Targets(products, weights, -1, np.zeros(len(rows), np.int64))
    return moments, repeated_rows(np.arange(len(rows))), [(g, h, 1) for g, h in rows]


def pairs_of(rows):
    """Return moments of one number a cell, records, and what a row adds."""
    records = np.array([(g << 48) | (h << 32) | row for row, (g, h) in enumerate(rows)])
    return GradientPairs(np.ones(1, np.int64), 0, 0.0), records, [((g << 32) + h,) for g, h in rows]


def histogram_for(codes, moments):
    n_columns = int(codes.features.column.max()) + 1
    return np.full(-(-n_columns // 4) * 4 * N_BINS * moments.width(), -7, np.int64)


def code_at(column, row):
    return MISSING if column.codes[row] is None else column.codes[row]


def assert_marginals(columns, moments, records, by_row):
    codes, width = codes_of(columns, most_codes=16), moments.width()
    desks, hist = desks_for(1, len(columns), N_BINS, width), histogram_for(codes, moments)
    desks.running[:] = -7
    for feature, column in enumerate(columns):
        read(codes, records, moments, feature, desks, hist)
        expected = sums_by_code([code_at(column, row) for row in range(len(by_row))], by_row)
        cells = desks.cells[0].reshape(-1, width)
        assert [tuple(cells[code]) for code in expected] == list(expected.values())
        assert not np.delete(cells, list(expected), axis=0).any()
        cleared(codes, feature, width, desks)
        assert not desks.cells.any()


def assert_margins(columns, moments, records, by_row, has_room):
    codes, width = codes_of(columns, most_codes=16), moments.width()
    n_shared = len(codes.shared) if has_room else 0
    desks = desks_for(1, len(columns), N_BINS, width, 0, n_shared)
    hist, told = histogram_for(codes, moments), np.zeros((len(columns), N_BINS * width), np.int64)
    desks.running[:] = desks.shared[:] = -7
    build_only(codes, records, moments, hist)
    read_all(codes, hist, width, desks, told)
    for feature, column in enumerate(columns):
        expected = np.zeros((N_BINS, width), np.int64)
        own = sums_by_code([code_at(column, row) for row in range(len(by_row))], by_row)
        for code, sums in own.items():
            expected[code] = sums
        if codes.features[feature].shared >= 0:
            assert_array_equal(told[feature].reshape(N_BINS, width), expected)


@pytest.mark.parametrize("has_room", [True, False])
@given(table=tables())
@example(table=EXAMPLES[0])
@example(table=EXAMPLES[1])
@example(table=EXAMPLES[2])
def test_features_of_a_column_have_the_sums_of_their_own_codes_all_at_once(table, has_room):
    columns, rows = table
    assert_margins(columns, *targets_of(rows), has_room)
    assert_margins(columns, *pairs_of(rows), has_room)


@given(tables())
@example(EXAMPLES[0])
@example(EXAMPLES[1])
@example(EXAMPLES[2])
def test_a_feature_has_the_sums_of_its_own_codes(table):
    columns, rows = table
    assert_marginals(columns, *targets_of(rows))
    assert_marginals(columns, *pairs_of(rows))


def assert_sums_left(columns, moments, records, by_row):
    codes, width = codes_of(columns, most_codes=16), moments.width()
    hist = histogram_for(codes, moments)
    build_only(codes, records, moments, hist)
    split = np.zeros(1, SPLIT).view(np.recarray)
    for feature, column in enumerate(columns):
        own = [code_at(column, row) for row in range(len(by_row))]
        for cut in {0, column.n_bins // 2, column.n_bins - 1}:
            for missing_left in range(2):
                split.feature, split.cut, split.missing_left = feature, cut, missing_left
                goes = [missing_left if code == MISSING else code <= cut for code in own]
                expected = added(
                    (row for row, left in zip(by_row, goes, strict=True) if left), width
                )
                sums = np.full(width, 5)
                added_left(codes, hist, split, width, sums)
                assert tuple(sums - 5) == expected


@kernel
def build_only(codes, records, moments, hist):
    build(codes, records, moments, hist, hist[:0])


@given(tables())
@example(EXAMPLES[0])
@example(EXAMPLES[1])
@example(EXAMPLES[2])
def test_the_sums_left_of_a_cut_are_those_of_the_rows_that_go_left(table):
    columns, rows = table
    assert_sums_left(columns, *targets_of(rows))
    assert_sums_left(columns, *pairs_of(rows))


def test_the_third_example_has_flags_that_share_a_digit():
    flags = codes_of(EXAMPLES[2][0], most_codes=16).features.flag
    assert flags.tolist() == [*range(1, 21), *range(1, 5), 0, 0]
