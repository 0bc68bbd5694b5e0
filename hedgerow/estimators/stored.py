"""Estimators that files hold: their attributes, and what must be true of them."""

from functools import cache
from typing import Any

from sklearn.utils import Bunch
from sklearn.utils._param_validation import validate_parameter_constraints

from hedgerow.estimators import stored_checks as checks
from hedgerow.estimators.adaboost_classifier import AdaBoostClassifier
from hedgerow.estimators.adaboost_regressor import AdaBoostRegressor
from hedgerow.estimators.bagged import OF_THE_BAGGING, Bagged
from hedgerow.estimators.bagged_learners import ClassLearners, Crowd, MeanLearners
from hedgerow.estimators.bagged_trees import BaggedClassTrees, BaggedMeanTrees, BaggedTrees
from hedgerow.estimators.bagging_classifier import BaggingClassifier
from hedgerow.estimators.bagging_regressor import BaggingRegressor
from hedgerow.estimators.boosted_learners import Panel
from hedgerow.estimators.boosted_means import MeanPanel
from hedgerow.estimators.forest_classifier import ExtraTreesClassifier, RandomForestClassifier
from hedgerow.estimators.forest_regressor import ExtraTreesRegressor, RandomForestRegressor
from hedgerow.estimators.gb_classifier import GradientBoostingClassifier
from hedgerow.estimators.gb_ranker import GradientBoostingRanker
from hedgerow.estimators.gb_regressor import GradientBoostingRegressor
from hedgerow.estimators.l1_boost import L1BoostClassifier
from hedgerow.estimators.stagewise_classifier import StagewiseClassifier
from hedgerow.estimators.stagewise_regressor import StagewiseRegressor
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.fitted import families
from hedgerow.fitted.families import BAG, CLASSES, LEFT_OUT, TABLE, Family, build, check_threads
from hedgerow.storage.numbers import demand
from hedgerow.storage.parts import PARTS, by_owner, part
from hedgerow.storage.values import Kind

_DESCENT = (
    "n_features_in_ stop_reason_ _rounds _start _loss n_estimators_ n_iter_ estimator_weights_ "
    "estimator_errors_ train_losses_ "
)
_CLASS_CROWD = Family(BAG + CLASSES, LEFT_OUT, checks.check_crowd)
_MEAN_CROWD = Family(BAG, LEFT_OUT + "_settlement", checks.check_crowd)

FAMILIES: dict[type, Family] = {
    DecisionTreeClassifier: families.CLASS_TREE,
    DecisionTreeRegressor: families.MEAN_TREE,
    RandomForestClassifier: families.CLASS_FOREST,
    ExtraTreesClassifier: families.CLASS_FOREST,
    RandomForestRegressor: families.MEAN_FOREST,
    ExtraTreesRegressor: families.MEAN_FOREST,
    BaggedClassTrees: families.CLASS_BAG,
    BaggedMeanTrees: families.MEAN_BAG,
    ClassLearners: _CLASS_CROWD,
    MeanLearners: _MEAN_CROWD,
    BaggingClassifier: families.CLASS_BAGGING,
    BaggingRegressor: families.MEAN_BAGGING,
    GradientBoostingClassifier: families.CLASS_BOOSTING,
    GradientBoostingRegressor: families.MEAN_BOOSTING,
    GradientBoostingRanker: families.RANK_BOOSTING,
    AdaBoostClassifier: families.CLASS_ROUNDS._replace(check=checks.check_adaboost),
    AdaBoostRegressor: families.MEAN_ROUNDS._replace(check=checks.check_adaboost_r2),
    StagewiseClassifier: Family(
        _DESCENT + CLASSES, "feature_names_in_ validation_losses_", checks.check_descent
    ),
    StagewiseRegressor: Family(
        _DESCENT, "feature_names_in_ validation_losses_", checks.check_descent
    ),
    L1BoostClassifier: Family(
        TABLE + "dictionary_ classes_ coef_ risk_ duality_gap_ n_iter_ _n_rows _is_even",
        "feature_names_in_",
        checks.check_l1_boost,
    ),
}


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator; those of a bag are its learner's and its owner's."""
    if not isinstance(estimator, Bagged):
        return dict(estimator.get_params(deep=False))
    return {name: getattr(estimator, name) for name in _names_in_bag(estimator)}


def _names_in_bag(estimator: Bagged) -> set[str]:
    names = {*OF_THE_BAGGING, "voting"}
    if isinstance(estimator, BaggedTrees):
        names |= set(estimator._learner.get_params(deep=False))
    return names


def _fields(estimator: Any) -> dict[str, Any]:
    parameters = _parameters(estimator)
    kept = {name: value for name, value in vars(estimator).items() if name not in parameters}
    ordered = [dict(sorted(each.items())) for each in (parameters, kept)]
    return {"parameters": ordered[0], "attributes": ordered[1]}


def _kind(cls: Any, family: Family) -> Kind:
    """Return how files hold an estimator: by its parameters and its attributes."""
    name = cls.__name__

    def built(fields: dict[str, Any]) -> Any:
        estimator = cls.__new__(cls)
        estimator.__dict__.update(_defaults(cls))
        return build(estimator, name, family, fields, _check_parameters)

    return Kind(name, _fields, built)


@cache
def _defaults(cls: type[Any]) -> dict[str, Any]:
    """Return the parameters of a class with their defaults: an older file may lack some."""
    return {} if issubclass(cls, Bagged) else dict(cls().get_params(deep=False))


def _check_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Raise unless parameters are what `fit` would accept."""
    check_threads(given)
    cls: Any = type(estimator)
    rules, known = dict(cls._parameter_constraints), _defaults(cls)
    if isinstance(estimator, Bagged):
        demand(given.keys() == _names_in_bag(estimator), "a bag lacks parameters")
        known = _parameters(estimator)
        learner = dict(getattr(estimator._learner, "_parameter_constraints", {}))
        rules = learner | rules | {"voting": [checks.VOTING], "oob_score": ["boolean"]}
    unknown = sorted(map(str, given.keys() - known.keys()))
    demand(not unknown and known.keys() <= rules.keys(), f"parameters {unknown[:3]} are unknown")
    own = {name: getattr(estimator, name) for name in known}
    validate_parameter_constraints(
        {name: rules[name] for name in known}, own, caller_name=type(estimator).__name__
    )


KINDS: dict[type, Kind] = (
    PARTS
    | {Bunch: Kind("Bunch", dict, lambda fields: Bunch(**fields))}
    | dict(
        [
            part(Crowd, by_owner),
            part(Panel, by_owner),
            part(MeanPanel, by_owner),
        ]
    )
    | {cls: _kind(cls, family) for cls, family in FAMILIES.items()}
)
