"""Bins by their definition: values are dealt out from the smallest to the largest."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby


def summary(column: Sequence[float], weights: Sequence[int]) -> list[tuple[float, int]]:
    """Return each distinct value that is not missing and has weight, and its weight; ascending."""
    values = sorted(
        {x for x, w in zip(column, weights, strict=True) if not math.isnan(x) and w > 0}
    )
    return [
        (value, sum(w for x, w in zip(column, weights, strict=True) if x == value))
        for value in values
    ]


def bins(
    parts: Sequence[tuple[float, int]], max_bins: int | None, halvings: int = 0
) -> list[tuple[float, float]]:
    """Return the smallest and the largest value of each bin.

    Heavy values have bins of their own. The values between two of them fill bins in turn:
    an open bin takes values until it holds its part, that is the weight of light values not
    yet in closed bins, shared out by size over the bins for them, less one for each later
    stretch. The last bin of a stretch takes what is left of it.
    """
    if max_bins is None or len(parts) <= max_bins:
        return [(value, value) for value, _ in parts]
    heavy = _heavy([weight for _, weight in parts], max_bins)
    runs = groupby(enumerate(parts), lambda part: part[0] if part[0] in heavy else "light")
    stretches = [[part for _, part in run] for _, run in runs]
    light = [stretch for stretch in stretches if parts.index(stretch[0]) not in heavy]
    closed, n_light_closed = [], 0
    all_sizes = sizes(max_bins - len(heavy), halvings)
    for stretch in stretches:
        if stretch not in light:
            closed.append((stretch[0][0], stretch[0][0]))
            continue
        waiting = list(stretch)
        later = light[light.index(stretch) + 1 :]
        while waiting:
            own, *others = all_sizes[n_light_closed : len(all_sizes) - len(later)]
            left = sum(weight for run in [waiting, *later] for _, weight in run)
            members = [waiting.pop(0)]
            while waiting and (
                not others
                or sum(weight for _, weight in members) < left * own / (own + sum(others))
            ):
                members.append(waiting.pop(0))
            closed.append((members[0][0], members[-1][0]))
            n_light_closed += 1
    return closed


def sizes(n_bins: int, halvings: int) -> list[Fraction]:
    """Return how large bins are, in proportion: for each 16 of them the ends may be halved once."""
    n_times = min(halvings, n_bins // 16)
    found = [Fraction(1)] * (n_bins - 2 * n_times)
    for _ in range(n_times):
        found = [found[0] / 2, found[0] / 2, *found[1:-1], found[-1] / 2, found[-1] / 2]
    return found


def _heavy(weights: list[int], max_bins: int) -> set[int]:
    """Return the places of the values heavier than an even share of what the others leave.

    If these and the stretches between them need more than max_bins, as many of the heaviest
    (of equal ones the first) as leave room for a stretch on every side.
    """
    heavy: set[int] = set()
    while max_bins - len(heavy) > 1:
        light = [place for place in range(len(weights)) if place not in heavy]
        share = Fraction(sum(weights[place] for place in light), max_bins - len(heavy))
        more = {place for place in light if weights[place] > share}
        if not more:
            break
        heavy |= more
    n_stretches = sum(
        place not in heavy and (place == 0 or place - 1 in heavy) for place in range(len(weights))
    )
    if len(heavy) + n_stretches > max_bins:
        heaviest = sorted(range(len(weights)), key=lambda place: (-weights[place], place))
        heavy = set(heaviest[: (max_bins - 1) // 2])
    return heavy
