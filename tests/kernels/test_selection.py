"""Selection and grouping of rows, against sorting and plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.kernels.selection import N_CELLS, count_leaves, group_rows, select
from hedgerow.kernels.team import hired
from hedgerow.losses.weighted import sorted_quantile, weighted_quantile

VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False), st.floats(1.0, 1.001))


def selected(values, weights, target):
    found = np.empty(2, np.uint64)
    keys = (np.array(values) + 0.0).view(np.uint64)
    select(keys, np.array(weights, float), float(target), np.empty(N_CELLS), found)
    return tuple(found.view(np.float64).tolist())


def in_order(values, weights, target):
    """The value at which the weights reach the target, and the next if they meet it exactly."""
    rows = sorted((value + 0.0, w) for value, w in zip(values, weights, strict=True))
    below = 0
    for (value, w), (after, _) in zip(rows, [*rows[1:], rows[-1]], strict=True):
        below += w
        if below >= target:
            return value, (after if below == target else value)
    raise AssertionError


@given(st.lists(st.tuples(VALUES, st.integers(1, 5)), min_size=1, max_size=150), st.data())
def test_selection_is_what_sorting_finds(rows, data):
    values, weights = zip(*rows, strict=True)
    target = data.draw(st.integers(1, sum(weights)))
    assert selected(values, weights, target) == in_order(values, weights, target)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 5000])
@pytest.mark.parametrize("kind", ["spread", "ties", "equal", "near", "huge"])
def test_quantiles_of_many_rows_are_those_of_sorted_rows(n, kind):
    rng = np.random.default_rng(n)
    values = {
        "spread": rng.normal(size=n),
        "ties": rng.integers(-2, 3, n).astype(float),
        "equal": np.full(n, -1.5),
        "near": 1.0 + rng.integers(0, 50, n) * 2.0**-52,
        "huge": rng.choice([-1e308, 1e308, 5e-324, np.inf], n),
    }[kind]
    for weights in (np.ones(n), rng.integers(0, 4, n) + 0.25, rng.uniform(0.1, 1.0, n)):
        for level in (0.001, 0.3, 0.5, 0.75, 0.999):
            found = weighted_quantile(values, weights, level)
            assert found == sorted_quantile(values, weights, level)


def test_weights_that_do_not_add_up_exactly_are_added_in_sorted_order():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=900), rng.uniform(size=900)
    order = rng.permutation(900)
    assert weighted_quantile(values, weights, 0.3) == weighted_quantile(
        values[order], weights[order], 0.3
    )


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_brought_together_by_leaf(n_threads, weighted):
    rng = np.random.default_rng(0)
    leaves = rng.choice(np.array([-1, 1, 3, 4], np.int32), 2000)
    y, raw, weights = rng.normal(size=(3, 2000))
    weights = weights if weighted else np.full(1, 0.7)
    counts = np.zeros((n_threads, 5), np.int64)
    with hired(n_threads, 1e9) as team:
        team.run(count_leaves, leaves, counts)
        sizes = counts.sum(axis=0)
        assert sizes.tolist() == [int((leaves == node).sum()) for node in range(5)]
        first = np.cumsum(sizes) - sizes
        places = first + np.cumsum(counts, axis=0) - counts
        residual, grouped = np.full((2, sizes.sum()), np.nan)
        team.run(group_rows, leaves, y, raw, weights, places, residual, grouped)
    for node in range(5):
        own = slice(first[node], first[node] + sizes[node])
        assert_array_equal(residual[own], (y - raw)[leaves == node])
        expected = np.broadcast_to(weights, 2000)[leaves == node]
        assert_array_equal(grouped[own], expected)
