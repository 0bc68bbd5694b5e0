"""CV(m) from one fit a fold is what fits of every size would give, to the bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.ensemble import GradientBoostingRegressor as SklearnBoosting
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.model_selection import cross_validate as one_size
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as SklearnTree

import hedgerow as hr
from hedgerow.evaluation import Curve, cross_validate

M = 7
IRIS, CANCER, DIABETES = (
    load(return_X_y=True) for load in (load_iris, load_breast_cancer, load_diabetes)
)
CLASSES = ["accuracy", "neg_log_loss"]
NUMBERS = ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"]


def stump():
    return hr.DecisionTreeClassifier(max_depth=1)


KINDS = {
    "boosting, two classes": (hr.GradientBoostingClassifier(), CANCER, [*CLASSES, "roc_auc"]),
    "boosting, three classes": (hr.GradientBoostingClassifier(), IRIS, CLASSES),
    "exponential": (hr.GradientBoostingClassifier(loss="exponential"), CANCER, CLASSES),
    "vector leaves": (hr.GradientBoostingClassifier(multi_output="vector"), IRIS, CLASSES),
    "rows and features drawn": (
        hr.GradientBoostingClassifier(subsample=0.5, max_features=0.3, max_features_tree=0.5),
        CANCER,
        CLASSES,
    ),
    "goss": (hr.GradientBoostingRegressor(sampling="goss"), DIABETES, NUMBERS),
    "boosting, numbers": (hr.GradientBoostingRegressor(), DIABETES, NUMBERS),
    "absolute error": (hr.GradientBoostingRegressor(loss="absolute_error"), DIABETES, NUMBERS),
    "huber": (hr.GradientBoostingRegressor(loss="huber"), DIABETES, NUMBERS),
    "quantile": (hr.GradientBoostingRegressor(loss="quantile", alpha=0.3), DIABETES, NUMBERS),
    "quantiles": (hr.GradientBoostingRegressor(loss="quantile", alpha=[0.2, 0.8]), DIABETES, None),
    "poisson": (hr.GradientBoostingRegressor(loss="poisson"), DIABETES, NUMBERS),
    "line search": (hr.GradientBoostingRegressor(learning_rate="line_search"), DIABETES, NUMBERS),
    "method gradient": (hr.GradientBoostingRegressor(method="gradient"), DIABETES, NUMBERS),
    "AdaBoost": (hr.AdaBoostClassifier(), CANCER, [*CLASSES, "roc_auc"]),
    "SAMME": (hr.AdaBoostClassifier(), IRIS, CLASSES),
    "Real AdaBoost": (hr.AdaBoostClassifier(algorithm="real"), IRIS, CLASSES),
    "AdaBoost of any learner": (hr.AdaBoostClassifier(SklearnTree(max_depth=1)), CANCER, CLASSES),
    "AdaBoost by samples": (hr.AdaBoostClassifier(stump(), resample=True), CANCER, CLASSES),
    "AdaBoost.R2": (hr.AdaBoostRegressor(), DIABETES, NUMBERS),
    "AdaBoost.R2 of lines": (hr.AdaBoostRegressor(LinearRegression()), DIABETES, NUMBERS),
    "stagewise": (hr.StagewiseRegressor(), DIABETES, NUMBERS),
    "stagewise lines": (hr.StagewiseRegressor(LinearRegression()), DIABETES, NUMBERS),
    "stagewise classes": (hr.StagewiseClassifier(), IRIS, CLASSES),
    "stagewise dictionary": (
        hr.StagewiseClassifier(dictionary=lambda X: np.tanh(np.asarray(X)[:, :6])),
        CANCER,
        [*CLASSES, "roc_auc"],
    ),
    "forest": (hr.RandomForestClassifier(), IRIS, CLASSES),
    "forest that votes": (hr.RandomForestClassifier(voting="hard"), CANCER, ["accuracy"]),
    "extra-trees": (hr.ExtraTreesClassifier(), CANCER, [*CLASSES, "roc_auc"]),
    "forest of numbers": (hr.RandomForestRegressor(), DIABETES, NUMBERS),
    "extra-trees of numbers": (hr.ExtraTreesRegressor(), DIABETES, NUMBERS),
    "bagging": (hr.BaggingClassifier(max_features=0.5), IRIS, CLASSES),
    "bagging of numbers": (hr.BaggingRegressor(max_samples=0.5), DIABETES, NUMBERS),
    "bagging of any learner": (hr.BaggingRegressor(LinearRegression()), DIABETES, NUMBERS),
    "pipeline": (
        make_pipeline(StandardScaler(), hr.GradientBoostingRegressor()), DIABETES, NUMBERS,
    ),
    "scikit-learn's boosting": (SklearnBoosting(random_state=0), DIABETES, NUMBERS),
    "scikit-learn's AdaBoost": (SklearnAdaBoost(random_state=0), IRIS, ["accuracy"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_curve_has_the_scores_of_fits_of_every_size(kind):
    estimator, (X, y), scoring = KINDS[kind]
    size = next(name for name in estimator.get_params() if name.endswith("n_estimators"))
    estimator.set_params(**{size: M})
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y > np.median(y)))
    found = cross_validate(estimator, X, y, cv=splits, scoring=scoring)
    names = ["score"] if scoring is None else scoring
    assert list(found.curves) == names
    for m in range(1, M + 1):
        alone = one_size(estimator.set_params(**{size: m}), X, y, cv=splits, scoring=scoring)
        for name in names:
            assert_array_equal(found.curves[name].folds[:, m - 1], alone[f"test_{name}"])
    for name in names:
        assert_array_equal(found[f"test_{name}"], found.curves[name].folds[:, -1])


def test_one_model_is_fitted_for_each_fold(monkeypatch):
    fits = []
    fit = hr.GradientBoostingRegressor.fit
    monkeypatch.setattr(
        hr.GradientBoostingRegressor, "fit", lambda *a, **k: fits.append(1) or fit(*a, **k)
    )
    cross_validate(hr.GradientBoostingRegressor(n_estimators=20), *DIABETES, cv=4)
    assert len(fits) == 4


def test_the_mean_counts_folds_by_their_rows_or_alike():
    X, y = DIABETES
    splits = [(np.arange(100, 442), np.arange(100)), (np.arange(400), np.arange(400, 442))]
    model = hr.GradientBoostingRegressor(n_estimators=5)
    by_rows = cross_validate(model, X, y, cv=splits)
    alike = cross_validate(model, X, y, cv=splits, average="folds")
    folds = by_rows.curve.folds
    assert_array_equal(folds, alike.curve.folds)
    np.testing.assert_allclose(
        by_rows.curve.mean, (100 * folds[0] + 42 * folds[1]) / 142, rtol=1e-14
    )
    np.testing.assert_allclose(alike.curve.mean, (folds[0] + folds[1]) / 2, rtol=1e-14)
    expected = np.abs(folds[0] - folds[1]) / 2  # sd of two numbers is |a - b| / sqrt 2
    np.testing.assert_allclose(alike.curve.standard_errors, expected, rtol=1e-12)


def test_the_pooled_mean_of_squared_errors_is_that_of_all_rows():
    # Notes 2: CV = (1 / n) sum over k of L_k, each row judged once by a model without it.
    X, y = DIABETES
    model, folds = hr.GradientBoostingRegressor(n_estimators=6), KFold(4)
    found = cross_validate(model, X, y, cv=folds, scoring="neg_mean_squared_error")
    for m in range(1, 7):
        squares = [
            (y[test] - model.set_params(n_estimators=m).fit(X[train], y[train]).predict(X[test]))
            ** 2
            for train, test in folds.split(X)
        ]
        np.testing.assert_allclose(
            -found.curve.mean[m - 1], np.concatenate(squares).mean(), rtol=1e-13
        )


def test_the_best_size_is_the_smallest_of_equals_and_one_se_is_smaller():
    folds = np.array(
        [[0.1, 0.5, 0.7, 0.8, 0.8], [0.3, 0.7, 0.9, 0.8, 0.8], [0.2, 0.6, 0.5, 0.8, 0.8]]
    )
    curve = Curve("r2", folds, np.ones(3))
    assert (curve.best, curve.one_se) == (4, 4)
    noisy = Curve("r2", np.array([[0.1, 0.5, 0.3], [0.3, 0.5, 0.9]]), np.ones(2))
    assert (noisy.best, noisy.one_se) == (3, 2)


def test_a_model_that_stops_early_keeps_its_last_score():
    X, y = DIABETES
    model = hr.GradientBoostingRegressor(n_estimators=200, early_stopping=True, n_iter_no_change=3)
    found = cross_validate(model, X, y, cv=KFold(3), return_estimator=True)
    lengths = [each.n_estimators_ for each in found["estimator"]]
    assert len(set(lengths)) > 1
    assert len(found.curve.sizes) == max(lengths)
    for own, n in zip(found.curve.folds, lengths, strict=True):
        assert (own[n - 1 :] == own[n - 1]).all()


def test_with_dropout_there_is_no_curve_but_scores():
    model = hr.GradientBoostingRegressor(n_estimators=5, dropout=0.5)
    found = cross_validate(model, *DIABETES)
    assert found.curves == {}
    with pytest.raises(ValueError, match="There is no curve"):
        _ = found.curve
    assert_array_equal(found["test_score"], one_size(model, *DIABETES)["test_score"])


def test_a_response_that_is_not_said_round_by_round_leaves_scores_of_whole_models():
    X, y = CANCER
    model = hr.BaggingClassifier(LogisticRegression(C=1e-6), n_estimators=2)
    found = cross_validate(model, X, y, scoring="roc_auc", cv=3)  # by decision_function
    assert found.curves == {}
    assert_array_equal(
        found["test_score"], one_size(model, X, y, scoring="roc_auc", cv=3)["test_score"]
    )


def test_training_scores_have_curves_too():
    X, y = DIABETES
    model = hr.GradientBoostingRegressor(n_estimators=4)
    found = cross_validate(model, X, y, return_train_score=True)
    theirs = one_size(model, X, y, return_train_score=True)
    assert_array_equal(found["train_score"], theirs["train_score"])
    assert_array_equal(found.train_curves["score"].folds[:, -1], theirs["train_score"])


def test_the_text_says_how_good_and_after_how_many_rounds():
    found = cross_validate(hr.GradientBoostingRegressor(n_estimators=4), *DIABETES)
    assert repr(found).startswith("5 folds, ")
    assert "after 4 of 4" in repr(found)
