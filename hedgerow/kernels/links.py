"""Links: from raw scores to what they mean."""

from hedgerow.kernels import in_bulk
from hedgerow.kernels.exponential import exp, logistic
from hedgerow.kernels.jit import interpreted_as, kernel

_BLOCK = 64  # rows


@interpreted_as(in_bulk.fill_logistic)
@kernel
def fill_logistic(scores):
    """Replace log-odds by probabilities.

    scores  float64 [n]   both
    """
    for i in range(scores.shape[0]):
        scores[i] = logistic(scores[i])


@interpreted_as(in_bulk.fill_softmax)
@kernel
def fill_softmax(scores):
    """Replace the scores of classes by their probabilities, e^f_k / sum_j e^f_j.

    scores  float64 [n, K]   both

    Exponentials of a block of rows are in a loop of their own, which uses the machine's vectors.
    """
    flat, n_classes = scores.reshape(-1), scores.shape[1]
    for first in range(0, scores.shape[0], _BLOCK):
        block = scores[first : first + _BLOCK]
        numbers = flat[first * n_classes : (first + block.shape[0]) * n_classes]
        for i in range(block.shape[0]):
            most = block[i, 0]
            for k in range(1, n_classes):
                most = max(most, block[i, k])
            for k in range(n_classes):
                block[i, k] -= most
        for i in range(numbers.shape[0]):
            numbers[i] = exp(numbers[i])
        for i in range(block.shape[0]):
            total = 0.0
            for k in range(n_classes):
                total += block[i, k]
            for k in range(n_classes):
                block[i, k] /= total
