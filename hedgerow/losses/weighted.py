"""Means, quantiles and Huber's centre of weighted values, whatever the order of the rows.

values and w are float64 [n], w >= 0 and not all zero. A row of weight 2 counts as two rows.
"""

import math
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.finished import N_LIMBS, add_products, step_of, summed_limbs
from hedgerow.kernels.selection import N_CELLS, select

Array = NDArray[np.float64]

_MANTISSA = 52  # one bit less than there are: `total` may be rounded
_WEIGHT_BITS = 31
_EXACT = 2.0**53  # whole numbers below add up without rounding, in any order
_SPLITTER = 2.0**27 + 1.0
_ROUNDING = 2.0**-44  # of a sum of rounded terms
_LEAST_DELTA = 2.0**-40  # of the range; below, Huber's centre is the median to 12 digits


def weighted_mean(values: Array, w: Array) -> float:
    """Mean, sum w v / sum w; both sums are exact until they are rounded once.

    >>> weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    2.0
    """
    kept = w > 0.0
    v, weights = (values, w) if kept.all() else (values[kept], w[kept])
    mean = exact_sum(v, weights) / total_weight(weights)
    return float(min(max(mean, v.min()), v.max()))


def total_weight(w: Array) -> float:
    """Return the sum of weights, exact but for one rounding."""
    return float(len(w)) if _are_ones(w) else exact_sum(np.ones(len(w)), w)


def class_weights(y: Array, w: Array, n_classes: int) -> list[float]:
    """Return the weight of the rows of each class, exact but for one rounding.

    >>> class_weights(np.array([0.0, 2.0, 2.0]), np.array([2.0, 1.0, 1.0]), 3)
    [2.0, 0.0, 2.0]
    """
    if _are_ones(w):
        counts = np.bincount(y.astype(np.intp), minlength=n_classes)
        return [float(count) for count in counts]
    return [exact_sum((y == k).astype(np.float64), w) for k in range(n_classes)]


def _are_ones(w: Array) -> bool:
    return bool(w.min() == w.max() == 1.0)


def weighted_quantile(values: Array, w: Array, level: float) -> float:
    """Smallest value below or at which there is at least `level` of the weight.

    A median is half-way to the next value if exactly half of the weight is below.

    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.25)
    1.0
    >>> weighted_quantile(np.array([4.0, 1.0]), np.array([1.0, 1.0]), 0.5)
    2.5
    """
    has_weight = w > 0.0
    if not has_weight.all():
        values, w = values[has_weight], w[has_weight]
    total = float(w.sum())
    if not _adds_up(w, total):
        return sorted_quantile(values, w, level)
    found = np.empty(2, np.uint64)
    keys = (values + 0.0).view(np.uint64)  # + 0.0: no zero has a sign
    select(keys, w.copy(), level * total, np.empty(N_CELLS), found)
    low, high = found.view(np.float64).tolist()
    return _half_way(low, high) if level == 0.5 else float(low)


def sorted_quantile(values: Array, w: Array, level: float) -> float:
    """Return the weighted quantile by its definition; weights are added in sorted order."""
    v, weights = _in_order(values, w)
    cumulated = np.cumsum(weights)
    target = level * cumulated[-1]
    place = min(int(np.searchsorted(cumulated, target)), len(v) - 1)
    if level == 0.5 and cumulated[place] == target and place + 1 < len(v):
        return _half_way(float(v[place]) + 0.0, float(v[place + 1]) + 0.0)
    return float(v[place]) + 0.0


def _half_way(low: float, high: float) -> float:
    return 0.5 * (low + high) if math.isfinite(low + high) else 0.5 * low + 0.5 * high


def _adds_up(w: Array, total: float) -> bool:
    """Tell whether any sums of these weights are exact: all are multiples of a last bit."""
    steps = np.ldexp(w, _MANTISSA - int(np.frexp(total)[1]))
    return bool((steps == np.rint(steps)).all())


