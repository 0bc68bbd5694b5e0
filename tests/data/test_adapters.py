"""Data frames: pandas, polars and pyarrow give the columns that the same values give in numpy."""

import datetime
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import hedgerow.data
from hedgerow.data.table import Schema, read_table

CELLS = {
    "float": [1.5, None, -0.0, float("inf")],
    "int": [3, -1, None, 7],
    "bool": [True, False, None, True],
    "text": ["b", None, "é", ""],
    "decimal": [Decimal("0.1"), None, Decimal("2.0"), Decimal("-3.5")],
    "nothing": [None, None, None, None],
}


def numpy_table():
    return np.array([list(row) for row in zip(*CELLS.values(), strict=True)], dtype=object)


def pandas_table():
    return pytest.importorskip("pandas").DataFrame(CELLS)


def pandas_nullable_table():
    return pandas_table().convert_dtypes()


def pandas_arrow_table():
    pytest.importorskip("pyarrow")
    return pandas_table().convert_dtypes(dtype_backend="pyarrow")


def polars_table():
    return pytest.importorskip("polars").DataFrame(CELLS)


def pyarrow_table():
    return pytest.importorskip("pyarrow").table(CELLS)


TABLES = [pandas_table, pandas_nullable_table, pandas_arrow_table, polars_table, pyarrow_table]


def assert_same_column(a, b):
    assert a.values.dtype == b.values.dtype
    assert a.values.flags.c_contiguous
    assert_array_equal(a.values, b.values)
    assert repr(a.categories) == repr(b.categories)


def categories_and_codes(table, feature=0, categorical=False):
    column = table.column(feature, categorical)
    return column.categories, column.values.tolist()


# ---- the same table in every library ----------------------------------------------------------


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("feature", range(len(CELLS)))
@pytest.mark.parametrize("categorical", [False, True])
def test_every_library_gives_the_columns_of_numpy(make, feature, categorical):
    expected = read_table(numpy_table()).column(feature, categorical)
    read = read_table(make()).column(feature, categorical)
    assert read.name == list(CELLS)[feature]
    assert_same_column(read, expected._replace(name=read.name))


def optional_cells(values):
    return st.lists(st.one_of(st.none(), values), min_size=1, max_size=8)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("categorical", [False, True])
@given(
    st.one_of(
        optional_cells(st.floats(allow_nan=False)),
        optional_cells(st.integers(-(2**53), 2**53)),
        optional_cells(st.booleans()),
        optional_cells(st.text(max_size=4)),
    )
)
def test_any_column_reads_alike_in_every_library(library, categorical, cells):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    read = read_table(make({"a": cells})).column(0, categorical)
    expected = read_table([[cell] for cell in cells]).column(0, categorical)
    assert read.values.dtype == expected.values.dtype
    assert_array_equal(read.values, expected.values)
    assert read.categories == expected.categories


