"""Bags: the rows, and the features, that each model of an ensemble is made from.

    bagging           rows drawn with replacement, as many as there are
    pasting           rows drawn without replacement
    random subspaces  all rows, some of the features
    random patches    some of both

Notes 1, variations of bagging; Breiman (1996, 1999); Ho (1998); Louppe and Geurts (2012).

What is drawn is a function of the seed, the number of the model and the content of the rows.
Rows of the same content are alike: which of them is drawn is of no account.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.bags import draw_with_replacement, draw_without_replacement
from hedgerow.kernels.codes import Codes
from hedgerow.kernels.draws import mix_contents
from hedgerow.kernels.random import mixed_bits, uniform_bits
from hedgerow.kernels.team import Team

_ROWS, _FEATURES = 0x726F7773, 0x636F6C73  # name draws, among those that a seed is for
Counts = NDArray[np.int64]


class Urn(NamedTuple):
    """Rows to draw from.

    order  int64 [n_rows]          by their content
    ends   int64 [n_rows] or [0]   sums of their weights in this order; [0]: all are 1
    rank   int32 [n_rows]          place of each row in the order
    """

    order: NDArray[np.int64]
    ends: NDArray[np.int64]
    rank: NDArray[np.int32]

    @classmethod
    def in_order(cls, order: NDArray[np.int64], ends: NDArray[np.int64]) -> "Urn":
        """Lay out rows in an order."""
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return cls(order, ends, rank)

    @classmethod
    def of(
        cls,
        codes: Codes,
        targets: NDArray[np.float64],
        weights: Counts,
        by_weight: bool,
        team: Team,
    ) -> "Urn":
        """Lay out rows by their codes and targets, float64 [n_rows, ..]; by_weight: and weights.

        Equals of different weight lie side by side, the lighter first: together they have the
        same places.
        """
        keys = np.zeros(len(weights), np.int64)
        numbers = np.ascontiguousarray(targets.reshape(len(keys), -1).T, np.float64) + 0.0
        bits = [numbers.view(np.int64)] + [weights[None]] * by_weight
        team.run(mix_contents, codes, np.concatenate(bits), keys)
        is_even = weights.min() == weights.max() == 1
        order = np.argsort(keys, kind="stable") if is_even else np.lexsort((weights, keys))
        ends = np.zeros(0, np.int64) if is_even else np.cumsum(weights[order])
        return cls.in_order(order, ends)


class Bootstrap(NamedTuple):
    """Rows with replacement, in proportion to their weights, so many draws. Efron (1979)."""

    n_draws: int

    @property
    def keeps_weights(self) -> bool:
        """Rows that are drawn count as often as they are: weights are in the draw."""
        return False

    def counts(self, urn: Urn, bits: int) -> Counts:
        """Return how often each row is drawn."""
        counts, drawn = np.empty(len(urn.order), np.int64), np.zeros(len(urn.order), np.int32)
        draw_with_replacement(bits, urn.rank, urn.ends, self.n_draws, drawn, counts)
        return counts


class Pasting(NamedTuple):
    """Rows without replacement, each with the same chance. Breiman (1999)."""

    n_draws: int

    @property
    def keeps_weights(self) -> bool:
        """Rows that are drawn count by their weights."""
        return True

    def counts(self, urn: Urn, bits: int) -> Counts:
        """Return 1 for the rows that are drawn, 0 for others."""
        counts = np.zeros(len(urn.order), np.int64)
        places = np.empty_like(urn.order)
        draw_without_replacement(bits, urn.order, self.n_draws, places, counts)
        return counts


class Bags(NamedTuple):
    """The rows of each model of an ensemble."""

    way: Bootstrap | Pasting
    urn: Urn
    seed: int

    def counts(self, number: int) -> Counts:
        """Return how often each row is drawn for the model of this number, int64 [n_rows]."""
        bits = mixed_bits(mixed_bits(self.seed, _ROWS), number)
        return self.way.counts(self.urn, bits)


def drawn_features(
    seed: int, number: int, n_features: int, n_drawn: int, replace: bool
) -> NDArray[np.int64]:
    """Return the features of the model of this number, ascending; with `replace`, repeats too."""
    bits = mixed_bits(mixed_bits(seed, _FEATURES), number)
    if replace:
        places = [int(uniform_bits(bits, k) * n_features) for k in range(n_drawn)]
        return np.sort(np.array(places, np.int64))
    ranks = np.array([uniform_bits(bits, feature) for feature in range(n_features)])
    return np.sort(np.argsort(ranks, kind="stable")[:n_drawn])
