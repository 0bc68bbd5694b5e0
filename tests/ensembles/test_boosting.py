"""Boosting rounds: codes and values agree, interrupts keep what is done."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import Schema, read_table
from hedgerow.ensembles.boosting import Boosting, BoostingRules
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.team import hired
from hedgerow.losses import Multinomial, SquaredError
from hedgerow.trees.quantise import quantised_weights
from hedgerow.trees.rules import GrowthRules
from tests.estimators.tables import census

pytestmark = pytest.mark.usefixtures("many_hands")

ALL = np.zeros(0, np.int64)


def boosted(rows, n_threads=1, go_on=lambda _: True, n_classes=0, max_leaves=9):
    """Boost six rounds; return the scores that training has, the model, and the values."""
    problem = census(600, seed=1)
    table = read_table(problem.X)
    growth = GrowthRules(max_leaves=max_leaves, max_depth=6, min_leaf_weight=1.0, min_gain=1e-9)
    y, loss = problem.numbers, SquaredError()
    if n_classes:
        y, loss = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float), Multinomial(3)
    with hired(n_threads, 1e9) as team:
        binned = bin_table(table, Recipe(255), team)
        stage = Stage(y, quantised_weights(np.ones(600)), np.ones(1), loss, rows)
        model = Boosting(binned, stage, BoostingRules(6, 0.3, growth), team).run(go_on)
        values = Schema.of(table.names, binned.categories).matrix(table, "missing")
        return stage.raw.T, model, model.raw(values, team)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("max_leaves", [9, None])
@pytest.mark.parametrize("rows", [ALL, np.arange(0, 600, 3)], ids=["all rows", "some rows"])
def test_training_and_prediction_give_a_row_the_same_score(n_threads, n_classes, max_leaves, rows):
    """Training finds leaves by codes, also of rows that no tree was grown from."""
    trained, model, predicted = boosted(rows, n_threads, n_classes=n_classes, max_leaves=max_leaves)
    assert model.n_rounds == 6
    assert np.ptp(predicted, axis=0).min() > 0
    assert_array_equal(trained, predicted)


@pytest.mark.parametrize("n_done", [1, 4])
def test_an_interrupt_keeps_the_rounds_that_are_done(n_done):
    def interrupt(boosting):
        if boosting.n_rounds == n_done:
            raise KeyboardInterrupt
        return True

    _, whole, _ = boosted(ALL)
    _, model, _ = boosted(ALL, go_on=interrupt)
    assert model.n_rounds == n_done
    assert model.fingerprint() == whole.first(n_done).fingerprint()


def test_an_interrupt_before_the_first_round_goes_on_to_the_caller(monkeypatch):
    def interrupted(_self, _team):
        raise KeyboardInterrupt

    monkeypatch.setattr(Stage, "derive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        boosted(ALL)


def test_the_first_rounds_of_a_model_are_the_model_of_fewer_rounds():
    def third(boosting):
        return boosting.n_rounds < 3

    _, whole, _ = boosted(ALL)
    _, short, _ = boosted(ALL, go_on=third)
    assert whole.first(3).fingerprint() == short.fingerprint()
    assert whole.first(6).fingerprint() == whole.fingerprint()
    assert (whole.grove.category_start >= 0).any()  # sets of categories are cut too
