"""Columns: which are numbers, which are categories, in what order, and what cannot be read."""

import datetime
import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from hedgerow.data.table import read_table


def column(*cells, categorical=False):
    return table(*cells).column(0, categorical)


def table(*cells):
    objects = np.empty((len(cells), 1), dtype=object)
    for row, cell in enumerate(cells):
        objects[row, 0] = cell
    return read_table(objects)


# ---- numbers ----------------------------------------------------------------------------------


def test_numbers_of_all_kinds_make_a_numeric_column():
    read = column(1, 2.5, True, np.float32(0.5), np.int8(-3), Decimal("0.1"), Fraction(1, 4))
    assert read.categories is None
    assert read.values.dtype == np.float64
    assert_array_equal(read.values, [1, 2.5, 1, 0.5, -3, 0.1, 0.25])


def test_infinities_are_ordinary_values():
    cells = (np.inf, -np.inf, Decimal("Infinity"), 1e300)
    assert_array_equal(column(*cells).values, [np.inf, -np.inf, np.inf, 1e300])


@pytest.mark.parametrize(
    "missing", [None, float("nan"), np.float64("nan"), np.datetime64("NaT"), Decimal("nan")]
)
def test_none_and_what_differs_from_itself_is_missing(missing):
    assert_array_equal(column(1, missing, 2**60).values, [1.0, np.nan, 2.0**60])
    assert_array_equal(column("a", missing).values, [0, -1])


def test_a_column_without_any_value_is_numeric_unless_told_otherwise():
    assert table(None, np.nan).kinds == ["numeric"]
    assert_array_equal(column(None, np.nan).values, [np.nan, np.nan])
    as_categories = column(None, np.nan, categorical=True)
    assert as_categories.categories == ()
    assert_array_equal(as_categories.values, [-1, -1])


EXACT = [2**53, -(2**53), 2**53 + 2, 2**62, -(2**63), 2**63 - 1024]
INEXACT = [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63) + 1]


@pytest.mark.parametrize("integer", EXACT)
def test_a_large_integer_that_float64_holds_is_accepted(integer):
    assert column(0, integer).values[1] == integer
    assert read_table(np.array([[0], [integer]])).column(0).values[1] == integer


@pytest.mark.parametrize("integer", [*INEXACT, 2**64 - 1, 10**30 + 1, 10**400, 2**1024])
def test_an_integer_that_float64_rounds_is_refused_as_an_object(integer):
    words = f"column 0 holds the integer {integer} in row 1.*strings.*float"
    for given_integer in (integer, Decimal(integer)):
        with pytest.raises(ValueError, match=words):
            column(0, given_integer, integer)


@pytest.mark.parametrize("integer", INEXACT)
def test_an_int64_that_float64_rounds_is_refused(integer):
    table = read_table(np.array([[0, 0], [0, 0], [0, integer], [0, integer]]))
    for read in (lambda: table.column(1), lambda: table.columns(range(2))):
        with pytest.raises(ValueError, match=f"column 1 holds the integer {integer} in row 2"):
            read()


def test_a_uint64_is_checked_up_to_its_largest_value():
    assert read_table(np.array([[2**63]], dtype=np.uint64)).column(0).values == [2.0**63]
    with pytest.raises(ValueError, match="18446744073709551615 in row 0"):
        read_table(np.array([[2**64 - 1]], dtype=np.uint64)).column(0)


def test_large_integers_stay_apart_as_categories():
    integers = (2**53 + 1, 2**53, 2**53 + 1)
    for read in (
        column(*integers, categorical=True),
        read_table(np.array(integers)[:, np.newaxis]).column(0, categorical=True),
    ):
        assert read.categories == (2**53, 2**53 + 1)
        assert_array_equal(read.values, [1, 0, 1])


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5))
def test_an_int64_is_accepted_if_and_only_if_a_float64_equals_it(integers):
    exact = all(int(float(integer)) == integer for integer in integers)
    for readable in (np.array(integers)[:, np.newaxis], [[integer] for integer in integers]):
        if exact:
            assert read_table(readable).column(0).values.tolist() == integers
        else:
            with pytest.raises(ValueError, match="float64 cannot represent"):
                read_table(readable).column(0)


# ---- categories -------------------------------------------------------------------------------


def test_strings_make_a_categorical_column():
    read = column("b", None, "", "a", "b")
    assert read.categories == ("", "a", "b")
    assert read.values.dtype == np.int32
    assert_array_equal(read.values, [2, -1, 0, 1, 2])
    assert table("b", None).kinds == ["categorical"]


