"""Queries: which rows are ranked against each other, as users give them."""

import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.values import families, is_missing
from hedgerow.estimators.checks import check_length, check_targets, check_weights


def check_relevance(estimator: Any, y: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one label per row, float64 [n_rows], or raise saying what is wrong."""
    labels = check_targets(estimator, y, n_rows)
    if labels.shape[1] != 1:
        raise ValueError(
            f"y has {labels.shape[1]} columns, but a ranking is by one relevance. Pass one label "
            "for each row, and fit one model for each column."
        )
    return labels[:, 0]


def check_queries(qid: Any, group: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the number of each row's query, or raise saying what is wrong."""
    if (qid is None) == (group is None):
        given = "neither qid nor group was" if qid is None else "both qid and group were"
        raise ValueError(
            f"A ranking is of the rows of each query, and {given} given. Pass either qid=, the "
            "query of each row, or group=, the sizes of queries whose rows follow one another; "
            "if all rows are one list, group=[len(X)]."
        )
    return _of_ids(qid, n_rows) if group is None else _of_sizes(group, n_rows)


def _of_ids(qid: Any, n_rows: int) -> NDArray[np.int64]:
    ids = np.asarray(qid)
    if ids.ndim != 1:
        raise ValueError(f"qid has shape {ids.shape}. Pass the query of each row, ({n_rows},).")
    check_length("qid", ids, n_rows)
    is_object = ids.dtype.kind == "O"
    # NaN and NaT differ from themselves.
    missing = np.flatnonzero([is_missing(each) for each in ids] if is_object else ids != ids)  # noqa: PLR0124
    if len(missing):
        raise ValueError(
            f"qid[{missing[0]}] is missing; {len(missing)} of {n_rows} are. Give each row the "
            "number or the name of its query, or drop the row."
        )
    if is_object:
        kinds = families(ids.tolist())
        if len(kinds) > 1:
            raise ValueError(
                f"qid mixes {' and '.join(sorted(map(str, kinds)))}, for example "
                f"{reprlib.repr(ids[0])}. Convert all to one type, as with qid.astype(str)."
            )
    return np.asarray(np.unique(ids, return_inverse=True)[1], np.int64)


def _of_sizes(group: Any, n_rows: int) -> NDArray[np.int64]:
    sizes = np.asarray(group)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf":
        raise ValueError(
            f"group is {reprlib.repr(group)}. Pass the number of rows of each query, in the order "
            "of the rows."
        )
    bad = np.flatnonzero(~(np.isfinite(sizes) & (sizes >= 0) & (sizes == np.floor(sizes))))
    if len(bad):
        raise ValueError(
            f"group[{bad[0]}] is {sizes[bad[0]]}: sizes of queries are whole numbers, 0 or more. "
            "If these are the queries' names, one for each row, pass them as qid."
        )
    if sizes.sum() != n_rows:
        hint = " It has one entry for each row: are these the rows' queries, qid?"
        raise ValueError(
            f"The sizes in group add up to {sizes.sum():.0f}, but X has {n_rows} rows. Pass the "
            f"number of rows of each query.{hint if len(sizes) == n_rows else ''}"
        )
    return np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))


def check_query_weights(sample_weight: Any, query_of_row: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return one weight per row, equal in all rows of a query but those of weight 0."""
    weights = check_weights(sample_weight, len(query_of_row))
    most = np.zeros(int(query_of_row.max(initial=-1)) + 1)
    np.maximum.at(most, query_of_row, weights)
    bad = np.flatnonzero((weights > 0) & (weights != most[query_of_row]))
    if len(bad):
        row = int(bad[0])
        raise ValueError(
            f"sample_weight[{row}] is {weights[row]:g}, but another row of its query has "
            f"{most[query_of_row[row]]:g}. A ranking is of a whole query: give all of its rows "
            "one weight, and 0 to the rows that are to be left out."
        )
    return weights
