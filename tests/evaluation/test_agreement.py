"""Scores are those of scikit-learn's cross_validate, of the same folds."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer, pairwise_distances
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.model_selection import cross_validate as theirs
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import hedgerow as hr
from hedgerow.evaluation import cross_validate

CANCER, DIABETES, IRIS = (
    load(return_X_y=True) for load in (load_breast_cancer, load_diabetes, load_iris)
)
OF_CLASSES = ["accuracy", "neg_log_loss", "roc_auc", "f1", "neg_brier_score", "average_precision"]
OF_NUMBERS = [
    "r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error",
    "neg_median_absolute_error", "explained_variance", "neg_max_error",
]  # fmt: skip
CLASSIFIERS = {
    "boosting": hr.GradientBoostingClassifier(n_estimators=6),
    "forest": hr.RandomForestClassifier(n_estimators=6),
    "AdaBoost": hr.AdaBoostClassifier(n_estimators=6),
    "tree": hr.DecisionTreeClassifier(max_depth=3),
    "L1": hr.L1BoostClassifier(loss="logistic", tol=1e-2),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "theirs": GradientBoostingClassifier(n_estimators=6, random_state=0),
}
REGRESSORS = {
    "boosting": hr.GradientBoostingRegressor(n_estimators=6),
    "forest": hr.RandomForestRegressor(n_estimators=6),
    "tree": hr.DecisionTreeRegressor(max_depth=3),
    "stagewise": hr.StagewiseRegressor(LinearRegression(), n_estimators=6),
    "ridge": Ridge(),
}


def assert_same(estimator, X, y, **given):
    ours = cross_validate(estimator, X, y, **given)
    other = theirs(estimator, X, y, **given)
    for name in other:
        if name.startswith(("test_", "train_")):
            assert_array_equal(ours[name], other[name], err_msg=name)
    return ours


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_several_scores_of_classes(name):
    scoring = ["accuracy", "roc_auc", "f1"] if name == "L1" else OF_CLASSES
    assert_same(CLASSIFIERS[name], *CANCER, scoring=scoring, cv=3, return_train_score=True)
    assert_same(CLASSIFIERS[name], *CANCER, cv=3)


@pytest.mark.parametrize("name", REGRESSORS)
def test_several_scores_of_numbers(name):
    assert_same(REGRESSORS[name], *DIABETES, scoring=OF_NUMBERS, cv=4, return_train_score=True)
    assert_same(REGRESSORS[name], *DIABETES)


def test_three_classes_with_names():
    X, y = IRIS
    names = np.array(["red", "green", "blue"])[y]
    for model in (CLASSIFIERS["boosting"], CLASSIFIERS["forest"], KNeighborsClassifier()):
        assert_same(model, X, names, scoring=["accuracy", "neg_log_loss", "roc_auc_ovr"], cv=3)


def test_weights_of_fits_only():
    X, y = CANCER
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for name in ("boosting", "forest", "tree"):
        assert_same(CLASSIFIERS[name], X, y, cv=3, params={"sample_weight": weights})


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss"])
def test_weights_of_fits_and_scores_are_those_of_routed_weights(scoring):
    X, y = CANCER
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    ours = cross_validate(
        CLASSIFIERS["boosting"], X, y, scoring=scoring, sample_weight=weights, cv=3
    )
    with config_context(enable_metadata_routing=True):
        model = hr.GradientBoostingClassifier(n_estimators=6)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scorer = scoring and make_weighted(scoring)
        other = theirs(model, X, y, scoring=scorer, params={"sample_weight": weights}, cv=3)
    assert_array_equal(ours["test_score"], other["test_score"])
    assert_allclose(ours.weights.sum(), weights.sum())


def make_weighted(name):
    return get_scorer(name).set_score_request(sample_weight=True)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"])
def test_weighted_scores_of_numbers(scoring):
    X, y = DIABETES
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    model = hr.GradientBoostingRegressor(n_estimators=6)
    ours = cross_validate(model, X, y, scoring=scoring, sample_weight=weights, cv=3)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True)
        scorer = make_weighted(scoring)
        other = theirs(model, X, y, scoring=scorer, params={"sample_weight": weights}, cv=3)
    assert_array_equal(ours["test_score"], other["test_score"])


@pytest.mark.parametrize(
    ("cv", "groups"),
    [
        (TimeSeriesSplit(4), None),
        (GroupKFold(4), np.arange(442) // 20),
        (LeaveOneGroupOut(), np.arange(442) % 3),
        (ShuffleSplit(3, random_state=0), None),
    ],
    ids=["time", "groups", "leave one group out", "shuffled"],
)
def test_splitters(cv, groups):
    for name in ("boosting", "ridge"):
        assert_same(REGRESSORS[name], *DIABETES, cv=cv, groups=groups)


def test_repeated_folds():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    assert len(assert_same(CLASSIFIERS["forest"], *CANCER, cv=cv)["test_score"]) == 6


def test_tables_of_all_kinds():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=120), "word": random.choice(list("abcd"), 120)})
    y = (frame["x"] + (frame["word"] == "a") + random.normal(size=120) > 0).to_numpy()
    expected = assert_same(CLASSIFIERS["boosting"], frame, y)["test_score"]
    for X in (pl.from_pandas(frame), frame.to_numpy(object)):
        assert_array_equal(cross_validate(CLASSIFIERS["boosting"], X, y)["test_score"], expected)
    rows = frame.to_numpy(object).tolist()
    assert_array_equal(cross_validate(CLASSIFIERS["boosting"], rows, y)["test_score"], expected)
    sparse = scipy.sparse.random(150, 5, 0.4, format="coo", random_state=0)
    target = np.asarray(sparse.sum(axis=1)).ravel()
    assert_same(REGRESSORS["boosting"], sparse.tocsr(), target)
    assert_same(
        REGRESSORS["boosting"], pd.DataFrame(frame[["x"]]), pd.Series(random.normal(size=120))
    )


def test_a_table_of_distances_is_divided_both_ways():
    X, y = IRIS
    distances = pairwise_distances(X)
    assert_same(KNeighborsClassifier(metric="precomputed"), distances, y)
    assert_same(SVC(kernel="precomputed"), X @ X.T, y)


def test_functions_as_scorers_one_or_several_numbers():
    X, y = DIABETES

    def spread(estimator, X, y):  # noqa: ARG001  a scorer has it
        return float(np.std(estimator.predict(X)))

    def both(estimator, X, y):
        return {"spread": spread(estimator, X, y), "score": estimator.score(X, y)}

    def own(y, predicted):
        return float(np.mean(predicted > y))

    for scoring in (spread, both, {"a": spread, "b": make_scorer(own)}):
        found = assert_same(REGRESSORS["boosting"], X, y, scoring=scoring)
        assert all(len(curve.sizes) == 6 for curve in found.curves.values())


def test_multi_output():
    X, y = DIABETES
    both = np.column_stack([y, -2.0 * y])
    for name in ("boosting", "forest", "tree"):
        assert_same(REGRESSORS[name], X, both)


def test_the_fitted_models_and_the_rows_of_folds_are_returned_as_the_user_had_them():
    X, y = DIABETES
    model = hr.GradientBoostingRegressor(n_estimators=3, n_jobs=2)
    found = cross_validate(model, X, y, return_estimator=True, return_indices=True, cv=3)
    other = theirs(model, X, y, return_estimator=True, return_indices=True, cv=3)
    for ours, their in zip(found["estimator"], other["estimator"], strict=True):
        assert ours.fingerprint_ == their.fingerprint_
        assert ours.get_params() == their.get_params()
        assert_array_equal(ours.predict(X), their.predict(X))
    for side in ("train", "test"):
        for one, two in zip(found["indices"][side], other["indices"][side], strict=True):
            assert_array_equal(one, two)


def test_the_number_of_cores_makes_no_difference():
    found = [cross_validate(CLASSIFIERS["boosting"], *CANCER, n_jobs=n) for n in (1, 2, 5)]
    for other in found[1:]:
        assert_array_equal(found[0].curve.folds, other.curve.folds)


def test_offsets_go_to_predictions():
    X, y = DIABETES
    offset = np.log(np.random.default_rng(0).uniform(0.5, 2.0, len(y)))
    model = hr.GradientBoostingRegressor(loss="poisson", n_estimators=4)
    found = cross_validate(
        model, X, y, params={"offset": offset}, cv=3, scoring="r2", return_indices=True
    )
    for k, (train, test) in enumerate(zip(*found["indices"].values(), strict=True)):
        alone = model.fit(X[train], y[train], offset=offset[train])
        said = alone.predict(X[test], offset=offset[test])
        expected = 1 - ((y[test] - said) ** 2).sum() / ((y[test] - y[test].mean()) ** 2).sum()
        assert_allclose(found["test_score"][k], expected, rtol=1e-12)
