"""The best splits of a node of numbers, by trying all of them."""

from typing import NamedTuple

import numpy as np

TIE = 1e-10  # of the node's own cost: what differs by less is called a tie


class Best(NamedTuple):
    """The largest gain of a node, and all that reaches it.

    A partition is the set of rows that go with the node's first row, as bytes. Splits of
    several features that part the rows alike are one partition: they make the same tree as
    far as the training rows can tell.
    """

    gain: float
    partitions: set[bytes]
    features: set[int]


def best_splits(X, y, weights, criterion, min_rows=1, min_weight=0.0):
    """Return the best splits of the node that has these rows."""
    whole = cost_of(y, weights, criterion)
    found = []
    for feature, x in columns_of(X):
        order = np.argsort(x, kind="stable")
        left, right = costs_of_cuts(y[order], weights[order], criterion)
        sizes, mass = np.arange(1, len(x)), np.cumsum(weights[order])
        allowed = (x[order][1:] > x[order][:-1]) & (np.minimum(sizes, len(x) - sizes) >= min_rows)
        allowed &= np.minimum(mass[:-1], mass[-1] - mass[:-1]) >= min_weight * (1 - 1e-12)
        gains = np.where(allowed, whole - left - right, -np.inf)
        for cut in np.flatnonzero(allowed & (gains >= gains.max(initial=-np.inf) - TIE * whole)):
            found.append((gains[cut], partition_of(x <= x[order][cut]), feature))
    best = max((gain for gain, _, _ in found), default=0.0)
    found = [split for split in found if split[0] >= best - TIE * whole]
    return Best(best, {p for _, p, _ in found}, {f for _, _, f in found})


def columns_of(X):
    """Yield the features, those with missing values twice: missing above all, below all."""
    for feature, x in enumerate(X.T):
        missing = np.isnan(x)
        yield feature, np.where(missing, np.inf, x)
        if missing.any():
            yield feature, np.where(missing, -np.inf, x)


def partition_of(goes_left):
    return np.packbits(goes_left == goes_left[0]).tobytes()


def cost_of(y, weights, criterion):
    """Return weight times impurity."""
    if criterion == "squared_error":
        return float((weights[:, None] * (y - np.average(y, axis=0, weights=weights)) ** 2).sum())
    if criterion == "absolute_error":
        return absolute_cost(y, weights)
    sums = np.array([weights[y == k].sum() for k in np.unique(y)])
    return float(class_cost(sums[None], criterion)[0])


def absolute_cost(y, weights):
    y, order = y.ravel(), np.argsort(y.ravel())
    running = np.cumsum(weights[order])
    median = y[order][np.searchsorted(running, running[-1] / 2)]
    return float((weights * np.abs(y - median)).sum())


def class_cost(sums, criterion):
    """Return the cost of leaves with these sums of class weights, [n, n_classes]."""
    W = sums.sum(axis=1)
    shares = sums / W[:, None]
    if criterion == "gini":
        return W * (1 - (shares**2).sum(axis=1))
    return -W * (shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)


def costs_of_cuts(y, weights, criterion):
    """Return the costs left and right of the cuts after each row but the last."""
    if criterion == "absolute_error":
        cuts = range(1, len(y))
        left = [absolute_cost(y[:cut], weights[:cut]) for cut in cuts]
        return np.array(left), np.array([absolute_cost(y[cut:], weights[cut:]) for cut in cuts])
    if criterion == "squared_error":
        y = y - y.mean(axis=0)
        squares = (weights[:, None] * y**2).sum(axis=1)
        sums = np.column_stack([weights, weights[:, None] * y, squares])
        left, right = np.cumsum(sums, axis=0)[:-1], np.cumsum(sums[::-1], axis=0)[-2::-1]
        return square_costs(left), square_costs(right)
    sums = np.cumsum(weights[:, None] * (y[:, None] == np.unique(y)), axis=0)
    return class_cost(sums[:-1], criterion), class_cost(sums[-1] - sums[:-1], criterion)


def square_costs(sums):
    return sums[:, -1] - (sums[:, 1:-1] ** 2).sum(axis=1) / sums[:, 0]