def weighted_median(values: Array, w: Array) -> float:
    """Middle of the values by weight; half-way between two if exactly half is below."""
    return weighted_quantile(values, w, 0.5)


def huber_centre(values: Array, w: Array, delta: float) -> float:
    """Minimiser c of sum w huber(v - c): where the pull, sum w clip(v - c, -delta, delta), is zero.

    The pull falls in c and is linear between the corners v - delta and v + delta: the two
    between which it changes sign are found by bisection, then the zero on the line. If it is
    zero from one corner to another, half-way is taken, as with a median. Cost: n log n.
    """
    middle = weighted_median(values, w)
    v, weights = _in_order(values, w)
    v = v - middle
    delta = min(delta, float(v[-1] - v[0]))  # from there on the centre is the mean
    if delta <= _LEAST_DELTA * (v[-1] - v[0]):
        return middle

    def fall(c: float) -> float:
        return -float(np.sum(weights * np.clip(v - c, -delta, delta)))

    corners = np.sort(np.concatenate([v - delta, v + delta]))
    nothing = _ROUNDING * delta * float(np.sum(weights))
    after = bisect_left(corners, -nothing, key=fall)  # the first corner without a pull upwards
    beyond = bisect_right(corners, nothing, key=fall)  # the first with a pull downwards
    if after < beyond:
        return float(middle + 0.5 * (corners[after] + corners[beyond - 1]))
    half_way = 0.5 * corners[after - 1] + 0.5 * corners[after]  # on the line are the same rows
    near = np.abs(v - half_way) <= delta
    if not near.any():  # no pull between the corners but for rounding
        return float(middle + half_way)
    ones = np.ones(len(v))
    pull = exact_sum(v[near], weights[near])
    above, below = v > half_way + delta, v < half_way - delta
    pull += delta * (
        exact_sum(ones[above], weights[above]) - exact_sum(ones[below], weights[below])
    )
    return float(middle + pull / exact_sum(ones[near], weights[near]))


def _in_order(values: Array, w: Array) -> tuple[Array, Array]:
    """Return the rows that have weight, sorted by value and then by weight."""
    has_weight = w > 0.0
    values, w = values[has_weight], w[has_weight]
    order = np.lexsort((w, values))
    return values[order], w[order]


def exact_sum(values: Array, w: Array) -> float:
    """Return sum w v, v rounded to 52 bits of the largest; exact but for one rounding.

    Weights of at most 31 bits are multiplied as whole numbers: three rows are a row of weight 3.
    """
    if not len(values):
        return 0.0
    if float(np.abs(values).max()) * float(w.max()) * len(w) < _EXACT and _whole(w, values):
        # Not values @ w: the threads of BLAS would spin on for a tenth of a second.
        return float((values * w).sum())
    most = int(np.frexp(w.max())[1])
    exponent = 0 if most <= _WEIGHT_BITS and _whole(w) else most - _WEIGHT_BITS
    whole = np.ldexp(w, -exponent)
    if _whole(whole):
        unit = float(step_of(np.abs(values).max(keepdims=True))[0]) or 1.0
        limbs = np.zeros((1, N_LIMBS), np.int64)
        steps = np.rint(values / unit).astype(np.int64)
        add_products(np.zeros(len(w), np.int64), whole.astype(np.int64), steps, limbs)
        return math.ldexp(float(summed_limbs(limbs)[0]) * unit, exponent)
    return math.fsum(np.concatenate(_exact_product(values, w)))


def _whole(*arrays: Array) -> bool:
    """Return whether all numbers are whole."""
    return all(bool((numbers == np.rint(numbers)).all()) for numbers in arrays)


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a * b rounded, and what the rounding took away (Dekker 1971)."""
    product = a * b
    a_high, b_high = _high_half(a), _high_half(b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _high_half(a: Array) -> Array:
    """Return a rounded to the upper 26 bits of its 53."""
    stretched = _SPLITTER * a
    return stretched - (stretched - a)
