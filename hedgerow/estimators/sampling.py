"""Translating parameters about samples: of rows, and of earlier rounds."""

from typing import Any

from hedgerow.ensembles.dropout import NO_DROPOUT, Dropout
from hedgerow.ensembles.sampling import EVERY_ROW, OneSided, Sampling, Subsample


def row_sampling(estimator: Any) -> Sampling:
    """Return the way in which rows are drawn for a round."""
    subsample, top, other = estimator.subsample, estimator.top_rate, estimator.other_rate
    if estimator.sampling == "uniform":
        return Subsample(float(subsample)) if subsample < 1.0 else EVERY_ROW
    if subsample < 1.0:
        raise ValueError(
            f"sampling='goss' draws rows by top_rate and other_rate, but subsample="
            f"{subsample} is given too. Leave subsample at 1.0, or use sampling='uniform'."
        )
    if top + other > 1.0:
        raise ValueError(
            f"top_rate={top} and other_rate={other} are shares of all rows, and add up to more "
            "than 1. Pass smaller ones, such as 0.2 and 0.1."
        )
    return OneSided(float(top), float(other))


def check_bag(estimator: Any, loss: Any) -> None:
    """Raise if rows out of the bag are to be measured by a loss that has no values."""
    if estimator.oob_improvement and hasattr(loss, "derivatives"):
        raise ValueError(
            f"oob_improvement=True measures the loss of rows that were not drawn, but {loss} only "
            "knows derivatives. Pass oob_improvement=False, or a class with the method "
            "`loss(self, y, f)`."
        )


def round_dropout(estimator: Any) -> Dropout:
    """Return the way in which rounds are dropped; raise if something needs them as they were."""
    if estimator.dropout == 0.0:
        return NO_DROPOUT
    given = f"dropout={estimator.dropout}"
    changes = f"with {given} later rounds change the trees of earlier ones"
    if estimator.early_stopping is True:
        raise ValueError(
            f"early_stopping=True keeps the first rounds, but {changes}. Pass "
            "early_stopping=False and choose n_estimators."
        )
    if estimator.n_estimators == "cv":
        raise ValueError(
            f"n_estimators='cv' keeps the first rounds, but {changes}. Pass a number of rounds."
        )
    if estimator.warm_start:
        raise ValueError(f"warm_start=True only adds rounds, but {changes}. Pass warm_start=False.")
    if estimator.learning_rate == "line_search":
        raise ValueError(
            f"With {given} a round's step follows from the number of rounds dropped, so there "
            "is none to search for. Pass a number as learning_rate."
        )
    return Dropout(
        float(estimator.dropout), int(estimator.max_dropped), float(estimator.skip_dropout)
    )
