"""Bad input: an error that says what was given and what to do, or the plain right answer."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.exceptions import DataConversionWarning, NotFittedError

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from tests.estimators.tables import message

BOTH = pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
FOUR = np.array([[0.0], [1.0], [2.0], [3.0]])


# ------------------------------------------------------------------ shapes


@BOTH
def test_no_rows_are_refused(model):
    said = message(model().fit, np.empty((0, 3)), [])
    assert said.startswith("Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is")


@BOTH
def test_no_columns_are_refused(model):
    said = message(model().fit, np.empty((3, 0)), [0, 1, 2])
    assert said.startswith("Found array with 0 feature(s) (shape=(3, 0)) while a minimum of 1 is")


@BOTH
def test_a_list_of_numbers_is_not_a_table(model):
    said = message(model().fit, np.arange(4.0), [0, 1, 1, 0])
    assert "Expected 2D array, got 1D array instead" in said
    assert "reshape(-1, 1)" in said


@BOTH
def test_what_is_no_table_is_refused_with_a_list_of_what_is(model):
    said = message(model().fit, "table.csv", [0, 1], error=TypeError)
    assert "X is of type str. Accepted are a 2-D numpy array" in said


def test_one_row_makes_a_constant_model():
    row = np.array([[1.0, np.inf]])
    assert DecisionTreeRegressor().fit(row, [3.7]).predict([[5.0, np.nan]]).tolist() == [3.7]
    model = DecisionTreeClassifier().fit(row, ["only"])
    assert model.predict([[5.0, np.nan]]).tolist() == ["only"]
    assert model.get_depth() == 0


@pytest.mark.parametrize("alpha", [0.0, "cv"])
def test_one_class_has_one_column_of_ones(alpha):
    model = DecisionTreeClassifier(ccp_alpha=alpha).fit(FOUR, [1, 1, 1, 1])
    assert model.classes_.tolist() == [1]
    assert model.predict_proba(FOUR).tolist() == [[1.0]] * 4
    assert model.get_n_leaves() == 1


def test_a_class_that_has_only_rows_of_weight_zero_is_no_class():
    model = DecisionTreeClassifier().fit(FOUR, ["a", "b", "c", "b"], sample_weight=[1, 1, 0, 1])
    assert model.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("value", [0.1, -3.7e-12, 1e100])
def test_a_constant_target_is_predicted_exactly(value):
    model = DecisionTreeRegressor().fit(FOUR, [value] * 4, sample_weight=[0.1, 0.2, 0.3, 0.4])
    assert model.predict(FOUR).tolist() == [value] * 4
    assert model.get_n_leaves() == 1


def test_a_constant_column_is_never_split():
    X = np.column_stack([np.full(4, 7.0), FOUR])
    model = DecisionTreeRegressor().fit(X, [0.0, 1.0, 2.0, 3.0])
    assert set(model.tree_.feature.tolist()) == {1, -2}
    assert model.feature_importances_.tolist() == [0.0, 1.0]


def test_equal_rows_with_different_targets_are_one_leaf():
    same = np.ones((4, 2))
    regressor = DecisionTreeRegressor().fit(same, [1.0, 2.0, 3.0, 6.0])
    assert regressor.predict(same).tolist() == [3.0] * 4
    weighted = DecisionTreeClassifier().fit(same, [0, 1, 1, 0], sample_weight=[1, 1, 1, 5])
    assert weighted.predict_proba(same[:1]).tolist() == [[0.75, 0.25]]
    median = DecisionTreeRegressor(criterion="absolute_error").fit(same, [1.0, 2.0, 3.0, 6.0])
    assert median.predict(same[:1]).tolist() == [2.5]


def test_more_columns_than_rows_are_fine():
    X = np.zeros((2, 5000))
    X[1, 4321] = 1.0
    model = DecisionTreeClassifier().fit(X, [0, 1])
    assert model.tree_.feature[0] == 4321


# ------------------------------------------------------------------ missing


@BOTH
def test_a_column_without_values_is_named_in_a_warning_and_not_used(model):
    X = np.column_stack([np.full(4, np.nan), FOUR])
    with pytest.warns(
        UserWarning, match=r"1 of 2 columns have no values and are not used: column 0"
    ):
        fitted = model().fit(X, [0, 0, 1, 1])
    assert fitted.feature_importances_.tolist() == [0.0, 1.0]
    assert_array_equal(fitted.predict(np.column_stack([FOUR, FOUR])), [0, 0, 1, 1])


def test_the_warning_about_empty_columns_uses_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": FOUR[:, 0], "note": [None] * 4, "code": [np.nan] * 4})
    with pytest.warns(UserWarning, match=r"2 of 3 columns .*: column 'note', column 'code'\. Drop"):
        DecisionTreeRegressor().fit(frame, [0, 0, 1, 1])


@pytest.mark.filterwarnings("ignore:.* columns have no values:UserWarning")
def test_a_table_without_any_value_makes_a_constant_model():
    model = DecisionTreeRegressor().fit(np.full((4, 2), np.nan), [1.0, 2.0, 3.0, 6.0])
    assert model.predict([[1.0, np.nan]]).tolist() == [3.0]


@BOTH
@pytest.mark.parametrize("absolute", [False, True])
def test_missing_values_go_where_they_fit_best(model, absolute):
    parameters = (
        {"criterion": "absolute_error"} if absolute and model is DecisionTreeRegressor else {}
    )
    X = np.array([[0.0], [1.0], [np.nan], [3.0], [np.nan]])
    fitted = model(**parameters).fit(X, [0, 0, 1, 1, 1])
    assert_array_equal(fitted.predict(X), [0, 0, 1, 1, 1])


@BOTH
def test_a_value_missing_only_at_prediction_goes_to_the_larger_child(model):
    fitted = model().fit(FOUR, [0, 0, 0, 1])
    assert fitted.predict([[np.nan]]).tolist() == [0]
    assert model().fit(FOUR, [0, 1, 1, 1]).predict([[np.nan]]).tolist() == [1]


# ------------------------------------------------------------------ targets


@BOTH
def test_a_missing_target_is_named_by_its_row(model):
    said = message(model().fit, FOUR, [0.0, 1.0, np.nan, np.nan])
    assert said.startswith("Input y contains NaN: y[2] is nan; 2 of 4 targets are missing")
    assert "Drop these rows" in said


@BOTH
def test_a_target_of_nothing_but_holes_is_refused(model):
    assert "4 of 4 targets are missing" in message(model().fit, FOUR, [np.nan] * 4)


@BOTH
def test_an_infinite_target_is_named_by_its_row(model):
    said = message(model().fit, FOUR, [0.0, 1.0, 2.0, -np.inf])
    assert said.startswith("Input y contains infinity: y[3] is -inf; 1 of 4")


@BOTH
def test_a_missing_target_is_refused_even_if_scikit_learn_is_told_to_assume_none(model):
    with config_context(assume_finite=True):
        assert "y[1] is nan" in message(model().fit, FOUR, [0.0, np.nan, 1.0, 0.0])


@pytest.mark.parametrize("hole", [None, np.nan, "NA"])
def test_a_missing_label_is_never_a_class_of_its_own(hole):
    pandas = pytest.importorskip("pandas")
    labels = np.array(["a", pandas.NA if hole == "NA" else hole, "b", "a"], dtype=object)
    assert "y[1] is " in message(DecisionTreeClassifier().fit, FOUR, labels)
    assert "y[1] is " in message(DecisionTreeClassifier().fit, FOUR, pandas.Series(labels))
    categories = pandas.Series(["a", None, "b", "a"], dtype="category")
    assert "y[1] is " in message(DecisionTreeClassifier().fit, FOUR, categories)


def test_a_missing_cell_of_several_targets_is_named_by_row_and_column():
    Y = np.zeros((4, 2))
    Y[3, 1] = np.nan
    assert "y[3, 1] is nan" in message(DecisionTreeRegressor().fit, FOUR, Y)


@BOTH
def test_a_target_of_another_length_is_refused_with_both_lengths(model):
    said = message(model().fit, FOUR, [0, 1, 1])
    assert "X has 4 rows, y has 3. Pass one value of y for each row" in said


@BOTH
def test_a_target_is_needed(model):
    assert f"{model.__name__} requires y to be passed" in message(model().fit, FOUR, None)


@pytest.mark.parametrize(
    ("y", "given"),
    [
        (["a", "b", "c", "d"], r"y[0] is 'a' (str)"),
        (["1", "2", "3", "4"], r"y[0] is '1' (str)"),
        (np.array([1.0, 2.0, "x", 4.0], dtype=object), r"y[2] is 'x' (str)"),
        (np.array(["2020-01-01"] * 4, "M8[D]"), r"y[0] is datetime.date(2020, 1, 1) (date)"),
    ],
)
def test_a_regressor_refuses_what_is_no_number(y, given):
    said = message(DecisionTreeRegressor().fit, FOUR, y)
    assert given in said
    assert "needs numbers. Convert y" in said


def test_numbers_in_an_object_array_are_numbers():
    y = np.array([0, 1.5, 2, 3], dtype=object)
    assert DecisionTreeRegressor().fit(FOUR, y).predict(FOUR).tolist() == [0.0, 1.5, 2.0, 3.0]


@BOTH
def test_complex_targets_are_refused(model):
    assert "Complex data not supported" in message(model().fit, FOUR, np.array([0, 1, 1j, 0]))


def test_a_classifier_takes_one_target():
    said = message(DecisionTreeClassifier().fit, FOUR, [[0, 1]] * 4)
    assert said == "y should be a 1d array, got an array of shape (4, 2) instead."


def test_a_classifier_refuses_a_regression_target():
    said = message(DecisionTreeClassifier().fit, FOUR, [0.1, 0.7, 0.2, 0.3])
    assert said.startswith("Unknown label type: continuous. Maybe you are trying to fit a class")


def test_labels_of_several_types_are_refused():
    said = message(DecisionTreeClassifier().fit, FOUR, np.array(["a", "b", 3, "a"], dtype=object))
    assert "y mixes labels of different types: 'a' in row 0 and 3 in row 2" in said
    assert "y.astype(str)" in said


def test_medians_are_of_one_target():
    said = message(DecisionTreeRegressor(criterion="absolute_error").fit, FOUR, np.zeros((4, 2)))
    assert "y has 2 columns, but criterion='absolute_error' takes one" in said


def test_a_column_of_labels_is_raveled_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = DecisionTreeClassifier().fit(FOUR, [[0], [1], [1], [0]])
    assert model.predict(FOUR).shape == (4,)


def test_a_target_whose_square_is_infinite_is_refused():
    said = message(DecisionTreeRegressor().fit, FOUR, [0.0, 1e200, 1.0, 2.0])
    assert "y[1] is 1e+200" in said
    assert "Rescale y" in said


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("power", [-1000, -530, -66, 66, 490])
def test_targets_of_any_scale_make_the_same_tree(criterion, power):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model, scaled = (
        DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, np.ldexp(y, shift))
        for shift in (0, power)
    )
    assert_array_equal(scaled.tree_.feature, model.tree_.feature)
    assert_allclose(np.ldexp(scaled.predict(X), -power), model.predict(X), rtol=1e-12)


def test_a_large_offset_of_the_target_makes_the_same_tree():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 3)), np.round(rng.normal(size=300), 6)
    for criterion in ("squared_error", "absolute_error"):
        model = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=40).fit(X, y)
        moved = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=40).fit(X, y + 1e9)
        assert_array_equal(moved.tree_.feature, model.tree_.feature)
        assert_array_equal(moved.tree_.threshold, model.tree_.threshold)
        # y + 1e9 is itself rounded to 2^-23
        assert_allclose(moved.predict(X) - 1e9, model.predict(X), rtol=0, atol=2.0**-22)


# ------------------------------------------------------------------ weights


@BOTH
@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (
            [1, -1, 1, -1],
            "sample_weight[1] is -1.0: weights must be finite and not negative; 2 of 4",
        ),
        ([1, 1, np.nan, 1], "sample_weight[2] is nan: weights must be finite"),
        ([1, 1, 1, np.inf], "sample_weight[3] is inf: weights must be finite"),
        ([0, 0, 0, 0], "sample_weight is zero for every row"),
        ([1, 1], "sample_weight.shape == (2,), expected (4,)!"),
        ([[1], [1], [1], [1]], "Sample weights must be 1D array or scalar, got 2D array"),
    ],
)
def test_bad_weights_are_refused(model, weights, said):
    assert said in message(model().fit, FOUR, [0, 1, 1, 0], sample_weight=weights)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({0: -1.0}, "class_weight"),
        ({0: np.nan}, "class_weight"),
        ({0: np.inf}, "class_weight"),
        ({0: 0.0, 1: 0.0}, "class_weight"),
        ({7: 1.0}, "are not in class_weight"),
    ],
)
def test_bad_class_weights_are_refused(given, said):
    model = DecisionTreeClassifier(class_weight=given)
    assert said in message(model.fit, FOUR, [0, 1, 1, 0])


@BOTH
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_weights_of_any_scale_make_the_same_tree(model, scale):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    weights = rng.integers(1, 9, 60).astype(float)
    plain = model(max_depth=3).fit(X, y, sample_weight=weights)
    scaled = model(max_depth=3).fit(X, y, sample_weight=weights * scale)
    assert_array_equal(scaled.tree_.feature, plain.tree_.feature)
    assert_allclose(scaled.predict(X), plain.predict(X), rtol=1e-7)


# Regression trees keep weights in steps of 2^-30 of the largest: lighter rows lose proportion.
@pytest.mark.parametrize("light", [1e-3, 1e-6])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_light_rows_keep_their_proportions_beside_heavy_ones(criterion, light):
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0.0, 1.0, 50.0, 51.0]
    model = DecisionTreeRegressor(criterion=criterion, max_depth=1)
    model.fit(X, y, sample_weight=[light, 3 * light, 1.0, 1.0])
    expected = 0.75 if criterion == "squared_error" else 1.0
    assert_allclose(model.predict([[0.0]]), [expected], rtol=2e-3)


@pytest.mark.parametrize("weight", [2.0**30, 2.0**45, 10.0**14])
def test_large_whole_weights_cost_no_digits_of_the_target(weight):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    plain = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y)
    heavy = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y, sample_weight=np.full(60, weight))
    assert_allclose(heavy.predict(X), plain.predict(X), rtol=1e-12)


# ------------------------------------------------------------------ parameters


@BOTH
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_bins", 1, "must be an int in the range [2, 255]. Got 1 instead"),
        ("max_bins", 256, "must be an int in the range [2, 255]. Got 256 instead"),
        ("criterion", "ginni", "Got 'ginni' instead"),
        ("splitter", "bets", "Got 'bets' instead. Did you mean 'best'?"),
        ("max_depth", 0, "Got 0 instead"),
        ("max_depth", -1, "Got -1 instead"),
        ("max_leaf_nodes", 1, "must be an int in the range [2, inf)"),
        ("min_samples_leaf", 0, "Got 0 instead"),
        ("min_samples_leaf", 1.5, "Got 1.5 instead"),
        ("min_samples_split", 1, "Got 1 instead"),
        ("min_weight_fraction_leaf", 0.6, "Got 0.6 instead"),
        ("min_impurity_decrease", -0.1, "Got -0.1 instead"),
        ("max_features", 0, "Got 0 instead"),
        ("max_features", "auto", "Got 'auto' instead"),
        ("ccp_alpha", -1.0, "Got -1.0 instead"),
        ("ccp_alpha", "CV", "Got 'CV' instead"),
        ("ccp_rule", "worst", "Got 'worst' instead"),
        ("ccp_folds", 1, "Got 1 instead"),
        ("split_finding", "fast", "Got 'fast' instead"),
        ("unseen", "drop", "Got 'drop' instead"),
        ("categorical_features", "all", "Got 'all' instead"),
        ("n_jobs", 1.5, "Got 1.5 instead"),
        ("n_jobs", 0, "n_jobs=0 means no thread at all. Pass None for all cores"),
    ],
)
def test_a_parameter_out_of_range_is_refused_at_fit(model, name, value, said):
    text = message(model(**{name: value}).fit, FOUR, [0, 1, 1, 0])
    assert name in text
    assert said in text


@BOTH
def test_an_unknown_parameter_is_refused_at_once(model):
    assert "unexpected keyword argument 'max_dept'" in message(model, max_dept=3, error=TypeError)
    assert "Invalid parameter 'max_dept'" in message(model().set_params, max_dept=3)


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ([[0, 1]], "misclassification_cost has shape (1, 2), but y has 2 classes. Pass one row"),
        ([[0, -1], [1, 0]], "misclassification_cost must be finite and not negative"),
        ([[0, np.inf], [1, 0]], "misclassification_cost must be finite and not negative"),
        ([[1, 1], [1, 0]], "zeros on its diagonal"),
        ([[0, 0], [1, 0]], "zero for every name of class number 0"),
    ],
)
def test_bad_costs_are_refused(cost, said):
    model = DecisionTreeClassifier(misclassification_cost=cost)
    assert said in message(model.fit, FOUR, [0, 1, 1, 0])


@pytest.mark.parametrize("criterion", ["gini", "misclassification"])
def test_the_cost_of_a_single_class_is_nothing(criterion):
    model = DecisionTreeClassifier(criterion=criterion, misclassification_cost=[[0.0]])
    assert model.fit(FOUR, ["a"] * 4).predict(FOUR).tolist() == ["a"] * 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([3], "categorical_features has column 3, but X has columns 0 to 0"),
        ([-1], "categorical_features has column -1"),
        ([True, False], "is a mask of 2 columns, but X has 1"),
        (["age"], "'age', which is not a column of X (X has no column names)"),
        ([0.5], "categorical_features"),
    ],
)
def test_categorical_features_must_be_columns(given, said):
    model = DecisionTreeClassifier(categorical_features=given)
    assert said in message(model.fit, FOUR, [0, 1, 1, 0])


# ------------------------------------------------------------------ columns at prediction


@pytest.fixture(scope="module", name="frames")
def _frames():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    frame = pandas.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    return frame, DecisionTreeRegressor().fit(frame, rng.normal(size=30))


def test_another_number_of_columns_is_refused():
    model = DecisionTreeRegressor().fit(np.eye(3), [0, 1, 2])
    said = message(model.predict, np.eye(2))
    assert said.startswith("X has 2 features, but DecisionTreeRegressor is expecting 3 features")


def test_renamed_columns_are_refused_by_name(frames):
    frame, model = frames
    said = message(model.predict, frame.rename(columns={"a": "z"}))
    assert re.search(r"unseen at fit time:\n- z\n.*yet now missing:\n- a\n", said)


def test_reordered_columns_are_refused(frames):
    frame, model = frames
    said = message(model.predict, frame[["b", "a", "c"]])
    assert "Feature names must be in the same order as they were in fit" in said


def test_duplicated_columns_are_refused(frames):
    frame, model = frames
    double = frame.rename(columns={"b": "a"})
    assert "X has duplicate column names: ['a']" in message(model.predict, double)
    assert "X has duplicate column names: ['a']" in message(
        DecisionTreeRegressor().fit, double, np.zeros(30)
    )


def test_an_array_after_a_frame_and_a_frame_after_an_array_are_taken_with_a_warning(frames):
    frame, model = frames
    with pytest.warns(UserWarning, match="X does not have valid feature names, but Dec"):
        predicted = model.predict(frame.to_numpy())
    assert_array_equal(predicted, model.predict(frame))
    nameless = DecisionTreeRegressor().fit(frame.to_numpy(), predicted)
    with pytest.warns(UserWarning, match="X has feature names, but DecisionTreeRegressor was fit"):
        nameless.predict(frame)


def test_names_of_two_types_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], 3: [1.0, 2.0]})
    said = message(DecisionTreeRegressor().fit, frame, [0, 1], error=TypeError)
    assert "only supported if all input features have string names" in said


@BOTH
@pytest.mark.parametrize(
    "method", ["predict", "apply", "decision_path", "get_depth", "get_n_leaves"]
)
def test_nothing_is_told_before_a_fit(model, method):
    arguments = () if method.startswith("get") else (FOUR,)
    assert "not fitted yet" in message(getattr(model(), method), *arguments, error=NotFittedError)


@BOTH
@pytest.mark.parametrize("name", ["tree_", "feature_importances_", "fingerprint_"])
def test_nothing_is_there_before_a_fit(model, name):
    assert not hasattr(model(), name)
    with pytest.raises(NotFittedError):
        getattr(model(), name)
