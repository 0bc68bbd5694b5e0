"""Criteria by their definitions.

First the impurities of the notes, as exact fractions of the weights. Then, for each
criterion, the score of a leaf twice: `exact`, minus its weight times its impurity as a
fraction, and `score`, the same formula in float64, which is what the grower compares.

Sums are whole numbers: (W_1, ..., W_K, n) of classes, (S_1, ..., S_m, W, n) of targets.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Sums = tuple[int, ...]


def proportions(weights: Sequence[int]) -> list[Fraction]:
    return [Fraction(weight) / Fraction(sum(weights)) for weight in weights]


def gini(weights: Sequence[int]) -> Fraction:
    return sum((p * (1 - p) for p in proportions(weights)), Fraction(0))


def misclassification(weights: Sequence[int]) -> Fraction:
    return 1 - max(proportions(weights))


def entropy(weights: Sequence[int]) -> float:
    """Return the entropy in bits, as exactly as math.log2 allows."""
    return -math.fsum(float(p) * math.log2(p) for p in proportions(weights) if p > 0)


def exponential(weights: Sequence[int]) -> Fraction:
    """Return sum_k sqrt(p_k (1 - p_k)), each root of whole numbers rounded at 2^-60 of them."""
    W = sum(weights)
    roots = sum(math.isqrt((weight * (W - weight)) << 120) for weight in weights)
    return Fraction(roots, W << 60)


def cheapest(weights: Sequence[int], cost: Sequence[Sequence[float]]) -> Fraction:
    """Return the mean cost of the cheapest name; to call class k by the name j costs cost[k][j]."""
    shares = proportions(weights)
    prices = [
        sum((p * Fraction(row[j]) for p, row in zip(shares, cost, strict=True)), Fraction(0))
        for j in range(len(cost))
    ]
    return min(prices)


def mean(values: Sequence[Any], weights: Sequence[int]) -> Fraction:
    total = sum(
        (Fraction(w) * Fraction(y) for y, w in zip(values, weights, strict=True)), Fraction(0)
    )
    return total / Fraction(sum(weights))


def squared_error(values: Sequence[Any], weights: Sequence[int]) -> Fraction:
    """Return the mean squared distance from the mean."""
    centre = mean(values, weights)
    return mean([(Fraction(y) - centre) ** 2 for y in values], weights)


class _Classes:
    """What all criteria of class weights share."""

    judges_rows = False

    def at(self, total: Sums) -> "_Classes":  # noqa: ARG002  the interface of all criteria
        return self

    def mass(self, sums: Sums) -> int:
        return sum(sums[:-1])

    def keys(self, total: Sums) -> list[Callable[[Sums], float]]:
        """Return what categories are ordered by: the share of each class that occurs in the node.

        Of two classes one is enough: the other gives the reverse order.
        """
        seen = [k for k, weight in enumerate(total[:-1]) if weight > 0]
        return [
            lambda sums, k=k: float(sums[k]) / float(sum(sums[:-1]))
            for k in (seen[:1] if len(seen) == 2 else seen)
        ]


class Gini(_Classes):
    """Minus W times the Gini impurity: sum_k W_k^2 / W - W."""

    def exact(self, sums: Sums) -> Fraction:
        return -sum(sums[:-1]) * gini(sums[:-1])

    def score(self, sums: Sums) -> float:
        W = squares = 0.0
        for weight in sums[:-1]:
            W += weight
            squares += float(weight) * float(weight)
        return squares / W - W


class Exponential(_Classes):
    """Minus W times what Real AdaBoost leaves of it: -sum_k sqrt(W_k (W - W_k))."""

    def exact(self, sums: Sums) -> Fraction:
        return -sum(sums[:-1]) * exponential(sums[:-1])

    def score(self, sums: Sums) -> float:
        W, score = float(sum(sums[:-1])), 0.0
        for weight in sums[:-1]:
            score -= math.sqrt(float(weight) * (W - float(weight)))
        return score


class Entropy(_Classes):
    """Minus W times the entropy in bits: sum_k W_k log2(W_k / W)."""

    def __init__(self, log2: Callable[[float], float] = math.log2) -> None:
        self.log2 = log2

    def exact(self, sums: Sums) -> Fraction:
        """As exact as a logarithm can be."""
        return -sum(sums[:-1]) * Fraction(entropy(sums[:-1]))

    def score(self, sums: Sums) -> float:
        W, score = float(sum(sums[:-1])), 0.0
        for weight in sums[:-1]:
            if weight > 0:
                score += weight * self.log2(weight / W)
        return score


class Misclassification(_Classes):
    """Minus the weight outside the majority class: max_k W_k - W."""

    def exact(self, sums: Sums) -> Fraction:
        return -sum(sums[:-1]) * misclassification(sums[:-1])

    def score(self, sums: Sums) -> float:
        return float(self.exact(sums))


class Cost(_Classes):
    """Minus the cost of the cheapest name: -min_j sum_k W_k cost[k][j]."""

    def __init__(self, cost: Sequence[Sequence[float]]) -> None:
        self.cost = cost

    def keys(self, total: Sums) -> list[Callable[[Sums], float]]:
        """Order by the share of each class, even of those that do not occur in the node."""
        return super().keys((1,) * len(total))

    def exact(self, sums: Sums) -> Fraction:
        return -sum(sums[:-1]) * cheapest(sums[:-1], self.cost)

    def score(self, sums: Sums) -> float:
        return float(self.exact(sums))


class SquaredError:
    """Minus the squared error around the mean, but for the node's sum of squares: S^2 / W.

    S is measured from the node's mean, rounded to a whole step, so that it keeps its digits.
    """

    judges_rows = False

    def __init__(self, centre: int = 0) -> None:
        self.centre = centre

    def at(self, total: Sums) -> "SquaredError":
        return SquaredError(round(float(total[0]) / float(total[1])))

    def mass(self, sums: Sums) -> int:
        return sums[1]

    def keys(self, total: Sums) -> list[Callable[[Sums], float]]:  # noqa: ARG002
        return [lambda sums: float(sums[0]) / float(sums[1])]

    def exact(self, sums: Sums) -> Fraction:
        return Fraction((sums[0] - self.centre * sums[1]) ** 2, sums[1])

    def score(self, sums: Sums) -> float:
        S = float(sums[0] - self.centre * sums[1])
        return S * S / float(sums[1])


class SquaredErrors:
    """The same for several outputs, added up: sum_j S_j^2 / W."""

    judges_rows = False

    def at(self, total: Sums) -> "SquaredErrors":  # noqa: ARG002
        return self

    def mass(self, sums: Sums) -> int:
        return sums[-2]

    def keys(self, total: Sums) -> list[Callable[[Sums], float]]:
        return [lambda sums, j=j: float(sums[j]) / float(sums[-2]) for j in range(len(total) - 2)]

    def exact(self, sums: Sums) -> Fraction:
        return sum((Fraction(S * S, sums[-2]) for S in sums[:-2]), Fraction(0))

    def score(self, sums: Sums) -> float:
        squares = 0.0
        for S in sums[:-2]:
            squares += float(S) * float(S)
        return squares / float(sums[-2])


class AbsoluteError:
    """Minus the least sum of w |y - c|, which a median c has. Not a function of sums."""

    judges_rows = True

    def at(self, total: Sums) -> "AbsoluteError":  # noqa: ARG002
        return self

    def mass(self, sums: Sums) -> int:
        return sums[1]

    def keys(self, total: Sums) -> list[Callable[[Sums], float]]:  # noqa: ARG002
        return [lambda sums: float(sums[0]) / float(sums[1])]

    def score(self, rows: Sequence[Sums]) -> float:
        """Try every target as the constant."""
        targets = [(product // weight, weight) for product, weight, _ in rows]
        return -float(min(sum(w * abs(y - c) for y, w in targets) for c, _ in targets))


class Newton:
    """Second-order fall of a loss: sums are (G, H, n) in whole steps of g_unit and h_unit."""

    judges_rows = False

    def __init__(
        self, g_unit: float, h_unit: float, l1: float, l2: float, smooth: float, rare: int
    ) -> None:
        self.g_unit, self.h_unit, self.l1, self.l2 = g_unit, h_unit, l1, l2
        self.smooth, self.rare = smooth, rare

    def at(self, total: Sums) -> "Newton":  # noqa: ARG002
        return self

    def mass(self, sums: Sums) -> int:
        return sums[1]

    def score(self, sums: Sums) -> float:
        T = max(abs(sums[0] * self.g_unit) - self.l1, 0.0)
        return T * T / (2.0 * (sums[1] * self.h_unit + self.l2))

    def keys(self, total: Sums) -> list[Callable[[Sums], float]]:  # noqa: ARG002
        return [lambda sums: sums[0] / (sums[1] + self.smooth)]


class Bounded:
    """Newton with values within bounds, and in the order that the sign of a feature asks for."""

    judges_rows = False

    def __init__(self, newton: Newton, signs: Sequence[int], number: int = 0) -> None:
        self.newton, self.signs, self.number = newton, signs, number
        self.low, self.high = -math.inf, math.inf
        self.mass, self.keys, self.rare = newton.mass, newton.keys, newton.rare

    def at(self, total: Sums) -> "Bounded":  # noqa: ARG002
        return self

    def within(self, low: float, high: float) -> "Bounded":
        held = Bounded(self.newton, self.signs, self.number)
        held.low, held.high = low, high
        return held

    def toward(self, number: int) -> "Bounded":
        held = self.within(self.low, self.high)
        held.number = number
        return held

    def value(self, sums: Sums) -> float:
        G, H = sums[0] * self.newton.g_unit, sums[1] * self.newton.h_unit
        T = max(abs(G) - self.newton.l1, 0.0)
        return min(max((T if G < 0 else -T) / (H + self.newton.l2), self.low), self.high)

    def middle(self, bounds: tuple[float, float], left: Sums, right: Sums) -> float:
        held = self.within(*bounds)
        return 0.5 * (held.value(left) + held.value(right))

    def score(self, sums: Sums) -> float:
        G, H = sums[0] * self.newton.g_unit, sums[1] * self.newton.h_unit
        v = self.value(sums)
        return -(G * v + 0.5 * (H + self.newton.l2) * v * v + self.newton.l1 * abs(v))

    def both(self, left: Sums, right: Sums) -> float:
        if self.signs[self.number] * (self.value(right) - self.value(left)) < 0:
            return -math.inf
        return self.score(left) + self.score(right)
