"""Choosing parameters by cross-validation, and rebuilding the model on all rows.

    lambda* = argmax over lambda of CV(lambda),        then fit to all n rows with lambda*

Notes 2, "Model selection using CV". The number of rounds or trees is one of the parameters that
cost nothing: it is read from the curve of one fit a fold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from hedgerow.estimators.parts import is_own
from hedgerow.evaluation.candidates import (
    Candidate,
    Parameters,
    candidates_of,
    without_stopping,
)
from hedgerow.evaluation.cross_validation import CrossValidated, gathered_scores
from hedgerow.evaluation.curve import Curve
from hedgerow.evaluation.fitting import Asked, Outcome, judged
from hedgerow.evaluation.folds import Fold, Given, check_given, folds_of
from hedgerow.evaluation.progress import Progress
from hedgerow.evaluation.scorers import scorers_of
from hedgerow.evaluation.tables import frame_of, text_table
from hedgerow.evaluation.workers import work_done


class Choice(NamedTuple):
    """The best of a candidate: how many rounds, the mean score, and its standard error."""

    size: int | None
    mean: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Selection:
    """What `select` chose.

    Attributes
    ----------
    estimator : the model of the chosen parameters, fitted to all rows
    parameters : dict
        The chosen parameters, with the number of rounds if it was read from a curve.
    score, standard_error : float
        CV(lambda*), and its standard error. It is the best of many, hence a little too good: rows
        that had no part in the choice would say how much.
    table : list of dict
        One row for each candidate: its parameters with its best number of rounds, "score",
        "standard_error", "fit_time" and "rank".
    results : list of CrossValidated
        Of each candidate, with curves.
    """

    estimator: Any
    parameters: Parameters
    score: float
    standard_error: float
    table: list[dict[str, Any]]
    results: list[CrossValidated]

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return frame_of(self.table)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        head = f"{chosen or 'as given'}: {self.score:.4g} +/- {self.standard_error:.2g}"
        return head + "\n" + text_table(sorted(self.table, key=lambda row: row["rank"])[:10])


def select(  # noqa: PLR0913  scikit-learn's parameters
    estimator: Any,
    parameters: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    cv: Any = None,
    one_se: bool = False,
    n_iter: int | None = None,
    random_state: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    params: Any = None,
    average: str = "rows",
    n_jobs: int | None = None,
    verbose: bool = True,
) -> Selection:
    """Choose parameters by cross-validation and fit the model to all rows with them.

    Each fold's table is read and binned once for all candidates of the same binning parameters.
    Of an estimator with stages (see `cross_validate`) the number of rounds or trees is always
    chosen as well, from one fit a fold: every one up to `n_estimators`, or those listed in
    `parameters`. Rounds are chosen by the folds, so `early_stopping` is off.

    Parameters
    ----------
    estimator : any estimator of scikit-learn's kind
    parameters : dict, or list of dicts
        From names to lists of values: all combinations are tried, those of each dict. A value
        that is not a list is the only one. With `n_iter`, distributions will do.
    X, y, scoring, cv, groups, sample_weight, params, average, n_jobs, verbose :
        As in `cross_validate`. Of several scorers the first one decides.
    one_se : bool
        Take the simplest within one standard error of the best: the first candidate, in the
        order given, with a mean that high, and its fewest rounds that have it. List simple ones
        first.
    n_iter : int or None
        Try so many combinations, drawn at random (scikit-learn's ParameterSampler).
    random_state : int, RandomState or None
        Of these draws.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import GradientBoostingRegressor
    >>> from hedgerow.evaluation import select
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=60, learning_rate=0.1)
    >>> chosen = select(model, {"max_leaf_nodes": [2, 4, 8]}, X, y)
    >>> chosen.parameters
    {'max_leaf_nodes': 8, 'n_estimators': 37}
    >>> chosen.estimator.n_estimators_
    37
    """
    given = Given(X, y, groups, sample_weight, {} if params is None else params)
    given, scorers = check_given(given), scorers_of(estimator, scoring)
    base = without_stopping(estimator)
    candidates = candidates_of(base, parameters, n_iter, random_state)
    copies = [candidate.applied(base) for candidate in candidates]
    folds = folds_of(given, base, cv)
    with Progress("selection", len(folds) * len(copies), verbose) as progress:
        outcomes = _all_judged(folds, copies, Asked(scorers), n_jobs, progress)
        results = [gathered_scores(own, average) for own in outcomes]
        choices = [_best(*pair) for pair in zip(candidates, results, strict=True)]
        number, choice = _chosen(candidates, results, choices, one_se)
        chosen = candidates[number].named(choice.size)
        fitted = work_done([partial(_rebuilt, base, chosen, given)], True, n_jobs, progress)[0]
    table = _table(candidates, results, choices)
    return Selection(fitted, chosen, choice.mean, choice.standard_error, table, results)


def _all_judged(
    folds: list[Fold], copies: Sequence[Any], asked: Asked, n_jobs: int | None, progress: Progress
) -> list[list[Outcome]]:
    """Judge all candidates, fold after fold: a fold's tables are there until its last model is."""
    for fold in folds:
        fold.expect(len(copies))
    tasks = [partial(judged, fold, copied, asked) for fold in folds for copied in copies]
    done = work_done(tasks, all(map(is_own, copies)), n_jobs, progress)
    return [done[number :: len(copies)] for number in range(len(copies))]


