"""Lists: rows by query, what their documents gain, and how good an order of them is.

    DCG@k  = sum over the ranks r = 1 .. k of gain(y_r) D(r),      D(r) = 1 / log2(1 + r)
    NDCG@k = DCG@k / DCG@k of the best order

Jarvelin and Kekalainen (2002). Documents of equal scores share the mean discount of their
ranks (McSherry and Najork 2008), as in scikit-learn; a query without any gain has NDCG 0.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.exponential import exp, log
from hedgerow.kernels.ranking import Queries, discounted_gains, ideal_gains, room_for
from hedgerow.kernels.team import Team
from hedgerow.losses.targets import Array, demand_finite

_LN2 = 0.6931471805599453
_MOST_RELEVANT = 31.0  # 2^31: beyond, a label is rather a number that was not meant as a grade


class Lists(NamedTuple):
    """Rows by query.

    queries    Queries              as kernels see them
    discounts  float64 [longest]    D(r) up to the rank of truncation, then 0
    """

    queries: Queries
    discounts: Array


def gains_of(y: Array, kind: str) -> Array:
    """Return what labels gain, 2^y - 1 ("exponential") or y ("linear").

    >>> gains_of(np.array([0.0, 1.0, 3.0]), "exponential")
    array([0., 1., 7.])
    """
    demand_finite(y, "A ranking loss")
    bad = np.flatnonzero(y < 0.0)
    if len(bad):
        raise ValueError(
            f"A ranking loss was given y[{bad[0]}] = {y[bad[0]]:g}, and accepts labels >= 0: 0 for "
            "a document that is not relevant, more for a more relevant one. Add a constant to all "
            "labels."
        )
    if kind == "linear":
        return y
    bad = np.flatnonzero(y > _MOST_RELEVANT)
    if len(bad):
        raise ValueError(
            f"A ranking loss was given y[{bad[0]}] = {y[bad[0]]:g}, and accepts labels up to 31 "
            "where the gain is 2^label - 1. Pass grades of relevance (0, 1, 2, ...), or "
            "gain='linear' to gain the labels themselves."
        )
    whole = np.floor(y)
    return np.asarray(np.ldexp(exp((y - whole) * _LN2), whole.astype(np.int64)) - 1.0)


def listed(query_of_row: NDArray[np.int64], gains: Array, truncation: int | None) -> Lists:
    """Put rows into lists; queries are numbered 0 .. n - 1 and have at least one row each."""
    rows = np.lexsort((-gains, query_of_row))
    first = np.concatenate([[0], np.cumsum(np.bincount(query_of_row), dtype=np.int64)])
    longest = int(np.diff(first).max())
    reach = longest if truncation is None else min(longest, truncation)
    discounts = np.zeros(longest)
    discounts[:reach] = [_LN2 / log(1.0 + rank) for rank in range(1, reach + 1)]
    ideal, gains = np.empty(len(first) - 1), gains[rows]
    ideal_gains(first, gains, discounts, ideal)
    return Lists(Queries(first, rows, gains, ideal), discounts)


def ndcg(lists: Lists, scores: Array, chosen: NDArray[np.int64], team: Team) -> Array:
    """Return the NDCG of chosen queries, their documents ranked by scores, float64 [n_rows]."""
    gained, room = np.empty(len(chosen)), room_for(lists.queries, team.n_threads)
    team.run(discounted_gains, lists.queries, chosen, lists.discounts, scores, room, gained)
    ideal = lists.queries.ideal[chosen]
    # Rounding might make an order look better than the best one.
    return np.minimum(gained / np.where(ideal > 0.0, ideal, 1.0), 1.0)
