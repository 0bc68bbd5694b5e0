"""A boosted model is grown in little more memory than its table: nothing large is there twice."""

import tracemalloc

import numpy as np
import pytest

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor
from hedgerow.data import binned
from hedgerow.estimators import row_order
from hedgerow.kernels.dials import grow_by

N_ROWS, N_FEATURES = 220_000, 28


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64)


def most_bytes(model, X, y):
    """Return the most that a fit allocates at once: arrays are counted, used or not."""
    model.fit(X[:30_000], y[:30_000])  # loads
    tracemalloc.start()
    try:
        model.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    # 28 bytes of codes a row, and 32 for sums; records 16, scores and derivatives 16, classes 1,
    # leaves and row numbers 8: 101 bytes of 112. What is known of leaves does not grow with rows.
    ("stops", "share"),
    [(False, 1.04), (True, 1.25)],
)
def test_a_fit_takes_little_more_than_its_table(problem, stops, share, monkeypatch):
    monkeypatch.setattr(row_order, "_LEAST_WORK", 0.0)  # as many more rounds would
    monkeypatch.setattr(binned, "_VALUES", 2 * N_ROWS)  # two columns, as of a million rows
    model = GradientBoostingClassifier(n_estimators=3, early_stopping=stops, n_jobs=2)
    assert most_bytes(model, *problem) < share * problem[0].nbytes


def test_weights_that_are_all_the_same_need_no_kernel_of_their_own():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = GradientBoostingRegressor(n_estimators=3, n_jobs=1)
    model.fit(X, X[:, 0], sample_weight=np.arange(60) % 3 + 1.0)
    known = set(grow_by.overloads)
    assert known
    model.fit(X, X[:, 0], sample_weight=np.full(60, 3.0))
    assert set(grow_by.overloads) == known