@pytest.mark.parametrize("dtype", ["U3", "S3", "O", "T"])
def test_text_of_every_dtype_gives_the_same_categories(dtype):
    if dtype == "T" and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("numpy 2 brought strings of any length")
    given_table = read_table(np.array([["b"], ["a"], ["b"]], dtype=dtype))
    assert given_table.kinds == ["categorical"]
    assert given_table.column(0).categories == ("a", "b")
    assert {type(category) for category in given_table.column(0).categories} == {str}
    assert_array_equal(given_table.column(0).values, [1, 0, 1])


def test_bytes_that_are_not_text_stay_bytes_and_come_last():
    assert column(b"\xff", "z", b"z", "é".encode()).categories == ("z", "é", b"\xff")


def test_a_string_enumeration_reads_as_its_values():
    color = enum.Enum("color", {"RED": "red", "BLUE": "blue"}, type=str)
    assert column(color.RED, color.BLUE, "red").categories == ("blue", "red")


def test_categories_are_numbers_then_strings_then_the_rest():
    day = datetime.date(2020, 1, 1)
    cells = ("b", day, 2.5, "B", -1, float("inf"), "é", True, np.int8(7), (1, 2), b"\xff")
    expected = (-1, True, 2.5, 7, float("inf"), "B", "b", "é", b"\xff", day, (1, 2))
    for turned in (cells, cells[::-1]):
        assert column(*turned, categorical=True).categories == expected


def test_numbers_read_as_categories_on_request():
    for cells in ((2.0, np.nan, 1.0, 2.0), (2, None, 1, 2), (np.int8(2), None, Decimal(1), 2)):
        read = column(*cells, categorical=True)
        assert read.categories == (1, 2)
        assert {type(category) for category in read.categories} == {int}
        assert_array_equal(read.values, [1, -1, 0, 1])
    floats = read_table(np.array([[2.5], [-0.0], [0.0], [np.nan]])).column(0, categorical=True)
    assert repr(floats.categories) == "(0, 2.5)"
    assert_array_equal(floats.values, [1, 0, 0, -1])


def test_bools_read_as_categories_stay_bools():
    for given_bools in (np.array([[True], [False]]), [[True], [False]]):
        assert repr(read_table(given_bools).column(0, True).categories) == "(False, True)"


values = st.one_of(
    st.none(), st.text(max_size=3), st.integers(-3, 3), st.floats(), st.booleans(), st.binary()
)


@given(st.lists(values, min_size=1, max_size=12), st.randoms())
def test_categories_do_not_depend_on_the_order_of_the_rows(cells, random):
    rows = list(range(len(cells)))
    random.shuffle(rows)
    read = column(*cells, categorical=True)
    shuffled = column(*(cells[row] for row in rows), categorical=True)
    assert shuffled.categories == read.categories
    assert_array_equal(shuffled.values, read.values[rows])


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=12))
def test_the_category_at_a_code_is_the_cell(cells):
    read = column(*cells, categorical=True)
    decoded = [None if code < 0 else read.categories[code] for code in read.values]
    assert decoded == cells
    assert list(read.categories) == sorted(set(cells) - {None})


def test_a_hundred_thousand_categories_are_coded():
    names = np.random.default_rng(0).permutation(100_000).astype(str)[:, np.newaxis]
    read = read_table(names.astype(object)).column(0)
    assert list(read.categories) == sorted(names[:, 0].tolist())
    assert_array_equal(np.array(read.categories)[read.values], names[:, 0])


# ---- refusals ---------------------------------------------------------------------------------


def test_numbers_mixed_with_strings_are_refused_with_the_way_out():
    words = r"column 0 mixes numbers and strings: 1.5 \(row 1\) and 'x' \(row 2\).*categorical_feat"
    with pytest.raises(ValueError, match=words):
        column(None, 1.5, "x", 2)


def test_a_mixed_column_counts_as_numeric_so_that_reading_it_says_what_is_wrong():
    assert table("x", 1).kinds == ["numeric"]


@pytest.mark.parametrize(
    "cell",
    [
        {"a": 1},
        [1, 2],
        np.ones(2),
        datetime.date(2020, 1, 1),
        datetime.timedelta(1),
        np.timedelta64(1, "s"),
        np.datetime64("2020-01-01"),
        object(),
        Decimal("sNaN"),
    ],
)
def test_a_cell_that_is_neither_number_nor_string_is_refused(cell):
    words = (
        rf"column 0 holds .*\({type(cell).__name__}\) in row 1: "
        "each cell of the argument must be a string .* number.*year, month, seconds"
    )
    with pytest.raises(TypeError, match=words):
        column(1.0, cell, 2.0)


def test_a_long_cell_is_shortened_in_the_message():
    with pytest.raises(TypeError) as caught:
        column(list(range(10_000)))
    assert len(str(caught.value)) < 400


def test_kinds_of_an_unhashable_column_are_refused_like_the_column():
    with pytest.raises(TypeError, match="column 0 holds"):
        _ = table([1, 2]).kinds
