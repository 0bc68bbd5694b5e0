"""Derivatives, records and steps of boosting, against plain Python."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.derivatives import (
    derive,
    derive_classes,
    largest_bits,
    total_steps,
    write_records,
)
from hedgerow.kernels.steps import (
    CHUNK,
    TURNS,
    class_losses,
    row_losses,
    set_columns,
    sum_leaves,
    sum_slopes,
)
from hedgerow.kernels.team import hired
from hedgerow.kernels.workspace import N_NODES, empty_nodes
from hedgerow.losses import Bernoulli, Multinomial, Poisson, SquaredError, Tweedie

N_ROWS = 5000  # more than a chunk


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def run(n_threads, kernel, *arguments):
    with hired(n_threads, 1e9) as team:
        team.run(kernel, *arguments)


def with_peaks(pairs, n_threads):
    """Return what `derive` writes to: the last is the largest derivatives of each thread."""
    return pairs, pairs.view(np.uint32), np.zeros((n_threads, len(pairs), 2), np.uint32)


def assert_peaks(pairs, _, peaks):
    assert_array_equal(peaks.max(axis=0).view(np.float32), np.abs(pairs).max(axis=2))


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("loss", [SquaredError(), Poisson(), Tweedie(1.3), Bernoulli()])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_row_has_its_derivatives(n_threads, loss, weighted):
    y = (numbers(0, N_ROWS) > 0).astype(float)
    raw, pairs = numbers(1, 1, N_ROWS), np.full((1, 2, N_ROWS), np.nan, np.float32)
    weights = np.abs(numbers(2, N_ROWS)) if weighted else np.ones(1)
    out = with_peaks(pairs, n_threads)
    run(n_threads, derive, loss, y, weights, raw, *out)
    assert_peaks(*out)
    for row in range(0, N_ROWS, 7):
        w = weights[row] if weighted else 1.0
        exact = [w * of(y[row], raw[0, row]) for of in (loss.gradient, loss.hessian)]
        assert_allclose(pairs[0, :, row], exact, rtol=3e-7, atol=1e-30)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_log_odds_have_their_derivatives_in_single_precision(n_threads, weighted):
    y, loss = (numbers(0, N_ROWS) > 0).astype(float), Bernoulli()
    raw, pairs = 5 * numbers(1, 1, N_ROWS), np.full((1, 2, N_ROWS), np.nan, np.float32)
    raw[0, :70:7] = [0.0, -0.0, 30.0, -30.0, 85.0, -85.0, 700.0, -700.0, 1e30, -1e30]
    weights = np.abs(numbers(2, N_ROWS)) if weighted else np.ones(1)
    out = with_peaks(pairs, n_threads)
    run(n_threads, derive, loss.single, y, weights, raw, *out)
    assert_peaks(*out)
    for row in range(0, N_ROWS, 7):
        w = weights[row] if weighted else 1.0
        exact = [w * of(y[row], raw[0, row]) for of in (loss.gradient, loss.hessian)]
        slack = 4e-7 * (1.0 + abs(raw[0, row]))  # of the score in single precision
        assert_allclose(pairs[0, :, row], exact, rtol=min(slack, 1e-4), atol=1e-36)


def test_log_odds_that_are_no_number_have_no_derivatives():
    pairs = np.zeros((1, 2, 1), np.float32)
    raw = np.full((1, 1), np.nan)
    run(1, derive, Bernoulli().single, np.ones(1), np.ones(1), raw, *with_peaks(pairs, 1))
    assert np.isnan(pairs).all()


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_classes", [3, 5])
def test_every_class_has_its_derivatives(n_threads, n_classes):
    labels = np.random.default_rng(0).integers(0, n_classes, N_ROWS).astype(np.int32)
    raw = 3 * numbers(1, n_classes, N_ROWS)
    raw[:, 0] = 700 * np.sign(raw[:, 0])
    pairs = np.full((n_classes, 2, N_ROWS), np.nan, np.float32)
    weights = np.abs(numbers(2, N_ROWS))
    out = with_peaks(pairs, n_threads)
    run(n_threads, derive_classes, labels, weights, raw, *out)
    assert_peaks(*out)
    loss, (g, h) = Multinomial(n_classes), np.empty((2, n_classes))
    for row in range(0, N_ROWS, 13):
        loss.gradients(float(labels[row]), np.ascontiguousarray(raw[:, row]), g, h)
        assert_allclose(pairs[:, 0, row], weights[row] * g, atol=3e-6)
        factor = n_classes / (n_classes - 1)
        assert_allclose(pairs[:, 1, row], factor * weights[row] * h, atol=3e-6)


SINGLES = st.floats(width=32, allow_nan=False)
POSITIVE = st.floats(min_value=0.0, width=32)


@given(st.lists(st.tuples(SINGLES, POSITIVE), min_size=1, max_size=40), st.integers(1, 3))
def test_the_largest_bits_are_those_of_the_largest_magnitude(rows, n_threads):
    pairs = np.abs(np.array(rows, np.float32)).T.copy()
    pairs[0] = np.array(rows, np.float32)[:, 0]
    peaks = np.full((n_threads, 2), 7, np.uint32)
    for own in (np.zeros(0, np.int64), np.arange(0, len(rows), 2)):
        run(n_threads, largest_bits, pairs.view(np.uint32), own, peaks)
        among = pairs[:, own] if len(own) else pairs
        assert_array_equal(peaks.max(axis=0).view(np.float32), np.abs(among).max(axis=1))


def test_nan_is_beyond_infinity_and_a_hessian_below_zero_beyond_nan():
    order = []
    for value in (np.inf, np.nan, -1e-30):
        peaks = np.zeros((1, 2), np.uint32)
        pairs = np.array([[1.0, -value], [1.0, value]], np.float32)
        run(1, largest_bits, pairs.view(np.uint32), np.zeros(0, np.int64), peaks)
        order.append(int(peaks[0, 1]))
    assert 0x7F800000 == order[0] < order[1] < order[2]
    assert peaks[0, 0].view(np.float32) == 1.0


class MinusZero(NamedTuple):
    n_outputs: int = 1

    def gradient(self, y, f):
        return f - y

    def hessian(self, y, f):
        return -0.0 * abs(f - y)


def test_no_hessian_is_minus_zero():
    pairs = np.full((1, 2, N_ROWS), np.nan, np.float32)
    given = numbers(0, N_ROWS), np.ones(1), numbers(1, 1, N_ROWS)
    run(1, derive, MinusZero(), *given, *with_peaks(pairs, 1))
    assert not np.signbit(pairs[0, 1]).any()


DYADIC = st.integers(-(2**14), 2**14).map(lambda k: k / 64)


@given(st.lists(st.tuples(DYADIC, DYADIC, st.integers(1, 9)), min_size=1, max_size=40), st.data())
def test_steps_are_summed_and_records_written_as_in_python(rows, data):
    g, h, weights = (np.array(column) for column in zip(*rows, strict=True))
    g, h, weights = g.astype(np.float32), np.abs(h).astype(np.float32), weights.astype(np.int64)
    scales, n_threads = np.array([8.0, 16.0], np.float32), data.draw(st.integers(1, 3))
    totals = np.full((n_threads, 2), -7, np.int64)
    chosen = data.draw(st.lists(st.integers(0, len(g) - 1), unique=True))
    for rows_of_tree in (np.zeros(0, np.int64), np.array(chosen, np.int64)):
        listed = rows_of_tree if len(rows_of_tree) else np.arange(len(g))
        for mask in (-1, 0):
            run(n_threads, total_steps, g, h, weights, mask, rows_of_tree, scales, totals)
            for of, scale, total in zip((g, h), (8, 16), totals.sum(axis=0), strict=True):
                steps = [int(abs(float(of[i])) * scale) + 1 for i in listed]
                assert total == sum(
                    int(weights[i & mask]) * n for i, n in zip(listed, steps, strict=True)
                )
        records = np.full(len(listed), -7, np.int64)
        run(n_threads, write_records, g, h, scales, rows_of_tree, records)
        assert (records & 0xFFFFFFFF).tolist() == listed.tolist()
        assert (records >> 48).tolist() == [math.floor(8 * float(g[i]) + 0.5) for i in listed]
        steps = [max(math.floor(16 * float(h[i]) + 0.5), 1) for i in listed]
        assert ((records >> 32) & 0xFFFF).tolist() == [step & 0xFFFF for step in steps]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("mask", [0, -1])
def test_nodes_have_the_sums_of_their_rows(n_threads, listed, mask):
    nodes = empty_nodes(4, N_ROWS, 1, 1)  # of seven nodes, of which five are
    nodes.table.left[:5] = [1, -1, 3, -1, -1]  # 0 -> 1, 2;  2 -> 3, 4
    nodes.counters[N_NODES] = 5
    leaves = np.random.default_rng(0).choice(np.array([-1, 1, 3, 4], np.int32), N_ROWS)
    pairs = (np.random.default_rng(1).integers(-99, 99, (2, N_ROWS)) / 8).astype(np.float32)
    weights, scales = np.random.default_rng(2).integers(1, 5, N_ROWS), np.array([8.0, 16.0])
    sums = np.zeros((TURNS * n_threads, 16), np.int64)
    rows = np.flatnonzero(leaves >= 0) if listed else np.zeros(0, np.int64)
    steps = np.empty((n_threads, 2, CHUNK), np.int64)
    weights[0] = 1  # as it is where rows have no weights
    run(n_threads, sum_leaves, leaves, rows, pairs, weights, mask, scales, steps, sums)
    weights = weights[np.arange(N_ROWS) & mask]
    columns = np.full((3, 7), np.nan)
    run(1, set_columns, nodes, sums, scales, 3.0, 2.0, columns)
    assert not sums.any()
    assert np.isnan(columns[:, 5:]).all()
    below = {0: [1, 3, 4], 1: [1], 2: [3, 4], 3: [3], 4: [4]}
    for node, own in below.items():
        inside = np.isin(leaves, own)
        G, H = (pairs.astype(np.float64) * weights)[:, inside].sum(axis=1)
        value = -np.sign(G) * max(abs(G) - 3.0, 0.0) / (H + 2.0) if H > 0.0 else 0.0
        assert columns[:, node].tolist() == [value, G, H]


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("rows", [np.zeros(0, np.int64), np.arange(3, N_ROWS, 7)])
def test_slopes_are_summed_over_rows_and_outputs(n_threads, rows):
    pairs = (np.random.default_rng(1).integers(-99, 99, (2, 2, N_ROWS)) / 8).astype(np.float32)
    along = np.random.default_rng(2).integers(-99, 99, (2, N_ROWS)) / 4
    weights, totals = np.random.default_rng(3).integers(1, 5, N_ROWS), np.full(n_threads, -7)
    run(n_threads, sum_slopes, pairs, along, weights, -1, rows, 32.0, totals)
    listed = rows if len(rows) else np.arange(N_ROWS)
    products = pairs[:, 0].astype(np.float64) * along * weights
    assert totals.sum() == 32 * products[:, listed].sum()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_losses_of_rows_are_those_of_the_formula(n_threads):
    raw, out = 3 * numbers(1, 4, N_ROWS), np.full(N_ROWS, np.nan)
    labels = np.random.default_rng(2).integers(0, 4, N_ROWS).astype(np.int32)
    run(n_threads, class_losses, labels, raw, out)
    loss = Multinomial(4)
    exact = [loss.loss_of(float(k), row) for k, row in zip(labels, raw.T.copy(), strict=True)]
    assert_array_equal(out, exact)
    y = (labels > 1).astype(float)
    run(n_threads, row_losses, Bernoulli(), y, raw[:1].copy(), out)
    assert_array_equal(out, [Bernoulli().loss(y[r], raw[0, r]) for r in range(N_ROWS)])
