"""The trees keep scikit-learn's contract: its tools, and those written for it, accept them."""

import copy
import io
import pickle
from contextlib import suppress

import joblib
import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import tree as sklearn_tree
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor

mpl.use("Agg")

SETTINGS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(max_leaf_nodes=5),
    DecisionTreeClassifier(split_finding="histogram"),
    DecisionTreeClassifier(criterion="entropy"),
    DecisionTreeClassifier(criterion="misclassification"),
    DecisionTreeClassifier(criterion="exponential"),
    DecisionTreeClassifier(splitter="random", random_state=0),
    DecisionTreeClassifier(max_features="sqrt", random_state=0),
    DecisionTreeClassifier(ccp_alpha="cv"),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(max_leaf_nodes=5),
    DecisionTreeRegressor(split_finding="histogram"),
    DecisionTreeRegressor(criterion="absolute_error"),
    DecisionTreeRegressor(splitter="random", random_state=0),
    DecisionTreeRegressor(ccp_alpha="cv"),
]


@parametrize_with_checks(SETTINGS)  # no failure is expected of any
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


# ------------------------------------------------------------------ copies


def fitted_models():
    flowers, patients = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
    classifier = DecisionTreeClassifier(max_leaf_nodes=6, misclassification_cost=1 - np.eye(3))
    regressor = DecisionTreeRegressor(max_depth=4, ccp_alpha="cv")
    return {
        "classifier": (classifier.fit(*flowers), flowers),
        "regressor": (regressor.fit(*patients), patients),
    }


@pytest.fixture(scope="module", name="models")
def _models():
    return fitted_models()


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
@pytest.mark.parametrize("copied", [by_pickle, by_joblib, copy.deepcopy, copy.copy])
def test_a_copy_is_the_same_model(models, kind, copied):
    model, (X, _) = models[kind]
    other = copied(model)
    assert other.fingerprint_ == model.fingerprint_
    assert_array_equal(other.predict(X), model.predict(X))
    assert str(other.get_params()) == str(model.get_params())
    assert_array_equal(other.tree_.threshold, model.tree_.threshold)


def test_a_model_read_from_a_memory_map_predicts_the_same(models, tmp_path):
    model, (X, _) = models["regressor"]
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert_array_equal(mapped.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_a_clone_has_the_parameters_and_nothing_else(models, kind):
    model, _ = models[kind]
    fresh = clone(model)
    assert sorted(vars(fresh)) == sorted(model.get_params())
    assert str(fresh.get_params()) == str(model.get_params())


@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_parameters_are_stored_as_given(model):
    given = {name: object() for name in model().get_params()}
    assert all(vars(model(**given))[name] is value for name, value in given.items())
    assert model().set_params(**given).get_params() == given


def test_the_trees_say_what_they_are():
    assert is_classifier(DecisionTreeClassifier())
    assert is_regressor(DecisionTreeRegressor())


# ------------------------------------------------------------------ refits


def state_of(model):
    """Everything a fit has left in a model, for comparison."""
    return pickle.dumps({k: v for k, v in vars(model).items() if k not in model.get_params()})


def test_a_refit_keeps_nothing_of_the_first_fit():
    pandas = pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    frame = X.assign(group=pandas.cut(X.age, 3, labels=["a", "b", "c"]).astype(str))
    model = DecisionTreeRegressor(ccp_alpha="cv").fit(frame, y)
    assert model.ccp_path_.ccp_alpha >= 0
    model.set_params(ccp_alpha=0.0).fit(X.to_numpy()[:, :3], np.column_stack([y, -y]))
    fresh = DecisionTreeRegressor().fit(X.to_numpy()[:, :3], np.column_stack([y, -y]))
    assert sorted(vars(model)) == sorted(vars(fresh))
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "ccp_path_")
    assert model.fingerprint_ == fresh.fingerprint_
    assert model.n_features_in_ == 3


