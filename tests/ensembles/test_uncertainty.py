"""Variances of bagged predictions from the bags: equal to their formulas, right for means."""

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from hedgerow.ensembles import uncertainty
from hedgerow.ensembles.bags import Bags, Bootstrap, Pasting, Urn
from hedgerow.ensembles.uncertainty import (
    infinitesimal_jackknife,
    jackknife_after_bootstrap,
    mean_jackknife,
    repeats_of,
)
from hedgerow.kernels.team import Team

METHODS = [infinitesimal_jackknife, jackknife_after_bootstrap, mean_jackknife]


def bags_of(n_rows, n_draws=None, weights=None, seed=0):
    """Bags of rows that are laid out in their order."""
    ends = np.zeros(0, np.int64) if weights is None else np.cumsum(weights)
    return Bags(Bootstrap(n_draws or n_rows), Urn.in_order(np.arange(n_rows), ends), seed)


def pasted_of(n_rows, n_draws, seed=0):
    """Bags without replacement."""
    return Bags(Pasting(n_draws), Urn.in_order(np.arange(n_rows), np.zeros(0, np.int64)), seed)


def counts_of(bags, n_trees):
    return np.array([bags.counts(number) for number in range(n_trees)])


def test_the_infinitesimal_jackknife_is_a_sum_of_squared_covariances():
    n_trees, n_rows, n_draws = 30, 8, 6
    bags, rng = bags_of(n_rows, n_draws), np.random.default_rng(0)
    counts, total = counts_of(bags, n_trees), 0.0
    t = counts @ rng.normal(size=n_rows) + rng.normal(size=n_trees)
    for row in range(n_rows):
        covariance = sum(
            (counts[b, row] - n_draws / n_rows) * (t[b] - t.mean()) for b in range(n_trees)
        )
        total += (covariance / n_trees) ** 2
    total -= n_draws / n_trees**2 * sum((t - t.mean()) ** 2)
    found = infinitesimal_jackknife(bags, n_trees, np.ones(n_rows, np.int64))
    assert_allclose(found.variances(t[None], Team(1)), [total], rtol=1e-12)


def test_the_jackknife_compares_trees_that_left_a_row_out_with_all():
    n_trees, n_rows = 30, 8
    bags, t = bags_of(n_rows, seed=3), np.random.default_rng(3).normal(size=n_trees)
    counts, total, noise = counts_of(bags, n_trees), 0.0, 0.0
    for row in range(n_rows):
        own = t[counts[:, row] == 0]
        total += (own.mean() - t.mean()) ** 2
        noise += (1 / len(own) - 1 / n_trees) * t.var()
    expected = (n_rows - 1) / n_rows * (total - noise)
    found = jackknife_after_bootstrap(bags, n_trees, np.ones(n_rows, np.int64))
    uncorrected = found._replace(noise=0.0).variances(t[None], Team(1))
    assert_allclose(uncorrected, [(n_rows - 1) / n_rows * total], rtol=1e-12)
    assert_allclose(found.variances(t[None], Team(1)), [expected], rtol=1e-12)
    assert_allclose(found.noise * t.var(), (n_rows - 1) / n_rows * noise, rtol=1e-12)


def test_the_mean_of_both_is_the_mean_of_both():
    bags, t = bags_of(8, 6), np.random.default_rng(0).normal(size=(5, 30))
    first, second, mean = (
        method(bags, 30, np.ones(8, np.int64)).variances(t, Team(1)) for method in METHODS
    )
    assert_allclose(mean, (first + second) / 2, rtol=1e-12)


def test_without_replacement_both_have_the_factor_of_rows_left_out():
    n_trees, n_rows, n_draws = 40, 9, 4
    bags, rng = pasted_of(n_rows, n_draws), np.random.default_rng(0)
    counts, total = counts_of(bags, n_trees), 0.0
    t = counts @ rng.normal(size=n_rows) + rng.normal(size=n_trees)
    for row in range(n_rows):
        total += np.mean((counts[:, row] - n_draws / n_rows) * (t - t.mean())) ** 2
    total -= n_draws / n_rows * (1 - n_draws / n_rows) * n_rows / n_trees * t.var()
    expected = (n_rows - 1) / n_rows * (n_rows / (n_rows - n_draws)) ** 2 * total
    found = infinitesimal_jackknife(bags, n_trees, np.ones(n_rows, np.int64))
    assert_allclose(found.variances(t[None], Team(1)), [expected], rtol=1e-12)


def test_without_replacement_the_infinitesimal_jackknife_is_the_jackknife():
    # All 126 subsets of 4 of 9 rows, each once: both are exact, and there is no noise to take off.
    n_rows, n_draws, subsets = 9, 4, np.array(list(combinations(range(9), 4)))
    counts = np.zeros((len(subsets), n_rows), np.int64)
    np.put_along_axis(counts, subsets, 1, axis=1)
    t = np.sort(np.random.default_rng(3).normal(size=n_rows)[subsets], axis=1)[:, 2]

    class InTurn(Bags):
        def counts(self, number):
            return counts[number]

    bags, found = InTurn(*pasted_of(n_rows, n_draws)), []
    for method in METHODS:
        sensitivity = method(bags, len(counts), np.ones(n_rows, np.int64))
        found.append(sensitivity._replace(noise=0.0).variances(t[None], Team(1))[0])
    without = [t[counts[:, row] == 0].mean() - t.mean() for row in range(n_rows)]
    assert_allclose(found, (n_rows - 1) / n_rows * np.sum(np.square(without)), rtol=1e-12)


