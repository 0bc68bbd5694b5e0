"""Fitted models in files: loading one, and what it must be given to predict."""

from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.cli.problems import CommandError, listed
from hedgerow.cli.sources import Kinds, Source, demand_columns


def loaded(path: str) -> Any:
    """Return the model of a file, an estimator."""
    _demand_file(path)
    from hedgerow.estimators.model_files import load

    return load(path)


def loaded_to_predict(path: str) -> Any:
    """Return the model of a file, without scikit-learn if it can predict without."""
    _demand_file(path)
    from hedgerow.fitted.files import NotHere, fitted_from

    try:
        return fitted_from(path)
    except NotHere:
        return loaded(path)


def _demand_file(path: str) -> None:
    if not Path(path).exists():
        raise CommandError(
            f"{path}: there is no such model file. `hedgerow train` makes one, and says where."
        )
    with open(path, "rb") as file:
        beginning = file.read(9)
    if len(beginning) == 9 and beginning[8:] != b"{":  # a header, behind its length
        raise CommandError(f"{path} is no model file of hedgerow. MODEL comes before DATA.")


def kinds_of(model: Any) -> tuple[list[str] | None, list[str]]:
    """Return the names of a model's features, if it has any, and their kinds."""
    inside = model if hasattr(model, "_schema") else getattr(model, "_ensemble", model)
    schema = getattr(inside, "_schema", None)
    categories = [None] * int(model.n_features_in_) if schema is None else schema.categories
    kinds = ["text" if _is_text(each) else "number" for each in categories]
    names = getattr(model, "feature_names_in_", None)
    return (None if names is None else [str(name) for name in names]), kinds


def feature_names(model: Any) -> list[str]:
    """Return what features are called."""
    names, kinds = kinds_of(model)
    return names or [f"x{number}" for number in range(len(kinds))]


def wanted_columns(model: Any, file: str, also: Kinds, names: list[str]) -> Kinds:
    """Return the columns of a file that a model needs, in its order, and others."""
    own, kinds = kinds_of(model)
    if own is None:  # columns by place
        own = [name for name in names if name not in also or len(names) == len(kinds)]
        if len(own) != len(kinds):
            raise CommandError(
                f"{file} has {len(own)} columns, but the model, which knows no names, was trained "
                f"with {len(kinds)}. It has: {listed(names)}."
            )
    demand_columns(file, [*own, *also], names)
    return also | dict(zip(own, kinds, strict=True))


def target_of(model: Any, source: Source, target: str | None, names: list[str]) -> str:
    """Return the target column: the one that was named, or the only one that is no feature."""
    if target is not None:
        return target
    own = set(kinds_of(model)[0] or [])
    others = [name for name in names if name not in own]
    if len(others) != 1:
        found = f"these are no features: {listed(others)}" if others else "all are features"
        raise CommandError(f"{source.file}: which column is the target? Pass --target; {found}.")
    return others[0]


def target_kind(model: Any) -> str:
    """Return how the target column is read."""
    classes = getattr(model, "classes_", np.zeros(1))
    return "text" if classes.dtype.kind in "OUS" else "number"


def importances(model: Any) -> list[dict[str, Any]]:
    """Return features with their shares, the most important first; empty if it knows none."""
    shares = getattr(model, "feature_importances_", None)
    if shares is None:
        shares = _mean_importances(model)
    if shares is None:
        return []
    names = feature_names(model)
    order = np.argsort(-shares, kind="stable")
    return [{"feature": names[place], "importance": float(shares[place])} for place in order]


def _mean_importances(model: Any) -> Any:
    """Return the mean over the learners of a bagging that saw all features."""
    members = list(getattr(model, "estimators_", []))
    if not members or not all(hasattr(each, "feature_importances_") for each in members):
        return None
    total = np.zeros(model.n_features_in_)
    features = getattr(model, "estimators_features_", None)
    for number, member in enumerate(members):
        own = slice(None) if features is None else features[number]
        total[own] += member.feature_importances_
    return total / len(members)


def _is_text(categories: Any) -> bool:
    return categories is not None and all(isinstance(each, str) for each in categories)
