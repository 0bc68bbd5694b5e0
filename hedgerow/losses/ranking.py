"""Losses of ranked lists: y is how relevant a document is, f the score that it is ranked by.

A loss of pairs adds log(1 + e^(-sigma (f_i - f_j))), times what the pair is worth, over the
pairs of a query's documents of which i is the more relevant. Only differences of scores
within a query matter: scores start at zero and mean nothing by themselves.
"""

# The formulas stand in the classes' docstrings.
# ruff: noqa: D102

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.ranking import derive_pairs, room_for
from hedgerow.kernels.team import Team
from hedgerow.losses.lists import Lists, ndcg
from hedgerow.losses.targets import Array


class LambdaRank(NamedTuple):
    """Pairs are worth what NDCG would change by if the two documents changed places.

        l       = sum of worth log(1 + e^(-sigma (f_i - f_j)))       over pairs with y_i > y_j
        worth   = (gain_i - gain_j) |D(rank_i) - D(rank_j)| / ideal
        dl/df_i = -sum of worth sigma p,          p = 1 / (1 + e^(sigma (f_i - f_j)))
        dl/df_j = sum of worth sigma p
        h       = sum of worth sigma^2 p (1 - p)

    The worth is held fixed when derivatives are taken. Among documents of equal scores it is
    the mean over all their orders. Burges (2010), section 4; Wu, Burges, Svore and Gao (2010).
    """

    sigma: float = 1.0

    def worth(self, gain: float, gap: float) -> float:
        """Return what a pair is worth, in units of its query."""
        return gain * gap

    def units(self, ideal: Array) -> Array:
        """Return the unit of each query; without any gain there is no pair to be worth anything."""
        return 1.0 / np.where(ideal > 0.0, ideal, 1.0)

    def ranks(self, discounts: Array) -> Array:
        """Return the discounts of ranks; pairs of two ranks of discount 0 are left out."""
        return discounts


class Pairwise(NamedTuple):
    """Pairs of unequal relevance are all worth the same: RankNet's logistic loss.

        l       = sum of log(1 + e^(-sigma (f_i - f_j)))             over pairs with y_i > y_j
        dl/df_i = -sum of sigma p,                p = 1 / (1 + e^(sigma (f_i - f_j)))
        dl/df_j = sum of sigma p
        h       = sum of sigma^2 p (1 - p)        (the diagonal of the second derivative)

    Burges and others (2005); Burges (2010), section 2.
    """

    sigma: float = 1.0

    def worth(self, gain: float, gap: float) -> float:  # noqa: ARG002  as LambdaRank
        return 1.0 if gain > 0.0 else 0.0

    def units(self, ideal: Array) -> Array:
        return np.ones(len(ideal))

    def ranks(self, discounts: Array) -> Array:
        """Return the same for all ranks: no pair is left out."""
        return np.ones(len(discounts))


class RankingLoss(NamedTuple):
    """A loss of pairs, with the lists that it is a loss of. It derives whole queries."""

    formula: LambdaRank | Pairwise
    lists: Lists
    n_outputs: int = 1

    def start(self, y: Array, w: Array) -> float:  # noqa: ARG002  as every loss
        return 0.0

    def derive(self, team: Team, stage: Any) -> None:
        """Set the derivatives of a stage's rows at their scores."""
        formula, (queries, discounts) = self.formula, self.lists
        units, ranks = formula.units(queries.ideal), formula.ranks(discounts)
        room = room_for(queries, team.n_threads)
        scores, pairs = stage.raw[0], stage.pairs[0]
        team.run(derive_pairs, formula, queries, units, ranks, stage.real, scores, room, pairs)

    def measure(self, team: Team, stage: Any, rows: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return 1 - NDCG of the queries that some rows make up, and their weights."""
        queries = self.lists.queries
        is_measured = np.zeros(len(stage.y), bool)
        is_measured[rows] = True
        a_row = queries.rows[queries.first[:-1]]
        listed = np.flatnonzero(is_measured[a_row])
        return 1.0 - ndcg(self.lists, stage.raw[0], listed, team), stage.weights[a_row[listed]]
