"""Worked examples of boosting, to the digits that the notes print."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hedgerow import GradientBoostingRegressor

# Notes 4, the example of five rows and two features.
X = np.array([[0, 0], [0, 2], [1, 2], [2, 3], [0, 1]])
Y = np.array([1.0, 3.0, 2.0, 0.0, 0.0])


@pytest.mark.parametrize("method", ["gradient", "newton"])
def test_the_example_of_five_rows(method):
    model = GradientBoostingRegressor(
        method=method, n_estimators=2, max_depth=1, learning_rate=1.0, l2=0.0, min_child_weight=0
    )
    first, second = model.fit(X, Y).staged_predict(X)
    assert_allclose(model._model.start, [1.2], rtol=1e-12)
    assert_allclose(first, [1.5, 1.5, 1.5, 0.0, 1.5], atol=1e-6)
    assert_allclose(second, [0.5, 2.166, 2.166, 0.66, 0.5], atol=7e-3)  # the notes cut 2/3 to .66
    assert_allclose(second, [0.5, 13 / 6, 13 / 6, 2 / 3, 0.5], atol=1e-6)


def test_the_gain_of_the_first_split_has_the_notes_half():
    # Residuals -0.2, 1.8, 0.8, -1.2, -1.2; the fourth row alone: (1.2^2 / 1 + 1.2^2 / 4) / 2.
    model = GradientBoostingRegressor(
        n_estimators=1, max_depth=1, l2=0.0, min_child_weight=0, learning_rate=1.0
    ).fit(X, Y)
    assert_allclose(model._model.gain[0], (1.44 + 0.36) / 2, rtol=1e-4)


@pytest.mark.parametrize("repeats", [1, 60])  # from rows, and from histograms
def test_post_pruning_keeps_an_exclusive_or_that_pre_stopping_does_not_begin(repeats):
    # T06, notes 3: the first split gains nothing, each of the two below it 1/2 a row.
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * repeats)
    y = np.array([0.0, 1.0, 1.0, 0.0] * repeats)
    parameters = {"n_estimators": 1, "learning_rate": 1.0, "l2": 0.0, "min_child_weight": 0.0}
    for prune, gamma, n_leaves in [
        ("pre", 0.01, 1),
        ("post", 0.24, 4),
        ("post", 0.26, 1),
    ]:
        model = GradientBoostingRegressor(**parameters, prune=prune, gamma=gamma * repeats)
        model.fit(x, y)
        assert np.count_nonzero(model._model.grove.left < 0) == n_leaves
        assert_allclose(model.predict(x), y if n_leaves == 4 else 0.5, atol=1e-12)
