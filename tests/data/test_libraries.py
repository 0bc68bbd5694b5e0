"""What only one of pandas, polars and pyarrow has."""

import datetime

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.data.table import read_table


def categories_and_codes(table, feature=0, categorical=False):
    column = table.column(feature, categorical)
    return column.categories, column.values.tolist()


@pytest.mark.parametrize(
    "dtype", ["Int8", "UInt32", "Float32", "int16", "object", "Sparse[float64]", "Sparse[int64]"]
)
def test_pandas_dtypes_of_numbers_read_as_numbers(dtype):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.Series([0, 1, 2]).astype(dtype)})
    assert read_table(frame).kinds == ["numeric"]
    assert_array_equal(read_table(frame).column(0).values, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("dtype", ["str", "string", "string[python]", "object", "category"])
def test_pandas_dtypes_of_text_read_as_categories(dtype):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.Series(["y", None, "x"], dtype=dtype)})
    assert read_table(frame).kinds == ["categorical"]
    assert categories_and_codes(read_table(frame)) == (("x", "y"), [1, -1, 0])


def test_pandas_na_in_an_object_column_is_missing():
    pandas = pytest.importorskip("pandas")
    numbers = pandas.DataFrame({"a": [1, pandas.NA, 2.5]}, dtype=object)
    assert_array_equal(read_table(numbers).column(0).values, [1.0, np.nan, 2.5])
    text = np.array([["a"], [pandas.NA], [pandas.NaT]], dtype=object)
    assert categories_and_codes(read_table(text)) == (("a",), [0, -1, -1])


def test_pandas_categories_may_be_numbers_or_anything_hashable():
    pandas = pytest.importorskip("pandas")
    big = pandas.DataFrame({"a": pandas.Categorical([2**53 + 1, None, 2**53])})
    assert categories_and_codes(read_table(big)) == ((2**53, 2**53 + 1), [1, -1, 0])
    halves = pandas.DataFrame({"a": pandas.cut([1.0, 9.0, 2.0], [0, 5, 10])})
    categories, codes = categories_and_codes(read_table(halves))
    assert [str(category) for category in categories] == ["(0, 5]", "(5, 10]"]
    assert codes == [0, 1, 0]


def test_a_pandas_column_of_arrow_dictionaries_is_categorical():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    dtype = pandas.ArrowDtype(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))
    frame = pandas.DataFrame({"a": pandas.Series(["b", None, "a"]).astype(dtype)})
    assert categories_and_codes(read_table(frame)) == (("a", "b"), [1, -1, 0])


def test_a_pandas_period_is_refused_by_value():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"month": pandas.period_range("2020", periods=2, freq="M")})
    with pytest.raises(TypeError, match=r"column 'month' holds Period.*in row 0"):
        read_table(frame).column(0)


def test_a_frame_whose_columns_are_dropped_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(5, 0\)\)"):
        read_table(pandas.DataFrame(index=range(5)))


def test_a_lazy_frame_must_be_collected():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"lazy table \(LazyFrame\).*\.collect\(\)"):
        read_table(polars.LazyFrame({"a": [1]}))


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, datetime.date(2020, 1, 1), datetime.time(1)])
def test_polars_lists_structs_and_dates_are_refused(cell):
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"column 'a' has dtype .*several columns"):
        read_table(polars.DataFrame({"a": [cell]})).column(0)


def test_polars_integers_of_128_bits_are_numbers():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, None, 2**100]}, schema={"a": polars.Int128})
    assert_array_equal(read_table(frame).column(0).values, [1.0, np.nan, 2.0**100])


def test_text_that_ends_in_a_null_character_stays_apart():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": ["x\0", "x"]})
    assert categories_and_codes(read_table(frame)) == (("x", "x\0"), [1, 0])


def test_an_arrow_dictionary_may_repeat_values_hold_null_and_have_unsigned_codes():
    pyarrow = pytest.importorskip("pyarrow")
    codes = pyarrow.array([0, 1, None, 2, 3], "uint8")
    array = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["x", None, "x", "a"]))
    table = read_table(pyarrow.table({"a": array}))
    assert categories_and_codes(table) == (("a", "x"), [1, -1, -1, 1, 0])
    numbers = pyarrow.table({"a": pyarrow.array([5, None, 3]).dictionary_encode()})
    assert categories_and_codes(read_table(numbers)) == ((3, 5), [1, -1, 0])


def test_an_arrow_record_batch_must_become_a_table():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match=r"X is of type RecordBatch.*pyarrow table"):
        read_table(pyarrow.record_batch({"a": [1]}))
