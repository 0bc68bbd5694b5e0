"""Dropout: which rounds are dropped, and that training and prediction agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import Schema, read_table
from hedgerow.ensembles.boosting import Boosting, BoostingRules
from hedgerow.ensembles.dropout import NO_DROPOUT, Dropout
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.team import hired
from hedgerow.losses import Multinomial, SquaredError
from hedgerow.trees.quantise import quantised_weights
from hedgerow.trees.rules import GrowthRules
from tests.estimators.tables import census

pytestmark = pytest.mark.usefixtures("many_hands")


def test_rounds_are_dropped_by_chance_and_one_at_least():
    often = Dropout(0.3, 10_000)
    n_dropped = [len(often.rounds(5, number)) for number in range(300, 400)]
    assert abs(np.mean(n_dropped) - 0.3 * 349.5) < 4 * np.sqrt(0.21 * 350 / 100)
    rarely = Dropout(1e-9, 10_000)
    assert {len(rarely.rounds(5, number)) for number in range(1, 50)} == {1}
    assert len({rarely.rounds(5, number)[0] for number in range(30, 60)}) > 10


def test_limits_are_kept():
    assert all(len(Dropout(0.9, 3).rounds(1, number)) == 3 for number in range(10, 40))
    assert Dropout(0.9, 3).rounds(1, 0) == []
    assert NO_DROPOUT.rounds(1, 50) == []
    n_skipped = sum(not Dropout(0.5, 9, 0.25).rounds(1, number) for number in range(20, 420))
    assert abs(n_skipped - 100) < 4 * np.sqrt(75)


def test_only_earlier_rounds_are_dropped_and_others_in_another_round():
    dropout = Dropout(0.5, 99)
    found = [tuple(dropout.rounds(3, number)) for number in range(20, 30)]
    assert all(min(each) >= 0 and max(each) < 20 + i for i, each in enumerate(found))
    assert len(set(found)) == 10
    assert dropout.rounds(3, 25) == dropout.rounds(3, 25) != dropout.rounds(4, 25)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_training_and_prediction_agree_although_trees_change(n_classes, n_threads):
    problem = census(500, seed=1)
    table, y, loss = read_table(problem.X), problem.numbers, SquaredError()
    if n_classes:
        y, loss = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float), Multinomial(3)
    growth = GrowthRules(max_leaves=8, min_leaf_weight=1.0, min_gain=1e-9, seed=4)
    rules = BoostingRules(12, 0.3, growth, dropout=Dropout(0.4, 5))
    with hired(n_threads, 1e9) as team:
        binned = bin_table(table, Recipe(255), team)
        rows = np.arange(0, 500, 2)
        stage = Stage(y, quantised_weights(np.ones(500)), np.ones(1), loss, rows)
        model = Boosting(binned, stage, rules, team).run(lambda _: True)
        values = Schema.of(table.names, binned.categories).matrix(table, "missing")
        predicted = model.raw(values, team)
    assert model.n_rounds == 12
    # Trees are taken out and put back: the scores of training have a few roundings more.
    assert_allclose(stage.raw.T, predicted, rtol=0, atol=1e-12 * np.abs(predicted).max())
