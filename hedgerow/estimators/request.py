"""What a fit may be asked besides its rows: rows to watch, offsets, a model to go on from."""

from typing import Any, NamedTuple

from hedgerow.data.binned import BinnedTable
from hedgerow.data.table import Table, read_table
from hedgerow.estimators.checkpoints import Checkpoint
from hedgerow.estimators.checks import check_weights
from hedgerow.estimators.stopping import GivenRows
from hedgerow.fitted.boosting import check_offset


class Request(NamedTuple):
    """What else a fit was asked.

    eval_set  a tuple or a list of tuples (X, y), (X, y, weight) or (X, y, weight, offset); of
              a ranker (X, y, qid) or (X, y, qid, weight)
    offset    array [n_rows] or [n_rows, n_outputs], or None
    before    the fitted estimator to go on from, or None
    begun     when the fit began, by the monotonic clock
    checkpoint  the file to go on from and to write to, or None
    """

    eval_set: Any
    offset: Any
    before: Any
    begun: float
    checkpoint: Checkpoint | None = None


def watched_rows(estimator: Any, request: Request, n_outputs: int) -> list[GivenRows]:
    """Read the tables of eval_set, by the columns, classes and categories of the fit."""
    given = request.eval_set
    if given is None:
        return []
    listed = [given] if isinstance(given, tuple) else list(given)
    return [
        estimator._watched(number, each, request, n_outputs) for number, each in enumerate(listed)
    ]


def given_rows(
    estimator: Any, number: int, given: Any, request: Request, n_outputs: int
) -> GivenRows:
    """Read an entry of eval_set."""
    if not isinstance(given, (tuple, list)) or not 2 <= len(given) <= 4:
        raise ValueError(
            f"eval_set[{number}] is not a tuple of X and y. Pass (X, y), (X, y, weight) or "
            "(X, y, weight, offset), or a list of such tuples."
        )
    X, y, weight, offset = (*given, None, None)[:4]
    n_rows = read_table(X).n_rows
    if (offset is None) != (request.offset is None):
        raise ValueError(
            f"eval_set[{number}] has {'no' if offset is None else 'an'} offset, but fit has "
            f"{'none' if request.offset is None else 'one'}. Pass (X, y, weight, offset) in "
            "eval_set if and only if fit has an offset; the weight may be None."
        )
    own = 0.0 if offset is None else check_offset(offset, n_rows, n_outputs)
    targets, weights = estimator._watched_targets(y, n_rows), check_weights(weight, n_rows)
    return GivenRows(f"eval_{number}", estimator._values(X), targets, weights, own)


def check_going_on(
    estimator: Any, request: Request, table: Table, binned: BinnedTable, n_rounds: int
) -> None:
    """Raise if a model cannot be gone on from with this table and these parameters."""
    before, remedy = request.before, "Set warm_start=False to begin anew."
    if estimator.n_estimators == "cv":
        raise ValueError(
            "warm_start=True goes on to a given number of rounds, but n_estimators='cv' chooses "
            f"one. {remedy}"
        )
    if n_rounds < before.n_estimators_:
        raise ValueError(
            f"n_estimators={n_rounds} is less than the {before.n_estimators_} rounds "
            f"that the model has, and warm_start=True only adds. {remedy}"
        )
    if table.n_features != before.n_features_in_:
        raise ValueError(
            f"X has {table.n_features} features, but the model that warm_start=True goes on from "
            f"has {before.n_features_in_}. Pass the same columns. {remedy}"
        )
    names = None if table.names is None else tuple(table.names)
    if names != before._schema.names or binned.categories != before._schema.categories:
        raise ValueError(
            "X has other column names or categories than the model that warm_start=True goes on "
            f"from. Pass the same table. {remedy}"
        )
    if (request.offset is not None) != before._has_offset:
        given, had = ("an", "without") if request.offset is not None else ("no", "with")
        raise ValueError(
            f"fit has {given} offset, but the model that warm_start=True goes on from was fitted "
            f"{had} one. {remedy}"
        )
    _check_same_targets(estimator, before, remedy)


def _check_same_targets(estimator: Any, before: Any, remedy: str) -> None:
    """Raise if classes or the loss are not what they were."""
    classes, had = getattr(estimator, "classes_", ()), getattr(before, "classes_", ())
    if list(classes) != list(had):
        raise ValueError(
            f"y has the classes {list(classes)[:8]}, but the model that warm_start=True goes on "
            f"from has {list(had)[:8]}. Pass the same classes. {remedy}"
        )
    n_outputs, had = getattr(estimator, "n_outputs_", 1), getattr(before, "n_outputs_", 1)
    if n_outputs != had:
        raise ValueError(
            f"y has {n_outputs} columns, but the model that warm_start=True goes on from has {had} "
            f"outputs. Pass the same columns. {remedy}"
        )
    if type(before._loss) is not type(estimator._loss_value()):
        raise ValueError(
            f"loss={estimator.loss!r} is not the loss of the model that warm_start=True goes on "
            f"from ({type(before._loss).__name__}). {remedy}"
        )
