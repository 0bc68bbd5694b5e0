"""Theorems as numbers: bounds, constants and margins; knows arrays, and no model of ours.

A function states its formula and where it is proved; notes are called by their number and page.
"""

from hedgerow.theory.bounds import (
    ExcessRisk,
    TrainingBounds,
    confidence_term,
    deviation_bound,
    edges,
    excess_risk_bound,
    rademacher_bound,
    risk_bound,
    rows_needed,
    stump_count,
    stump_vc_dimension,
    training_error_bounds,
    vc_bound,
)
from hedgerow.theory.certificate import (
    Certificate,
    Combination,
    Guarantee,
    Rounds,
    certificate_of,
)
from hedgerow.theory.margins import Distribution, margin_distribution, margin_error, margins
from hedgerow.theory.multiclass import (
    class_code,
    exponential_loss,
    population_minimiser,
    posterior,
)
from hedgerow.theory.surrogates import SURROGATES, Surrogate, Zhang, surrogate
from hedgerow.theory.weights import row_weights

__all__ = [
    "SURROGATES",
    "Certificate",
    "Combination",
    "Distribution",
    "ExcessRisk",
    "Guarantee",
    "Rounds",
    "Surrogate",
    "TrainingBounds",
    "Zhang",
    "certificate_of",
    "class_code",
    "confidence_term",
    "deviation_bound",
    "edges",
    "excess_risk_bound",
    "exponential_loss",
    "margin_distribution",
    "margin_error",
    "margins",
    "population_minimiser",
    "posterior",
    "rademacher_bound",
    "risk_bound",
    "row_weights",
    "rows_needed",
    "stump_count",
    "stump_vc_dimension",
    "surrogate",
    "training_error_bounds",
    "vc_bound",
]
