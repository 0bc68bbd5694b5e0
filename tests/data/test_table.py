"""The door of the data room: which arrays, lists and sparse matrices pass, and which do not."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from hedgerow.data.table import Schema, read_table

X = np.array([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0], [-np.inf, 8.0, np.inf], [0.5, -2.5, 1e300]])


def values(table):
    """Return a table as a matrix, read column by column; read together they are the same."""
    read = np.column_stack([table.column(f).values for f in range(table.n_features)])
    together = table.columns(range(table.n_features))
    assert all(column.values.flags.c_contiguous for column in together)
    assert_array_equal(np.column_stack([column.values for column in together]), read)
    return read


class NotAnArray:
    """Has `__array__` and nothing else, as in scikit-learn's checks."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def memory_mapped(array, folder):
    mapped = np.memmap(folder / "x.bin", dtype=array.dtype, mode="w+", shape=array.shape)
    mapped[:] = array
    mapped.flush()
    return np.memmap(folder / "x.bin", dtype=array.dtype, mode="r", shape=array.shape)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


# ---- arrays -----------------------------------------------------------------------------------


def test_a_table_knows_its_shape_and_its_kinds():
    table = read_table(X)
    assert (table.n_rows, table.n_features, table.names) == (4, 3, None)
    assert table.kinds == ["numeric"] * 3


@pytest.mark.parametrize("dtype", ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "g"])
@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_every_numeric_dtype_reads_as_float64(dtype, byte_order):
    numbers = np.array([[0, 1], [1, 1], [1, 0]])
    given = numbers.astype(np.dtype(dtype).newbyteorder(byte_order))
    read = values(read_table(given))
    assert read.dtype == np.float64
    assert_array_equal(read, numbers)


@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        read_only,
        lambda x: x.view(np.matrix),
        lambda x: x[::-1, ::-1][::-1, ::-1],
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: x.astype(np.longdouble),
        lambda x: x.astype(object),
        lambda x: x.tolist(),
        lambda x: [tuple(row) for row in x],
        list,
        NotAnArray,
    ],
)
def test_the_layout_of_an_array_does_not_matter(layout):
    assert_array_equal(values(read_table(layout(X))), X)


def test_a_memory_mapped_array_reads_like_a_copy(tmp_path):
    assert_array_equal(values(read_table(memory_mapped(X, tmp_path))), X)


def test_a_broadcast_view_with_stride_zero_reads_like_its_copy():
    view = np.broadcast_to(X[:1], (5, 3))
    assert view.strides[0] == 0
    assert_array_equal(values(read_table(view)), np.tile(X[0], (5, 1)))


def test_a_column_is_a_contiguous_copy():
    given = np.asfortranarray(X)
    column = read_table(given).column(0)
    column.values[:] = 7.0
    assert column.values.flags.c_contiguous
    assert_array_equal(given, X)


def test_negative_zero_reads_as_zero():
    for given in (np.array([[-0.0]]), np.array([[-0.0]], dtype=object), [[-0.0]]):
        assert not np.signbit(read_table(given).column(0).values).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_neighbours_in_a_long_matrix_are_the_columns_of_these_features(dtype):
    given = np.random.default_rng(0).integers(-9, 9, (9001, 7)).astype(dtype)
    given[5] *= -0.0 if given.dtype.kind == "f" else 0
    found = read_table(given).columns(range(2, 5))
    for column, feature in zip(found, range(2, 5), strict=True):
        assert column.values.tobytes() == read_table(given).column(feature).values.tobytes()
        assert_array_equal(column.values, given[:, feature])


def test_neighbours_may_be_masked_and_categorical():
    given = np.ma.masked_equal([[1.0, 5.0, 2.0], [2.0, 3.0, 5.0]], 2.0)
    one, two, three = read_table(given).columns(range(3), frozenset({1}))
    assert_array_equal(one.values, [1.0, np.nan])
    assert (two.values.tolist(), two.categories) == ([1, 0], (3, 5))
    assert_array_equal(three.values, [np.nan, 5.0])


def test_float32_reads_as_its_float64_copy():
    single = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    double = single.astype(np.float64)
    for categorical in (False, True):
        a, b = (read_table(x).column(1, categorical) for x in (single, double))
        assert_array_equal(a.values, b.values)
        assert a.categories == b.categories


def test_extended_precision_beyond_float64_is_infinite():
    huge = np.array([[np.finfo(np.longdouble).max], [1.0]])
    assert_array_equal(values(read_table(huge)), [[np.inf], [1.0]])


def test_a_masked_cell_is_missing():
    for data in ([[1.0], [2.0]], [[1], [2**53 + 1]], np.array([[1], [2]], dtype=object)):
        masked = np.ma.masked_array(data, mask=[[False], [True]])
        assert_array_equal(values(read_table(masked)), [[1.0], [np.nan]])
    text = np.ma.masked_array([["a"], ["b"]], mask=[[True], [False]])
    assert read_table(text).column(0).categories == ("b",)
    assert_array_equal(read_table(text).column(0).values, [-1, 0])
    assert_array_equal(read_table(text).column(0, categorical=True).values, [-1, 0])


def test_text_that_is_masked_altogether_is_numeric():
    assert read_table(np.ma.masked_array([["a"], ["b"]], mask=True)).kinds == ["numeric"]


def test_a_mask_that_hides_nothing_changes_nothing():
    assert_array_equal(values(read_table(np.ma.masked_array(X))), X)


