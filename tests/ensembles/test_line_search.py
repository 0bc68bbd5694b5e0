"""The line search finds the lowest point along a direction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hedgerow.ensembles.curve import losses_of
from hedgerow.ensembles.line_search import line_search
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.team import hired
from hedgerow.losses import (
    AbsoluteError,
    Bernoulli,
    Exponential,
    Gamma,
    Huber,
    Multinomial,
    Poisson,
    SquaredError,
)
from hedgerow.trees.quantise import quantised_weights

pytestmark = pytest.mark.usefixtures("many_hands")

ALL = np.zeros(0, np.int64)


def stage_of(loss, weights=None, rows=ALL, n=300):
    rng = np.random.default_rng(4)
    x = rng.normal(size=n)
    y = np.exp(0.5 * x + 0.3 * rng.normal(size=n))
    if isinstance(loss, Bernoulli | Exponential):
        y = (x + rng.normal(size=n) > 0).astype(float)
    if isinstance(loss, Multinomial):
        y = np.digitize(x + rng.normal(size=n), [-0.5, 0.5]).astype(float)
    weights = np.ones(n) if weights is None else weights
    stage = Stage(y, quantised_weights(weights), np.ones(1), loss, rows)
    slopes = np.linspace(0.3, -0.2, loss.n_outputs) if loss.n_outputs > 1 else np.array([0.3])
    return stage, -slopes[:, None] * x if loss.n_outputs > 1 else 0.3 * x[None]


def total_loss(stage, along, step, team, rows=None):
    there = stage.raw.copy()
    stage.raw = there + step * along
    every = np.arange(len(stage.y)) if rows is None else rows
    losses = losses_of(stage.loss, stage.y[every], stage.raw[:, every], team)
    stage.raw = there
    return float(np.sum(losses * stage.weights[every]))


LOSSES = [SquaredError(), Bernoulli(), Exponential(), Poisson(), Gamma(), Multinomial(3)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_other_step_is_better(loss, weighted):
    weights = np.random.default_rng(1).integers(1, 5, 300) if weighted else np.ones(300)
    stage, along = stage_of(loss, weights.astype(float))
    with hired(1, 0.0) as team:
        step = line_search(stage, along, team)
        lowest = total_loss(stage, along, step, team)
        assert step > 0.1
        assert lowest < total_loss(stage, along, 0.0, team)
        for factor in (0.5, 0.99, 1.01, 2.0):
            assert lowest < total_loss(stage, along, factor * step, team)


def test_the_step_of_squared_error_is_that_of_least_squares():
    stage, along = stage_of(SquaredError())
    residual = stage.y - stage.raw[0]
    with hired(1, 0.0) as team:
        step = line_search(stage, along, team)
    assert_allclose(step, residual @ along[0] / (along[0] @ along[0]), rtol=1e-6)


@pytest.mark.parametrize("loss", [AbsoluteError(), Huber(0.9)], ids=repr)
def test_kinks_are_no_hindrance(loss):
    stage, along = stage_of(loss)
    with hired(1, 0.0) as team:
        stage.derive(team)  # Huber's delta
        step = line_search(stage, along, team)
        lowest = total_loss(stage, along, step, team)
        trials = [total_loss(stage, along, trial, team) for trial in np.linspace(0, 4, 41)]
    assert lowest <= min(trials) * (1 + 1e-6)


def test_a_direction_that_leads_up_is_not_taken():
    stage, along = stage_of(Bernoulli())
    with hired(1, 0.0) as team:
        assert line_search(stage, -along, team) == 0.0
        assert line_search(stage, 0.0 * along, team) == 0.0


def test_a_way_down_without_end_is_left_at_the_longest_step():
    y = np.array([0.0, 0.0, 1.0, 1.0])
    stage = Stage(y, quantised_weights(np.ones(4)), np.ones(1), Bernoulli(), ALL)
    with hired(1, 0.0) as team:
        assert line_search(stage, np.array([[-1e-3, -1e-3, 1e-3, 1e-3]]), team) == 64.0


@pytest.mark.filterwarnings("ignore:overflow encountered")  # said by numpy, with the JIT off
def test_scores_beyond_numbers_are_too_far():
    stage, along = stage_of(Poisson())
    with hired(1, 0.0) as team:
        short = line_search(stage, along, team)
        assert_allclose(line_search(stage, 1e4 * along, team), 1e-4 * short, rtol=1e-3)


def test_the_step_is_a_function_of_the_weighted_rows():
    weights = np.random.default_rng(1).integers(0, 4, 300)
    stage, along = stage_of(Bernoulli())
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(300), weights))
    kept = np.flatnonzero(weights)

    def step(y, w, d, rows, n_threads):
        given = Stage(y, quantised_weights(w), np.ones(1), Bernoulli(), rows)
        given.raw[:] = 0.25
        with hired(n_threads, 1e9) as team:
            return line_search(given, d, team)

    steps = {
        step(stage.y[kept], weights[kept].astype(float), along[:, kept], ALL, 1),
        step(stage.y[order], np.ones(len(order)), along[:, order], ALL, 3),
    }
    assert len(steps) == 1


def test_rows_held_out_have_no_say():
    rows = np.arange(0, 300, 2)
    stage, along = stage_of(Bernoulli(), rows=rows)
    with hired(1, 0.0) as team:
        step = line_search(stage, along, team)
        stage.y[1::2] = 1.0 - stage.y[1::2]
        assert line_search(stage, along, team) == step
        lowest = total_loss(stage, along, step, team, rows)
        assert lowest < total_loss(stage, along, 1.02 * step, team, rows)
