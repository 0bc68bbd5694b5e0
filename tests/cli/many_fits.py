"""Fits of every kind; prints the kernels that had to be compiled for them."""

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import csr_array

from hedgerow import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    L1BoostClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
)
from hedgerow.kernels.cache import KernelCache

compiled = []
load = KernelCache.load_overload


def load_or_tell(self, sig, target_context):
    found = load(self, sig, target_context)
    if found is None:
        compiled.append((self._py_func.__name__, sig))
    return found


def frame(n_rows: int) -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": np.where(random.random(n_rows) < 0.1, np.nan, random.normal(size=n_rows)),
            "few": random.integers(0, 9, n_rows),
            "truth": random.random(n_rows) < 0.5,
            "word": pd.Categorical(random.choice(["a", "b", "c", None], n_rows)),
            "id": [f"id {value}" for value in random.integers(0, 400, n_rows)],
        }
    )


def tables(X: pd.DataFrame) -> list:
    numbers = X[["number", "few"]].to_numpy()
    fixed = np.array(numbers, order="C")
    fixed.flags.writeable = False
    return [
        X,
        pl.from_pandas(X),
        X[["number"]],
        X[["word"]],
        numbers,
        fixed,
        fixed[:, :1].astype(np.float32),
        np.asfortranarray(numbers),
        X[["few"]].to_numpy(np.float64),
        csr_array(np.nan_to_num(numbers)),
    ]


def main() -> None:
    KernelCache.load_overload = load_or_tell
    X, random = frame(2000), np.random.default_rng(1)
    labels, targets = random.integers(0, 3, 2000), random.normal(size=(2000, 2))
    weights = random.random(2000)
    cost = 1.0 - np.eye(3)
    models = [
        (DecisionTreeClassifier(), labels),
        (DecisionTreeClassifier(class_weight="balanced", max_leaf_nodes=9), labels),
        (DecisionTreeClassifier(splitter="random", max_features=1, random_state=0), labels),
        (DecisionTreeClassifier(criterion="entropy", split_finding="histogram"), labels),
        (DecisionTreeClassifier(criterion="misclassification"), labels),
        (
            DecisionTreeClassifier(criterion="misclassification", misclassification_cost=cost),
            labels,
        ),
        (DecisionTreeClassifier(misclassification_cost=cost, ccp_alpha="cv"), labels),
        (DecisionTreeRegressor(max_bins=16, split_finding="histogram"), targets[:, 0]),
        (DecisionTreeRegressor(ccp_alpha="cv"), targets),
        (DecisionTreeRegressor(ccp_alpha=0.01, n_jobs=2), targets[:, 0].astype(np.float32)),
        (DecisionTreeRegressor(criterion="absolute_error", ccp_alpha="cv"), targets[:, 0]),
        (AdaBoostClassifier(n_estimators=2), labels),
        (AdaBoostClassifier(n_estimators=2, algorithm="real", early_stopping=True), labels > 0),
        (AdaBoostRegressor(n_estimators=2), targets[:, 0]),
        (GradientBoostingClassifier(n_estimators=2, class_weight="balanced"), labels),
        (GradientBoostingClassifier(n_estimators=2, early_stopping=True), labels > 0),
        (GradientBoostingClassifier(n_estimators=2, loss="exponential"), labels > 0),
        (GradientBoostingRegressor(n_estimators=2, prune="post", gamma=9.0), targets[:, 0]),
        (GradientBoostingRegressor(n_estimators=2, min_samples_leaf=9), targets[:, 0]),
        (
            GradientBoostingRegressor(n_estimators=2, max_features=1, interaction_cst="pairwise"),
            targets[:, 0],
        ),
    ]
    models += [
        (StagewiseClassifier(n_estimators=2), labels),
        (StagewiseClassifier(n_estimators=2, early_stopping=True), labels > 0),
        (StagewiseClassifier(n_estimators=2, loss="exponential"), labels > 0),
        (StagewiseRegressor(n_estimators=2, loss="huber"), targets[:, 0]),
        (L1BoostClassifier(loss="logistic", max_thresholds=4), labels > 0),
    ]
    models += [
        (RandomForestClassifier(n_estimators=9, voting="hard"), labels),
        (RandomForestClassifier(n_estimators=9, oob_score=True), labels),
        (RandomForestRegressor(n_estimators=9, min_samples_leaf=3), targets[:, 0]),
        (RandomForestRegressor(n_estimators=9), targets),
    ]
    losses = ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie")
    for loss in losses:
        model = GradientBoostingRegressor(n_estimators=2, loss=loss, early_stopping=loss != "huber")
        models.append((model, np.exp(targets[:, 0])))
    for model, y in models:
        for table in tables(X):
            for weight in (None, weights, np.arange(2000) % 3):
                model.fit(table, y, sample_weight=weight).predict(table)
        pickle.loads(pickle.dumps(model)).predict(table)
        if hasattr(model, "shap_values"):
            for table in tables(X):
                model.fit(table, y).apply(table)
                model.shap_values(table, background=table)
                model.shap_values(table)
                model.shap_interaction_values(table)
                model.permutation_importances(table, y, n_repeats=1)
        if hasattr(model, "cost_complexity_pruning_path"):
            model.cost_complexity_pruning_path(X, y)
    large = random.normal(size=(40_000, 12))
    DecisionTreeClassifier(n_jobs=2).fit(large, large[:, 0] > 0).predict(large)
    DecisionTreeClassifier(unseen="average").fit(X, labels).predict(X.assign(word="unseen"))
    sys.stdout.write(f"compiled: {compiled}\n")


if __name__ == "__main__":
    main()
