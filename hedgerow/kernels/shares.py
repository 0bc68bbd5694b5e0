"""Shares: the probability that scores of two classes give to the class of each row."""

from hedgerow.kernels.exponential import logistic
from hedgerow.kernels.jit import kernel


@kernel
def own_shares(raw, is_second, least, shares):
    """Set each row's share to the probability of its class, but no nearer to 0 or 1 than `least`.

    raw        float64 [n_rows]   read    log-odds of the second class
    is_second  bool [n_rows]      read
    shares     float64 [n_rows]   write

    With the bits of 1 - p and p, p = logistic(raw).
    """
    most = 1.0 - least
    for row in range(raw.shape[0]):
        p = logistic(raw[row])
        share = p if is_second[row] else 1.0 - p
        share = share if share > least else least
        shares[row] = share if share < most else most
