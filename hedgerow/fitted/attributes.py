"""Attributes of fitted models in files: what each must be, whoever has it."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from hedgerow.data.table import Schema
from hedgerow.ensembles.bags import Bags
from hedgerow.ensembles.dictionary import Stumps
from hedgerow.ensembles.settlement import Settlement
from hedgerow.fitted.model import Fitted
from hedgerow.storage.numbers import (
    demand,
    demand_array,
    demand_count,
    demand_finite,
    demand_number,
)
from hedgerow.storage.parts import LOSSES
from hedgerow.trees.tree import Tree

Check = Callable[[str, Any], None]


def _instance(*classes: type) -> Check:
    return lambda name, value: demand(type(value) in classes, f"{name} is of another class")


def _whole(least: int) -> Check:
    return lambda name, value: demand_count(value, least, name)


def _maybe(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _array(kind: str, n_dimensions: int) -> Check:
    return lambda _, value: demand_array(value, kind, n_dimensions)


def _finite(n_dimensions: int) -> Check:
    def check(name: str, value: Any) -> None:
        demand_array(value, "f8", n_dimensions)
        demand_finite(value, name)

    return check


def _numbers(name: str, value: Any) -> None:
    """Take numbers that nobody computes with: what was measured in a fit."""
    is_log = isinstance(value, np.ndarray) and value.dtype.kind in "if"
    demand(is_log, f"{name} is no array of numbers")


def _log(name: str, value: Any) -> None:
    """Take what was measured in a fit: by name, numbers or more of the kind."""
    if isinstance(value, dict | list):
        for each in value if isinstance(value, list) else value.values():
            _log(name, each)
    elif not isinstance(value, np.ndarray):
        demand_number(value, name)
    else:
        _numbers(name, value)


def _labels(name: str, value: Any) -> None:
    demand(isinstance(value, np.ndarray) and value.ndim == 1, f"{name} is no list")
    demand(value.dtype.kind in "biufUSO" and len(value) > 0, f"{name} is no list of labels")
    listed = value.tolist()
    demand(all(one < two for one, two in pairwise(listed)), f"{name} is not in order")
    demand(listed[0] == listed[0], f"{name} is not known")


def _names(name: str, value: Any) -> None:
    demand(isinstance(value, np.ndarray) and value.ndim == 1, f"{name} is no list")
    is_text = value.dtype == object and all(type(each) is str for each in value.tolist())
    demand(is_text, f"{name} is no list of texts")


def _flags(name: str, value: Any) -> None:
    is_right = type(value) is tuple and all(type(each) is bool for each in value)
    demand(is_right, f"{name} is no list of truth values")


def _estimator(name: str, value: Any) -> None:
    demand(isinstance(value, Fitted), f"{name} is no estimator")


_ATTRIBUTES: dict[str, Check] = {
    **dict.fromkeys(("n_features_in_", "n_classes_", "n_outputs_", "max_features_"), _whole(1)),
    **dict.fromkeys(("_n_rows", "_n_meant", "_n_drawn", "_exact_rows"), _whole(0)),
    **dict.fromkeys(("n_estimators_", "n_iter_", "_seed"), _whole(0)),
    **dict.fromkeys(("_has_offset", "_is_even", "_is_final", "_repeats_features"), _instance(bool)),
    **dict.fromkeys(("stopped_", "stop_reason_", "_shown_as"), _instance(str)),
    **dict.fromkeys(("evals_result_", "cv_results_", "ccp_path_"), _log),
    **dict.fromkeys(("validation_losses_", "validation_errors_", "oob_improvement_"), _numbers),
    **dict.fromkeys(("oob_curve_", "oob_decision_function_", "oob_prediction_"), _numbers),
    **dict.fromkeys(("oof_predictions_", "train_losses_", "estimator_errors_"), _numbers),
    **dict.fromkeys(("_class_weights", "_factors", "_start", "coef_"), _finite(1)),
    **dict.fromkeys(("oob_score_", "risk_", "duality_gap_"), lambda n, v: demand_number(v, n)),
    **dict.fromkeys(("estimator_", "_learner", "_ensemble"), _estimator),
    "estimator_weights_": _numbers,
    "_cost": _maybe(_finite(2)),
    "_held": _maybe(_array("i8", 1)),
    "_rows": _maybe(_array("i8", 1)),
    "_tree_features": _maybe(_whole(1)),
    "_has_missing": _flags,
    "feature_names_in_": _names,
    "classes_": _labels,
    "_schema": _instance(Schema),
    "_tree": _instance(Tree),
    "_bags": _maybe(_instance(Bags)),
    "_settlement": _maybe(_instance(Settlement)),
    "_loss": _instance(*LOSSES),
    "_rounds": _instance(list),
    "dictionary_": _instance(Stumps),
    "_model": lambda name, value: demand(value is not None, f"there is no {name}"),
}


def check_attribute(name: str, value: Any) -> None:
    """Raise unless an attribute is of its type."""
    _ATTRIBUTES[name](name, value)
