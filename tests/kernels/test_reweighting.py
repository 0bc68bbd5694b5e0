"""Reweighting: steps of weight against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.reweighting import Standing, reweigh, take_logs
from hedgerow.kernels.team import hired


def weighed(rows, places, scores, margins, n_threads=1):
    margins, steps = margins.copy(), np.zeros(len(margins), np.int64)
    with hired(n_threads, np.inf) as team:
        marks = np.zeros(team.n_threads, np.int64)
        team.join(reweigh, rows, places, scores, margins, marks, steps)
    return margins, steps


def by_definition(rows, places, scores, margins):
    margins = margins + scores[places, rows.labels]
    logs = rows.logs + rows.slope * margins
    counts = rows.counts if len(rows.counts) > 1 else 1
    steps = np.rint(rows.scale * np.exp(logs - logs.max())).astype(np.int64)
    return margins, counts * np.maximum(steps, 1)


@pytest.mark.parametrize("has_logs", [False, True])
@pytest.mark.parametrize("has_counts", [False, True])
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.sampled_from([2, 7, 5000]))
def test_steps_are_those_of_the_definition(has_logs, has_counts, seed, n_rows):
    rng = np.random.default_rng(seed)
    rows = Standing(
        rng.integers(0, 3, n_rows).astype(np.int32),
        rng.integers(1, 9, n_rows) if has_counts else np.ones(1, np.int64),
        rng.normal(size=n_rows) if has_logs else np.zeros(1),
        -0.5,
        2.0**40,
    )
    told = rng.integers(0, 4, n_rows).astype(np.int32), rng.normal(size=(4, 3))
    before = rng.normal(size=n_rows)
    margins, steps = weighed(rows, *told, before)
    expected_margins, expected = by_definition(rows, *told, before)
    assert_array_equal(margins, expected_margins)
    # e^x is rounded in its last bit, of 2^40 steps by less than one.
    assert_allclose(steps, expected, rtol=0, atol=9 if has_counts else 1)


def test_threads_make_no_difference():
    rng = np.random.default_rng(0)
    labels, one = rng.integers(0, 2, 10_000).astype(np.int32), np.ones(1, np.int64)
    rows = Standing(labels, one, np.zeros(1), -1.0, 2.0**44)
    told = rng.integers(0, 2, 10_000).astype(np.int32), rng.normal(size=(2, 2))
    alone = weighed(rows, *told, np.zeros(10_000))
    together = weighed(rows, *told, np.zeros(10_000), n_threads=3)
    assert_array_equal(alone[0], together[0])
    assert_array_equal(alone[1], together[1])


def test_weights_beyond_the_range_of_float64_are_weighed():
    labels, one = np.zeros(3, np.int32), np.ones(1, np.int64)
    rows = Standing(labels, one, np.zeros(1), -1.0, 2.0**50)
    nothing, none = np.zeros(0, np.int32), np.zeros((1, 1))
    _, steps = weighed(rows, nothing, none, np.array([-5000.0, -5000.0 + np.log(2), 9000.0]))
    assert_allclose(steps, [2**50, 2**49, 1], rtol=1e-12)  # margins have 13 digits after the point


def test_logarithms_are_natural():
    numbers = np.array([1.0, np.e, 0.5, 1e-300])
    take_logs(numbers)
    assert_allclose(numbers, [0.0, 1.0, -np.log(2), np.log(1e-300)], rtol=1e-15, atol=1e-16)
