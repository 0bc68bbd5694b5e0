"""Parameters are chosen by the folds, rounds from curves, and the model is rebuilt on all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import uniform
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hedgerow as hr
from hedgerow.evaluation import cross_validate, select

X, Y = load_diabetes(return_X_y=True)
FOLDS = KFold(4, shuffle=True, random_state=0)


def boosting(**given):
    return hr.GradientBoostingRegressor(**({"n_estimators": 12, "learning_rate": 0.3} | given))


def test_the_choice_is_that_of_a_grid_of_all_rounds():
    grid = {"max_leaf_nodes": [2, 4], "n_estimators": list(range(1, 13))}
    theirs = GridSearchCV(boosting(), grid, cv=FOLDS).fit(X, Y)
    ours = select(boosting(), {"max_leaf_nodes": [2, 4]}, X, Y, cv=FOLDS, average="folds")
    assert ours.parameters == theirs.best_params_
    assert_allclose(ours.score, theirs.best_score_, rtol=1e-13)
    assert ours.estimator.fingerprint_ == theirs.best_estimator_.fingerprint_


def test_rounds_are_never_fitted_for_each_of_their_numbers(monkeypatch):
    fits, fit = [], hr.GradientBoostingRegressor.fit
    monkeypatch.setattr(
        hr.GradientBoostingRegressor,
        "fit",
        lambda *a, **k: fits.append(a[0].n_estimators) or fit(*a, **k),
    )
    tried = {"n_estimators": [3, 5, 9], "max_leaf_nodes": [2, 4]}
    chosen = select(boosting(), tried, X, Y, cv=FOLDS)
    assert fits[:-1] == [9] * 8
    assert fits[-1] == chosen.parameters["n_estimators"]
    assert chosen.parameters["n_estimators"] in (3, 5, 9)
    assert [row["n_estimators"] in (3, 5, 9) for row in chosen.table] == [True, True]


def test_what_auto_stands_for_is_kept_when_rounds_are_fewer():
    model = hr.GradientBoostingRegressor(max_leaf_nodes=4)  # 200 rounds at 0.06
    chosen = select(model, {}, X, Y, cv=FOLDS)
    assert chosen.parameters["learning_rate"] == 0.06
    assert len(chosen.results[0].curve.sizes) == 200
    m = chosen.parameters["n_estimators"]
    assert m < 200
    again = hr.GradientBoostingRegressor(
        max_leaf_nodes=4, early_stopping=False, learning_rate=0.06, n_estimators=m
    )
    found = cross_validate(again, X, Y, cv=FOLDS)
    assert_allclose(found.means()["score"][0], chosen.score, rtol=1e-13)
    assert chosen.estimator.fingerprint_ == again.fit(X, Y).fingerprint_


def test_one_standard_error_takes_the_first_candidate_and_its_fewest_rounds():
    tried = {"max_leaf_nodes": [2, 4, 8]}
    best = select(boosting(), tried, X, Y, cv=FOLDS)
    simple = select(boosting(), tried, X, Y, cv=FOLDS, one_se=True)
    least = best.score - best.standard_error
    curves = [result.curve.mean for result in simple.results]
    first = next(number for number, curve in enumerate(curves) if curve.max() >= least)
    rounds = int(np.flatnonzero(curves[first] >= least)[0]) + 1
    assert simple.parameters == {"max_leaf_nodes": [2, 4, 8][first], "n_estimators": rounds}
    assert simple.parameters["n_estimators"] < best.parameters["n_estimators"]
    assert simple.estimator.n_estimators_ == rounds


@pytest.mark.parametrize(
    "model",
    [
        hr.RandomForestRegressor(8),
        hr.BaggingRegressor(n_estimators=8),
        hr.AdaBoostRegressor(n_estimators=8),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sizes_of_forests_and_rounds_of_adaboost_are_chosen(model):
    chosen = select(model, {}, X, Y, cv=FOLDS)
    curve = cross_validate(model, X, Y, cv=FOLDS).curve
    assert chosen.parameters == {"n_estimators": curve.best}
    assert chosen.estimator.get_params()["n_estimators"] == curve.best


def test_a_model_without_stages_is_chosen_by_its_scores():
    theirs = GridSearchCV(Ridge(), {"alpha": [0.01, 0.1, 1.0]}, cv=FOLDS).fit(X, Y)
    ours = select(Ridge(), {"alpha": [0.01, 0.1, 1.0]}, X, Y, cv=FOLDS, average="folds")
    assert ours.parameters == theirs.best_params_
    assert_array_equal(ours.estimator.coef_, theirs.best_estimator_.coef_)


def test_a_pipeline_and_a_list_of_grids():
    model = make_pipeline(StandardScaler(), boosting())
    name = "gradientboostingregressor__max_leaf_nodes"
    chosen = select(model, [{name: 2}, {name: [4, 5]}], X, Y, cv=FOLDS)
    assert len(chosen.table) == 3
    assert set(chosen.parameters) == {name, "gradientboostingregressor__n_estimators"}
    assert chosen.estimator.predict(X).shape == Y.shape


def test_draws_of_distributions():
    drawn = {"learning_rate": uniform(0.05, 0.5), "max_leaf_nodes": [2, 3, 4]}
    chosen = select(boosting(), drawn, X, Y, cv=FOLDS, n_iter=4, random_state=0)
    again = select(boosting(), drawn, X, Y, cv=FOLDS, n_iter=4, random_state=0)
    assert len(chosen.table) == 4
    assert chosen.parameters == again.parameters


def test_the_first_of_several_scores_decides_and_weights_go_everywhere():
    cancer = load_breast_cancer(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(cancer[1]))
    model = hr.AdaBoostClassifier(n_estimators=10)
    chosen = select(
        model, {}, *cancer, scoring=["neg_log_loss", "accuracy"], sample_weight=weights, cv=3
    )
    n = chosen.parameters["n_estimators"]
    assert n == chosen.results[0].curves["neg_log_loss"].best
    fitted = hr.AdaBoostClassifier(n_estimators=n).fit(*cancer, sample_weight=weights)
    assert chosen.estimator.fingerprint_ == fitted.fingerprint_


def test_the_table_has_a_row_for_each_candidate_best_first_in_the_text():
    chosen = select(boosting(), {"max_leaf_nodes": [2, 4]}, X, Y, cv=FOLDS)
    frame = chosen.to_frame()
    assert list(frame["rank"].sort_values()) == [1, 2]
    assert frame.loc[frame["rank"] == 1, "score"].item() == chosen.score
    lines = repr(chosen).splitlines()
    assert lines[1].split() == [
        "max_leaf_nodes",
        "n_estimators",
        "score",
        "standard_error",
        "fit_time",
        "rank",
    ]
    assert lines[2].split()[-1] == "1"


def test_the_estimator_that_was_given_stays_as_it_was():
    model = boosting()
    before = model.get_params()
    select(model, {"max_leaf_nodes": [2, 4]}, X, Y, cv=FOLDS)
    assert model.get_params() == before
    assert not hasattr(model, "n_estimators_")


def test_unknown_parameters_and_bad_rounds_are_named():
    with pytest.raises(
        ValueError, match="parameters has 'leaves', which GradientBoostingRegressor"
    ):
        select(boosting(), {"leaves": [2]}, X, Y)
    with pytest.raises(ValueError, match="n_estimators='auto', but rounds are read from one curve"):
        select(boosting(), {"n_estimators": "auto"}, X, Y)
    with pytest.raises(ValueError, match="chooses rounds by folds of its own"):
        select(boosting(n_estimators="cv"), {}, X, Y)
    with pytest.raises(TypeError, match="are not a dict from names to lists"):
        select(boosting(), [], X, Y)
