"""One small fitted model, or several, of every estimator; and rows that each can predict."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import hedgerow as hr
from hedgerow.losses import Tweedie

WORDS = ("amber", "blau", "céladon", "drab", "écru")


def numbers(n_rows: int = 60) -> np.ndarray:
    """Return three columns of numbers, some of them missing; only whole ones are computed with."""
    place = np.arange(n_rows)
    X = np.column_stack([place * 7 % 31, place * 13 % 17, place * 5 % 11]).astype(np.float64)
    X[::9, 1] = np.nan
    return X


def mixed(n_rows: int = 60) -> pd.DataFrame:
    """Return a table of two columns of numbers and two of categories, some of them missing."""
    X, place = numbers(n_rows), np.arange(n_rows)
    words = [None if k % 10 == 9 else WORDS[k * 3 % 5] for k in place]
    return pd.DataFrame(
        {
            "height": X[:, 0],
            "colour": pd.Categorical(words),
            "gap": X[:, 1],
            "size": pd.Categorical(place * 3 % 7, categories=range(7)),
        }
    )


def targets(n_rows: int = 60) -> np.ndarray:
    place = np.arange(n_rows)
    return place * 7 % 31 + (place * 3 % 5) * 4.0 + place % 3


def labels(n_rows: int = 60, n_classes: int = 3) -> np.ndarray:
    names = np.array(["left", "right", "straight on"])[:n_classes]
    return names[(targets(n_rows) // 9).astype(int) % n_classes]


def _weights(n_rows: int = 60) -> np.ndarray:
    return np.arange(n_rows) % 4 * 1.0


def _ranked() -> Any:
    relevance = (targets() // 12).astype(int) % 3
    ranker = hr.GradientBoostingRanker(n_estimators=4, max_leaf_nodes=4, min_child_weight=0.0)
    return ranker.fit(numbers(), relevance, qid=np.arange(60) // 10)


def _two(y: np.ndarray) -> np.ndarray:
    return np.column_stack([y, -y // 2])


MAKERS: dict[str, Callable[[], Any]] = {
    "tree-classes": lambda: hr.DecisionTreeClassifier(max_depth=4).fit(mixed(), labels()),
    "tree-costs": lambda: hr.DecisionTreeClassifier(
        max_depth=3, misclassification_cost=[[0, 1, 2], [1, 0, 1], [5, 1, 0]]
    ).fit(numbers(), labels()),
    "tree-numbers": lambda: hr.DecisionTreeRegressor(ccp_alpha="cv", unseen="average").fit(
        mixed(), targets()
    ),
    "tree-outputs": lambda: hr.DecisionTreeRegressor(max_leaf_nodes=5).fit(
        numbers(), _two(targets())
    ),
    "forest-classes": lambda: hr.RandomForestClassifier(4, oob_score=True, max_depth=4).fit(
        mixed(), labels(), _weights()
    ),
    "forest-votes": lambda: hr.RandomForestClassifier(
        4, voting="hard", max_depth=3, class_weight={"left": 2.0, "right": 1}
    ).fit(numbers(), labels(n_classes=2)),
    "forest-numbers": lambda: hr.RandomForestRegressor(
        4, keep_rows=True, min_samples_leaf=3, unseen="average"
    ).fit(mixed(), targets()),
    "forest-outputs": lambda: hr.RandomForestRegressor(3, max_depth=3, keep_rows=True).fit(
        numbers(), _two(targets()), _weights()
    ),
    "extra-classes": lambda: hr.ExtraTreesClassifier(3, max_depth=4).fit(mixed(), labels()),
    "extra-numbers": lambda: hr.ExtraTreesRegressor(3, max_depth=4).fit(mixed(), targets()),
    "bagging-classes": lambda: hr.BaggingClassifier(
        hr.DecisionTreeClassifier(max_depth=3), 4, max_features=2, oob_score=True
    ).fit(mixed(), labels()),
    "bagging-numbers": lambda: hr.BaggingRegressor(
        hr.DecisionTreeRegressor(max_depth=3), 3, bootstrap=False, max_samples=0.5
    ).fit(mixed(), targets()),
    "bagging-boosting": lambda: hr.BaggingClassifier(
        hr.GradientBoostingClassifier(n_estimators=2, max_leaf_nodes=3), 2
    ).fit(numbers(), labels()),
    "boosting-classes": lambda: hr.GradientBoostingClassifier(
        n_estimators=6, max_leaf_nodes=4, early_stopping=True, min_child_weight=0.0
    ).fit(mixed(), labels()),
    "boosting-two": lambda: hr.GradientBoostingClassifier(
        n_estimators=4, max_leaf_nodes=4, subsample=0.5, oob_improvement=True, loss="exponential"
    ).fit(mixed(), labels(n_classes=2)),
    "boosting-numbers": lambda: hr.GradientBoostingRegressor(
        n_estimators="cv", max_estimators=6, max_leaf_nodes=5, cv=3
    ).fit(mixed(), targets()),
    "boosting-huber": lambda: hr.GradientBoostingRegressor(
        n_estimators=4, max_leaf_nodes=4, loss="huber"
    ).fit(numbers(), targets(), offset=np.ones(60)),
    "boosting-quantiles": lambda: hr.GradientBoostingRegressor(
        n_estimators=4, max_leaf_nodes=4, loss="quantile", alpha=[0.2, 0.5, 0.8]
    ).fit(numbers(), targets()),
    "boosting-tweedie": lambda: hr.GradientBoostingRegressor(
        n_estimators=3, max_leaf_nodes=4, loss=Tweedie(1.25)
    ).fit(numbers(), targets(), eval_set=(numbers(), targets())),
    "boosting-outputs": lambda: hr.GradientBoostingRegressor(
        n_estimators=3, max_leaf_nodes=4, multi_output="vector"
    ).fit(numbers(), _two(targets())),
    "boosting-ranks": _ranked,
    "adaboost-two": lambda: hr.AdaBoostClassifier(n_estimators=4).fit(mixed(), labels(n_classes=2)),
    "adaboost-real": lambda: hr.AdaBoostClassifier(
        hr.DecisionTreeClassifier(max_depth=2), n_estimators=3, algorithm="real"
    ).fit(mixed(), labels()),
    "adaboost-drawn": lambda: hr.AdaBoostClassifier(
        hr.DecisionTreeClassifier(max_depth=3), n_estimators=3, resample=True
    ).fit(numbers(), labels()),
    "adaboost-numbers": lambda: hr.AdaBoostRegressor(n_estimators=4).fit(mixed(), targets()),
    "adaboost-learners": lambda: hr.AdaBoostRegressor(
        hr.GradientBoostingRegressor(n_estimators=2, max_leaf_nodes=3), n_estimators=2
    ).fit(numbers(), targets()),
    "stagewise-numbers": lambda: hr.StagewiseRegressor(n_estimators=3).fit(mixed(), targets()),
    "stagewise-classes": lambda: hr.StagewiseClassifier(
        n_estimators=2, early_stopping=True, validation_fraction=0.2
    ).fit(numbers(), labels()),
    "l1-stumps": lambda: hr.L1BoostClassifier(loss="logistic", radius=3.0).fit(
        mixed(), labels(n_classes=2)
    ),
}


def made(name: str) -> Any:
    """Return the model of a name, fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKERS[name]()


