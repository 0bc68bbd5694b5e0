"""How good is it really, and which one to take.

Cross-validation with the scores of every round or tree from one fit a fold, the choice of
parameters by it, and comparisons of models by corrected paired tests. Splitters and scorers are
scikit-learn's. Notes 2, "Model evaluation and selection".
"""

from hedgerow.evaluation.comparison import Comparison, compare
from hedgerow.evaluation.cross_validation import CrossValidated, cross_validate
from hedgerow.evaluation.curve import Curve
from hedgerow.evaluation.paired import PairedTest, corrected_test, holm
from hedgerow.evaluation.selection import Selection, select
from hedgerow.evaluation.splitting import train_validation_test_split

__all__ = [
    "Comparison",
    "CrossValidated",
    "Curve",
    "PairedTest",
    "Selection",
    "compare",
    "corrected_test",
    "cross_validate",
    "holm",
    "select",
    "train_validation_test_split",
]
