"""Banks: the thresholds of a model, in sets that a byte can count.

A bank is up to 255 distinct thresholds (cuts) of one feature. x <= cut number c exactly if
at most c cuts are below x: a split is a comparison of bytes.

    banks   BANK [n_banks]           those of a feature stand together
    cuts    float64 [n_banks, 384]   ascending, then inf: halvings may look beyond the end
    starts  uint8 [n_banks, 1024]    cuts in the buckets before this one

A value is looked for among the cuts of its bucket only, one of 1024 that divide their range.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.jit import kernel, part

_MAX_CUTS = 255
_N_BUCKETS = 1024

# low, high, scale: see bucket_of; n_halvings: of the cuts in the fullest bucket.
BANK = np.dtype(
    [(name, "f8") for name in ("low", "high", "scale")]
    + [(name, "i8") for name in ("feature", "n_cuts", "n_halvings")],
    align=True,
)


def banked(feature: NDArray[np.int32], threshold: NDArray[np.float64]) -> tuple[Any, ...]:
    """Return (banks, cuts, starts), and for each split its bank and the number of its cut there."""
    order = np.lexsort((threshold, feature))
    feature, threshold = feature[order], threshold[order]
    is_first = np.diff(feature, prepend=-1) > 0  # of its feature
    is_cut = is_first.copy()
    is_cut[1:] |= threshold[1:] != threshold[:-1]
    cut = np.cumsum(is_cut) - 1
    rank = cut - cut[is_first][np.cumsum(is_first) - 1]
    is_start = is_cut & (rank % _MAX_CUTS == 0)
    number, place = np.cumsum(is_start) - 1, rank % _MAX_CUTS
    banks = with_fields(np.zeros(np.count_nonzero(is_start), BANK))
    banks.feature = feature[is_start]
    banks.n_cuts = np.bincount(number[is_cut], minlength=len(banks))
    cuts = np.full((len(banks), 384), np.inf)
    cuts[number, place] = threshold
    starts = np.zeros((len(banks), _N_BUCKETS), np.uint8)
    _fill_buckets(banks, cuts, starts)
    bank, limit = np.empty((2, len(order)), np.int64)
    bank[order], limit[order] = number, place
    return (banks, cuts, starts), bank, limit


@part
def bucket_of(low, high, scale, value):
    """Return the bucket of a value: it never falls when the value rises, and is 0 for NaN."""
    value = value if value > low else low
    value = value if value < high else high
    return np.uint64(np.int64((value - low) * scale))


@kernel
def _fill_buckets(banks, cuts, starts):
    """Divide the range of each bank's finite cuts into buckets.

    banks   BANK [n_banks]           both    low, high, scale and n_halvings are zero on entry
    cuts    float64 [n_banks, 384]   read
    starts  uint8 [n_banks, 1024]    write   zero on entry
    """
    for number in range(banks.shape[0]):
        bank, low, high = banks[number], np.inf, -np.inf
        for place in range(bank.n_cuts):
            cut = cuts[number, place]
            if np.isfinite(cut):
                low, high = min(low, cut), max(high, cut)
        if 1e-300 < 0.5 * high - 0.5 * low < 1e300:  # else there is one bucket
            bank.low, bank.high, bank.scale = low, high, (_N_BUCKETS - 1) / (high - low)
        most = np.int64(0)
        for place in range(bank.n_cuts):
            cut = cuts[number, place]
            bucket = np.int64(bucket_of(bank.low, bank.high, bank.scale, cut))
            starts[number, bucket + 1 :] = place + 1
            most = max(most, place + 1 - np.int64(starts[number, bucket]))
        while most >> bank.n_halvings:
            bank.n_halvings += 1
