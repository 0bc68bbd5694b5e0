"""Discrete AdaBoost over a given list of classifiers, as notes 1 (algorithm 3) write it."""

import math
from typing import NamedTuple


class Boosted(NamedTuple):
    chosen: list[int]  # the classifier of each round
    signs: list[int]  # 1, or -1 if it is used with the other sign
    errors: list[float]
    alphas: list[float]
    weights: list[list[float]]  # before each round, and after the last


def discrete_adaboost(votes, y, start, n_rounds) -> Boosted:
    """votes[k][i] and y[i] are -1 or 1; start[i] are weights. Of equals the first is chosen."""
    w = [each / math.fsum(start) for each in start]
    found = Boosted([], [], [], [], [w])
    for _ in range(n_rounds):
        errors = [math.fsum(u for u, v, t in zip(w, h, y, strict=True) if v != t) for h in votes]
        least = [min(error, 1.0 - error) for error in errors]
        k = least.index(min(least))
        sign, error = (1 if errors[k] <= 0.5 else -1), least[k]
        alpha = 0.5 * math.log((1.0 - error) / error)
        h = votes[k]
        w = [u * math.exp(-alpha * t * sign * v) for u, v, t in zip(w, h, y, strict=True)]
        w = [u / math.fsum(w) for u in w]
        for column, value in zip(found, (k, sign, error, alpha, w), strict=True):
            column.append(value)
    return found