def test_a_refit_with_other_classes_forgets_the_old_ones():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(misclassification_cost=1 - np.eye(3)).fit(X, y)
    model.set_params(misclassification_cost=None).fit(X, np.where(y == 0, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict_proba(X).shape == (150, 2)
    assert set(model.predict(X)) == {"no", "yes"}


def bad_tables():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    mixed = np.array([[1], ["a"], [2], ["b"]], dtype=object)
    return {
        "NaN in y": (X, [0.0, np.nan, 1.0, 1.0], None),
        "a column of numbers and strings": (mixed, [0, 1, 1, 0], None),
        "a date in X": (np.array([["2020-01-01"]] * 4, "M8[D]"), [0, 1, 1, 0], None),
        "an integer beyond 2^53": (np.array([[2**53 + 1]] * 4), [0, 1, 1, 0], None),
        "a negative weight": (X, [0, 1, 1, 0], [1, 1, -1, 1]),
        "y too short": (X, [0, 1, 1], None),
    }


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
@pytest.mark.parametrize("what", bad_tables())
def test_a_fit_that_raises_leaves_the_earlier_fit_whole(kind, what):
    model, (X, _) = fitted_models()[kind]
    before, predictions = state_of(model), model.predict(X)
    if kind == "classifier":  # as many classes as the bad table has
        model.set_params(misclassification_cost=[[0, 9], [1, 0]])
    bad, y, weights = bad_tables()[what]
    with pytest.raises((ValueError, TypeError)):
        model.fit(bad, y, sample_weight=weights)
    assert state_of(model) == before
    assert_array_equal(model.predict(X), predictions)


def test_a_parameter_out_of_range_leaves_the_earlier_fit_whole(models):
    model, (X, y) = copy.deepcopy(models["classifier"])
    before = state_of(model)
    with pytest.raises(ValueError, match="max_bins"):
        model.set_params(max_bins=1000).fit(X, y)
    assert state_of(model) == before


def test_an_error_in_mid_growth_leaves_the_earlier_fit_whole(models, monkeypatch):
    model, (X, y) = copy.deepcopy(models["classifier"])
    before = state_of(model)

    def out_of_memory(*_):
        raise MemoryError

    monkeypatch.setattr("hedgerow.trees.classification.finished_tree", out_of_memory)
    model.set_params(misclassification_cost=None)
    with pytest.raises(MemoryError):
        model.fit(X[:100], y[:100])
    assert state_of(model) == before


# ------------------------------------------------------------------ scikit-learn's tools


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_scikit_learn_prints_and_draws_the_trees(models, kind):
    model, _ = models[kind]
    text = sklearn_tree.export_text(model)
    assert text.count("class:" if kind == "classifier" else "value:") == model.get_n_leaves()
    assert sklearn_tree.export_graphviz(model).count("->") == 2 * model.get_n_leaves() - 2
    assert len(sklearn_tree.plot_tree(model)) >= 2 * model.get_n_leaves() - 1
    mpl.pyplot.close("all")


def test_scikit_learn_prints_the_same_text_as_for_its_own_tree():
    X, y = load_iris(return_X_y=True)
    X = X[:, 2:3]  # one feature: no ties
    ours = DecisionTreeClassifier(max_depth=3).fit(X, y)
    theirs = sklearn_tree.DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert sklearn_tree.export_text(ours) == sklearn_tree.export_text(theirs)
    assert sklearn_tree.export_graphviz(ours) == sklearn_tree.export_graphviz(theirs)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_permutation_importance_is_zero_for_features_that_no_split_uses(models, kind):
    model, (X, y) = models[kind]
    unused = np.setdiff1d(np.arange(X.shape[1]), model.tree_.feature)
    importance = permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean
    assert len(unused)
    assert_array_equal(importance[unused], 0.0)
    assert importance.max() > 0.1


def test_partial_dependence_is_that_of_scikit_learns_equal_tree():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)  # scikit-learn's trees read float32
    ours = DecisionTreeRegressor(max_depth=3).fit(X, y)
    theirs = sklearn_tree.DecisionTreeRegressor(max_depth=3).fit(X, y)
    for features in ([8], [2, 8]):  # the default for a tree is a walk down both branches
        mine, yours = (
            partial_dependence(m, X, features, grid_resolution=9) for m in (ours, theirs)
        )
        assert_allclose(mine["average"], yours["average"], rtol=1e-12)


def test_partial_dependence_on_a_category_must_be_by_brute_force():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x", "y", "x", "z"] * 9, "b": np.arange(36.0)})
    model = DecisionTreeRegressor().fit(frame, np.arange(36.0))
    with pytest.raises(ValueError, match="method='brute' for categories"):
        partial_dependence(model, frame, ["a"], categorical_features=["a"])
    found = partial_dependence(model, frame, ["a"], categorical_features=["a"], method="brute")
    assert found["average"].shape == (1, 3)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_partial_dependence_by_brute_force_is_the_mean_prediction(models, kind):
    model, (X, _) = models[kind]
    given = partial_dependence(model, X, [2], method="brute", grid_resolution=3)
    moved = X.copy()
    moved[:, 2] = given["grid_values"][0][1]
    predicted = model.predict_proba(moved).mean(axis=0) if kind == "classifier" else None
    mean = predicted if kind == "classifier" else [model.predict(moved).mean()]
    assert_allclose(given["average"][:, 1], mean, rtol=1e-12)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_cross_validation_and_grid_search_take_the_trees(models, kind):
    model, (X, y) = models[kind]
    scores = cross_val_score(clone(model), X, y, cv=3)
    again = [
        clone(model).fit(X[train], y[train]).score(X[test], y[test])
        for train, test in _folds(model, X, y)
    ]
    assert_array_equal(scores, again)
    search = GridSearchCV(clone(model), {"max_depth": [1, 3], "criterion": [model.criterion]}, cv=3)
    assert search.fit(X, y).best_estimator_.get_depth() <= search.best_params_["max_depth"]


def _folds(model, X, y):
    return check_cv(3, y, classifier=is_classifier(model)).split(X, y)


def test_a_tree_ends_a_pipeline_of_column_transformers():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"size": rng.normal(size=80), "colour": rng.choice(["red", "blue"], 80)}
    )
    y = (frame["colour"] == "red") & (frame["size"] > 0)
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["size"]), ("c", OneHotEncoder(), ["colour"])]
    )
    pipe = make_pipeline(columns, DecisionTreeClassifier())
    assert pipe.fit(frame, y).score(frame, y) == 1.0
    assert pipe[-1].n_features_in_ == 3


