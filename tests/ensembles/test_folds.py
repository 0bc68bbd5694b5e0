"""Models of folds: each is what boosting its rows alone gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.ensembles.boosting import Boosting, BoostingRules
from hedgerow.ensembles.curve import Patience, Scored, best_round, mean_loss, steady_sum
from hedgerow.ensembles.folds import Fold, Folds
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.team import hired
from hedgerow.losses import SquaredError
from hedgerow.trees.quantise import quantised_weights
from hedgerow.trees.rules import GrowthRules
from tests.estimators.tables import census

pytestmark = pytest.mark.usefixtures("many_hands")

RULES = BoostingRules(3, 0.3, GrowthRules(max_leaves=7, min_leaf_weight=1.0, min_gain=1e-9))
WEIGHTS = np.arange(120) % 3 + 1.0


def begun(binned, y, rows, team):
    stage = Stage(y, quantised_weights(WEIGHTS), np.ones(1), SquaredError(), rows)
    return Boosting(binned, stage, RULES, team)


@pytest.mark.parametrize("n_threads", [1, 2, 6])
def test_models_that_grow_together_are_those_that_grow_alone(n_threads):
    problem, folds = census(120), np.arange(120) % 3
    with hired(n_threads, 1e9) as team:
        binned = bin_table(read_table(problem.X), Recipe(255), team)
        first, *teams = Folds.teams(4, team)
        whole = begun(binned, problem.numbers, np.zeros(0, np.int64), first)
        grown = []
        for k, own in enumerate(teams):
            held_out = np.flatnonzero(folds == k)
            boosting = begun(binned, problem.numbers, np.flatnonzero(folds != k), own)

            def measure(boosting, rows=held_out, own=own):
                y, raw, weights = problem.numbers[rows], boosting.stage.raw[:, rows], WEIGHTS[rows]
                scored = Scored(y, raw, weights, weights.sum())
                return mean_loss(SquaredError(), scored, own)

            grown.append(Fold(boosting, held_out, measure))
        together = Folds(whole, grown, team)
        together.run(3, lambda _: True)
        for k, fold in enumerate(together.folds):
            alone = begun(binned, problem.numbers, np.flatnonzero(folds != k), team)
            model = alone.run(lambda _: True)
            assert fold.boosting.model(3).fingerprint() == model.fingerprint()
            assert_array_equal(fold.boosting.stage.raw, alone.stage.raw)
        alone = begun(binned, problem.numbers, np.zeros(0, np.int64), team).run(lambda _: True)
        assert together.whole.model(3).fingerprint() == alone.fingerprint()
    held_out_raw = np.select(
        [folds == k for k in range(3)], [f.boosting.stage.raw[0] for f in grown]
    )
    losses = (problem.numbers - held_out_raw) ** 2 / 2
    assert_allclose(together.curve[-1], WEIGHTS @ losses / WEIGHTS.sum(), rtol=1e-12)


def test_patience_is_over_when_the_last_rounds_were_in_vain():
    patience = Patience(3, 0.1)
    assert not patience.is_over([1.0, 0.5, 0.45])
    assert not patience.is_over([1.0, 0.5, 0.45, 0.45, 0.34, 0.7])
    assert patience.is_over([1.0, 0.5, 0.45, 0.45, 0.41])
    assert not patience.is_over([1.0, 0.9, 0.85, 0.79])


def test_the_best_round_is_the_first_of_the_smallest_or_near_it():
    assert best_round([3.0, 1.0, 2.0, 1.0]) == 1
    assert best_round([3.0, 1.5, 1.0, 1.2], allowance=0.5) == 1


def test_a_steady_sum_is_the_sum_in_any_order():
    rng = np.random.default_rng(0)
    values = rng.normal(size=1000) * rng.lognormal(0, 5, 1000)
    assert steady_sum(values) == steady_sum(rng.permutation(values))
    assert_allclose(steady_sum(values), np.sum(values), rtol=1e-13)
    assert steady_sum(np.zeros(3)) == 0.0
