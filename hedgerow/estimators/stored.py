"""Estimators that files hold: their attributes, and what must be true of them."""

from functools import cache
from typing import Any, NamedTuple

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
from hedgerow.estimators.boosted_means import MeanCommittee, MeanPanel
from hedgerow.estimators.forest_classifier import ExtraTreesClassifier, RandomForestClassifier
from hedgerow.estimators.forest_regressor import ExtraTreesRegressor, RandomForestRegressor
from hedgerow.estimators.gb_classifier import GradientBoostingClassifier
from hedgerow.estimators.gb_ranker import GradientBoostingRanker
from hedgerow.estimators.gb_regressor import GradientBoostingRegressor
from hedgerow.estimators.l1_boost import L1BoostClassifier
from hedgerow.estimators.stagewise_classifier import StagewiseClassifier
from hedgerow.estimators.stagewise_regressor import StagewiseRegressor
from hedgerow.estimators.stored_attributes import check_attribute
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.storage.numbers import demand
from hedgerow.storage.parts import PARTS, by_owner, part
from hedgerow.storage.values import Kind

_MOST_THREADS = 4096
_ALWAYS = {"_exact_rows"}  # a learner may have it before it is fitted


class Family(NamedTuple):
    """Estimators of one make: attributes that a fitted one has, or may have, and their check."""

    needed: str
    possible: str
    check: Any


_TABLE = "n_features_in_ _schema _has_missing "
_CLASSES = "classes_ n_classes_ "
_LEFT_OUT = " oob_score_ oob_curve_ oob_decision_function_ oob_prediction_ feature_names_in_ "
_BOOSTED = _TABLE + "_has_offset _seed _model _loss n_estimators_ n_iter_ "
_WATCHED = (
    "feature_names_in_ evals_result_ validation_losses_ cv_results_ oof_predictions_ "
    "oob_improvement_"
)
_FOREST = _TABLE + "n_outputs_ _seed _bags _model _rows _n_rows "
_BAG = _FOREST + "_learner _shown_as _repeats_features _tree_features _n_drawn "
_DESCENT = (
    "n_features_in_ stop_reason_ _rounds _start _loss n_estimators_ n_iter_ estimator_weights_ "
    "estimator_errors_ train_losses_ "
)
_ADABOOST = (
    _TABLE + "_model estimator_ n_estimators_ estimator_errors_ estimator_weights_ stopped_ "
)
_BAGGING = "_ensemble estimator_ n_features_in_ n_outputs_ "

_TREE_OF_CLASSES = Family(
    _TABLE + _CLASSES + "_tree n_outputs_ max_features_ _cost _factors",
    "feature_names_in_ _held _class_weights ccp_path_",
    checks.check_class_tree,
)
_TREE_OF_NUMBERS = Family(
    _TABLE + "_tree n_outputs_ max_features_",
    "feature_names_in_ _held ccp_path_",
    checks.check_mean_tree,
)
_CLASS_FOREST = Family(
    _FOREST + _CLASSES + "_n_meant max_features_", _LEFT_OUT, checks.check_class_forest
)
_MEAN_FOREST = Family(
    _FOREST + "_n_meant max_features_", _LEFT_OUT + "_settlement", checks.check_mean_forest
)
_CLASS_BAG = Family(
    _BAG + _CLASSES + "_n_meant max_features_", _LEFT_OUT, checks.check_class_forest
)
_MEAN_BAG = Family(
    _BAG + "_n_meant max_features_", _LEFT_OUT + "_settlement", checks.check_mean_forest
)
_CLASS_CROWD = Family(_BAG + _CLASSES, _LEFT_OUT, checks.check_crowd)
_MEAN_CROWD = Family(_BAG, _LEFT_OUT + "_settlement", checks.check_crowd)