def test_the_noise_of_the_jackknife_is_that_of_the_paper_if_there_are_many_trees():
    n_trees, n_rows = 1000, 50
    found = jackknife_after_bootstrap(bags_of(n_rows), n_trees, np.ones(n_rows, np.int64))
    # (1 - 1/n)^n is 1/e up to 1/(2n) of it; O_i varies by 1 % of itself, averaged over rows.
    assert_allclose(found.noise, (math.e - 1) * n_rows / n_trees, rtol=0.05)


@pytest.mark.parametrize("method", METHODS)
def test_matrices_made_in_small_blocks_have_the_same_bits(method, monkeypatch):
    repeats = np.array([1, 2, 1, 3, 1, 1])
    bags = bags_of(6, 9, weights=repeats)
    whole = method(bags, 11, repeats)
    monkeypatch.setattr(uncertainty, "_MOST_CELLS", 18)  # three trees at a time
    assert_array_equal(method(bags, 11, repeats).matrix, whole.matrix)
    assert_array_equal(whole.matrix, whole.matrix.T)


@pytest.mark.parametrize("method", METHODS)
def test_what_has_nothing_to_do_with_the_rows_has_no_variance_on_average(method):
    t = np.random.default_rng(5).normal(size=(400, 100))
    found = method(bags_of(10), 100, np.ones(10, np.int64)).variances(t, Team(1))
    # Given the bags these are quadratic forms of independent numbers: 400 independent draws,
    # up to the 1/n and 1/B that the paper's correction leaves out.
    error = found.std(ddof=1) / math.sqrt(len(found))
    assert abs(found.mean()) < 4 * error + (1 / 10 + 1 / 100) * 10 / 100
    assert found.min() < 0 < found.max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("drawn", [bags_of, pasted_of], ids=["bootstrap", "pasting"])
@pytest.mark.parametrize("n_draws", [40, 20])
def test_the_variance_of_a_bagged_mean_is_that_of_the_mean(method, drawn, n_draws):
    # t_b is the mean of a bag; its covariance with N_bi is (y_i - mean) / n, so that V is
    # sum (y_i - mean)^2 / n^2; leaving a row out says n^2 / (n - 1)^2 times that, times
    # (n - 1) / n. Whatever the number of draws. Without replacement both say the latter.
    n_rows, n_trees = 41, 600
    y = np.random.default_rng(1).normal(size=n_rows)
    exact, found = np.sum((y - y.mean()) ** 2) / n_rows**2, []
    left_out = n_rows / (n_rows - 1)
    if drawn is pasted_of or method is jackknife_after_bootstrap:
        exact *= left_out
    elif method is mean_jackknife:
        exact *= (1 + left_out) / 2
    n_draws = n_draws // 4 if drawn is pasted_of else n_draws
    for seed in range(12):
        bags = drawn(n_rows, n_draws, seed=seed)
        t = counts_of(bags, n_trees) @ y / n_draws
        sensitivity = method(bags, n_trees, np.ones(n_rows, np.int64))
        found.append(float(sensitivity.variances(t[None], Team(1))[0]))
    error = np.std(found, ddof=1) / math.sqrt(len(found))
    assert error < 0.06 * exact  # or else the next line would hold for too much
    assert abs(np.mean(found) - exact) < 4 * error


@pytest.mark.parametrize("method", METHODS)
def test_error_bars_of_bagged_means_cover_at_their_nominal_rate(method):
    n_rows, n_trees, n_bags, n_sets = 40, 500, 8, 100
    y = np.random.default_rng(7).normal(size=(n_bags, n_rows, n_sets))  # their mean is 0
    n_covered, ratios = 0, []
    for seed in range(n_bags):
        bags = bags_of(n_rows, seed=seed)
        t = (counts_of(bags, n_trees) @ y[seed] / n_rows).T
        variances = method(bags, n_trees, np.ones(n_rows, np.int64)).variances(t, Team(1))
        variances += t.var(axis=1, ddof=1) / n_trees  # that there are so many trees
        n_covered += int((np.abs(t.mean(axis=1)) <= 1.96 * np.sqrt(variances)).sum())
        ratios.append(variances.mean() / t.mean(axis=1).var(ddof=1))
    # 1.96 is for a variance that is known. This one has 39 degrees of freedom and an error of
    # sqrt(4 / n_trees) from the bags, as if it had about 32: Student's 1.96 is 94.1 %.
    low, high = stats.binom.ppf([0.0005, 0.9995], n_bags * n_sets, 0.941)
    assert low <= n_covered <= high
    # The variance of 100 means is known up to sqrt(2 / 99), of 8 times as many up to 5 %.
    assert_allclose(np.mean(ratios), 1.0, atol=4 * 0.05)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_weight_three_is_three_rows(method):
    # The variance of the mean of 3 * 15 rows is a third of that of 15; weights must not hide it.
    n_trees, y = 2000, np.random.default_rng(2).normal(size=15)
    repeats = np.full(15, 3)
    bags = bags_of(15, 45, weights=repeats)
    exact = np.sum((y - y.mean()) ** 2) / 15 / 45
    t = counts_of(bags, n_trees) @ y / 45
    found = method(bags, n_trees, repeats).variances(t[None], Team(1))[0]
    # Rows that are nearly always drawn, 95 % of the time: the jackknife is coarse, factor (1 +
    # 1/14)^2 * 14/15 = 1.07; both have an error of a few per cent from the number of trees.
    assert_allclose(found, exact, rtol=0.25)


def test_whole_weights_are_repeats_and_others_are_not():
    weights = np.array([2, 1, 4])
    bags = Bags(Bootstrap(7), Urn.in_order(np.array([2, 0, 1]), np.cumsum(weights)), 0)
    assert repeats_of(bags, 7).tolist() == [1, 4, 2]
    assert repeats_of(bags, 3).tolist() == [1, 1, 1]
    assert repeats_of(bags_of(3), 3).tolist() == [1, 1, 1]
