"""From real weights and targets to whole steps, so that sums are integers.

Integers (and weights or targets that become integers when scaled by a power of two) are
kept exactly; other numbers are rounded to the nearest step. The steps are as small as
the largest possible sum allows.

    weights    whole numbers stay as they are: a row of weight 3 is three rows, to the bit.
               Others: steps of about max(w) 2^-b with n 2^b <= 2^61, b <= 52 (30 for
               regression). A positive weight never becomes 0.
    targets    w y, y measured from the middle of its range, in the smallest steps whose
               sum stays below 2^61.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BITS = 61
_EXACT = 53  # bits of a float64


class Steps(NamedTuple):
    """Whole numbers that stand for `count * unit`."""

    counts: NDArray[np.int64]
    unit: float


def quantised_weights(weights: NDArray[np.float64], max_bits: int = 52) -> Steps:
    """Turn positive weights into whole steps."""
    total = float(weights.sum())
    if total < 2.0**_EXACT and not np.any(weights % 1.0):
        return Steps(weights.astype(np.int64), 1.0)
    bits = min(max_bits, _BITS - int(np.ceil(np.log2(len(weights) + 1))))
    _, exponent = np.frexp(weights.max())  # the largest weight is below 2^exponent
    shift = bits - int(exponent)
    counts = np.maximum(np.rint(np.ldexp(weights, shift)), 1.0).astype(np.int64)
    return Steps(counts, float(np.ldexp(1.0, -shift)))


class TargetSteps(NamedTuple):
    """Weighted targets in whole steps: w (y - centre) = products * unit."""

    products: NDArray[np.int64]  # [n_rows, n_outputs]
    unit: NDArray[np.float64]  # [n_outputs]
    centre: NDArray[np.float64]  # [n_outputs]


def quantised_targets(y: NDArray[np.float64], weights: Steps) -> TargetSteps:
    """Turn weighted targets, float64 [n_rows, n_outputs], into whole steps."""
    low, high = y.min(axis=0), y.max(axis=0)
    centre = 0.5 * low + 0.5 * high
    peak = np.maximum(high - centre, centre - low)
    peak = np.where(peak > 0, peak, 1.0)
    counts = weights.counts.astype(np.float64)
    exponent = np.frexp(peak)[1]
    if weights.unit == 1.0:
        # Three times the rounded target is three repeats of it: the step depends on sums only.
        shift = min(int(_BITS - np.log2(counts.sum())), _EXACT - 1) - exponent
        steps = np.rint(np.ldexp(y - centre, shift)).astype(np.int64)
        return TargetSteps(weights.counts[:, None] * steps, np.ldexp(1.0, -shift), centre)
    largest = np.frexp(counts.max())[1]
    shift = _BITS - int(np.ceil(np.log2(len(y) + 1))) - exponent - largest
    products = np.rint(np.ldexp(counts[:, None] * (y - centre), shift))
    return TargetSteps(products.astype(np.int64), np.ldexp(weights.unit, -shift), centre)