FAMILIES: dict[type, Family] = {
    DecisionTreeClassifier: _TREE_OF_CLASSES,
    DecisionTreeRegressor: _TREE_OF_NUMBERS,
    RandomForestClassifier: _CLASS_FOREST,
    ExtraTreesClassifier: _CLASS_FOREST,
    RandomForestRegressor: _MEAN_FOREST,
    ExtraTreesRegressor: _MEAN_FOREST,
    BaggedClassTrees: _CLASS_BAG,
    BaggedMeanTrees: _MEAN_BAG,
    ClassLearners: _CLASS_CROWD,
    MeanLearners: _MEAN_CROWD,
    BaggingClassifier: Family(_BAGGING + _CLASSES, _LEFT_OUT, checks.check_bagging),
    BaggingRegressor: Family(_BAGGING, _LEFT_OUT, checks.check_bagging),
    GradientBoostingClassifier: Family(_BOOSTED + _CLASSES, _WATCHED, checks.check_boosting),
    GradientBoostingRegressor: Family(_BOOSTED + "n_outputs_", _WATCHED, checks.check_boosting),
    GradientBoostingRanker: Family(_BOOSTED, _WATCHED, checks.check_boosting),
    AdaBoostClassifier: Family(
        _ADABOOST + _CLASSES + "_seed _is_final",
        "feature_names_in_ validation_errors_",
        checks.check_adaboost,
    ),
    AdaBoostRegressor: Family(_ADABOOST, "feature_names_in_", checks.check_adaboost_r2),
    StagewiseClassifier: Family(
        _DESCENT + _CLASSES, "feature_names_in_ validation_losses_", checks.check_descent
    ),
    StagewiseRegressor: Family(
        _DESCENT, "feature_names_in_ validation_losses_", checks.check_descent
    ),
    L1BoostClassifier: Family(
        _TABLE + "dictionary_ classes_ coef_ risk_ duality_gap_ n_iter_ _n_rows _is_even",
        "feature_names_in_",
        checks.check_l1_boost,
    ),
}


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator; those of a bag are its learner's and its owner's."""
    if not isinstance(estimator, Bagged):
        return dict(estimator.get_params(deep=False))
    names = {*OF_THE_BAGGING, "voting"}
    if isinstance(estimator, BaggedTrees):
        names |= set(estimator._learner.get_params(deep=False))
    return {name: getattr(estimator, name) for name in names}


def _fields(estimator: Any) -> dict[str, Any]:
    parameters = _parameters(estimator)
    kept = {name: value for name, value in vars(estimator).items() if name not in parameters}
    ordered = [dict(sorted(each.items())) for each in (parameters, kept)]
    return {"parameters": ordered[0], "attributes": ordered[1]}


def _kind(cls: Any, family: Family) -> Kind:
    """Return how files hold an estimator: by its parameters and its attributes."""
    needed, possible = set(family.needed.split()), set(family.possible.split()) | _ALWAYS
    name = cls.__name__

    def build(fields: dict[str, Any]) -> Any:
        demand(list(fields) == ["parameters", "attributes"], f"a {name} has other fields")
        parameters, attributes = fields["parameters"], fields["attributes"]
        demand(type(parameters) is dict and type(attributes) is dict, f"a {name} has no attributes")
        is_fitted = bool(attributes.keys() - _ALWAYS)
        demand(not is_fitted or needed <= attributes.keys(), f"a {name} lacks attributes")
        demand(attributes.keys() <= needed | possible, f"a {name} has unknown attributes")
        estimator = cls.__new__(cls)
        estimator.__dict__.update(_defaults(cls) | parameters)
        for attribute, value in attributes.items():
            check_attribute(attribute, value)
        estimator.__dict__.update(attributes)
        _check_parameters(estimator, parameters)
        if is_fitted:
            family.check(estimator)
        return estimator

    return Kind(name, _fields, build)


@cache
def _defaults(cls: type[Any]) -> dict[str, Any]:
    """Return the parameters of a class with their defaults: an older file may lack some."""
    return {} if issubclass(cls, Bagged) else dict(cls().get_params(deep=False))


def _check_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Raise unless parameters are what `fit` would accept."""
    threads = given.get("n_jobs")
    demand(threads is None or 0 < abs(threads) <= _MOST_THREADS, f"n_jobs={threads}")
    cls: Any = type(estimator)
    rules, known = dict(cls._parameter_constraints), _defaults(cls)
    if isinstance(estimator, Bagged):
        known = _parameters(estimator)
        demand(given.keys() == known.keys(), "a bag lacks parameters")
        learner = dict(getattr(estimator._learner, "_parameter_constraints", {}))
        rules = learner | rules | {"voting": [checks.VOTING], "oob_score": ["boolean"]}
    unknown = sorted(given.keys() - known.keys())
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
            part(MeanCommittee, by_owner),
        ]
    )
    | {cls: _kind(cls, family) for cls, family in FAMILIES.items()}
)
