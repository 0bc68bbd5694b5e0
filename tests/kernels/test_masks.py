"""Masks: leaves of small tables are divided by bits, to the same trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

import hedgerow as h
from hedgerow.kernels import team
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.masks import at_most, in_set, n_bits
from hedgerow.trees import grower, regrower

PLAIN = bool(config.DISABLE_JIT)


@kernel
def compared(codes, first, shift, limit, out):
    out[0] = at_most(codes, first, np.uint8(shift), np.uint8(limit))
    out[1] = n_bits(out[0])


@given(st.integers(0, 2**32 - 1), st.integers(0, 1), st.integers(0, 255), st.integers(0, 9))
def test_sixty_four_codes_are_compared_at_once(seed, shift, limit, first):
    codes = np.random.default_rng(seed).integers(0, 256, 80).astype(np.uint8)
    out = np.zeros(2, np.int64)
    compared(codes, first, shift, limit, out)
    goes_left = [(int(code) + shift) % 256 <= limit for code in codes[first : first + 64]]
    assert [(int(out[0]) >> i) & 1 for i in range(64)] == goes_left
    assert out[1] == sum(goes_left)


@kernel
def looked_up(codes, first, word, out):
    out[0] = in_set(codes, first, np.uint64(word))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**63 - 1), st.integers(0, 9))
def test_sixty_four_codes_are_looked_up_at_once(seed, word, first):
    codes = np.random.default_rng(seed).integers(0, 256, 80).astype(np.uint8)
    out = np.zeros(1, np.int64)
    looked_up(codes, first, word, out)
    is_in = [(word >> (int(code) % 64)) & 1 for code in codes[first : first + 64]]
    assert [(int(out[0]) >> i) & 1 for i in range(64)] == is_in


def table(n_rows):
    """Return numbers of a few and of many values, some of them missing, and classes.

    Columns 3 and 4, of 3 and of up to 63 values, may be taken for categories.
    """
    random = np.random.default_rng(n_rows)
    X = random.standard_normal((n_rows, 5))
    X[:, 3], X[:, 4] = random.integers(0, 3, n_rows), random.integers(0, 63, n_rows)
    y = (X[:, 0] * X[:, 1] + X[:, 3] + np.sin(X[:, 4]) > 0.5).astype(int)
    X[random.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("n_rows", [63, 64, 65] if PLAIN else [63, 64, 65, 1000, 4001])
@pytest.mark.parametrize("max_depth", [None, 4])
@pytest.mark.parametrize("categories", [[], [3, 4]])
def test_models_are_the_same_with_masks_and_without(
    monkeypatch, n_rows, n_jobs, max_depth, categories
):
    monkeypatch.setattr(team, "_BRIEF", 0)  # threads for small tables, too
    monkeypatch.setattr(regrower, "_FEWEST", 63)
    X, y = table(n_rows)
    y[:2] = 0, 1
    given = {"n_estimators": 2 if PLAIN else 20, "max_leaf_nodes": 20, "max_depth": max_depth}
    model = h.GradientBoostingClassifier(
        **given,
        early_stopping=False,
        n_jobs=n_jobs,
        min_child_weight=0.01,
        categorical_features=categories,
    )
    used, workspace = [], grower.workspace

    def seen(n_threads, size):
        used.append(size.masked)
        return workspace(n_threads, size)

    monkeypatch.setattr(grower, "workspace", seen)
    masked = model.fit(X, y).fingerprint_
    assert any(used)
    monkeypatch.setattr(regrower, "_MASKED", 0)
    used.clear()
    assert model.fit(X, y).fingerprint_ == masked
    assert not any(used)


def test_there_are_no_masks_where_rows_are_drawn_or_categories_are_many(monkeypatch):
    used, workspace = [], grower.workspace

    def seen(n_threads, size):
        used.append(size.masked)
        return workspace(n_threads, size)

    monkeypatch.setattr(grower, "workspace", seen)
    X, y = table(2000)
    X[:64, 4] = np.arange(64)
    model = h.GradientBoostingClassifier(n_estimators=2, early_stopping=False)
    model.set_params(subsample=0.5).fit(X, y)
    model.set_params(subsample=1.0, categorical_features=[4]).fit(X, y)
    assert used == [False, False]
