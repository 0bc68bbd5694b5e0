"""Losses: their slopes, their best constants, their ends, and the same bits in kernels."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from hedgerow.kernels.jit import kernel
from hedgerow.losses import (
    AbsoluteError,
    Bernoulli,
    Exponential,
    Gamma,
    Huber,
    Multinomial,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)
from hedgerow.losses.weighted import (
    class_weights,
    total_weight,
    weighted_mean,
    weighted_median,
    weighted_quantile,
)

SIGNED, COUNT, POSITIVE, CLASS = (
    st.floats(-20, 20),
    st.integers(0, 9).map(float),
    st.floats(0.01, 20),
    st.sampled_from([0.0, 1.0]),
)
SCALAR = {
    "squared": (SquaredError(), SIGNED),
    "absolute": (AbsoluteError(), SIGNED),
    "quantile": (Quantile(0.3), SIGNED),
    "huber": (Huber(1.5), SIGNED),
    "poisson": (Poisson(), COUNT),
    "gamma": (Gamma(), POSITIVE),
    "tweedie": (Tweedie(1.4), COUNT),
    "bernoulli": (Bernoulli(), CLASS),
    "exponential": (Exponential(), CLASS),
}
NAMES = pytest.mark.parametrize("name", SCALAR)
WITH_LEAVES = pytest.mark.parametrize("name", ["absolute", "quantile"])
SCORES = st.floats(-6, 6)
EXTREMES = [-700.0, -40.0, 0.0, 40.0, 700.0]


@kernel
def evaluated(loss, y, f):
    return loss.loss(y, f), loss.gradient(y, f), loss.hessian(y, f)


@kernel
def gradients_of(loss, y, f, g, h):
    loss.gradients(y, f, g, h)


def samples(target, most_rows=12):
    """Targets and whole weights, at least one of them above zero."""
    row = st.tuples(target, st.integers(0, 3))
    rows = st.lists(row, min_size=1, max_size=most_rows).filter(
        lambda rows: any(w for _, w in rows)
    )
    return rows.map(
        lambda rows: tuple(np.array(column, np.float64) for column in zip(*rows, strict=True))
    )


def kinks(loss, y):
    """Scores at which the loss has no second derivative."""
    return {"Huber": (y - 1.5, y + 1.5), "AbsoluteError": (y,), "Quantile": (y,)}.get(
        type(loss).__name__, ()
    )


def risk(loss, y, w, c):
    return math.fsum(weight * loss.loss(target, c) for target, weight in zip(y, w, strict=True))


def shown_minimum(loss, y, w):
    """Smallest risk of a constant that a search finds."""
    found = minimize_scalar(lambda c: risk(loss, y, w, c), bounds=(-40, 40), method="bounded")
    return found.fun


@NAMES
@given(st.data())
def test_the_slope_of_the_loss_is_the_gradient(name, data):
    loss, target = SCALAR[name]
    y, f, step = data.draw(target), data.draw(SCORES), 1e-5
    assume(all(abs(f - kink) > 2 * step for kink in kinks(loss, y)))
    slope = (loss.loss(y, f + step) - loss.loss(y, f - step)) / (2 * step)
    # The third derivative times step^2, and rounding errors divided by the step.
    scale = 1 + abs(loss.loss(y, f)) + abs(y) * math.exp(abs(f))
    assert_allclose(slope, loss.gradient(y, f), rtol=1e-8, atol=1e-9 * scale)


@NAMES
@given(st.data())
def test_the_slope_of_the_gradient_is_the_hessian(name, data):
    loss, target = SCALAR[name]
    y, f, step = data.draw(target), data.draw(SCORES), 1e-5
    assume(all(abs(f - kink) > 2 * step for kink in kinks(loss, y)))
    slope = (loss.gradient(y, f + step) - loss.gradient(y, f - step)) / (2 * step)
    if name in ("absolute", "quantile"):
        assert slope == 0.0
        assert loss.hessian(y, f) == 1.0  # by decision: leaves are exact
    else:
        scale = 1 + abs(loss.gradient(y, f)) + abs(y) * math.exp(abs(f))
        assert_allclose(slope, loss.hessian(y, f), rtol=1e-8, atol=1e-9 * scale)


@NAMES
@given(st.data())
def test_kernels_and_python_find_the_same_bits(name, data):
    loss, target = SCALAR[name]
    y, f = data.draw(target), data.draw(st.floats(-700, 700))
    expected = loss.loss(y, f), loss.gradient(y, f), loss.hessian(y, f)
    assert_array_equal(evaluated(loss, y, f), expected)


@NAMES
@pytest.mark.parametrize("f", EXTREMES)
def test_far_scores_have_finite_losses(name, f):
    loss, _ = SCALAR[name]
    for y in (1.0,) if name == "gamma" else (0.0, 1.0):
        assert np.isfinite(evaluated(loss, y, f)).all()
        assert loss.hessian(y, f) >= 0.0
    assert np.isfinite(loss.link(np.array([f]))).all()


@NAMES
@given(st.data())
def test_no_constant_is_better_than_the_start(name, data):
    loss, target = SCALAR[name]
    y, w = data.draw(samples(target))
    start = loss.start(y, w)
    assert math.isfinite(start)
    # Where a class or every count is absent the best constant is infinite: 1e-12 is left.
    assert risk(loss, y, w, start) <= shown_minimum(loss, y, w) + 1e-6 * sum(w)


@NAMES
@given(st.data())
def test_a_weight_is_that_many_rows_at_the_start(name, data):
    loss, target = SCALAR[name]
    y, w = data.draw(samples(target))
    repeated = np.repeat(y, w.astype(int))
    again = loss.start(repeated, np.ones(len(repeated)))
    if name == "huber":  # sums in another order
        assert_allclose(loss.start(y, w), again, rtol=1e-12, atol=1e-12)
    else:
        assert loss.start(y, w) == again


@NAMES
@given(st.data())
def test_the_start_does_not_depend_on_the_order_of_the_rows(name, data):
    loss, target = SCALAR[name]
    y, w = data.draw(samples(target))
    order = np.array(data.draw(st.permutations(range(len(y)))))
    assert loss.start(y[order], w[order]) == loss.start(y, w)


@NAMES
@pytest.mark.parametrize("y", [0.1, 1.0, 0.0])
def test_targets_that_are_all_equal_are_predicted(name, y):
    loss, _ = SCALAR[name]
    y = min(max(y, 0.1), 1.0) if name == "gamma" else y
    y = round(y) if name in ("bernoulli", "exponential") else y
    start = loss.start(np.full(7, float(y)), np.arange(7.0))
    assert math.isfinite(start)
    assert_allclose(loss.link(np.array([start])), [y], rtol=1e-13, atol=1e-15)


@WITH_LEAVES
@given(samples(SIGNED))
def test_no_constant_is_better_than_the_leaf(name, rows):
    loss, (residual, w) = SCALAR[name][0], rows
    best = min(risk(loss, residual, w, c) for c in residual)  # a corner is a minimum
    assert_allclose(risk(loss, residual, w, loss.leaf(residual, w)), best, rtol=1e-12, atol=1e-12)


@given(samples(SIGNED), st.floats(0.01, 10))
def test_a_huber_leaf_is_not_worse_than_the_median(rows, delta):
    loss, (residual, w) = Huber(delta), rows
    median = weighted_median(residual, w)
    least = risk(loss, residual, w, median)
    assert risk(loss, residual, w, loss.leaf(residual, w)) <= least + 1e-12 * (1 + least)


@pytest.mark.parametrize("name", ["absolute", "quantile", "huber"])
@given(samples(SIGNED))
def test_a_weight_is_that_many_rows_in_a_leaf(name, rows):
    loss, (residual, w) = SCALAR[name][0], rows
    repeated = np.repeat(residual, w.astype(int))
    assert loss.leaf(residual, w) == loss.leaf(repeated, np.ones(len(repeated)))


@given(samples(SIGNED), st.sampled_from([1e-14, 1e-3, 0.5, 3.0, 1e3, 1e20]))
def test_the_start_of_huber_is_where_the_clipped_distances_cancel(rows, delta):
    y, w = rows
    pull = math.fsum(w * np.clip(y - Huber(delta).start(y, w), -delta, delta))
    kept = min(delta, 40.0)
    # A start that is 1e-14 wrong pulls with 1e-14 a row; at a jump less than one row is left.
    assert abs(pull) <= 1e-12 * sum(w) + (sum(w) * kept if delta < 1e-10 else 0.0)


def test_a_huber_loss_adapts_to_the_distances_of_the_round():
    y, w = np.arange(10.0), np.ones(10)
    assert Huber().adapted(y, np.zeros(10), w) == Huber(delta=8.0)
    assert Huber(alpha=0.5).adapted(y, np.zeros(10), w) == Huber(4.5, 0.5)
    few = np.where(np.arange(100) == 7, 3.0, 0.0)
    assert Huber().adapted(few, np.zeros(100), np.ones(100)).delta == 3.0
    assert Huber(2.0).adapted(y, y, w) == Huber(2.0)


def test_the_table_of_starts():  # notes 4, table of losses; notes 0, page 28
    y, w = np.array([1.0, 3.0, 2.0, 0.0, 0.0]), np.ones(5)
    assert SquaredError().start(y, w) == 1.2
    assert AbsoluteError().start(y, w) == 1.0
    assert_allclose([-SquaredError().gradient(t, 1.2) for t in y], [-0.2, 1.8, 0.8, -1.2, -1.2])
    assert [-AbsoluteError().gradient(t, 1.0) for t in y] == [0.0, 1.0, 1.0, -1.0, -1.0]


def test_the_gradient_of_two_classes_is_the_probability_less_the_class():  # notes 2, page 1
    for y, f in [(0.0, 0.3), (1.0, 0.3), (1.0, -2.0)]:
        p = 1 / (1 + math.exp(-f))
        assert_allclose(Bernoulli().gradient(y, f), -(y * (1 - p) - (1 - y) * p))


@given(st.data(), st.integers(2, 5))
def test_the_slopes_of_the_multinomial_loss_are_its_gradients(data, n_classes):
    loss, step = Multinomial(n_classes), 1e-5
    f = np.array(data.draw(st.lists(SCORES, min_size=n_classes, max_size=n_classes)))
    y = float(data.draw(st.integers(0, n_classes - 1)))

    def gradients(f):
        g, h = np.full((2, n_classes), np.nan)
        loss.gradients(y, f, g, h)
        return g, h

    g, h = gradients(f)
    by_kernel = np.full((2, n_classes), np.nan)
    gradients_of(loss, y, f, *by_kernel)
    assert_array_equal(by_kernel, [g, h])
    for k in range(n_classes):
        up, down = f + step * np.eye(n_classes)[k], f - step * np.eye(n_classes)[k]
        assert_allclose((loss.loss_of(y, up) - loss.loss_of(y, down)) / (2 * step), g[k], atol=1e-8)
        assert_allclose((gradients(up)[0][k] - gradients(down)[0][k]) / (2 * step), h[k], atol=1e-8)
    assert_allclose(loss.link(f[None])[0] - np.eye(n_classes)[int(y)], g, atol=1e-15)


def test_the_multinomial_loss_starts_from_the_shares_of_the_classes():
    y, w = np.array([0.0, 1.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0, 4.0])
    start = Multinomial(3).start(y, w)
    assert_allclose(start.sum(), 0.0, atol=1e-15)
    assert_allclose(Multinomial(3).link(start[None]), [[1 / 8, 3 / 8, 4 / 8]])
    repeated = np.repeat(y, w.astype(int))
    assert_array_equal(start, Multinomial(3).start(repeated, np.ones(8)))
    absent = Multinomial(3).start(np.zeros(5), np.ones(5))
    assert np.isfinite(absent).all()


@pytest.mark.parametrize("f", [[700.0, -700.0, 0.0], [0.0] * 3, [-700.0, -700.0, -699.0]])
def test_far_multinomial_scores_have_finite_losses(f):
    loss, f, (g, h) = Multinomial(3), np.array(f), np.empty((2, 3))
    loss.gradients(1.0, f, g, h)
    assert np.isfinite([*g, *h, loss.loss_of(1.0, f)]).all()
    assert_allclose(loss.link(f[None]).sum(), 1.0)


def test_two_classes_are_the_bernoulli_loss():
    for y in (0.0, 1.0):
        assert_allclose(
            Multinomial(2).loss_of(y, np.array([-0.4, 0.4])), Bernoulli().loss(y, 0.8), rtol=1e-15
        )


@given(samples(SIGNED), st.floats(0.01, 0.99))
def test_a_quantile_is_the_smallest_value_with_enough_weight_below(rows, level):
    values, w = rows
    total = w.sum()
    enough = [v for v in values[w > 0] if w[values <= v].sum() >= level * total]
    found = weighted_quantile(values, w, level)
    assert found == min(enough) or level == 0.5


@given(samples(SIGNED))
def test_a_median_is_that_of_the_repeated_rows(rows):
    values, w = rows
    assert weighted_median(values, w) == np.median(np.repeat(values, w.astype(int)))


@given(samples(st.floats(-1e300, 1e300)))
def test_a_mean_lies_between_the_values(rows):
    values, w = rows
    kept = values[w > 0]
    assert kept.min() <= weighted_mean(values, w) <= kept.max()


class Bad(NamedTuple):
    loss: object
    y: list
    says: str


@pytest.mark.parametrize(
    "bad",
    [
        Bad(SquaredError(), [1.0, math.nan], r"y\[1\] = nan.*finite.*Remove"),
        Bad(AbsoluteError(), [math.inf, -math.inf], r"inf \(and 1 more like it\)"),
        Bad(Quantile(1.5), [1.0], r"level=1.5.*above 0 and below 1.*level=0.5"),
        Bad(Huber(delta=0.0), [1.0], r"delta=0.0.*above 0"),
        Bad(Huber(alpha=1.0), [1.0], r"alpha=1.0.*below 1"),
        Bad(Poisson(), [1.0, -2.0], r"Poisson.*y\[1\] = -2.0.*>= 0.*SquaredError"),
        Bad(Poisson(), [0.0, 0.0], r"2 targets that are all zero.*at least one"),
        Bad(Gamma(), [0.0, 1.0], r"Gamma.*y\[0\] = 0.0.*> 0.*Tweedie"),
        Bad(Tweedie(2.0), [1.0], r"power=2.0.*Gamma for 2"),
        Bad(Tweedie(), [-1.0], r"Tweedie.*>= 0"),
        Bad(Bernoulli(), [0.0, 0.5], r"Bernoulli.*0.5.*0 and 1.*number"),
        Bad(Exponential(), [-1.0, 1.0], r"Exponential.*-1.0.*0 and 1"),
        Bad(Multinomial(3), [0.0, 3.0], r"Multinomial.*3.0.*0 to 2"),
        Bad(Multinomial(1), [0.0], r"n_outputs=1"),
    ],
    ids=lambda bad: f"{bad.loss}-{bad.y}",
)
def test_bad_targets_are_named_with_what_is_accepted_and_what_to_do(bad):
    with pytest.raises(ValueError, match=bad.says):
        bad.loss.check(np.array(bad.y))


@NAMES
@given(st.data())
def test_good_targets_are_accepted(name, data):
    loss, target = SCALAR[name]
    y, _ = data.draw(samples(target))
    assume(name not in ("poisson", "tweedie") or y.any())
    assert loss.check(y) is None


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_rows_that_all_count_the_same_are_counted(weight):
    y = np.repeat([0.0, 1.0, 3.0], [5, 2, 10])
    w = np.full(len(y), weight)
    wanted = [math.fsum(w[y == k]) for k in range(4)]
    assert class_weights(y, w, 4) == wanted
    assert total_weight(w) == math.fsum(w)
