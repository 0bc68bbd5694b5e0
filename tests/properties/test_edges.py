"""Bins: their definition, and that they do not depend on how rows are ordered, parted, repeated."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.dealt import LEAST_DEALT, bins_of_dealt, deal_out
from hedgerow.data.edges import Bins, Summary, choose_bins, merge, summarise
from hedgerow.data.pages import Room
from hedgerow.data.table import read_table
from tests.oracle import edges as oracle
from tests.strategies import team_of_one

VALUES = st.sampled_from([-math.inf, -2.5, 0.0, 1.0, 1.5, 4.0, math.inf, math.nan]) | st.floats()


@st.composite
def columns(draw):
    """Draw values, many of them equal, and whole weights, some of them 0."""
    n_rows = draw(st.integers(0, 40))
    values = draw(st.lists(VALUES, min_size=n_rows, max_size=n_rows))
    weights = draw(st.lists(st.integers(0, 9), min_size=n_rows, max_size=n_rows))
    return np.array(values, float) + 0.0, np.array(weights, np.int64)


def distinct(summary: Summary):
    """Return each value of a summary once, with what its rows weigh together."""
    assert (np.diff(summary.through, prepend=0) > 0).all()
    return oracle.summary(summary.values.tolist(), summary.weights.tolist())


def pairs(bins: Bins):
    return list(zip(bins.low.tolist(), bins.high.tolist(), strict=True))


@given(columns())
def test_a_summary_has_each_value_once_with_its_weight(problem):
    column, weights = problem
    found = summarise(column, weights)
    assert found.values.tolist() == sorted(found.values)
    assert distinct(found) == oracle.summary(column.tolist(), weights.tolist())
    even = summarise(column, np.ones(len(column), np.int64))
    assert_array_equal(summarise(column), even)


@given(columns(), st.none() | st.integers(2, 12))
def test_bins_are_those_of_their_definition(problem, max_bins):
    summary = summarise(*problem)
    assert pairs(choose_bins(summary, max_bins)) == oracle.bins(distinct(summary), max_bins)


@given(
    st.lists(st.integers(1, 9) | st.integers(1, 300), min_size=1, max_size=120),
    st.none() | st.integers(2, 60),
    st.integers(0, 4),
)
@example([3] * 200, 15, 1)
@example([3] * 200, 16, 1)
@example([3] * 2000, 255, 3)
@example([1] * 13 + [200, 200, 1, 300] + [1] * 9 + [200], 12, 0)
@example([7, 1] * 20, 30, 2)  # the heavy ones and the stretches between them do not fit
def test_bins_of_long_runs_are_those_of_their_definition(weights, max_bins, halvings):
    values = np.arange(len(weights), dtype=float)
    expected = oracle.bins(list(zip(values.tolist(), weights, strict=True)), max_bins, halvings)
    repeated = summarise(np.repeat(values, weights))
    assert pairs(choose_bins(repeated, max_bins, halvings)) == expected
    weighted = summarise(values, np.array(weights))
    assert pairs(choose_bins(weighted, max_bins, halvings)) == expected


def test_the_bins_at_both_ends_are_halved_as_often_as_asked():
    low, high = choose_bins(summarise(np.arange(8.0 * 249)), 255, 3)
    n_values = high - low + 1
    assert n_values.tolist() == [1, 1, 2, 4, *[8] * 247, 4, 2, 1, 1]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(2, 40))
def test_bins_hold_all_values_and_are_no_more_than_allowed(weights, max_bins):
    summary = summarise(np.arange(len(weights), dtype=float), np.array(weights))
    low, high = choose_bins(summary, max_bins)
    assert 1 <= len(low) <= max_bins
    assert low[0] == 0
    assert high[-1] == len(weights) - 1
    assert_array_equal(low[1:], high[:-1] + 1)


@given(columns(), st.lists(st.integers(0, 40), max_size=4), st.randoms())
def test_summaries_of_parts_merge_into_that_of_the_whole(problem, cuts, shuffler):
    column, weights = problem
    ends = sorted(min(cut, len(column)) for cut in cuts)
    parts = [
        summarise(column[begin:end], weights[begin:end])
        for begin, end in zip([0, *ends], [*ends, len(column)], strict=True)
    ]
    shuffler.shuffle(parts)
    assert distinct(merge(parts)) == distinct(summarise(column, weights))


@given(columns(), st.randoms())
def test_any_order_of_the_rows_has_the_same_summary(problem, shuffler):
    column, weights = problem
    order = list(range(len(column)))
    shuffler.shuffle(order)
    shuffled = summarise(column[order], weights[order])
    assert distinct(shuffled) == distinct(summarise(column, weights))


@given(columns())
def test_a_row_of_weight_three_is_summarised_as_three_rows(problem):
    column, weights = problem
    repeated = summarise(np.repeat(column, weights))
    assert distinct(repeated) == distinct(summarise(column, weights))


@given(columns(), st.integers(2, 9), st.integers(1, 5))
def test_bins_of_weighted_rows_are_those_of_repeated_rows(problem, max_bins, times):
    column, weights = problem
    one = choose_bins(summarise(column, weights), max_bins)
    other = choose_bins(summarise(np.repeat(column, times * weights)), max_bins)
    assert_array_equal(one.low, other.low)
    assert_array_equal(one.high, other.high)


@given(columns().filter(lambda problem: problem[1].any()), st.integers(2, 9))
def test_codes_do_not_depend_on_the_order_of_the_rows_and_follow_their_values(problem, max_bins):
    column, weights = problem
    kept = weights > 0
    column, weights = column[kept], weights[kept]

    def codes(order):
        table = read_table(column[order][:, None])
        binned = bin_table(table, Recipe(max_bins), team_of_one(), None, weights[order])
        return binned.codes.columns[0]

    one, backwards = codes(slice(None)), codes(slice(None, None, -1))
    assert_array_equal(one, backwards[::-1])
    present = ~np.isnan(column)
    assert (one[~present] == 255).all()
    by_value = one[present][np.argsort(column[present], kind="stable")]
    assert (np.diff(by_value.astype(int)) >= 0).all()


def test_a_column_of_mostly_its_smallest_value_keeps_its_other_bins_for_the_others():
    values = np.arange(1001.0)
    weights = np.ones(1001, np.int64)
    weights[0] = 9000
    assert len(choose_bins(summarise(values, weights), 255).low) == 255


@pytest.mark.parametrize("heavy", [500, 1000])
def test_a_column_of_mostly_one_value_keeps_its_other_bins_for_those_below_as_well(heavy):
    weights = np.ones(1001, np.int64)
    weights[heavy] = 9000
    _, high = choose_bins(summarise(np.arange(1001.0), weights), 255)
    # 254 bins for 1000 other values: one for four of them, also on this side.
    assert np.count_nonzero(high < heavy) >= heavy // 5


@pytest.mark.parametrize("late", [0.0, 1.0, 2.0, -3.0, math.nan], ids=str)
@pytest.mark.parametrize("n_rows", [255, 256, 1000])
def test_a_column_of_two_values_is_summarised_as_any_other(n_rows, late):
    column = np.random.default_rng(n_rows).integers(0, 2, n_rows).astype(float)
    column[-1] = late
    even = summarise(column, np.ones(n_rows, np.int64))
    assert_array_equal(summarise(column), even)


@given(columns(), st.integers(2, 12))
def test_dealt_values_have_the_bins_of_sorted_ones(problem, max_bins):
    column, _ = problem
    expected = choose_bins(summarise(column), max_bins)
    assert_array_equal(bins_by_dealing(column, max_bins, 0, Room(0)), expected)


def bins_by_dealing(column, max_bins, halvings, room):
    return bins_of_dealt(column, deal_out(column, room), max_bins, halvings, room)


def _with(part, share, values, random):
    return np.where(random.random(len(values)) < share, part, values)


MANY = {
    "normal": lambda random, n: random.standard_normal(n),
    "tails": lambda random, n: np.exp(4 * random.standard_normal(n)),
    "counts": lambda random, n: random.poisson(1000, n).astype(float),
    "rounded": lambda random, n: np.round(random.standard_normal(n), 3),
    "zeros": lambda random, n: _with(0.0, 0.6, random.standard_normal(n), random),
    "missing": lambda random, n: _with(np.nan, 0.3, random.standard_cauchy(n), random),
    "all missing": lambda random, n: _with(np.nan, 1.0, np.zeros(n), random),
    "two places": lambda random, n: random.standard_normal(n) + 1e6 * random.integers(2, size=n),
    "infinite": lambda random, n: _with(np.inf, 0.1, 1e300 * random.standard_normal(n), random),
    "some again": lambda random, n: random.choice(random.standard_normal(n // 8), n),
    "many heavy": lambda random, n: random.choice(600, n, p=random.dirichlet([0.05] * 600)) + 0.0,
    "near one": lambda random, n: 1 + 1e-13 * random.standard_normal(n).round(1),
}


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.parametrize(("max_bins", "halvings"), [(2, 0), (7, 0), (255, 0), (255, 3)])
def test_many_dealt_values_have_the_bins_of_sorted_ones(kind, max_bins, halvings):
    column = MANY[kind](np.random.default_rng(0), 20_000) + 0.0
    expected = choose_bins(summarise(column), max_bins, halvings)
    for room in (Room(0), Room(100_000), Room(2_000_000)):  # some are in pages, none, or all
        assert_array_equal(bins_by_dealing(column, max_bins, halvings, room), expected)
        assert_array_equal(bins_by_dealing(column, max_bins, halvings, room), expected)


def test_few_of_many_values_are_sorted(monkeypatch):
    sorted_values = []

    def noted(values, _):
        sorted_values.append(len(values))
        return np.sort(values)

    monkeypatch.setattr("hedgerow.data.dealt.ascending", noted)
    column = np.random.default_rng(0).standard_normal(100_000)
    bins_by_dealing(column, 255, 0, Room(0))
    assert 0 < sum(sorted_values) < 20_000


@pytest.mark.parametrize("kind", MANY)
def test_a_long_table_has_the_codes_of_one_whose_rows_have_weights(kind):
    column = MANY[kind](np.random.default_rng(0), LEAST_DEALT)
    table, even = read_table(column[:, None]), np.ones(LEAST_DEALT, np.int64)
    one, other = (bin_table(table, Recipe(255), team_of_one(), None, w) for w in (None, even))
    assert_array_equal(one.codes.columns, other.codes.columns)
    assert_array_equal(one.codes.bins, other.codes.bins)
    assert_array_equal(one.has_missing, other.has_missing)
