"""Bins by their definition: values are dealt out from the smallest to the largest."""

import math
from collections.abc import Sequence
from fractions import Fraction


def summary(column: Sequence[float], weights: Sequence[int]) -> list[tuple[float, int]]:
    """Return each distinct value that is not missing and has weight, and its weight; ascending."""
    values = sorted(
        {x for x, w in zip(column, weights, strict=True) if not math.isnan(x) and w > 0}
    )
    return [
        (value, sum(w for x, w in zip(column, weights, strict=True) if x == value))
        for value in values
    ]


def bins(parts: Sequence[tuple[float, int]], max_bins: int | None) -> list[tuple[float, float]]:
    """Return the smallest and the largest value of each bin.

    The open bin takes values until it holds its part: the weight not yet in closed bins,
    divided by the bins not yet closed. A value that is such a part by itself does not go
    where lighter ones are: it opens a bin. The last bin takes all that is left.
    """
    if max_bins is None or len(parts) <= max_bins:
        return [(value, value) for value, _ in parts]
    closed: list[tuple[float, float]] = []
    waiting = list(parts)
    while waiting:
        n_bins = max_bins - len(closed)
        share = Fraction(sum(weight for _, weight in waiting), n_bins)
        members: list[tuple[float, int]] = []
        while waiting and (n_bins == 1 or sum(weight for _, weight in members) < share):
            reaches = sum(weight for _, weight in members) + waiting[0][1] >= share
            if n_bins > 1 and members and reaches and waiting[0][1] >= share:
                break
            members.append(waiting.pop(0))
        closed.append((members[0][0], members[-1][0]))
    return closed
