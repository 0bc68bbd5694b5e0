"""Parts of a table: what is made of some rows is made of these alone, and once."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

import hedgerow
from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.parts import ReadOnce
from hedgerow.data.table import Schema, read_table
from hedgerow.kernels.team import Team

N = 90


def frame():
    random = np.random.default_rng(0)
    table = pd.DataFrame({
        "x": random.normal(size=N),
        "whole": random.integers(0, 9, N),
        "word": random.choice(["a", "b", "c", None], N),
        "kind": pd.Categorical(random.choice(["u", "v"], N), categories=["v", "u", "never"]),
    })  # fmt: skip
    table.loc[3:9, "x"] = np.nan
    return table


def numbers():
    return np.random.default_rng(1).normal(size=(N, 4))


TABLES = {
    "pandas": (frame(), lambda X, rows: X.iloc[rows]),
    "polars": (pl.from_pandas(frame()), lambda X, rows: X[rows]),
    "pyarrow": (pa.Table.from_pandas(frame()), lambda X, rows: X.take(rows)),
    "array": (numbers(), lambda X, rows: X[rows]),
    "float32 by columns": (np.asfortranarray(numbers(), np.float32), lambda X, rows: X[rows]),
    "sparse": (scipy.sparse.csr_array(np.round(numbers())), lambda X, rows: X[rows]),
    "list": (frame().to_numpy(object).tolist(), lambda X, rows: [X[row] for row in rows]),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("max_bins", [None, 5])
def test_a_part_is_the_table_of_its_rows(name, max_bins):
    X, taken = TABLES[name]
    rows = np.random.default_rng(2).permutation(N)[:60]
    part, alone = ReadOnce(read_table(X)).part(rows), read_table(taken(X, rows))
    ours, theirs = (bin_table(table, Recipe(max_bins), Team(1)) for table in (part, alone))
    assert ours.categories == theirs.categories
    for one, other in zip(ours.codes, theirs.codes, strict=True):
        assert_array_equal(np.asarray(one), np.asarray(other))
    schema = Schema.of(part.names, ours.categories)
    rest = np.setdiff1d(np.arange(N), rows)
    held_out = ReadOnce(read_table(X)).part(rest)
    assert_array_equal(
        schema.matrix(held_out, "missing"), schema.matrix(read_table(taken(X, rest)), "missing")
    )


@pytest.mark.parametrize("name", TABLES)
def test_a_model_of_a_part_is_that_of_its_rows(name):
    X, taken = TABLES[name]
    y, rows = np.random.default_rng(3).integers(0, 2, N), np.arange(0, N, 2)
    part = ReadOnce(read_table(X)).part(rows)
    for model in (
        hedgerow.GradientBoostingClassifier(n_estimators=5),
        hedgerow.RandomForestClassifier(3),
        hedgerow.AdaBoostClassifier(n_estimators=4),
        hedgerow.BaggingClassifier(n_estimators=3),
        hedgerow.DecisionTreeClassifier(),
    ):
        ours = model.fit(part, y[rows]).fingerprint_
        assert ours == model.fit(taken(X, rows), y[rows]).fingerprint_, type(model).__name__


def test_a_part_is_binned_once_for_each_recipe_and_other_weights_are_other_bins():
    part, team = ReadOnce(read_table(numbers())).part(np.arange(50)), Team(1)
    first = bin_table(part, Recipe(7), team)
    assert bin_table(part, Recipe(7), team) is first
    assert bin_table(part, Recipe(8), team) is not first
    heavy = np.where(np.arange(50) < 5, 1000, 1)
    weighted = bin_table(part, Recipe(7), team, None, heavy)
    assert weighted is not first
    assert bin_table(part, Recipe(7), team, None, heavy.copy()) is weighted
    assert bin_table(part, Recipe(7), team, np.arange(20)) is not first


def test_a_plain_table_forgets():
    table = read_table(numbers())
    assert bin_table(table, Recipe(7), Team(1)) is not bin_table(table, Recipe(7), Team(1))
