"""Links: from raw scores to what they mean."""

from hedgerow.kernels.exponential import exp, logistic
from hedgerow.kernels.jit import kernel


@kernel
def fill_logistic(scores):
    """Replace log-odds by probabilities.

    scores  float64 [n]   both
    """
    for i in range(scores.shape[0]):
        scores[i] = logistic(scores[i])


@kernel
def fill_softmax(scores):
    """Replace the scores of classes by their probabilities, e^f_k / sum_j e^f_j.

    scores  float64 [n, K]   both
    """
    for i in range(scores.shape[0]):
        most, total = scores[i, 0], 0.0
        for k in range(1, scores.shape[1]):
            most = max(most, scores[i, k])
        for k in range(scores.shape[1]):
            scores[i, k] = exp(scores[i, k] - most)
            total += scores[i, k]
        for k in range(scores.shape[1]):
            scores[i, k] /= total
