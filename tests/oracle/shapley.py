"""Shapley values and interactions by their definition: all subsets of the features."""

from itertools import combinations
from math import factorial


def subsets(players):
    return (frozenset(s) for size in range(len(players) + 1) for s in combinations(players, size))


def shapley(v, players):
    """Return phi_i = sum over S without i of |S|! (n - |S| - 1)! / n! (v(S + i) - v(S))."""
    n = len(players)
    return {
        i: sum(
            factorial(len(S)) * factorial(n - len(S) - 1) / factorial(n) * (v(S | {i}) - v(S))
            for S in subsets([j for j in players if j != i])
        )
        for i in players
    }


def interactions(v, players):
    """Return phi_ij, half of the Shapley interaction index, and phi_ii = phi_i - sum of phi_ij.

    Lundberg et al. (2020), section "SHAP interaction values".
    """
    n, found = len(players), {}
    for i, j in combinations(players, 2):
        total = 0.0
        for S in subsets([k for k in players if k not in (i, j)]):
            chance = factorial(len(S)) * factorial(n - len(S) - 2) / factorial(n - 1)
            total += chance * (v(S | {i, j}) - v(S | {i}) - v(S | {j}) + v(S))
        found[i, j] = found[j, i] = total / 2
    alone = shapley(v, players)
    for i in players:
        found[i, i] = alone[i] - sum(found[i, j] for j in players if j != i)
    return found


def expectation(nodes, goes_left, x, known, node=0):
    """Return the value at a node if only some features are known: both ways at the others.

    A way counts by its share of the weight; if there is no weight, both count alike.
    """
    at = nodes[node]
    if at.left < 0:
        return at.value
    if at.feature in known:
        way = at.left if goes_left(nodes, at, x[at.feature]) else at.right
        return expectation(nodes, goes_left, x, known, way)
    weights = [nodes[at.left].weight, nodes[at.right].weight]
    shares = [w / sum(weights) for w in weights] if sum(weights) > 0 else [0.5, 0.5]
    ways = (at.left, at.right)
    return sum(
        share * expectation(nodes, goes_left, x, known, way)
        for share, way in zip(shares, ways, strict=True)
    )
