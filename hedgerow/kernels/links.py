"""Links: from raw scores to what they mean."""

from hedgerow.kernels.exponential import logistic
from hedgerow.kernels.jit import kernel


@kernel
def fill_logistic(scores):
    """Replace log-odds by probabilities.

    scores  float64 [n]   both
    """
    for i in range(scores.shape[0]):
        scores[i] = logistic(scores[i])