def test_each_column_of_a_list_of_rows_keeps_its_own_type():
    table = read_table([[1, "a", True, None], [2.5, None, False, None]])
    assert table.kinds == ["numeric", "categorical", "numeric", "numeric"]
    assert_array_equal(table.column(0).values, [1.0, 2.5])
    assert table.column(1).categories == ("a",)
    assert_array_equal(table.column(2).values, [1.0, 0.0])
    assert_array_equal(table.column(3).values, [np.nan, np.nan])


def test_more_columns_than_rows_are_read_one_by_one():
    table = read_table(np.arange(100_000.0)[np.newaxis])
    assert table.column(99_999).values == [99_999.0]


# ---- sparse -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("container", ["matrix", "array"])
def test_a_sparse_table_reads_like_its_dense_copy(form, container):
    dense = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, -3.0, np.inf]])
    sparse = getattr(scipy.sparse, f"{form}_{container}")(dense)
    table = read_table(sparse)
    assert table.kinds == ["numeric"] * 3
    assert_array_equal(values(table), dense)
    assert_array_equal(Schema.of(None, [None] * 3).matrix(table, "missing"), dense)


@pytest.mark.parametrize("wide_index", [False, True])
def test_duplicates_unsorted_indices_and_explicit_zeros_read_like_their_dense_copy(wide_index):
    index = np.int64 if wide_index else np.int32
    data, rows = np.array([1.0, 0.0, 2.0, 4.0]), np.array([2, 1, 0, 2], dtype=index)
    columns = np.array([0, 3, 4], dtype=index)
    given = scipy.sparse.csc_array((data.copy(), rows, columns), shape=(3, 2))
    dense = [[2.0, 0.0], [0.0, 0.0], [1.0, 4.0]]
    assert_array_equal(values(read_table(given)), dense)
    twice = scipy.sparse.csc_array((data, np.array([2, 2, 0, 2]), columns), shape=(3, 2))
    twice.data[1] = 5.0
    assert_array_equal(values(read_table(twice)), [[2.0, 0.0], [0.0, 0.0], [6.0, 4.0]])
    assert_array_equal(twice.data, [1.0, 5.0, 2.0, 4.0])


def test_a_stored_nan_is_missing_and_an_absent_cell_is_zero():
    sparse = scipy.sparse.csr_array(np.array([[np.nan], [0.0], [1.0]]))
    assert_array_equal(values(read_table(sparse)), [[np.nan], [0.0], [1.0]])


def test_sparse_integers_are_checked_like_dense_ones():
    sparse = scipy.sparse.csr_array(np.array([[0, 0], [0, 2**53 + 1]]))
    with pytest.raises(ValueError, match="column 1 holds the integer 9007199254740993 in row 1"):
        Schema.of(None, [None, None]).matrix(read_table(sparse), "missing")


# ---- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.ones(3), "Expected 2D array, got 1D array instead"),
        ([1.0, 2.0], "Expected 2D array, got 1D array instead"),
        ([], "Expected 2D array, got 1D array instead"),
        (np.ones(3), r"Reshape your data either using array.reshape\(-1, 1\)"),
        (scipy.sparse.coo_array([1.0, 2.0]), "Expected 2D array, got 1D array instead"),
        (np.array(3.0), "Expected 2D array, got scalar array instead"),
        (np.float64(3.0), "Expected 2D array, got scalar array instead"),
        (np.ones((2, 2, 2)), "Found array with dim 3"),
        ([[[1.0]]], "Found array with dim 3"),
        (
            np.ones((0, 3)),
            r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required.",
        ),
        (
            np.ones((5, 0)),
            r"Found array with 0 feature\(s\) \(shape=\(5, 0\)\) while a minimum of 1 is required.",
        ),
        ([[]], r"Found array with 0 feature\(s\) \(shape=\(1, 0\)\)"),
        (scipy.sparse.csr_array((0, 3)), r"Found array with 0 sample\(s\)"),
        ([[1, 2], [3]], "rows differ in length: from 1 to 2 values"),
        ([np.ones((2, 2)), np.ones((2, 3))], "rows differ in length"),
    ],
)
def test_a_wrong_shape_is_refused_in_scikit_learn_s_words(given, words):
    with pytest.raises(ValueError, match=words):
        read_table(given)


@pytest.mark.parametrize("given", ["abc", b"abc", None, {"a": [1, 2]}, 3.5, 7, {1, 2}, object()])
def test_what_is_no_table_is_refused_with_what_is_accepted(given):
    with pytest.raises(TypeError, match=f"X is of type {type(given).__name__}.*Accepted are"):
        read_table(given)


def test_a_structured_array_is_refused_with_the_way_out():
    structured = np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
    with pytest.raises(TypeError, match=r"structured array.*structured_to_unstructured"):
        read_table(structured)


@pytest.mark.parametrize(
    "given", [np.array([[1j]]), [[1j]], scipy.sparse.csr_array(np.array([[1j]]))]
)
def test_complex_numbers_are_refused(given):
    with pytest.raises(ValueError, match="Complex data not supported: column 0"):
        read_table(given).column(0)


@pytest.mark.parametrize("dtype", ["datetime64[D]", "timedelta64[s]"])
def test_dates_in_an_array_are_refused_with_the_way_out(dtype):
    dates = np.array([[1, 2]]).astype(dtype)
    with pytest.raises(TypeError, match=r"column 1 has dtype .*year, month, seconds"):
        read_table(dates).column(1)
