"""hedgerow: tree ensembles and boosting, readable, fast, and the same to the bit everywhere."""

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
from hedgerow.version import __version__

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