# ------------------------------------------------------------------ tree_


NODE_ARRAYS = [
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
    "value",
]


def test_tree_has_every_public_name_of_scikit_learns_tree(models):
    theirs = sklearn_tree.DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    for kind in ("classifier", "regressor"):
        ours = models[kind][0].tree_
        absent = [n for n in dir(theirs.tree_) if n[0] != "_" and not hasattr(ours, n)]
        assert absent == []


def test_tree_arrays_have_scikit_learns_types_and_shapes(models):
    model, (X, y) = models["classifier"]
    theirs = sklearn_tree.DecisionTreeClassifier(max_leaf_nodes=6).fit(X, y).tree_
    for name in NODE_ARRAYS:
        mine, yours = getattr(model.tree_, name), getattr(theirs, name)
        assert mine.dtype == yours.dtype, name
        assert mine.shape == yours.shape, name


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
@pytest.mark.parametrize("name", ["threshold", "feature", "value", "children_left", "impurity"])
def test_writing_into_tree_does_not_change_the_model(models, kind, name):
    model, (X, _) = models[kind]
    before, predictions = model.fingerprint_, model.predict(X)
    with suppress(ValueError):  # a read-only array would do as well
        getattr(model.tree_, name)[...] = 1
    assert model.fingerprint_ == before
    assert_array_equal(model.predict(X), predictions)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_the_tree_predicts_and_finds_paths_as_the_model_does(models, kind):
    model, (X, _) = models[kind]
    numbers = X.astype(np.float32)  # scikit-learn's trees read float32 only
    leaves = model.tree_.apply(numbers)
    assert_array_equal(leaves, model.apply(numbers.astype(np.float64)))
    assert_array_equal(model.tree_.predict(numbers), model.tree_.value[leaves].squeeze(axis=1))
    paths = model.tree_.decision_path(numbers)
    assert (paths != model.decision_path(numbers.astype(np.float64))).nnz == 0


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_shap_values_add_up_to_the_prediction(models, kind):
    shap = pytest.importorskip("shap")
    model, (X, _) = models[kind]
    explainer = shap.TreeExplainer(model)
    values = np.asarray(explainer.shap_values(X))
    predicted = model.predict_proba(X) if kind == "classifier" else model.predict(X)
    assert_allclose(values.sum(axis=1) + explainer.expected_value, predicted, rtol=1e-9, atol=1e-9)
