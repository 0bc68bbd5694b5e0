"""Queries to be watched: how good their rankings are after each round."""

from typing import Any

import numpy as np

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.boosting import Boosting
from hedgerow.ensembles.curve import Scored
from hedgerow.estimators.queries import check_queries, check_query_weights, check_relevance
from hedgerow.estimators.stopping import GivenRows
from hedgerow.losses import RankingLoss
from hedgerow.losses.lists import gains_of, listed

_BY_SIZES = "np.repeat(np.arange(len(sizes)), sizes) makes it of the sizes of groups"


class GivenQueries(GivenRows):
    """Queries of a table of their own, with a loss that has their lists."""

    def __init__(self, name: str, values: Floats, y: Floats, weights: Floats, loss: Any) -> None:
        super().__init__(name, values, y, weights, 0.0)
        self._loss, self._rows = loss, np.arange(len(y))

    def scored(self, boosting: Boosting) -> Scored:
        """Add the rounds that are new; return the rows with their scores."""
        scored = super().scored(boosting)
        return scored._replace(stage=scored, rows=self._rows, loss=self._loss)


def given_queries(estimator: Any, number: int, given: Any) -> GivenQueries:
    """Read an entry of a ranker's eval_set, by the columns and categories of the fit."""
    is_tuple = isinstance(given, (tuple, list))
    if not is_tuple or not 3 <= len(given) <= 4:
        what = f"{type(given).__name__} of {len(given)}" if is_tuple else type(given).__name__
        raise ValueError(
            f"eval_set[{number}] is a {what}. Pass (X, y, qid) or (X, y, qid, weight), or a list "
            f"of such tuples; qid is the query of each row, and {_BY_SIZES}."
        )
    try:
        return _read(estimator, f"eval_{number}", *(*given, None)[:4])
    except ValueError as error:
        raise ValueError(f"eval_set[{number}]: {error}") from error


def _read(estimator: Any, name: str, X: Any, y: Any, qid: Any, weight: Any) -> GivenQueries:
    """Check rows and their queries; those without weight are not there."""
    values = estimator._values(X)
    targets = check_relevance(estimator, y, len(values))
    if np.shape(qid)[:1] != (len(values),):
        given = "is None" if qid is None else f"has shape {np.shape(qid)}"
        raise ValueError(
            f"qid {given}, but X has {len(values)} rows. Pass the query of each row; {_BY_SIZES}."
        )
    query_of_row = check_queries(qid, None, len(values))
    weights = check_query_weights(weight, query_of_row)
    kept = np.flatnonzero(weights > 0)
    numbers = np.unique(query_of_row[kept], return_inverse=True)[1]
    lists = listed(numbers, gains_of(targets[kept], estimator.gain), estimator.truncation)
    loss = RankingLoss(estimator._loss_value(), lists)
    return GivenQueries(name, values[kept], targets[kept], weights[kept], loss)
