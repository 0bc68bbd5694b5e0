"""Columns of pyarrow are read from their buffers: every type, with nulls, in chunks and slices."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.data.arrow import arrow_array
from hedgerow.data.table import read_table

pyarrow = pytest.importorskip("pyarrow")

TYPES = [
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "bool_"),
]


def cells(kind, with_nulls):
    plain = {"bool_": lambda i: i % 3 == 1, "float16": np.float16}.get(kind, int)
    return [None if with_nulls and i % 4 == 0 else plain(i) for i in range(37)]


@pytest.mark.parametrize("with_nulls", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_numbers_are_those_that_pyarrow_lists(kind, with_nulls):
    whole = pyarrow.array(cells(kind, with_nulls), getattr(pyarrow, kind)())
    chunks = pyarrow.chunked_array([whole.slice(5, 20), whole.slice(3, 11), whole.slice(0, 0)])
    for column in (pyarrow.chunked_array([whole]), chunks, chunks.slice(3, 9)):
        expected = [np.nan if each is None else float(each) for each in column.to_pylist()]
        table = read_table(pyarrow.table({"a": column, "b": column}))
        assert_array_equal(table.column(0).values, expected)
        if kind.startswith("float"):
            assert_array_equal(table.numbers(), np.column_stack([expected, expected]))


def test_null_entries_of_a_dictionary_are_missing():
    parts = (["a", None, "b", "a"], ["c", "b", None])
    column = pyarrow.chunked_array([pyarrow.array(each).dictionary_encode() for each in parts])
    found = read_table(pyarrow.table({"a": column[1:]})).column(0)
    assert found.categories == ("a", "b", "c")
    assert found.values.tolist() == [-1, 1, 0, 2, 1, -1]


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.5, np.nan, -0.0]),
        np.arange(20, dtype=np.int16)[::3],
        np.array([True, False, True] * 5),
        ["a", "", "höher", "日本"],
        [1, None, 3],
        [],
    ],
)
def test_arrays_made_for_pyarrow_list_the_same_values(values):
    listed = values if isinstance(values, list) else values.tolist()
    assert repr(arrow_array(values).to_pylist()) == repr(listed)
