"""Estimators by the names that the command line has for them, and their parameters as text."""

import json
from importlib import import_module
from typing import Any

from hedgerow.cli.problems import UsageError, listed, meant

KINDS = {
    "boosting": "GradientBoosting",
    "forest": "RandomForest",
    "extra-trees": "ExtraTrees",
    "adaboost": "AdaBoost",
    "bagging": "Bagging",
    "tree": "DecisionTree",
}
_NEVER = 1 << 40  # rows, which no node has
CHECKPOINTED = ("boosting", "forest", "extra-trees")
_WORDS = {"None": None, "none": None, "True": True, "False": False}


def estimator(kind: str, task: str, settings: dict[str, Any]) -> Any:
    """Return an estimator that is not fitted, its parameters checked by itself."""
    if kind not in KINDS:
        raise UsageError(f"--model {kind}: there are {listed(KINDS)}.{meant(kind, KINDS)}")
    name = KINDS[kind] + ("Classifier" if task == "classification" else "Regressor")
    model = getattr(import_module("hedgerow"), name)()
    known = model.get_params(deep=False)
    for given in settings:
        if given not in known:
            raise UsageError(
                f"--set {given}: {name} has no such parameter.{meant(given, known)} "
                f"It has: {listed(known, most=60)}."
            )
    early = {"early_stopping": True} if kind == "boosting" and _may_stop(settings) else {}
    model.set_params(**early, **settings)
    from hedgerow.estimators.checks import check_parameters

    try:
        check_parameters(model)
    except ValueError as problem:
        raise UsageError(f"--set: {problem}") from problem
    return model


def without_features(task: str) -> Any:
    """Return an estimator that never looks at features: a tree that has no splits."""
    return estimator("tree", task, {"min_samples_split": _NEVER})


def _may_stop(settings: dict[str, Any]) -> bool:
    return (
        "early_stopping" not in settings
        and settings.get("n_estimators") != "cv"
        and not settings.get("dropout")
    )


def settings_of(texts: list[str]) -> dict[str, Any]:
    """Return parameters given as name=value.

    >>> settings_of(["max_depth=3", "max_features=sqrt", "l2=0.5", "class_weight=None"])
    {'max_depth': 3, 'max_features': 'sqrt', 'l2': 0.5, 'class_weight': None}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set {text}: write name=value, such as --set max_depth=3.")
        if name.strip() in settings:
            raise UsageError(f"--set {name.strip()} is given twice.")
        settings[name.strip()] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
