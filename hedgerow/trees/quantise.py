"""From real weights and targets to whole steps, so that sums are integers.

Weights. If all are whole multiples of 1 (or else of some power of two) and add up to at
most 2^31 of it, they are kept exactly: a row of weight 3 is three rows, to the bit. Others
are rounded to steps of about max(w) 2^-b with n 2^b <= 2^61, b <= 52 (30 for regression).
A positive weight never becomes 0.

Targets. y is measured from the middle of its range. Beside exact weights it is rounded to
40 bits (fewer if sums would not fit into 61), so that w y adds up to what w rows would.
Beside others, w y is rounded to the smallest steps whose sum stays below 2^61.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.records import write_records

_BITS = 61
_TARGET_BITS = 40
_MANY = 31  # bits of the largest sum of exact weights: more rows than a table has
_MANTISSA = 53
_REPEAT_BITS = 15


class Steps(NamedTuple):
    """Whole numbers that stand for `count * unit`, exactly or rounded."""

    counts: NDArray[np.int64]
    unit: float
    exact: bool

    @property
    def weights(self) -> NDArray[np.float64]:
        """What they stand for."""
        return np.asarray(self.counts * self.unit, np.float64)

    def some(self, places: NDArray[np.int64]) -> "Steps":
        """Return those of some places; numbers that are all the same need not be looked up."""
        if self.counts.min() == self.counts.max():
            return self._replace(counts=self.counts[: len(places)])
        return self._replace(counts=self.counts[places])


def quantised_weights(weights: NDArray[np.float64], max_bits: int = 52) -> Steps:
    """Turn positive weights into whole steps."""
    if float(weights.sum()) <= 2.0**_MANY and (weights == np.rint(weights)).all():
        return Steps(weights.astype(np.int64), 1.0, exact=True)
    exponent = _common_exponent(weights)
    if int(np.frexp(weights.max())[1]) - exponent <= _MANY:
        counts = np.ldexp(weights, -exponent)
        if float(counts.sum()) <= 2.0**_MANY:
            return Steps(counts.astype(np.int64), float(np.ldexp(1.0, exponent)), exact=True)
    bits = min(max_bits, _BITS - int(np.ceil(np.log2(len(weights) + 1))))
    shift = bits - int(np.frexp(weights.max())[1])  # the largest weight is below 2^bits steps
    counts = np.maximum(np.rint(np.ldexp(weights, shift)), 1.0)
    return Steps(counts.astype(np.int64), float(np.ldexp(1.0, -shift)), exact=False)


def repeated(weights: Steps, repeats: NDArray[np.int64] | None) -> Steps:
    """Return the weights of rows that count several times, each; 0: not at all.

    None: each counts once. Where sums would not fit into 61 bits, steps are made larger.
    """
    if repeats is None:
        return weights
    if float(weights.counts.max()) * float(repeats.sum()) <= 2.0**_MANY:
        return weights._replace(counts=weights.counts * repeats)
    total = float((weights.counts * repeats.astype(np.float64)).sum())
    shift = max(int(np.frexp(total)[1]) - _BITS, 0)
    counts = np.where(repeats > 0, np.maximum(weights.counts >> shift, 1), 0) * repeats
    is_exact = weights.exact and total <= 2.0**_MANY
    return Steps(counts, float(np.ldexp(weights.unit, shift)), is_exact)


def row_records(
    repeats: NDArray[np.int64], labels: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the records of rows that count at least once, and how often, below 2^15, they do.

    labels : int64 [n_rows], optional. 16 bits that records are to carry.
    """
    records = np.empty(len(repeats) + 1, np.int64)
    n_rows = write_records(repeats, np.zeros(0, np.int64) if labels is None else labels, records)
    return records[: int(n_rows)]


def fits_record(repeats: NDArray[np.int64]) -> bool:
    """Tell whether a record has the bits for how often each row counts."""
    return int(repeats.max(initial=0)) < 1 << _REPEAT_BITS


def looked_up(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return weights and mask, as moments look them up: 1 alone, if all are 1."""
    return (np.ones(1, np.int64), 0) if (counts == 1).all() else (counts, -1)


def _common_exponent(weights: NDArray[np.float64]) -> int:
    """Return the largest e for which all weights are whole multiples of 2^e."""
    mantissa, exponent = np.frexp(weights)
    whole = np.ldexp(mantissa, _MANTISSA).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1]
    return int((exponent + lowest).min()) - _MANTISSA - 1


def grouped_weights(
    weights: NDArray[np.float64], factors: NDArray[np.float64], groups: NDArray[np.int64]
) -> Steps:
    """Turn weights times the factors of their groups, positive, into whole steps.

    Three repeats of a row still weigh three times as much as the row, whatever its factor.
    """
    rows = quantised_weights(weights)
    if not rows.exact:
        return quantised_weights(weights * factors[groups])
    bits = _BITS - int(np.frexp(float(rows.counts.sum()))[1])
    steps = quantised_weights(np.where(factors > 0, factors, 1.0), min(bits, 52))
    counts = rows.counts * steps.counts[groups]
    is_exact = steps.exact and float(counts.sum()) <= 2.0**_MANY
    return Steps(counts, rows.unit * steps.unit, is_exact)


class TargetSteps(NamedTuple):
    """Weighted targets in whole steps: w (y - centre) = products * unit."""

    products: NDArray[np.int64]  # [n_rows, n_outputs]
    unit: NDArray[np.float64]  # [n_outputs]
    centre: NDArray[np.float64]  # [n_outputs]


def quantised_targets(
    y: NDArray[np.float64], weights: Steps, repeats: NDArray[np.int64] | None = None
) -> TargetSteps:
    """Turn weighted targets, float64 [n_rows, n_outputs], into whole steps.

    repeats, int64 [n_rows]: how often a row may be added to the sums; None: once.
    """
    n_added = len(y) if repeats is None else int(repeats.sum())
    low, high = y.min(axis=0), y.max(axis=0)
    centre = 0.5 * low + 0.5 * high
    peak = np.maximum(high - centre, centre - low)
    exponent = np.frexp(np.where(peak > 0, peak, 1.0))[1]
    if weights.exact:
        shift = target_bits(repeated(weights, repeats)) - exponent
        steps = np.rint(np.ldexp(y - centre, shift)).astype(np.int64)
        products = weights.counts[:, None] * steps
        return TargetSteps(products, np.ldexp(weights.unit, -shift), centre)
    counts = weights.counts.astype(np.float64)
    largest = np.frexp(counts.max())[1]
    shift = _BITS - int(np.ceil(np.log2(n_added + 1))) - exponent - largest
    products = np.rint(np.ldexp(counts[:, None] * (y - centre), shift))
    return TargetSteps(products.astype(np.int64), np.ldexp(weights.unit, -shift), centre)


def target_bits(weights: Steps) -> int:
    """Return how many bits of a target may be multiplied by these weights and summed."""
    return min(_TARGET_BITS, _BITS - int(np.frexp(float(weights.counts.sum()))[1]))
