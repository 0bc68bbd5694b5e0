"""Exports of every kind of model agree with `predict` on real tables, if they are there."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hedgerow as hr
from tests.export.runners import COMPILER, said_by, said_by_export

DATA = Path(__file__).parents[3] / "shared" / "data"
FORMATS = ("onnx", "c", "python") if COMPILER else ("onnx", "python")
# Ten of classes, ten of numbers, and both of ranks.
TABLES = (
    *("german_credit", "spambase", "support2", "bank_marketing", "adult", "airlines_dep"),
    *("iris", "soybean", "dry_bean", "portal_rodents"),
    *("auto_imports", "concrete", "ames_housing", "abalone", "cpu_act", "bikeshare"),
    *("loan_rates", "california_housing", "blog_feedback", "insteval"),
    *("yandex_querywise", "lgbm_rank"),
)
MOST_ROWS, TRAINING = 1500, 1000
TREE, MEANS = hr.DecisionTreeClassifier, hr.DecisionTreeRegressor
CLASSIFIERS = (
    TREE(),
    hr.RandomForestClassifier(10),
    hr.ExtraTreesClassifier(10),
    hr.BaggingClassifier(TREE(), 10, max_features=0.7),
    hr.GradientBoostingClassifier(n_estimators=15),
    hr.AdaBoostClassifier(TREE(max_depth=3), n_estimators=15),
    hr.AdaBoostClassifier(TREE(max_depth=3), n_estimators=15, algorithm="real"),
    hr.AdaBoostClassifier(TREE(max_depth=6), n_estimators=8, resample=True),
    hr.StagewiseClassifier(n_estimators=15),
)
# Of two classes only.
BINARY = (
    hr.StagewiseClassifier(TREE(max_depth=3), n_estimators=15, loss="exponential", step="exact"),
    hr.L1BoostClassifier(loss="logistic", radius=5.0, tol=1e-3, max_thresholds=8),
)
REGRESSORS = (
    MEANS(),
    hr.RandomForestRegressor(10),
    hr.ExtraTreesRegressor(10),
    hr.BaggingRegressor(MEANS(), 10, max_features=0.7),
    hr.GradientBoostingRegressor(n_estimators=30),
    hr.GradientBoostingRegressor(n_estimators=30, loss="poisson"),
    hr.AdaBoostRegressor(n_estimators=15),
    hr.StagewiseRegressor(n_estimators=15),
    hr.StagewiseRegressor(MEANS(max_depth=3), n_estimators=15, loss="absolute_error"),
)


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return some rows of a table, in an order of their own, and their targets."""
    frame = pd.read_parquet(DATA / f"{name}.parquet")
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)
    return frame.iloc[:, :-1], frame.iloc[:, -1]


def models_of(name: str, X: pd.DataFrame, y: pd.Series) -> list:
    """Return every kind of model, fitted to the first rows: the others have new categories."""
    n = min(TRAINING, len(X) * 2 // 3)
    if "query_id" in X:
        ranker = hr.GradientBoostingRanker(n_estimators=30, min_child_weight=0.0)
        return [ranker.fit(X.drop(columns="query_id")[:n], y[:n], qid=X["query_id"][:n])]
    task = pd.read_csv(DATA / "catalog.csv", index_col="name").loc[name, "task"]
    kinds: tuple = REGRESSORS if task == "regression" else CLASSIFIERS
    if task == "binary":
        kinds += BINARY
    return [each.fit(X[:n], y[:n]) for each in kinds]


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_model_agrees_on_real_tables(name, tmp_path):
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes, columns without values
        models = models_of(name, X, y)
    X = X.drop(columns="query_id", errors="ignore")
    for number, model in enumerate(models):
        expected = said_by(model, X)
        for to in FORMATS:
            folder = tmp_path / f"{number}{to}"
            folder.mkdir()
            told = said_by_export(model, X, to, folder)
            if expected.labels is not None:
                assert told.labels.tolist() == expected.labels.tolist(), (model, to)
            # Relative to the size of predictions: prices are in hundreds of thousands.
            error = np.abs(told.numbers - expected.numbers) / np.maximum(
                1, np.abs(expected.numbers)
            )
            record(name, model, to, len(X), float(error.max()))
            assert error.max() <= 1e-6, (model, to)


def record(*found) -> None:
    """Append what was found to a file, if one is asked for."""
    if "HEDGEROW_EXPORT_TABLE" in os.environ:
        with open(os.environ["HEDGEROW_EXPORT_TABLE"], "a", encoding="utf-8") as file:
            shown = (type(each).__name__ if hasattr(each, "fit") else each for each in found)
            file.write("\t".join(map(str, shown)) + "\n")
