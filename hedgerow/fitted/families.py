"""How files hold fitted models: attributes that each has, or may have, and their check."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

from hedgerow.fitted import checks
from hedgerow.fitted.attributes import check_attribute
from hedgerow.storage.numbers import demand

_ALWAYS = {"_exact_rows"}  # a learner may have it before it is fitted
_MOST_THREADS = 4096


class Family(NamedTuple):
    """Models of one make: attributes that a fitted one has, or may have, and their check."""

    needed: str
    possible: str
    check: Callable[[Any], None]


TABLE = "n_features_in_ _schema _has_missing "
CLASSES = "classes_ n_classes_ "
LEFT_OUT = " oob_score_ oob_curve_ oob_decision_function_ oob_prediction_ feature_names_in_ "
_BOOSTED = TABLE + "_has_offset _seed _model _loss n_estimators_ n_iter_ "
_WATCHED = (
    "feature_names_in_ evals_result_ validation_losses_ cv_results_ oof_predictions_ "
    "oob_improvement_"
)
_FOREST = TABLE + "n_outputs_ _seed _bags _model _rows _n_rows "
BAG = _FOREST + "_learner _shown_as _repeats_features _tree_features _n_drawn "
_ADABOOST = TABLE + "_model estimator_ n_estimators_ estimator_errors_ estimator_weights_ stopped_ "
_BAGGING = "_ensemble estimator_ n_features_in_ n_outputs_ "

CLASS_TREE = Family(
    TABLE + CLASSES + "_tree n_outputs_ max_features_ _cost _factors",
    "feature_names_in_ _held _class_weights ccp_path_",
    checks.check_class_tree,
)
MEAN_TREE = Family(
    TABLE + "_tree n_outputs_ max_features_",
    "feature_names_in_ _held ccp_path_",
    checks.check_mean_tree,
)
CLASS_FOREST = Family(
    _FOREST + CLASSES + "_n_meant max_features_", LEFT_OUT, checks.check_class_forest
)
MEAN_FOREST = Family(
    _FOREST + "_n_meant max_features_", LEFT_OUT + "_settlement", checks.check_mean_forest
)
CLASS_BAG = Family(BAG + CLASSES + "_n_meant max_features_", LEFT_OUT, checks.check_class_forest)
MEAN_BAG = Family(
    BAG + "_n_meant max_features_", LEFT_OUT + "_settlement", checks.check_mean_forest
)
CLASS_BAGGING = Family(_BAGGING + CLASSES, LEFT_OUT, checks.check_bagging)
MEAN_BAGGING = Family(_BAGGING, LEFT_OUT, checks.check_bagging)
CLASS_BOOSTING = Family(_BOOSTED + CLASSES, _WATCHED, checks.check_boosting)
MEAN_BOOSTING = Family(_BOOSTED + "n_outputs_", _WATCHED, checks.check_boosting)
RANK_BOOSTING = Family(_BOOSTED, _WATCHED, checks.check_boosting)
CLASS_ROUNDS = Family(
    _ADABOOST + CLASSES + "_seed _is_final",
    "feature_names_in_ validation_errors_",
    checks.check_adaboost,
)
MEAN_ROUNDS = Family(_ADABOOST, "feature_names_in_", checks.check_adaboost_r2)


def build(
    model: Any,
    name: str,
    family: Family,
    fields: dict[str, Any],
    check_parameters: Callable[[Any, dict[str, Any]], None],
) -> Any:
    """Give a model, which has the defaults of its parameters, what a file says, all checked."""
    needed, possible = set(family.needed.split()), set(family.possible.split()) | _ALWAYS
    demand(list(fields) == ["parameters", "attributes"], f"a {name} has other fields")
    parameters, attributes = fields["parameters"], fields["attributes"]
    demand(type(parameters) is dict and type(attributes) is dict, f"a {name} has no attributes")
    is_fitted = bool(attributes.keys() - _ALWAYS)
    demand(not is_fitted or needed <= attributes.keys(), f"a {name} lacks attributes")
    demand(attributes.keys() <= needed | possible, f"a {name} has unknown attributes")
    model.__dict__.update(parameters)
    for attribute, value in attributes.items():
        check_attribute(attribute, value)
    model.__dict__.update(attributes)
    check_parameters(model, parameters)
    if is_fitted:
        family.check(model)
    return model


def check_threads(parameters: dict[str, Any]) -> None:
    """Raise unless a model asks for some threads, or leaves their number open."""
    threads = parameters.get("n_jobs")
    if threads is not None:
        demand(isinstance(threads, Integral), f"n_jobs={threads!r:.40}")
        demand(0 < abs(threads) <= _MOST_THREADS, f"n_jobs={threads}")
