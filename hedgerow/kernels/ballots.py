"""Ballots: what the leaf of a packed tree adds to the scores of a row.

`add_leaf(leaf, extra, first, out)`: leaf is a PACKED node, extra[first:] are the tree's rows of
what did not fit into 16 bytes, out are the row's scores, float64 [n_values].

`vote(leaf)`: the one number to which a leaf adds 1, if that is all that it does; otherwise -1.
"""

from typing import NamedTuple

import numpy as np


class Proportions(NamedTuple):
    """The share of each class in the leaf: soft voting."""

    n_classes: int

    def vote(self, leaf):
        return leaf.link if leaf.link >= 0 else -1

    def add_leaf(self, leaf, extra, first, out):
        if leaf.link >= 0:
            out[leaf.link] += 1.0
            return
        row = extra[first - 1 - leaf.link]
        for k in range(self.n_classes):
            out[k] += row[k] / leaf.steps


class Votes(NamedTuple):
    """One vote for the leaf's most frequent class, of equals the first: hard voting."""

    n_classes: int

    def vote(self, leaf):
        return leaf.link if leaf.link >= 0 else -1

    def add_leaf(self, leaf, extra, first, out):
        if leaf.link >= 0:
            out[leaf.link] += 1.0
            return
        row, best = extra[first - 1 - leaf.link], np.int64(0)
        for k in range(1, self.n_classes):
            if row[k] > row[best]:
                best = np.int64(k)
        out[best] += 1.0


class Means(NamedTuple):
    """The mean of each output in the leaf."""

    n_outputs: int

    def vote(self, leaf):
        return -1

    def add_leaf(self, leaf, extra, first, out):
        out[0] += leaf.number
        for j in range(1, self.n_outputs):
            out[j] += extra[first + leaf.link, 1 + j]


class SquaredMeans(NamedTuple):
    """The square of the mean of each output: with the means, their variance over trees."""

    n_outputs: int

    def vote(self, leaf):
        return -1

    def add_leaf(self, leaf, extra, first, out):
        for j in range(self.n_outputs):
            mean = extra[first + leaf.link, 1 + j]
            out[j] += mean * mean
