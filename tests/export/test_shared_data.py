"""Exports of every kind of model agree with `predict` on real tables, if they are there."""

import os
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hedgerow as hr
from tests.export.runners import COMPILER, said_by, said_by_export

DATA = Path(__file__).parents[3] / "shared" / "data"
FORMATS = ("onnx", "c", "python") if COMPILER else ("onnx", "python")
# Ten of two classes, four of more, ten of numbers, and both of ranks.
TABLES = {
    "binary": (
        *("german_credit", "spambase", "support2", "bank_marketing", "adult", "airlines_dep"),
        *("higgs7k", "mammography", "electricity", "fertility1980"),
    ),
    "multiclass": ("iris", "soybean", "dry_bean", "portal_rodents"),
    "regression": (
        *("auto_imports", "concrete", "ames_housing", "abalone", "cpu_act", "bikeshare"),
        *("loan_rates", "california_housing", "blog_feedback", "insteval"),
    ),
    "ranking": ("yandex_querywise", "lgbm_rank"),
}
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
RANKER = hr.GradientBoostingRanker(n_estimators=30, min_child_weight=0.0)
QUERY_ROWS = 20  # of a table of numbers, to rank them by
KINDS = {
    "binary": CLASSIFIERS + BINARY,
    "multiclass": CLASSIFIERS,
    "regression": (*REGRESSORS, RANKER),
    "ranking": (RANKER,),
}


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return some rows of a table, in an order of their own, and their targets."""
    frame = pd.read_parquet(DATA / f"{name}.parquet")
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)
    return frame.iloc[:, :-1], frame.iloc[:, -1]


def fitted(model: Any, task: str, X: pd.DataFrame, y: pd.Series) -> Any:
    """Return a model, fitted; a ranker learns fifths of numbers, within queries made of rows."""
    model = clone(model)
    if not isinstance(model, hr.GradientBoostingRanker):
        return model.fit(X, y)
    if task == "ranking":
        return model.fit(X.drop(columns="query_id"), y, qid=X["query_id"])
    relevance = (y.rank(pct=True) * 4.999).astype(int)
    return model.fit(X, relevance, qid=np.arange(len(X)) // QUERY_ROWS)


def models_of(task: str, X: pd.DataFrame, y: pd.Series) -> list:
    """Return every kind of model, fitted to the first rows: the others have new categories."""
    n = min(TRAINING, len(X) * 2 // 3)
    return [fitted(each, task, X[:n], y[:n]) for each in KINDS[task]]


def test_every_estimator_is_exported_of_ten_tables():
    counts = Counter(
        name
        for task, kinds in KINDS.items()
        for name in {type(each).__name__ for each in kinds}
        for _ in TABLES[task]
    )
    estimators = {name for name in hr.__all__ if hasattr(getattr(hr, name), "fit")}
    assert counts.keys() == estimators
    assert min(counts.values()) >= 10


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize(("task", "name"), [(t, name) for t in TABLES for name in TABLES[t]])
def test_every_kind_of_model_agrees_on_real_tables(task, name, tmp_path):
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes, columns without values
        models = models_of(task, X, y)
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
