"""Learners: what an ensemble of any estimator asks of the one that it is given."""

import inspect
from typing import Any

from sklearn.base import is_classifier, is_regressor


def checked_learner(ensemble: Any, learner: Any, does: str) -> Any:
    """Return the learner, or raise if it cannot be one of this ensemble, which `does` them."""
    name = type(ensemble).__name__
    if inspect.isclass(learner):
        raise TypeError(
            f"estimator={learner.__name__} is a class, but {name} needs one of its instances, "
            f"whose parameters it copies. Pass estimator={learner.__name__}()."
        )
    kinds = ("classifier", "regressor")
    right, wrong = kinds if is_classifier(ensemble) else kinds[::-1]
    if (is_regressor if is_classifier(ensemble) else is_classifier)(learner):
        other = name.replace(right.capitalize(), wrong.capitalize())
        raise TypeError(
            f"estimator={learner!r} is a {wrong}, but {name} {does} {right}s. Pass a {right}, or "
            f"use {other}."
        )
    return learner
