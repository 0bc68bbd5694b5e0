"""Tallies: sums by code at the price of the rows, in any order of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.kernels.class_counts import ClassCounts
from hedgerow.kernels.counted import GradientCounts
from hedgerow.kernels.desks import desk_of, desks_for
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.tally import Rows, _sort_many, clear, sweep, tally
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

# Narrow and wide; more and fewer than rows; beyond one word of words of bits (64 * 64 codes).
N_BINS = st.sampled_from([3, 40, 255, 256, 300, 9000])


@kernel
def tallied(codes, rows, moments, desks):
    return tally(codes, codes.features[0], rows, moments, desk_of(desks, 0).scratch)


@kernel
def cleared(desks, n_codes, width):
    clear(desk_of(desks, 0).scratch, n_codes, width)


@kernel
def swept(codes, desks, moments):
    return sweep(desk_of(desks, 0).scratch, codes.features[0], moments)


@kernel
def sorted_many(desks, n_codes):
    _sort_many(desk_of(desks, 0).scratch, n_codes)


@st.composite
def tallies(draw):
    """Draw a column and the rows of a node in up to three segments, some rows left out."""
    n_rows = draw(st.sampled_from([1, 2, 5, 30, 60]))
    column = draw(coded_columns(n_rows, N_BINS))
    order = draw(st.permutations(range(n_rows)))
    ends = sorted(draw(st.lists(st.integers(0, n_rows), min_size=3, max_size=3)))
    labels = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    weights = draw(st.lists(st.integers(1, 2**50), min_size=n_rows, max_size=n_rows))
    bounds = np.array([[0, ends[0]], [ends[0], ends[1]], [ends[2], n_rows]])
    return column, np.array(order), bounds, np.array(labels), np.array(weights)


def taken(order, bounds):
    return [int(row) for begin, end in bounds for row in order[begin:end]]


def code_of(column, row):
    missing = 255 if column.n_bins <= 255 else column.n_bins
    return missing if column.codes[row] is None else column.codes[row]


@kernel
def sums_of_cell(moments, cells, first, sums):
    moments.read(cells, first, sums)


def read(moments, cell):
    """Return the sums that a cell reads as."""
    sums = np.zeros(moments.sum_width(), np.int64)
    sums_of_cell(moments, cell, 0, sums)
    return tuple(sums.tolist())


def assert_tally(column, rows, moments, by_row, listed):
    width = moments.width()
    desks = desks_for(1, 1, column.n_bins, moments.sum_width())
    n_codes = tallied(codes_of([column]), rows, moments, desks)
    codes = [code_of(column, row) for row in listed]
    expected = sums_by_code(codes, [by_row[row] for row in listed])
    assert desks.order[0, :n_codes].tolist() == list(expected)
    n_cells = desks.cells.shape[1] // width
    cells = desks.cells[0, : n_cells * width].reshape(-1, width)
    assert [read(moments, cells[code]) for code in expected] == list(expected.values())
    assert not np.delete(cells, list(expected), axis=0).any()
    cleared(desks, n_codes, width)
    assert not desks.cells.any()
    assert not desks.bits.any()


@given(tallies())
def test_a_tally_of_classes_has_the_sums_of_each_code_that_occurs(problem):
    column, order, bounds, labels, weights = problem
    moments = class_moments(weights)
    listed = taken(order, bounds)
    by_row = [
        (*(int(w) if k == label else 0 for k in range(3)), 1)
        for label, w in zip(labels, weights, strict=True)
    ]
    rows = Rows(order | (labels[order] << 32), bounds, len(listed))
    assert_tally(column, rows, moments, by_row, listed)


@given(problem=tallies())
def test_a_tally_of_counted_classes_has_the_sums_of_each_code_that_occurs(problem):
    column, order, bounds, labels, numbers = problem
    weights = 1 + numbers % 2**15 % 32767
    listed = taken(order, bounds)
    by_row = [
        (*(int(w) if k == label else 0 for k in range(3)), 1)
        for label, w in zip(labels, weights, strict=True)
    ]
    records = order | (labels[order] << 32) | (weights[order] << 48)
    rows = Rows(records, bounds, len(listed))
    assert_tally(column, rows, class_counts(), by_row, listed)


@given(tallies(), st.sampled_from([1, 5]))
def test_a_tally_of_targets_has_the_sums_of_each_code_that_occurs(problem, most):
    column, order, bounds, labels, weights = problem
    products, repeats = (labels - 1) * weights, 1 + weights % most
    listed = taken(order, bounds)
    by_row = [
        (int(p * m), int(w * m), 1) for p, w, m in zip(products, weights, repeats, strict=True)
    ]
    rows = Rows(repeated_rows(order, repeats[order]), bounds, len(listed))
    assert_tally(column, rows, Targets(products, weights, -1, labels), by_row, listed)


@given(st.lists(st.integers(0, 9001), min_size=1, max_size=80, unique=True))
def test_many_codes_are_sorted_and_their_bits_given_back(codes):
    desks = desks_for(1, 1, 9000, 1)
    desks.order[0, : len(codes)] = codes
    sorted_many(desks, len(codes))
    assert desks.order[0, : len(codes)].tolist() == sorted(codes)
    assert not desks.bits.any()


@given(st.sets(st.integers(0, 39)), st.booleans())
def test_a_sweep_lists_the_codes_that_have_rows_and_missing_last(present, has_missing):
    column = CodedColumn((0,), n_bins=40)
    desks, moments = desks_for(1, 1, 255, 2), GradientCounts(np.ones(1, np.int64), 0, 0.0, 31)
    cells = desks.cells[0].reshape(-1, 2)
    cells[:, 0] = 7  # a sum may be zero where there are rows, and only the count tells
    cells[list(present), 1] = 1
    cells[255, 1] = int(has_missing)
    n_codes = swept(codes_of([column]), desks, moments)
    assert desks.order[0, :n_codes].tolist() == sorted(present) + [255] * has_missing


@pytest.mark.parametrize("n_classes", [3, 63, 64, 200])
def test_flags_of_many_classes_are_tallied_within_their_room(n_classes):
    labels = np.arange(2000) % n_classes
    column = CodedColumn(tuple((labels // 2 % 2).tolist()), 2)
    codes = codes_of([column])
    moments = ClassCounts(n_classes, 0, np.arange(n_classes))
    desks = desks_for(1, 1, 255, n_classes + 1)
    records = repeated_rows(np.arange(2000) | (labels << 32))
    assert tallied(codes, Rows(records, np.array([[0, 2000]]), 2000), moments, desks) == 2
    cells = desks.cells[0].reshape(-1)
    for code in range(2):
        own = cells[code * n_classes : (code + 1) * n_classes]
        expected = np.bincount(labels[labels // 2 % 2 == code], minlength=n_classes)
        assert_array_equal(own, expected + (expected << 32))
    assert np.count_nonzero(cells[2 * n_classes :]) == 0
