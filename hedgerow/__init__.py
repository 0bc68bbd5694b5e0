"""hedgerow: tree ensembles and boosting, readable, fast, and the same to the bit everywhere."""

from hedgerow.estimators.drawing import export_dot, export_json, export_text, plot_tree
from hedgerow.estimators.gb_classifier import GradientBoostingClassifier
from hedgerow.estimators.gb_regressor import GradientBoostingRegressor
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.kernels.cores import threads

__version__ = "0.1.0"

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "__version__",
    "export_dot",
    "export_json",
    "export_text",
    "plot_tree",
    "threads",
]
