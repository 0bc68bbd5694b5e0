"""A tree is a function of its weighted rows: no order, thread, type or library changes a bit."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from tests.estimators.tables import census, numeric

pytestmark = pytest.mark.usefixtures("many_hands")

CLASSIFIERS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=40),
    DecisionTreeClassifier(criterion="misclassification", max_depth=6),
    DecisionTreeClassifier(split_finding="histogram", max_bins=17),
    DecisionTreeClassifier(splitter="random", random_state=3),
    DecisionTreeClassifier(max_features=2, random_state=3),
    DecisionTreeClassifier(max_features=2, random_state=3, max_leaf_nodes=20),
    DecisionTreeClassifier(ccp_alpha="cv"),
]
REGRESSORS = [
    DecisionTreeRegressor(),
    DecisionTreeRegressor(max_leaf_nodes=40),
    DecisionTreeRegressor(criterion="absolute_error", max_depth=6),
    DecisionTreeRegressor(split_finding="histogram", max_bins=17),
    DecisionTreeRegressor(splitter="random", random_state=3),
    DecisionTreeRegressor(max_features=2, random_state=3),
    DecisionTreeRegressor(ccp_alpha="cv"),
    DecisionTreeRegressor(criterion="absolute_error", ccp_alpha="cv", max_leaf_nodes=30),
]
MODELS = pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=repr)


def fingerprint(model, X, y, weights=None, **parameters):
    return clone(model).set_params(**parameters).fit(X, y, sample_weight=weights).fingerprint_


# ------------------------------------------------------------------ threads and order


@pytest.fixture(scope="module", name="large")
def _large():
    return census(20_000)  # nodes of 8,192 rows and more are shared by the threads


@MODELS
def test_the_number_of_threads_makes_no_difference(model, large):
    X, y = large.X, large.target(model)
    one, two, three = (fingerprint(model, X, y, n_jobs=n) for n in (1, 2, 3))
    assert one == two == three


@MODELS
def test_the_order_of_rows_makes_no_difference(model, large):
    shuffled = large.rows(np.random.default_rng(1).permutation(20_000))
    first = fingerprint(model, large.X, large.target(model), n_jobs=2)
    assert first == fingerprint(model, shuffled.X, shuffled.target(model), n_jobs=2)


@MODELS
def test_predictions_do_not_depend_on_threads_or_order(model, large):
    fitted = clone(model).fit(large.X, large.target(model))
    shuffled = np.random.default_rng(2).permutation(20_000)
    predicted = fitted.set_params(n_jobs=1).predict(large.X)
    assert_array_equal(fitted.set_params(n_jobs=3).predict(large.X[shuffled]), predicted[shuffled])


@MODELS
def test_a_second_fit_and_a_pickled_copy_are_the_same(model):
    problem = census(500)
    X, y = problem.X, problem.target(model)
    fitted = clone(model).fit(X, y)
    first = fitted.fingerprint_
    assert fitted.fit(X, y).fingerprint_ == first
    assert pickle.loads(pickle.dumps(fitted)).fingerprint_ == first


# ------------------------------------------------------------------ types and libraries


@MODELS
@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i2", "u1", ">f8", "longdouble", "object"])
def test_equal_numbers_of_any_type_are_equal(model, dtype):
    X, classes, targets = numeric(300)
    y = classes if hasattr(model, "predict_proba") else targets
    assert fingerprint(model, X.astype(dtype), y) == fingerprint(model, X, y)


def test_float32_numbers_keep_their_own_thresholds():
    X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    y = X[:, 0] > 0.1
    model = DecisionTreeClassifier()
    assert fingerprint(model, X, y) == fingerprint(model, X.astype(np.float64), y)


@pytest.mark.parametrize("view", ["fortran", "strided", "reversed", "read-only", "list"])
def test_the_layout_of_an_array_makes_no_difference(view):
    X, y, _ = numeric(200)
    views = {
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "read-only": np.frombuffer(X.tobytes()).reshape(X.shape),
        "list": X.tolist(),
    }
    model = DecisionTreeClassifier().fit(X, y)
    other = DecisionTreeClassifier().fit(views[view], y)
    assert other.fingerprint_ == model.fingerprint_
    assert_array_equal(other.predict(views[view]), model.predict(X))


def frame_of(problem, library):
    if library == "pandas":
        return pytest.importorskip("pandas").DataFrame(problem.columns)
    if library == "pandas categories":
        frame = pytest.importorskip("pandas").DataFrame(problem.columns)
        return frame.astype({"work": "category", "town": "category"})
    if library == "polars":
        polars = pytest.importorskip("polars")
        columns = {name: _nulls(column) for name, column in problem.columns.items()}
        return polars.DataFrame(columns).with_columns(polars.col("town").cast(polars.Categorical))
    pyarrow = pytest.importorskip("pyarrow")
    columns = {name: _nulls(column) for name, column in problem.columns.items()}
    columns["work"] = pyarrow.array(columns["work"]).dictionary_encode()
    return pyarrow.table(columns)


def _nulls(column):
    return [None if value is None or value != value else value for value in column]  # noqa: PLR0124


@pytest.mark.parametrize("library", ["pandas", "pandas categories", "polars", "pyarrow"])
@pytest.mark.parametrize("model", [CLASSIFIERS[0], CLASSIFIERS[-1], REGRESSORS[0]], ids=repr)
def test_a_table_of_any_library_gives_the_same_tree(model, library):
    problem = census(600)
    frame, y = frame_of(problem, library), problem.target(model)
    fitted = clone(model).fit(frame, y)
    assert fitted.fingerprint_ == fingerprint(model, problem.X, y)
    assert_array_equal(fitted.predict(frame), clone(model).fit(problem.X, y).predict(problem.X))


def test_categories_listed_in_another_order_are_the_same_categories():
    pandas = pytest.importorskip("pandas")
    problem = census(400)
    work = problem.columns["work"]
    orders = (["none", "own", "private", "state"], ["state", "unused", "own", "none", "private"])
    frames = [pandas.DataFrame({"work": pandas.Categorical(work, categories=o)}) for o in orders]
    one, two = (DecisionTreeRegressor().fit(frame, problem.numbers) for frame in frames)
    assert one.fingerprint_ == two.fingerprint_
    assert_array_equal(one.predict(frames[1]), two.predict(frames[0]))
    few = frames[0].iloc[:5].copy()
    few["work"] = few["work"].cat.remove_unused_categories()
    assert_array_equal(one.predict(few), one.predict(frames[0])[:5])


# ------------------------------------------------------------------ weights


# max_features, splitter="random": a draw is named by its node, so these hold too.
@MODELS
def test_a_row_of_weight_three_is_three_rows(model):
    problem = census(300, seed=4)
    weights = np.random.default_rng(5).integers(1, 5, 300)
    repeated = problem.rows(np.repeat(np.arange(300), weights))
    assert fingerprint(model, problem.X, problem.target(model), weights) == fingerprint(
        model, repeated.X, repeated.target(model)
    )


@MODELS
def test_a_row_of_weight_zero_is_absent(model):
    problem = census(400, seed=6)
    weights = np.random.default_rng(7).integers(0, 3, 400)
    present = problem.rows(weights > 0)
    problem.columns["town"][weights == 0] = "a town of absent rows only"
    assert fingerprint(model, problem.X, problem.target(model), weights) == fingerprint(
        model, present.X, present.target(model), weights[weights > 0]
    )


@MODELS
def test_a_row_of_weight_zero_is_absent_beside_fractional_weights(model):
    problem = census(260, seed=6)
    weights = np.random.default_rng(7).uniform(0.5, 2.0, 260)
    weights[::20] = 0.0  # 247 rows are left: other powers of two than 260
    present = problem.rows(weights > 0)
    assert fingerprint(model, problem.X, problem.target(model), weights) == fingerprint(
        model, present.X, present.target(model), weights[weights > 0]
    )


@MODELS
@pytest.mark.parametrize("power", [-40, -1, 1, 7, 40])
@pytest.mark.parametrize("whole", [True, False])
def test_weights_times_a_power_of_two_make_the_same_tree(model, power, whole):
    problem = census(250, seed=8)
    rng = np.random.default_rng(9)
    weights = rng.integers(1, 5, 250) * 1.0 if whole else rng.uniform(0.1, 3.0, 250)
    X, y = problem.X, problem.target(model)
    one = clone(model).fit(X, y, sample_weight=weights)
    other = clone(model).fit(X, y, sample_weight=weights * 2.0**power)
    assert_array_equal(one.tree_.children_left, other.tree_.children_left)
    assert_array_equal(one.tree_.feature, other.tree_.feature)
    assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    assert_array_equal(one.tree_.value, other.tree_.value)
    scaled = one.tree_.weighted_n_node_samples * 2.0**power
    assert_array_equal(scaled, other.tree_.weighted_n_node_samples)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_class_weights_are_weights_of_the_rows(model):
    problem = census(400, seed=10)
    given = {"low": 1.0, "middle": 3.0, "high": 0.75}
    rows = np.array([given[name] for name in problem.classes])
    one = fingerprint(model, problem.X, problem.classes, class_weight=given)
    assert one == fingerprint(model, problem.X, problem.classes, rows)


def test_balanced_classes_are_balanced_by_weight():
    problem = census(300, seed=11)
    weights = np.random.default_rng(12).integers(0, 4, 300)
    repeated = problem.rows(np.repeat(np.arange(300), weights))
    model = DecisionTreeClassifier(class_weight="balanced")
    one = fingerprint(model, problem.X, problem.classes, weights)
    assert one == fingerprint(model, repeated.X, repeated.classes)


# ------------------------------------------------------------------ small tables of any kind


@st.composite
def problems(draw):
    """Draw a few rows of small numbers with holes, targets with ties, and whole weights."""
    n_rows, n_features = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    cells = st.one_of(st.integers(0, 3).map(float), st.just(np.nan))
    X = np.array(draw(st.lists(cells, min_size=n_rows * n_features, max_size=n_rows * n_features)))
    y = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    weights = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows).filter(any))
    return X.reshape(n_rows, n_features), np.array(y), np.array(weights)


TIED = (
    np.array([[4.0, 5.0], [2.0, 1.0], [1.0, 4.0], [0.0, 0.0], [5.0, 3.0], [3.0, 2.0]]),
    np.array([3, 5, 1, 2, 5, 1]),
    np.array([3, 3, 2, 3, 2, 2]),
)
SMALL = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=4),
    DecisionTreeClassifier(criterion="misclassification"),
    DecisionTreeClassifier(split_finding="histogram", max_bins=2),
    DecisionTreeClassifier(ccp_alpha="cv", ccp_folds=3),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(criterion="absolute_error"),
    DecisionTreeRegressor(split_finding="histogram", max_bins=2, max_leaf_nodes=4),
    DecisionTreeRegressor(ccp_alpha="cv", ccp_folds=3),
]


@pytest.mark.filterwarnings("ignore:.* columns have no values:UserWarning")
@pytest.mark.parametrize("model", SMALL, ids=repr)
@given(problem=problems(), tenths=st.booleans(), seed=st.integers(0, 9))
# Two cuts of one node gain the same: rounding must not depend on how often a row is repeated.
@example(problem=TIED, tenths=True, seed=0)
def test_weights_repeats_and_order_agree_on_any_small_table(model, problem, tenths, seed):
    X, y, weights = problem
    if tenths and not hasattr(model, "predict_proba"):
        y = y / 10  # no binary fractions: sums must still not depend on how rows are repeated
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(y)), weights))
    assert fingerprint(model, X, y, weights) == fingerprint(model, X[rows], y[rows])


@pytest.mark.filterwarnings("ignore:.* columns have no values:UserWarning")
@pytest.mark.parametrize("model", SMALL, ids=repr)
@given(problem=problems())
def test_categories_of_any_small_table_do_not_depend_on_order_or_repeats(model, problem):
    X, y, weights = problem
    words = np.where(
        np.isnan(X), None, np.array(["a", "b", "c", "d"], object)[np.nan_to_num(X).astype(int)]
    )
    rows = np.repeat(np.arange(len(y)), weights)[::-1]
    assert fingerprint(model, words, y, weights) == fingerprint(model, words[rows], y[rows])


def test_half_the_weights_leave_a_limit_on_impurity_where_it_is():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(200, 3)), rng.integers(1, 7, 200)
    y = X[:, 0] ** 2 + rng.normal(size=200)
    model = DecisionTreeRegressor(min_impurity_decrease=0.02)
    whole, halves = (
        clone(model).fit(X, y, sample_weight=weights * unit).tree_.threshold for unit in (1.0, 0.5)
    )
    assert 2 < len(whole) < 99
    assert_array_equal(whole, halves)
