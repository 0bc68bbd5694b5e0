"""How good is it really, and which one to take; sees arrays, fit and predict.

Cross-validation with the scores of every round or tree from one fit a fold, the choice of
parameters by it, and comparisons of models by corrected paired tests; leaving one out by one
fit, optimism, degrees of freedom, and prediction errors by simulation. Splitters and scorers are
scikit-learn's. Notes 2, "Model evaluation and selection".
"""

from hedgerow.evaluation.comparison import Comparison, compare
from hedgerow.evaluation.criteria import (
    aic,
    bic,
    gcv,
    mallows_cp,
)
from hedgerow.evaluation.cross_validation import CrossValidated, cross_validate
from hedgerow.evaluation.curve import Curve
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
from hedgerow.evaluation.paired import PairedTest, corrected_test, holm
from hedgerow.evaluation.prediction_error import (
    DataModel,
    PredictionError,
    Simulation,
)
from hedgerow.evaluation.selection import Selection, select
from hedgerow.evaluation.smoothers import (
    Smoother,
    least_squares,
    ridge,
    smoother_of,
)
from hedgerow.evaluation.splitting import train_validation_test_split

__all__ = [
    "Comparison",
    "Condition",
    "Covariance",
    "CrossValidated",
    "Curve",
    "DataModel",
    "Freedom",
    "LeavingOut",
    "LeftOut",
    "Optimism",
    "PairedTest",
    "Parts",
    "Perturbation",
    "PredictionError",
    "Selection",
    "Simulation",
    "Smoother",
    "Stein",
    "Trace",
    "aic",
    "bic",
    "boosted_freedom",
    "check_leaving_out",
    "compare",
    "corrected_test",
    "cross_validate",
    "decomposed",
    "degrees_of_freedom",
    "gcv",
    "holm",
    "leaf_smoother",
    "leaf_weights",
    "least_squares",
    "leave_one_out",
    "mallows_cp",
    "noise_variance",
    "optimism",
    "ridge",
    "select",
    "smoother_of",
    "train_validation_test_split",
]