@pytest.mark.parametrize("make", TABLES)
def test_every_library_gives_the_kinds_and_the_matrix_of_numpy(make):
    expected, read = read_table(numpy_table()), read_table(make())
    assert read.names == list(CELLS)
    assert read.kinds == expected.kinds
    schema = Schema.of(None, [expected.column(f).categories for f in range(len(CELLS))])
    assert_array_equal(schema.matrix(read, "error"), schema.matrix(expected, "error"))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_frame_of_floats_is_the_matrix_of_its_array(library, dtype):
    array = np.random.default_rng(0).normal(size=(6, 2)).astype(dtype)
    array[2, 1] = np.nan
    columns = {"a": array[:, 0].copy(), "b": array[:, 1].copy()}
    module = pytest.importorskip(library)
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    matrix = Schema.of(None, [None, None]).matrix(read_table(frame), "missing")
    assert matrix.flags.c_contiguous
    assert matrix.dtype == np.float64
    assert_array_equal(matrix, array)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_declared_categories_do_not_depend_on_the_library_or_the_listing(library):
    cells = ["b", None, "c", "b"]
    module = pytest.importorskip(library)
    if library == "pandas":
        listings = (["z", "b", "a", "c"], ["c", "b"])
        frames = [
            module.DataFrame({"x": module.Categorical(cells, listing, ordered=ordered)})
            for listing in listings
            for ordered in (False, True)
        ]
    elif library == "polars":
        dtypes = (module.Categorical, module.Enum(["z", "c", "b"]))
        frames = [module.DataFrame({"x": module.Series(cells, dtype=dtype)}) for dtype in dtypes]
    else:
        whole, *chunks = (
            module.array(part).dictionary_encode() for part in (cells, cells[:2], cells[2:])
        )
        frames = [module.table({"x": whole}), module.table({"x": module.chunked_array(chunks)})]
    for frame in frames:
        assert read_table(frame).kinds == ["categorical"]
        assert categories_and_codes(read_table(frame)) == (("b", "c"), [0, -1, 1, 0])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_declared_categories_without_any_value_are_numeric(library):
    module = pytest.importorskip(library)
    if library == "pandas":
        frame = module.DataFrame({"x": module.Categorical([None, None], ["a"])})
    elif library == "polars":
        frame = module.DataFrame({"x": [None, None]}, schema={"x": module.Categorical})
    else:
        frame = module.table({"x": module.array([None, None], "string").dictionary_encode()})
    assert read_table(frame).kinds == ["numeric"]
    assert_array_equal(read_table(frame).column(0).values, [np.nan, np.nan])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_an_integer_that_float64_rounds_is_refused_in_every_library(library):
    cells = {"a": [1, 2, 3], "b": [None, 5, 2**53 + 1]}
    module = pytest.importorskip(library)
    if library == "pandas":
        frame = module.DataFrame(cells, dtype="Int64")
    else:
        frame = module.table(cells) if library == "pyarrow" else module.DataFrame(cells)
    with pytest.raises(ValueError, match="column 'b' holds the integer 9007199254740993 in row 2"):
        read_table(frame).column(1)
    assert read_table(frame).column(1, categorical=True).categories == (5, 2**53 + 1)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    "cells",
    [
        [datetime.datetime(2020, 1, 1), None],
        [datetime.timedelta(1), None],
    ],
)
def test_dates_and_durations_are_refused_with_the_way_out(library, cells):
    module = pytest.importorskip(library)
    columns = {"n": [1, 2], "when": cells}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    table = read_table(frame)
    assert table.kinds == ["numeric", "numeric"]
    with pytest.raises(TypeError, match=r"column 'when' has dtype.*year, month, seconds"):
        table.column(1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_is_refused_as_one_dimensional(library):
    series = pytest.importorskip(library).Series([1.0, 2.0])
    with pytest.raises(ValueError, match=r"Expected 2D array, got 1D array .*X.to_frame\(\)"):
        read_table(series)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_without_rows_is_refused(library):
    module = pytest.importorskip(library)
    columns = {"a": [], "b": []}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\)"):
        read_table(frame)


def test_no_table_library_is_imported():
    script = (
        # scikit-learn itself imports some of them where they are installed.
        "import sys, sklearn.tree; before = set(sys.modules); "
        "from hedgerow.data.table import read_table; read_table([[1.0]]).column(0); "
        "assert not {'pandas', 'polars', 'pyarrow'} & (set(sys.modules) - before)"
    )
    folder = Path(hedgerow.data.__file__).parents[2]
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)


# ---- names ------------------------------------------------------------------------------------


def test_names_that_are_not_strings_are_no_names():
    pandas = pytest.importorskip("pandas")
    table = read_table(pandas.DataFrame([[1, 2.5]]))
    assert table.names is None
    assert_array_equal(table.column(1).values, [2.5])


def test_strings_mixed_with_other_names_are_refused_in_scikit_learn_s_words():
    pandas = pytest.importorskip("pandas")
    words = (
        r"Feature names are only supported if all input features have string names, but your "
        r"input has \['int', 'str'\] as feature name / column name types"
    )
    with pytest.raises(TypeError, match=words):
        read_table(pandas.DataFrame([[1, 2]], columns=[0, "a"]))


def test_duplicate_names_are_listed():
    pandas = pytest.importorskip("pandas")
    words = r"duplicate column names: \['a', 'b'\]"
    with pytest.raises(ValueError, match=words):
        read_table(pandas.DataFrame([[1, 2, 3, 4, 5]], columns=["a", "b", "a", "b", "c"]))
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=words):
        read_table(pyarrow.table([[1]] * 4, names=["a", "b", "a", "b"]))
