"""hedgerow: tree ensembles and boosting, readable, fast, and the same to the bit everywhere.

Names are imported when they are first asked for: `hedgerow --help` needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hedgerow.garbage import none_looked_for
from hedgerow.version import __version__

if TYPE_CHECKING:
    from hedgerow.errors import CheckpointError, ModelFileError
    from hedgerow.estimators.adaboost_classifier import AdaBoostClassifier
    from hedgerow.estimators.adaboost_regressor import AdaBoostRegressor
    from hedgerow.estimators.bagging_classifier import BaggingClassifier
    from hedgerow.estimators.bagging_regressor import BaggingRegressor
    from hedgerow.estimators.boosting_plots import (
        plot_margins,
        plot_regions,
        plot_row_weights,
        plot_training_error,
    )
    from hedgerow.estimators.drawing import export_dot, export_json, export_text, plot_tree
    from hedgerow.estimators.forest_classifier import ExtraTreesClassifier, RandomForestClassifier
    from hedgerow.estimators.forest_regressor import ExtraTreesRegressor, RandomForestRegressor
    from hedgerow.estimators.gb_classifier import GradientBoostingClassifier
    from hedgerow.estimators.gb_ranker import GradientBoostingRanker
    from hedgerow.estimators.gb_regressor import GradientBoostingRegressor
    from hedgerow.estimators.l1_boost import L1BoostClassifier
    from hedgerow.estimators.model_files import load
    from hedgerow.estimators.ndcg import mean_ndcg
    from hedgerow.estimators.stagewise_classifier import StagewiseClassifier
    from hedgerow.estimators.stagewise_regressor import StagewiseRegressor
    from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
    from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
    from hedgerow.export.door import export_model
    from hedgerow.kernels.cores import threads

# Where each public name is at home.
_HOMES = {
    "AdaBoostClassifier": "estimators.adaboost_classifier",
    "AdaBoostRegressor": "estimators.adaboost_regressor",
    "BaggingClassifier": "estimators.bagging_classifier",
    "BaggingRegressor": "estimators.bagging_regressor",
    "CheckpointError": "errors",
    "DecisionTreeClassifier": "estimators.tree_classifier",
    "DecisionTreeRegressor": "estimators.tree_regressor",
    "ExtraTreesClassifier": "estimators.forest_classifier",
    "ExtraTreesRegressor": "estimators.forest_regressor",
    "GradientBoostingClassifier": "estimators.gb_classifier",
    "GradientBoostingRanker": "estimators.gb_ranker",
    "GradientBoostingRegressor": "estimators.gb_regressor",
    "L1BoostClassifier": "estimators.l1_boost",
    "ModelFileError": "errors",
    "RandomForestClassifier": "estimators.forest_classifier",
    "RandomForestRegressor": "estimators.forest_regressor",
    "StagewiseClassifier": "estimators.stagewise_classifier",
    "StagewiseRegressor": "estimators.stagewise_regressor",
    "export_dot": "estimators.drawing",
    "export_json": "estimators.drawing",
    "export_model": "export.door",
    "export_text": "estimators.drawing",
    "load": "estimators.model_files",
    "mean_ndcg": "estimators.ndcg",
    "plot_margins": "estimators.boosting_plots",
    "plot_regions": "estimators.boosting_plots",
    "plot_row_weights": "estimators.boosting_plots",
    "plot_training_error": "estimators.boosting_plots",
    "plot_tree": "estimators.drawing",
    "threads": "kernels.cores",
}
_ROOMS = ("evaluation", "losses", "theory")  # that users reach as hedgerow.theory

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CheckpointError",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRanker",
    "GradientBoostingRegressor",
    "L1BoostClassifier",
    "ModelFileError",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StagewiseClassifier",
    "StagewiseRegressor",
    "__version__",
    "export_dot",
    "export_json",
    "export_model",
    "export_text",
    "load",
    "mean_ndcg",
    "plot_margins",
    "plot_regions",
    "plot_row_weights",
    "plot_training_error",
    "plot_tree",
    "threads",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name not in _ROOMS:
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")
    with none_looked_for():  # modules stay: to look through them takes a third of an import
        home = import_module(f"hedgerow.{_HOMES.get(name, name)}")
    found = globals()[name] = home if name in _ROOMS else getattr(home, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
