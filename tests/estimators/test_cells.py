"""Cells of every kind: extreme numbers, sparse ones, categories, and very many of them."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.data.binned import BinnedTable
from hedgerow.kernels.class_weights import ClassWeights
from hedgerow.kernels.codes import BIN, FEATURE, MISSING, Codes, Kinds, no_kinds
from hedgerow.kernels.criteria import Gini
from hedgerow.kernels.team import hired
from hedgerow.trees.classification import classification_tree
from hedgerow.trees.grower import Judge
from hedgerow.trees.rules import GrowthRules
from tests.estimators.tables import message
from tests.strategies import panels_of

BOTH = pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
FOUR = np.array([[0.0], [1.0], [2.0], [3.0]])

# ------------------------------------------------------------------ numbers


@BOTH
def test_a_column_of_numbers_and_strings_is_refused_by_value(model):
    mixed = np.array([[1], ["a"], [2], ["b"]], dtype=object)
    said = message(model().fit, mixed, [0, 1, 1, 0])
    assert "column 0 mixes numbers and strings: 1 (row 0) and 'a' (row 1)" in said
    assert "list it in categorical_features" in said
    listed = model(categorical_features=[0]).fit(mixed, [0, 1, 1, 0])
    assert_array_equal(listed.predict(mixed), [0, 1, 1, 0])


@BOTH
def test_complex_numbers_are_refused(model):
    assert "Complex data not supported: column 0" in message(model().fit, FOUR * 1j, [0, 1, 1, 0])


@BOTH
def test_dates_are_refused_with_advice(model):
    dates = np.array([["2020-01-01"], ["2020-01-02"]], "M8[D]")
    said = message(model().fit, dates, [0, 1], error=TypeError)
    assert "column 0 has dtype datetime64[D]" in said
    assert "Turn dates and durations into numbers" in said


def test_infinite_values_are_the_largest_and_the_smallest():
    X = np.array([[-np.inf], [0.0], [1.0], [np.inf]])
    for parameters in (
        {},
        {"splitter": "random", "random_state": 0},
        {"split_finding": "histogram"},
    ):
        model = DecisionTreeRegressor(**parameters).fit(X, [0.0, 1.0, 2.0, 3.0])
        assert model.predict(X).tolist() == [0.0, 1.0, 2.0, 3.0]


HUGE = [[-1.7e308], [-1e308], [0.0], [1e308], [1.7e308]]
TINY = [[-1e-323], [-5e-324], [0.0], [5e-324], [2.3e-308]]
NEAR = [[np.nextafter(1.0, 0)], [1.0], [np.nextafter(1.0, 2)], [1 + 2**-51], [2.0]]
LARGE = [[2**53 - 1], [2**53], [2**53 + 2], [2**60], [2**62]]


@pytest.mark.parametrize("values", [HUGE, TINY, NEAR, LARGE], ids=["huge", "tiny", "near", "large"])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_neighbours_of_any_size_are_kept_apart(values, splitter):
    X, y = np.array(values), np.arange(5.0)
    model = DecisionTreeRegressor(splitter=splitter, random_state=0).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    splits = model.tree_.children_left >= 0
    assert np.isfinite(model.tree_.threshold[splits]).all()


@BOTH
def test_integers_that_float64_cannot_hold_are_refused_not_merged(model):
    said = message(model().fit, np.array([[2**53], [2**53 + 1]]), [0, 1])
    assert "column 0 holds the integer 9007199254740993 in row 1" in said
    fitted = model().fit(np.array([[2**53], [2**53 + 2]]), [0, 1])
    assert "9007199254740993 in row 0" in message(fitted.predict, np.array([[2**53 + 1]]))


def test_negative_zero_is_zero():
    one = DecisionTreeRegressor().fit([[-0.0], [1.0], [0.0]], [0.0, 1.0, -0.0])
    two = DecisionTreeRegressor().fit([[0.0], [1.0], [0.0]], [-0.0, 1.0, 0.0])
    assert one.fingerprint_ == two.fingerprint_


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "bsr"])
@BOTH
def test_a_sparse_matrix_is_the_dense_one(model, form):
    rng = np.random.default_rng(5)
    X = rng.integers(-3, 4, (80, 6)) * (rng.random((80, 6)) < 0.3) * 1.0
    y = rng.integers(0, 3, 80)
    fitted = model().fit(sparse.coo_matrix(X).asformat(form), y)
    assert fitted.fingerprint_ == model().fit(X, y).fingerprint_
    assert_array_equal(fitted.predict(sparse.coo_array(X).asformat(form)), fitted.predict(X))


def test_duplicates_in_a_sparse_matrix_add_up_and_stored_zeros_are_zeros():
    twice = sparse.coo_matrix(([1.0, 2.0, 0.0], ([0, 0, 1], [0, 0, 0])), shape=(3, 1))
    one = DecisionTreeRegressor().fit(twice, [5.0, 1.0, 1.0])
    assert (
        one.fingerprint_
        == DecisionTreeRegressor().fit([[3], [0], [0]], [5.0, 1.0, 1.0]).fingerprint_
    )
    assert twice.nnz == 3  # the user's matrix is as it was


@BOTH
def test_inputs_are_read_only_to_us(model):
    rng = np.random.default_rng(6)
    X, y, weights = rng.normal(size=(60, 6)), rng.integers(0, 2, 60), rng.random(60)
    X[3, 2], X[4, 0] = np.nan, -0.0
    copies = X.copy(), y.copy(), weights.copy()
    for array in (X, y, weights):
        array.setflags(write=False)
    fitted = model(ccp_alpha="cv").fit(X, y, sample_weight=weights)
    strided = model(ccp_alpha="cv").fit(
        np.repeat(X, 2, axis=1)[:, ::2], np.repeat(y, 3)[::3], np.repeat(weights, 2)[::2]
    )
    assert strided.fingerprint_ == fitted.fingerprint_
    assert_array_equal(fitted.predict(X), strided.predict(X))
    for array, copy in zip((X, y, weights), copies, strict=True):
        assert array.tobytes() == copy.tobytes()


# ------------------------------------------------------------------ categories


def test_unseen_categories_go_the_way_of_missing_ones():
    X = np.array([["a"], ["b"], [None], ["b"], [None]], dtype=object)
    model = DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 4.0, 0.0, 4.0, 0.0])
    assert model.predict(np.array([["new"], [None]], dtype=object)).tolist() == [0.0, 0.0]
    never = DecisionTreeRegressor().fit(np.array([["a"], ["b"], ["b"]], object), [0.0, 4.0, 4.0])
    assert never.predict([["new"]]).tolist() == [4.0]  # none was missing: the heavier child


def test_unseen_categories_are_an_error_on_request():
    model = DecisionTreeRegressor(unseen="error").fit([["a"], ["b"]], [0.0, 1.0])
    said = message(model.predict, [["a"], ["z"], ["y"], ["z"]])
    assert "column 0 holds 2 categories that were not seen at fit: 'y', 'z'" in said
    assert "3 rows, the first is row 1" in said
    assert model.predict(np.array([["a"], [None]], dtype=object)).shape == (2,)


def test_unseen_categories_are_averaged_on_request():
    # Red, of weight 1, is 40. Blue, of weight 3, is 0 for small numbers and 6 for the large one.
    X = [["red", 5.0], ["blue", 2.0], ["blue", 3.0], ["blue", 8.0]]
    y = [40.0, 0.0, 0.0, 6.0]
    model = DecisionTreeRegressor(unseen="average").fit(X, y)
    assert model.tree_.feature[0] == 0
    green = [["green", 2.0], ["green", 8.0], ["blue", -1.0]]
    assert_allclose(model.predict(green), [0.25 * 40 + 0.75 * 0, 0.25 * 40 + 0.75 * 6, 0.0])
    weighted = DecisionTreeRegressor(unseen="average").fit(X, y, sample_weight=[3, 1, 1, 1])
    assert_allclose(weighted.predict(green), [20.0, 0.5 * 40 + 0.5 * 6, 0.0])


def test_probabilities_of_unseen_categories_are_averaged_over_several_splits():
    X = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"], ["b", "y"]]
    model = DecisionTreeClassifier(unseen="average").fit(X, ["p", "q", "r", "r", "r"])
    assert_allclose(model.predict_proba([["new", "new"]]), [[0.2, 0.2, 0.6]])
    assert model.predict([["new", "new"]]).tolist() == ["r"]
    assert_allclose(model.predict_proba([["a", "new"]]), [[0.5, 0.5, 0.0]])


def test_two_classes_part_categories_in_the_best_of_all_ways():
    rng = np.random.default_rng(7)
    X, y = rng.choice(list("abcde"), (200, 1)), rng.integers(0, 2, 200)
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    tree = model.tree_
    found = (tree.impurity * tree.weighted_n_node_samples)[1:].sum()
    best = min(_gini_of(X[:, 0], y, chosen) for chosen in range(1, 16))
    assert_allclose(found, best, rtol=1e-12)


def _gini_of(x, y, chosen):
    """Return the cost of sending the categories whose bits are set in `chosen` to the left."""
    left = np.isin(x, [letter for k, letter in enumerate("abcde") if chosen >> k & 1])
    sides = [y[left], y[~left]]
    return sum(len(side) * (1 - sum((side == k).mean() ** 2 for k in (0, 1))) for side in sides)


def test_a_hundred_thousand_categories_take_seconds():
    names = np.array([f"customer {i:06}" for i in range(100_000)], dtype=object)[:, None]
    rng = np.random.default_rng(8)
    classes = rng.integers(0, 2, 100_000)
    start = time.perf_counter()
    model = DecisionTreeClassifier().fit(names, classes)
    assert model.get_n_leaves() == 2  # one cut of the best order parts two classes
    assert_array_equal(model.predict(names), classes)
    means = DecisionTreeRegressor(max_depth=4).fit(names, rng.normal(size=100_000))
    assert means.get_n_leaves() <= 16
    assert time.perf_counter() - start < 10


# ------------------------------------------------------------------ size


def test_cells_beyond_two_to_the_31_are_addressed_in_64_bits():
    # 70 features of 2^25 rows are 2.3e9 cells. Memory that is never touched is never there:
    # only the last 3,000 rows take part, and only the last feature tells their class.
    n_rows, n_features, n_used = 2**25, 70, 3000
    assert n_rows * n_features > 2**31
    used = np.arange(n_rows - n_used, n_rows)
    labels = np.random.default_rng(9).integers(0, 2, n_used)
    columns = np.zeros((n_features, n_rows), np.uint8)
    blocks = np.zeros((-(-n_features // 16), n_rows, 16), np.uint8)
    columns[-1, used] = blocks[-1, used, (n_features - 1) % 16] = labels
    weights = np.zeros(n_rows, np.int64)
    weights[used] = 1
    features = np.zeros(n_features, FEATURE).view(np.recarray)
    features.place, features.missing, features.n_bins = np.arange(n_features), MISSING, 2
    features.first, features.column = 2 * np.arange(n_features), np.arange(n_features)
    features.stride, features.n_codes, features.n_high = 1, 256, 1
    bins = np.zeros(2 * n_features, BIN).view(np.recarray)
    bins.low[1::2] = bins.high[1::2] = 1.0
    features.shared = -1
    none = np.empty((0, n_rows))
    features.fine = features.pieces = -1
    no_levels = np.zeros((0, n_rows, 16), np.uint8), bins[:0], 1, np.zeros((0, 2), np.int64)
    given = blocks, columns, none.astype(np.int32), none.astype(np.uint8), features, bins
    kinds = Kinds(panels_of(n_features), *no_kinds(0, n_rows)[1:])
    codes = Codes(*given, *no_levels, np.zeros((0, 8, 3), np.int64), *kinds)
    nothing = np.zeros(n_features, bool)
    table = BinnedTable(codes, (None,) * n_features, n_rows, nothing, nothing)
    moments = ClassWeights(2, 0, np.arange(2), weights)
    judge = Judge(moments, Gini(2), used | labels << 32, 1.0, 1.0)
    with hired(1, 0.0) as team:
        tree, grown = classification_tree(table, judge, GrowthRules(), team)
    assert tree.feature.tolist() == [n_features - 1, -1, -1]
    assert tree.weight.tolist() == [n_used, n_used - labels.sum(), labels.sum()]
    assert_array_equal(grown.leaf_of_row[used], 1 + labels)
