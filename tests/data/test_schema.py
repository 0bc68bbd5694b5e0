"""What a model remembers of its table's columns, and how it reads the next table."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.data.table import Schema, read_table

X = np.array([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0], [-np.inf, 8.0, np.inf], [0.5, -2.5, 1e300]])


def schema_of(table):
    columns = [table.column(f) for f in range(table.n_features)]
    return Schema.of(table.names, [column.categories for column in columns])


def test_a_ready_matrix_is_returned_without_a_copy():
    assert Schema.of(None, [None] * 3).matrix(read_table(X), "missing") is X


@pytest.mark.parametrize("given", [np.asfortranarray(X), X.astype(">f8"), X.astype(object)])
def test_any_other_matrix_is_made_contiguous_float64(given):
    matrix = Schema.of(None, [None] * 3).matrix(read_table(given), "missing")
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert_array_equal(matrix, X)


def test_a_masked_matrix_keeps_its_missing_cells():
    masked = np.ma.masked_array(X, mask=X == 1.0)
    assert np.isnan(Schema.of(None, [None] * 3).matrix(read_table(masked), "missing")[0, 0])


def test_categories_keep_the_codes_they_had_at_fit():
    schema = schema_of(read_table([["b", 1.0], ["a", 2.0], ["c", 3.0]]))
    matrix = schema.matrix(read_table([["c", None], ["c", 5.0], [None, 1.0], ["b", 0.0]]), "error")
    assert_array_equal(matrix, [[2, np.nan], [2, 5], [np.nan, 1], [1, 0]])


@pytest.mark.parametrize(("unseen", "expected"), [("missing", np.nan), ("average", -1.0)])
def test_an_unseen_category_is_missing_or_marked(unseen, expected):
    schema = Schema.of(["c"], [("a", "b")])
    matrix = schema.matrix(read_table([["z"], ["b"], [None]]), unseen)
    assert_array_equal(matrix, [[expected], [1.0], [np.nan]])


def test_an_unseen_category_is_an_error_on_request():
    schema = Schema.of(None, [None, ("a", "b")])
    words = r"column 1 holds 2 categories .* not seen at fit: 'y', 'z'; 3 rows, the first is row 1"
    with pytest.raises(ValueError, match=words):
        schema.matrix(read_table([[1, "a"], [1, "z"], [1, "y"], [1, "z"]]), "error")


def test_many_unseen_categories_are_counted_not_listed():
    strangers = [[f"new {row}"] for row in range(9)]
    with pytest.raises(ValueError, match="'new 4' and 4 more; 9 rows"):
        Schema.of(None, [("a",)]).matrix(read_table(strangers), "error")


def test_numbers_as_categories_are_matched_by_value_not_by_type():
    schema = Schema.of(None, [(1, 2, 5)])
    for given in ([[5.0], [np.nan], [1.0]], [["5"], [None], [1]]):
        codes = schema.matrix(read_table(np.array(given, dtype=object)), "missing")[:, 0]
        assert codes[2] == 0.0
        assert np.isnan(codes[1])
    assert_array_equal(schema.matrix(read_table([[5.0], [True]]), "error"), [[2.0], [0.0]])


def test_a_column_of_another_type_than_at_fit_is_refused():
    with pytest.raises(ValueError, match=r"column 0 holds 7 \(int\), but at fit .*'7' \(str\)"):
        Schema.of(None, [("7", "8")]).matrix(read_table([[7.0]]), "missing")
    with pytest.raises(ValueError, match=r"column 0 held numbers at fit.*'a' in row 1"):
        Schema.of(None, [None]).matrix(read_table([[None], ["a"]]), "missing")


def test_a_column_without_any_value_fits_every_schema():
    empty = read_table([[None, None]])
    assert np.isnan(Schema.of(None, [None, ("a",)]).matrix(empty, "error")).all()
    assert np.isnan(Schema.of(None, [None, ()]).matrix(read_table([[1, "a"]]), "missing")[0, 1])


def test_a_schema_is_plain_data():
    schema = schema_of(read_table(np.array([["b", 1], ["a", 2]], dtype=object)))
    assert schema == Schema(None, (("a", "b"), None))
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert schema != Schema.of(["x", "y"], schema.categories)
