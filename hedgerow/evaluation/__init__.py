"""How good is it really, and which one to take.

Cross-validation with the scores of every round or tree from one fit a fold, the choice of
parameters by it, and comparisons of models by corrected paired tests. Splitters and scorers are
scikit-learn's. Notes 2, "Model evaluation and selection".
"""

from hedgerow.evaluation.cross_validation import CrossValidated, cross_validate
from hedgerow.evaluation.curve import Curve

__all__ = [
    "CrossValidated",
    "Curve",
    "cross_validate",
]
