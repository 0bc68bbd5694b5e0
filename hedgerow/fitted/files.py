"""Model files, read for prediction alone: without scikit-learn, and with the same checks.

What `hedgerow.load` returns is an estimator; what this returns is the part of it that predicts.
Of the parameters those are checked that prediction looks at: others are a fit's.
"""

from collections.abc import Mapping
from os import fspath
from typing import Any, NamedTuple, NoReturn

from hedgerow.errors import ModelFileError
from hedgerow.fitted import families
from hedgerow.fitted.adaboost import ClassRounds, MeanRounds
from hedgerow.fitted.bagging import ClassBagging, MeanBagging
from hedgerow.fitted.boosting import ClassBoosting, MeanBoosting, RankBoosting
from hedgerow.fitted.families import Family, build, check_threads
from hedgerow.fitted.forest import BagOfClassTrees, BagOfMeanTrees, ClassForest, MeanForest
from hedgerow.fitted.model import Fitted
from hedgerow.fitted.tree import ClassTree, MeanTree
from hedgerow.storage.models import read
from hedgerow.storage.numbers import demand
from hedgerow.storage.parts import PARTS
from hedgerow.storage.values import Kind
from hedgerow.storage.writing import read_whole
from hedgerow.trees.classification import CRITERIA

_WAYS = ("missing", "error", "average")  # of categories that were not there at fit
_VOTES = ("soft", "hard")
_OF_CLASSES = (*CRITERIA, "log_loss")
_OF_NUMBERS = ("squared_error", "absolute_error")
# Parameters that an older file may lack.
_DEFAULTS = {"unseen": "missing", "voting": "soft", "n_jobs": None}


class NotHere(Exception):
    """A file holds a model that only its estimator can predict with."""


class _Make(NamedTuple):
    """How a model is made: its class, its attributes, and the words that prediction looks at."""

    cls: Any
    family: Family
    words: Mapping[str, tuple[str, ...]]


_TREE = {"unseen": _WAYS, "criterion": _OF_CLASSES}
_MEANS = {"unseen": _WAYS, "criterion": _OF_NUMBERS}
_TREES = _TREE | {"voting": _VOTES}
_SUM = {"unseen": ("missing", "error")}

_PUBLIC = {
    "DecisionTreeClassifier": _Make(ClassTree, families.CLASS_TREE, _TREE),
    "DecisionTreeRegressor": _Make(MeanTree, families.MEAN_TREE, _MEANS),
    "RandomForestClassifier": _Make(ClassForest, families.CLASS_FOREST, _TREES),
    "ExtraTreesClassifier": _Make(ClassForest, families.CLASS_FOREST, _TREES),
    "RandomForestRegressor": _Make(MeanForest, families.MEAN_FOREST, _MEANS),
    "ExtraTreesRegressor": _Make(MeanForest, families.MEAN_FOREST, _MEANS),
    "BaggingClassifier": _Make(ClassBagging, families.CLASS_BAGGING, {"voting": _VOTES}),
    "BaggingRegressor": _Make(MeanBagging, families.MEAN_BAGGING, {}),
    "GradientBoostingClassifier": _Make(ClassBoosting, families.CLASS_BOOSTING, _SUM),
    "GradientBoostingRegressor": _Make(MeanBoosting, families.MEAN_BOOSTING, _SUM),
    "GradientBoostingRanker": _Make(RankBoosting, families.RANK_BOOSTING, _SUM),
    "AdaBoostClassifier": _Make(ClassRounds, families.CLASS_ROUNDS, {}),
    "AdaBoostRegressor": _Make(MeanRounds, families.MEAN_ROUNDS, {}),
}
_INSIDE = {
    "BaggedClassTrees": _Make(BagOfClassTrees, families.CLASS_BAG, _TREES),
    "BaggedMeanTrees": _Make(BagOfMeanTrees, families.MEAN_BAG, _MEANS),
}
# Models of any learner: learners read tables as scikit-learn does.
_ELSEWHERE = (
    "ClassLearners",
    "MeanLearners",
    "Crowd",
    "Panel",
    "MeanPanel",
    "StagewiseClassifier",
    "StagewiseRegressor",
    "L1BoostClassifier",
)


def fitted_from(path: Any) -> Any:
    """Return the fitted model that a file holds: it predicts as its estimator does, to the bit.

    Raises
    ------
    NotHere
        If only its estimator can predict with it: `hedgerow.load` returns that.
    hedgerow.ModelFileError
        If the file is damaged, of a newer format, or no model.
    """
    data = read_whole(path, "auto")
    try:
        model = read(data, _KINDS, "model")
        demand(isinstance(model, Fitted) and type(model).__name__ in _PUBLIC, "it is none")
        demand(hasattr(model, "n_features_in_"), "it is not fitted")
    except ModelFileError as problem:
        raise ModelFileError(f"{fspath(path)} cannot be loaded. {problem}") from None
    return model


def _kind(name: str, make: _Make) -> tuple[type, Kind]:
    """Return how a model is read; users know its class by the name of the estimator."""
    cls: Any = type(name, (make.cls,), {})
    asked = {*_DEFAULTS, *make.words}

    def built(fields: dict[str, Any]) -> Any:
        model = cls.__new__(cls)
        model.__dict__.update(_DEFAULTS)
        given = fields.get("parameters")
        if type(given) is dict:
            fields = fields | {"parameters": {n: v for n, v in given.items() if n in asked}}

        def check_parameters(_: Any, known: dict[str, Any]) -> None:
            check_threads(known)
            for word, accepted in make.words.items():
                demand(known.get(word, accepted[0]) in accepted, f"{word} is not known")

        return build(model, name, make.family, fields, check_parameters)

    return cls, Kind(name, dict, built)


def _elsewhere(name: str) -> tuple[type, Kind]:
    def refused(_: dict[str, Any]) -> NoReturn:
        raise NotHere(name)

    return type(name, (), {}), Kind(name, dict, refused)


_KINDS: dict[type, Kind] = (
    PARTS
    | {dict: Kind("Bunch", dict, dict)}
    | dict(_kind(name, make) for name, make in (_PUBLIC | _INSIDE).items())
    | dict(map(_elsewhere, _ELSEWHERE))
)
