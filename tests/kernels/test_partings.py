"""Partings of categories: their ceiling, and the best of them."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.kernels.category_order import sort_categories
from hedgerow.kernels.cuts import best_cut
from hedgerow.kernels.desks import desk_of, desks_for
from hedgerow.kernels.heap import heap_sort
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.menu import Menu
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.newton import Newton
from hedgerow.kernels.split import Node
from hedgerow.kernels.tally import Rows
from hedgerow.kernels.workspace import Problem, Rules
from tests.strategies import seeded_problem, table_of

NONE = np.zeros(0, np.int64)


@kernel
def judged(problem, cells, total, desks, out, keys, order):
    """Set out to the ceiling, and the best cut as the criterion and as `cuts` finds it."""
    scratch, n = desk_of(desks, 0).scratch, np.int64(cells.shape[0])
    for i in range(n):
        scratch.cells[i], scratch.order[i] = cells[i], i
    node = Node(total, np.int64(0), Rows(cells, desks.bounds[0], n))
    out[0, 0] = problem.criterion.ceiling(problem, n, total, scratch)
    sort_categories(problem, np.int64(0), n, node, np.int64(0), scratch)
    for i in range(n):
        keys[i], order[i] = scratch.keys[i], scratch.order[i]
    given = problem, np.int64(0), n, np.int64(0), n - 1, np.int64(-1), node, scratch
    ways = problem.criterion.best_cut(*given), best_cut(*given)
    for way in range(2):
        cut = ways[way]
        out[1 + way, 0], out[1 + way, 1] = cut.gain, cut.margin
        out[1 + way, 2], out[1 + way, 3] = cut.position, cut.mass_left


@kernel
def sorted_by_heap(keys, order):
    heap_sort(keys, order, np.int64(order.shape[0]))


def case(seed, n, l1, l2, least, min_weight):
    """Return a problem of one feature of categories, and the sums of n of them."""
    rng = np.random.default_rng(seed)
    g, h = rng.integers(-900, 900, n), rng.integers(1, 400, n)
    g[: n // 3] = g[0]  # equal means, too
    h[: n // 3] = h[0]
    return case_of((g << 32) + h, l1, l2, least, min_weight)


def case_of(cells, l1, l2, least, min_weight):
    """Return a problem of one feature of categories that have these sums."""
    n, seed = len(cells), 0
    codes = table_of(seeded_problem(seed, 60, kinds="c"), 255).codes
    assert codes.features[0].n_categories > 0
    rules = Rules(2, 99, 2, 1, min_weight, -np.inf, 1, 0, 0, 0, 0, 0, 0, Menu(NONE, 1, NONE, NONE))
    moments = GradientPairs(np.ones(1, np.int64), 0, 3.0, least)
    problem = Problem(codes, moments, Newton(0.125, 0.0625, l1, l2), rules)
    out, desks = np.zeros((3, 4)), desks_for(1, 1, 255, 1)
    keys, order = np.zeros(n), np.zeros(n, np.int64)
    judged(problem, cells, np.array([cells.sum()]), desks, out, keys, order)
    return problem, cells, out, keys, order


def newton_score(newton, g, h):
    return max(abs(g) * newton.g_unit - newton.l1, 0.0) ** 2 / (2 * (h * newton.h_unit + newton.l2))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 1.0), (2.0, 0.0), (0.0, 50.0)])
def test_no_parting_gains_more_than_the_ceiling(seed, l1, l2):
    problem, cells, out, _, _ = case(seed, 9, l1, l2, 0, 1)
    g, h = cells >> 32, cells & 0x7FFFFFFF
    newton, best = problem.criterion, -np.inf
    for size in range(1, 9):
        for left in itertools.combinations(range(9), size):
            own = np.isin(np.arange(9), left)
            sides = [newton_score(newton, g[side].sum(), h[side].sum()) for side in (own, ~own)]
            best = max(best, sum(sides) - newton_score(newton, g.sum(), h.sum()))
    assert best <= out[0, 0]
    assert out[1, 0] <= out[0, 0]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [2, 3, 17, 24, 25, 60])
@pytest.mark.parametrize("least", [0, 90])
@pytest.mark.parametrize("min_weight", [1, 300, 10**9])
def test_the_best_parting_is_the_best_cut_of_the_order(seed, n, least, min_weight):
    _, _, out, _, _ = case(seed, n, 0.0, 1.0, least, min_weight)
    assert_array_equal(out[1], out[2])
    assert out[1, 0] <= out[0, 0]


@pytest.mark.parametrize("n", [2, 9, 24, 25])
def test_few_categories_are_ordered_as_by_a_heap(n):
    _, cells, _, keys, order = case(n, n, 0.0, 1.0, 0, 1)
    g, h = cells >> 32, cells & 0x7FFFFFFF
    expected, by_heap = g / (h + 3.0), np.arange(n)
    sorted_by_heap(expected, by_heap)
    assert order.tolist() == by_heap.tolist()
    assert_array_equal(keys, expected)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [9, 25, 60, 200])
@pytest.mark.parametrize("least", [0, 90, 399, 500])
def test_rare_categories_stand_where_the_mean_of_all_of_them_belongs(seed, n, least):
    _, cells, _, keys, order = case(seed, n, 0.0, 1.0, least, 1)
    assert_ordered(cells, keys, order, least)


@pytest.mark.parametrize("n", [9, 60])
def test_a_rare_category_and_one_of_the_same_mean_are_ordered_by_their_codes(n):
    # Of both kinds of categories, in turn, some have no slope.
    h = np.where(np.arange(n) % 2, 5, 200)
    g = np.where(np.arange(n) % 3, 0, 7) * np.where(np.arange(n) % 2, 0, 1)
    assert ((g == 0) & (h > 5)).any()
    _, cells, _, keys, order = case_of((g << 32) + h, 0.0, 1.0, 90, 1)
    assert_ordered(cells, keys, order, 90)


def assert_ordered(cells, keys, order, least):
    n = len(cells)
    g, h = cells >> 32, cells & 0x7FFFFFFF
    is_rare = h < least * min(n, 32) // 32
    own = np.where(is_rare, g[is_rare].sum() / (h[is_rare].sum() + 3.0), g / (h + 3.0))
    expected = sorted(range(n), key=lambda code: (own[code], code))
    assert order.tolist() == expected
    assert_array_equal(keys, own[expected])
