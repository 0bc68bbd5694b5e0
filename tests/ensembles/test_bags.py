"""Bags: what is drawn follows the laws of chance, and depends on nothing but names."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binom, chisquare, hypergeom, multinomial

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.ensembles.bags import Bags, Bootstrap, Pasting, Urn, drawn_features
from hedgerow.kernels.random import mixed_bits, uniform_bits
from hedgerow.kernels.team import Team

LEAST = 1e-4  # chance of a failure of each test, if the library is right; seeds are fixed


def urn_of(weights):
    """Rows in the order of their numbers."""
    weights = np.asarray(weights)
    ends = np.zeros(0, np.int64) if (weights == 1).all() else np.cumsum(weights)
    return Urn.in_order(np.arange(len(weights)), ends)


def bags(way, weights, seed=0):
    return Bags(way, urn_of(weights), seed)


def test_a_bootstrap_is_n_draws_of_a_place_each():
    drawn = bags(Bootstrap(7), [1] * 5, seed=3).counts(2)
    bits = mixed_bits(mixed_bits(3, 0x726F7773), 2)
    expected = [int(uniform_bits(bits, k) * 5) for k in range(7)]
    assert_array_equal(drawn, np.bincount(expected, minlength=5))


@pytest.mark.parametrize("weights", [[1, 1, 1], [3, 1, 2]])
def test_multiplicities_follow_the_multinomial_law(weights):
    """All outcomes of four draws from three rows, over 4,000 trees."""
    bag, n_draws = bags(Bootstrap(4), weights), 4
    outcomes = [(a, b, n_draws - a - b) for a in range(5) for b in range(5 - a)]
    seen = dict.fromkeys(outcomes, 0)
    for number in range(4000):
        seen[tuple(bag.counts(number).tolist())] += 1
    law = multinomial(n_draws, np.array(weights) / sum(weights))
    expected = [4000 * law.pmf(outcome) for outcome in outcomes]
    assert chisquare(list(seen.values()), expected).pvalue > LEAST


def test_each_row_of_a_large_bag_is_drawn_as_often_as_a_binomial_number():
    n_rows = 5000
    counts = np.concatenate([bags(Bootstrap(n_rows), [1] * n_rows).counts(b) for b in range(8)])
    seen = np.bincount(np.minimum(counts, 5), minlength=6)
    law = binom(n_rows, 1 / n_rows)
    expected = len(counts) * np.array([*law.pmf(range(5)), law.sf(4)])
    assert chisquare(seen, expected).pvalue > LEAST


def test_two_trees_draw_independently():
    n_rows = 4000
    bag = bags(Bootstrap(n_rows), [1] * n_rows)
    one, two = bag.counts(0), bag.counts(1)
    correlation = np.corrcoef(one, two)[0, 1]
    assert abs(correlation) < 4 / math.sqrt(n_rows)


def test_pasting_draws_each_set_of_rows_with_the_same_chance():
    bag = bags(Pasting(2), [1] * 5)
    sets = [tuple(np.flatnonzero(bag.counts(number)).tolist()) for number in range(3000)]
    seen = np.unique(sets, axis=0, return_counts=True)[1]
    assert len(seen) == math.comb(5, 2)
    assert chisquare(seen).pvalue > LEAST


def test_pasting_draws_no_row_twice():
    counts = bags(Pasting(60), [1] * 100).counts(0)
    assert_array_equal(np.unique(counts, return_counts=True), [[0, 1], [40, 60]])


def test_features_without_replacement_are_drawn_with_the_same_chance():
    sets = [tuple(drawn_features(5, b, 5, 3, replace=False).tolist()) for b in range(3000)]
    seen = np.unique(sets, axis=0, return_counts=True)[1]
    assert len(seen) == math.comb(5, 3)
    assert chisquare(seen).pvalue > LEAST


def test_features_with_replacement_are_drawn_with_the_same_chance():
    draws = np.concatenate([drawn_features(5, b, 6, 4, replace=True) for b in range(2000)])
    assert chisquare(np.bincount(draws, minlength=6)).pvalue > LEAST
    n_distinct = [len(np.unique(drawn_features(1, b, 4, 2, replace=True))) for b in range(2000)]
    seen = np.bincount(n_distinct, minlength=3)[1:]
    assert chisquare(seen, [500, 1500]).pvalue > LEAST


def test_rows_out_of_two_bags_overlap_as_a_hypergeometric_number():
    overlaps = []
    for number in range(0, 3000, 2):
        one, two = (bags(Pasting(4), [1] * 8).counts(number + k) for k in (0, 1))
        overlaps.append(int((one * two).sum()))
    seen = np.bincount(overlaps, minlength=5)
    expected = len(overlaps) * hypergeom(8, 4, 4).pmf(range(5))
    assert chisquare(seen, expected).pvalue > LEAST


def laid_out(X, y, weights, order, by_weight=False):
    X, y, weights = (np.asarray(each)[order] for each in (X, y, weights))
    binned = bin_table(read_table(X), Recipe(None), Team(1))
    urn = Urn.of(binned.codes, y.astype(float), weights, by_weight, Team(1))
    return X, y, Bags(Bootstrap(int(weights.sum())), urn, 0).counts(0)


def contents(X, y, counts):
    """Rows with how often each was drawn, as a sorted list."""
    rows = np.repeat(np.column_stack([X, y]), counts, axis=0)
    return sorted(map(tuple, rows.tolist()))


def test_the_order_of_rows_does_not_matter_and_whole_weights_are_repeats():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (60, 2)).astype(float), rng.integers(0, 2, 60)
    weights = rng.integers(1, 4, 60)
    expected = contents(*laid_out(X, y, weights, np.arange(60)))
    assert contents(*laid_out(X, y, weights, rng.permutation(60))) == expected
    repeats = np.repeat(np.arange(60), weights)
    assert contents(*laid_out(X, y, np.ones(60, int), repeats)) == expected
    assert len(expected) == weights.sum()