def _best(candidate: Candidate, result: CrossValidated) -> Choice:
    if not result.curves:
        if candidate.sizes is not None and len(candidate.sizes) > 1:
            raise ValueError(
                f"{candidate.size_name}={list(candidate.sizes)} cannot be read from a curve: the "
                "model does not say round by round what the scorer asks for. Pass one number, or "
                "another scoring."
            )
        mean, error = next(iter(result.means().values()))
        return Choice(None, mean, error)
    curve = result.curve
    places = _places(candidate, curve)
    place = int(places[np.argmax(curve.mean[places])])
    return _at(curve, place)


def _places(candidate: Candidate, curve: Curve) -> Any:
    """Return the places in a curve that may be chosen."""
    n_sizes = len(curve.sizes)
    if candidate.sizes is None:
        return np.arange(n_sizes)
    return np.unique(np.minimum(np.array(candidate.sizes), n_sizes) - 1)


def _at(curve: Curve, place: int) -> Choice:
    return Choice(place + 1, float(curve.mean[place]), float(curve.standard_errors[place]))


def _chosen(
    candidates: list[Candidate], results: list[CrossValidated], choices: list[Choice], one_se: bool
) -> tuple[int, Choice]:
    """Return the number of the candidate to take, of equals the first, and what of it."""
    means = np.array([choice.mean for choice in choices])
    top = int(np.argmax(means))
    if not one_se:
        return top, choices[top]
    least = means[top] - float(np.nan_to_num(choices[top].standard_error))
    first = int(np.flatnonzero(means >= least)[0])
    if not results[first].curves:
        return first, choices[first]
    curve = results[first].curve
    places = _places(candidates[first], curve)
    return first, _at(curve, int(places[curve.mean[places] >= least][0]))


def _rebuilt(base: Any, chosen: Parameters, given: Given) -> Any:
    """Fit a copy with the chosen parameters to all rows."""
    model = clone(base).set_params(**clone(chosen, safe=False))
    return model.fit(given.X, given.y, **given.fit_params())


def _table(
    candidates: list[Candidate], results: list[CrossValidated], choices: list[Choice]
) -> list[dict[str, Any]]:
    ranks = np.argsort(np.argsort([-choice.mean for choice in choices], kind="stable")) + 1
    return [
        candidate.named(choice.size)
        | {
            "score": choice.mean,
            "standard_error": choice.standard_error,
            "fit_time": float(result.fit_time.mean()),
            "rank": int(rank),
        }
        for candidate, result, choice, rank in zip(candidates, results, choices, ranks, strict=True)
    ]
