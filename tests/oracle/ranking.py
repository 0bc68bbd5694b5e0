"""Ranking by its definitions: all pairs, and the mean over all orders of equal scores."""

import itertools
import math


def orders(scores):
    """All orders of documents by falling scores; equal scores in every order."""
    everything = itertools.permutations(range(len(scores)))
    return [o for o in everything if all(scores[a] >= scores[b] for a, b in itertools.pairwise(o))]


def discount(rank, truncation):
    """Return the discount of a rank, counted from 0."""
    return 1.0 / math.log2(2.0 + rank) if truncation is None or rank < truncation else 0.0


def dcg(gains, scores, truncation):
    """Return the mean discounted gain over all orders."""
    found = orders(scores)
    total = sum(
        gains[document] * discount(rank, truncation)
        for order in found
        for rank, document in enumerate(order)
    )
    return total / len(found)


def ideal(gains, truncation):
    """Return the discounted gain of the best order."""
    falling = sorted(gains, reverse=True)
    return sum(gain * discount(rank, truncation) for rank, gain in enumerate(falling))


def swap(gains, scores, i, j, truncation):
    """Return the mean change of NDCG, over all orders, when i and j change places."""
    found, best = orders(scores), ideal(gains, truncation)
    changes = []
    for order in found:
        changed = [{i: j, j: i}.get(document, document) for document in order]
        before, after = (
            sum(gains[d] * discount(r, truncation) for r, d in enumerate(each))
            for each in (order, changed)
        )
        changes.append(abs(after - before) / best)
    return sum(changes) / len(found)


def derivatives(gains, scores, sigma, worth):
    """Return gradients and Hessians of sum worth(i, j) log(1 + e^(-sigma (f_i - f_j)))."""
    g, h = [0.0] * len(gains), [0.0] * len(gains)
    for i, j in itertools.permutations(range(len(gains)), 2):
        if gains[i] > gains[j]:
            p = 1.0 / (1.0 + math.exp(sigma * (scores[i] - scores[j])))
            w = worth(i, j)
            g[i] -= w * sigma * p
            g[j] += w * sigma * p
            h[i] += w * sigma**2 * p * (1.0 - p)
            h[j] += w * sigma**2 * p * (1.0 - p)
    return g, h


def pairwise_loss(gains, scores, sigma):
    """Return the logistic loss of all pairs of unequal gains."""
    return sum(
        math.log1p(math.exp(-sigma * (scores[i] - scores[j])))
        for i, j in itertools.permutations(range(len(gains)), 2)
        if gains[i] > gains[j]
    )
