"""Evaluation and selection: how good a model really is; sees arrays, fit and predict."""

from hedgerow.evaluation.leaf_weights import leaf_smoother, leaf_weights
from hedgerow.evaluation.left_out import LeftOut, leave_one_out
from hedgerow.evaluation.left_out_lemma import Condition, LeavingOut, check_leaving_out
from hedgerow.evaluation.smoothers import Smoother, least_squares, ridge, smoother_of

__all__ = [
    "Condition",
    "LeavingOut",
    "LeftOut",
    "Smoother",
    "check_leaving_out",
    "leaf_smoother",
    "leaf_weights",
    "least_squares",
    "leave_one_out",
    "ridge",
    "smoother_of",
]
