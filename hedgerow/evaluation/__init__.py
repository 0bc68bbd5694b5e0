"""Evaluation and selection: how good a model really is; sees arrays, fit and predict."""

from hedgerow.evaluation.criteria import (
    aic,
    bic,
    gcv,
    mallows_cp,
)
from hedgerow.evaluation.decomposition import (
    Parts,
    decomposed,
)
from hedgerow.evaluation.freedom import (
    Covariance,
    Freedom,
    Perturbation,
    Stein,
    Trace,
    boosted_freedom,
    degrees_of_freedom,
)
from hedgerow.evaluation.leaf_weights import (
    leaf_smoother,
    leaf_weights,
)
from hedgerow.evaluation.left_out import (
    LeftOut,
    leave_one_out,
)
from hedgerow.evaluation.left_out_lemma import (
    Condition,
    LeavingOut,
    check_leaving_out,
)
from hedgerow.evaluation.noise import (
    noise_variance,
)
from hedgerow.evaluation.optimism import (
    Optimism,
    optimism,
)
from hedgerow.evaluation.prediction_error import (
    DataModel,
    PredictionError,
    Simulation,
)
from hedgerow.evaluation.smoothers import (
    Smoother,
    least_squares,
    ridge,
    smoother_of,
)

__all__ = [
    "Condition",
    "Covariance",
    "DataModel",
    "Freedom",
    "LeavingOut",
    "LeftOut",
    "Optimism",
    "Parts",
    "Perturbation",
    "PredictionError",
    "Simulation",
    "Smoother",
    "Stein",
    "Trace",
    "aic",
    "bic",
    "boosted_freedom",
    "check_leaving_out",
    "decomposed",
    "degrees_of_freedom",
    "gcv",
    "leaf_smoother",
    "leaf_weights",
    "least_squares",
    "leave_one_out",
    "mallows_cp",
    "noise_variance",
    "optimism",
    "ridge",
    "smoother_of",
]
