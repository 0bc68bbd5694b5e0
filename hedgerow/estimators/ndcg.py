"""How good rankings are: the mean NDCG of queries."""

from typing import Any

import numpy as np

from hedgerow.estimators.checks import check_length
from hedgerow.estimators.queries import check_queries, check_query_weights
from hedgerow.kernels.team import hired
from hedgerow.losses.lists import gains_of, listed, ndcg
from hedgerow.losses.weighted import weighted_mean


def mean_ndcg(
    y: Any,
    scores: Any,
    *,
    qid: Any = None,
    group: Any = None,
    k: int | None = None,
    gain: str = "exponential",
    sample_weight: Any = None,
) -> float:
    """Return the mean NDCG@k of queries whose rows are ranked by their scores, 0 to 1.

        DCG@k = sum over the ranks r = 1 .. k of gain(y_r) / log2(1 + r),    NDCG = DCG / best DCG

    Rows of equal scores share the mean discount of their ranks: their order does not matter.
    That, and 0 for a query of which nothing is relevant, is as in scikit-learn's `ndcg_score`
    (whose gain is linear); LightGBM and XGBoost count such a query as 1.

    Parameters
    ----------
    y : array [n_rows]
        Relevance, 0 or more.
    scores : array [n_rows]
    qid, group : as in `GradientBoostingRanker.fit`
    k : int or None
        None: all ranks.
    gain : {"exponential", "linear"}
        2^y - 1, or y.
    sample_weight : array [n_rows] or None
        Equal in all rows of a query; 0 leaves a row out.

    Examples
    --------
    >>> from hedgerow import mean_ndcg
    >>> mean_ndcg([1, 0, 0, 2], [0.3, 0.1, 0.9, 0.2], qid=["a", "a", "b", "b"])
    0.8154648767857287
    """
    values, ranked = np.asarray(y, np.float64), np.asarray(scores, np.float64)
    if values.ndim != 1 or not len(values) or ranked.ndim != 1:
        raise ValueError(
            f"y has shape {values.shape} and scores have {ranked.shape}. Pass one label and one "
            "score for each of one row or more."
        )
    check_length("scores", ranked, len(values))
    if not np.isfinite(ranked).all():
        row = int(np.argmin(np.isfinite(ranked)))
        raise ValueError(
            f"scores[{row}] is {ranked[row]}, which has no rank. Pass finite scores for all rows."
        )
    query_of_row = check_queries(qid, group, len(values))
    weights = check_query_weights(sample_weight, query_of_row)
    kept = np.flatnonzero(weights > 0)
    numbers, query_of_row = np.unique(query_of_row[kept], return_inverse=True)
    lists = listed(query_of_row, gains_of(values[kept], gain), k)
    with hired(1, 0.0) as team:
        values = ndcg(lists, ranked[kept], np.arange(len(numbers)), team)
    first = lists.queries.rows[lists.queries.first[:-1]]
    return weighted_mean(values, weights[kept][first])
