"""One model of one fold: fitted to the training rows, judged by the rows held out."""

import pickle
import time
import warnings
from numbers import Real
from traceback import format_exc
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning

from hedgerow.estimators.parts import takes_parts
from hedgerow.evaluation.folds import Fold, Side
from hedgerow.evaluation.scorers import Scorers
from hedgerow.evaluation.stages import NoStagesError, Whole, has_stages, staged_scores
from hedgerow.evaluation.workers import hushed

Scored = dict[str, NDArray[np.float64]]  # by name, after each stage; one number without stages


class Asked(NamedTuple):
    """What is asked of each model.

    curve        judge every stage
    train        judge by the training rows as well
    keeps        return the fitted model
    weighs       return its size
    error_score  the score of a model that fails, or "raise"
    """

    scorers: Scorers
    curve: bool = True
    train: bool = False
    keeps: bool = False
    weighs: bool = False
    error_score: Any = "raise"


class Outcome(NamedTuple):
    """What became of a model; `error` tells why it has no scores, empty if it has."""

    fit_time: float
    score_time: float
    test: Scored
    train: Scored
    is_staged: bool
    total: float  # rows held out, or their weight
    model: Any = None
    n_bytes: int = 0
    error: str = ""


def judged(fold: Fold, estimator: Any, asked: Asked) -> Outcome:
    """Fit a copy of an estimator to a fold and judge it."""
    train, test = fold.sides
    model, begun = clone(estimator), time.perf_counter()
    given = hushed(model)
    try:
        model.fit(train.table_for(model), train.y, **train.fit_params)
        fitted = time.perf_counter()
        scores, is_staged = _judged(model, fold, test, asked)
        done = time.perf_counter()
        of_train = _judged(model, fold, train, asked)[0] if asked.train else {}
    except Exception as error:
        if asked.error_score == "raise":
            raise
        failed = {name: np.array([float(asked.error_score)]) for name in asked.scorers.by_name}
        warnings.warn(
            f"Fold {fold.number} of {type(estimator).__name__} failed, and its score is set to "
            f"{asked.error_score}: {error}",
            FitFailedWarning,
            stacklevel=2,
        )
        spent = time.perf_counter() - begun
        return Outcome(spent, 0.0, failed, failed, False, test.total, error=format_exc())
    finally:
        fold.left()
    model.set_params(**given)
    kept, n_bytes = model if asked.keeps else None, size_in_bytes(model) if asked.weighs else 0
    times = fitted - begun, done - fitted
    return Outcome(*times, scores, of_train, is_staged, test.total, kept, n_bytes)


def _judged(model: Any, fold: Fold, side: Side, asked: Asked) -> tuple[Scored, bool]:
    """Return the scores by some rows, and whether they are of all stages."""
    params = side.scored_with(model)
    try:
        if asked.curve and has_stages(model):
            try:
                scores = staged_scores(model, side, asked.scorers, params)
                if scores:
                    return scores, True
            except NoStagesError:
                pass  # judged as a whole
        seen = Whole(model, side) if takes_parts(model) else model
        whole = asked.scorers(seen, side.X, side.y, params)
    except ValueError as error:
        raise _explained(model, fold, error) from error
    return {name: np.array([value]) for name, value in whole.items()}, False


def _explained(model: Any, fold: Fold, error: ValueError) -> ValueError:
    """Say that classes are missing in a fold, if they are: scorers do not know why."""
    if not is_classifier(model):
        return error
    train, test = (np.unique(np.asarray(side.y)) for side in fold.sides)
    here, there = "training rows", "rows held out"
    missing = np.setdiff1d(test, train).tolist()
    if not missing:
        here, there = there, here
        missing = np.setdiff1d(train, test).tolist()
    if not missing:
        return error
    return ValueError(
        f"Fold {fold.number} cannot be judged: its {here} have no class {missing[0]!r}, which its "
        f"{there} have. Pass cv=StratifiedKFold(...) of fewer folds, or a score that needs no "
        f"probabilities of all classes. The scorer said: {error}"
    )


class _Counter:
    """A file that counts what is written to it."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def write(self, some: Any) -> int:
        self.n_bytes += len(memoryview(some).cast("B"))
        return len(some)


def size_in_bytes(model: Any) -> int:
    """Return how many bytes a fitted model takes when it is pickled; -1 if it cannot be.

    Examples
    --------
    >>> from hedgerow.evaluation.fitting import size_in_bytes
    >>> size_in_bytes(lambda: 0)
    -1
    """
    counter = _Counter()
    try:
        pickle.Pickler(counter, protocol=5).dump(model)
    except (pickle.PicklingError, AttributeError, TypeError):
        return -1
    return counter.n_bytes


def check_error_score(error_score: Any) -> None:
    """Raise if it is neither "raise" nor a number."""
    if error_score != "raise" and not isinstance(error_score, Real):
        raise ValueError(
            f"error_score={error_score!r} is neither 'raise' nor a number. Pass 'raise', or the "
            "score of a model that cannot be fitted, such as float('nan')."
        )