def rows_for(model: Any) -> Any:
    """Return rows that a model can predict, with values and categories that no fit has seen."""
    if model.n_features_in_ == 3:
        return numbers(90)
    table = mixed(90)
    table["colour"] = table["colour"].cat.add_categories(["fuchsia"])
    table.loc[5:8, "colour"] = "fuchsia"
    return table


def answers(model: Any) -> dict[str, np.ndarray]:
    """Return what a model says of its rows, in all the ways that it has."""
    X, found = rows_for(model), {}
    beside = {"offset": np.zeros(90)} if getattr(model, "_has_offset", False) else {}
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            found[method] = np.asarray(getattr(model, method)(X, **beside))
    for method in ("apply", "standard_errors", "shap_values", "predict_quantiles"):
        if hasattr(model, method) and _can(model, method):
            found[method] = np.asarray(getattr(model, method)(X))
    for method in ("staged_predict", "staged_predict_proba"):
        if hasattr(model, method):
            found[method] = np.array(list(getattr(model, method)(X, **beside)))
    for attribute in ("feature_importances_", "estimators_samples_"):
        if hasattr(model, attribute):
            found[attribute] = np.concatenate([np.ravel(e) for e in getattr(model, attribute)])
    return found


def _can(model: Any, method: str) -> bool:
    if method == "predict_quantiles":
        return model._settlement is not None
    if method == "standard_errors":
        return getattr(model, "_bags", None) is not None
    if method == "shap_values":
        # Rows that go both ways at a split have none.
        goes_both_ways = getattr(model, "unseen", None) == "average"
        return not getattr(model, "_has_offset", False) and not goes_both_ways
    return True
