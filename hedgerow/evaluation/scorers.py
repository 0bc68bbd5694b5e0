"""Scorers: scikit-learn's, by name or as functions, asked for one model and some rows.

A curve asks a scorer hundreds of times for the same targets. What scikit-learn checks anew each
time is checked here once, for the scores that are asked for most; the numbers are the same.
"""

import difflib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import (
    accuracy_score,
    check_scoring,
    get_scorer,
    get_scorer_names,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    root_mean_squared_error,
)

from hedgerow.estimators.gb_classifier import says_log_odds
from hedgerow.estimators.scoring import ScoresNumbers
from hedgerow.kernels.shares import own_shares

Floats = NDArray[np.float64]
Scores = dict[str, float]
_EPS = np.finfo(np.float64).eps


class Scorers(NamedTuple):
    """Scorers by name; one that was not named is called "score"."""

    by_name: dict[str, Any]

    def __call__(self, model: Any, X: Any, y: Any, params: Mapping[str, Any]) -> Scores:
        """Return the scores of a model; a function may return several by name."""
        scores: Scores = {}
        for name, scorer in self.by_name.items():
            known = params if type(scorer) is _PASSED else _weights_only(params)
            own = scorer(model, X, y, **known)
            several = own if isinstance(own, dict) else {name: own}
            for key, value in several.items():
                scores[key] = _number(key, value)
        return scores


def scorers_of(estimator: Any, scoring: Any) -> Scorers:
    """Return the scorers that are asked for, or raise if one is unknown."""
    if isinstance(scoring, Mapping):
        return Scorers({str(name): _scorer(estimator, own) for name, own in scoring.items()})
    if isinstance(scoring, (list, tuple, set)):
        if not scoring or not all(isinstance(name, str) for name in scoring):
            raise ValueError(
                f"scoring={scoring!r} is no list of scorers' names. Pass names such as "
                "['accuracy', 'neg_log_loss'], or a dict from names to scorers."
            )
        return Scorers({name: _scorer(estimator, name) for name in scoring})
    return Scorers({"score": _scorer(estimator, scoring)})


def _scorer(estimator: Any, scoring: Any) -> Any:
    if isinstance(scoring, str):
        known = get_scorer_names()
        if scoring not in known:
            close = difflib.get_close_matches(scoring, known, n=3)
            meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise ValueError(
                f"scoring={scoring!r} is not a scorer of scikit-learn.{meant} "
                "sklearn.metrics.get_scorer_names() lists them; a function of (estimator, X, y) "
                "will do, too."
            )
        return get_scorer(scoring)
    return check_scoring(estimator, scoring)


def _weights_only(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name == "sample_weight"}


def _number(name: str, value: Any) -> float:
    number = np.asarray(value)
    if number.shape != () or number.dtype.kind not in "biuf":
        raise ValueError(
            f"scoring must return a number, but {name!r} returned {value!r}, of type "
            f"{type(value).__name__}."
        )
    return float(number)


class Quick(NamedTuple):
    """A score as a function of what a model says: `response` names the method that says it."""

    response: str
    measure: Callable[[NDArray[Any]], float]


def quick(scorer: Any, model: Any, y: Any, weights: Any) -> Quick | None:
    """Return a scorer that checks nothing and gives the same number, if there is one here."""
    y = np.asarray(y)
    if y.ndim != 1 or len(y) < 2:
        return None
    weights = None if weights is None else np.asarray(weights, np.float64)
    asked = _metric(scorer, model)
    if asked is accuracy_score:
        return Quick("predict", lambda said: float(np.average(y == said, weights=weights)))
    if asked is log_loss:
        return _quick_log_loss(model, y, weights)
    if asked not in _OF_NUMBERS or y.dtype.kind not in "fiu":
        return None
    sign, measure = _OF_NUMBERS[asked]
    column, own = y.astype(np.float64)[:, None], None if weights is None else weights[:, None]

    def score(said: NDArray[Any]) -> float:
        return sign * measure(column, said[:, None], own)

    return Quick("predict", score)


def _metric(scorer: Any, model: Any) -> Any:
    """Return the metric that a scorer is of, if it is one of scikit-learn's without options."""
    if type(scorer) is _PASSED:
        score = type(model).score
        if score is ScoresNumbers.score and np.ndim(getattr(model, "alpha", 0.0)) == 0:
            return r2_score
        return {ClassifierMixin.score: accuracy_score, RegressorMixin.score: r2_score}.get(score)
    if type(scorer) is not _PLAIN or scorer._kwargs:
        return None
    plain = _SIGNS.get(scorer._score_func)
    return scorer._score_func if plain == (scorer._sign, scorer._response_method) else None


class _Scored:
    """An estimator with a `score`, of which scikit-learn makes a scorer."""

    def fit(self) -> None: ...

    def score(self) -> None: ...


_PASSED = type(check_scoring(_Scored()))  # it asks for the model's own score
_PLAIN = type(make_scorer(accuracy_score))
_SIGNS = {
    accuracy_score: (1, "predict"),
    log_loss: (-1, "predict_proba"),
    r2_score: (1, "predict"),
    mean_squared_error: (-1, "predict"),
    root_mean_squared_error: (-1, "predict"),
    mean_absolute_error: (-1, "predict"),
}


def _quick_log_loss(model: Any, y: NDArray[Any], weights: Floats | None) -> Quick | None:
    """Return the log-loss, as scikit-learn has it: p is kept within eps and 1 - eps.

    Minus the mean of minus the logarithms is their mean, to the bit.
    """
    classes = model.classes_
    if not np.array_equal(np.unique(y), classes):
        return None
    codes, eps, rows = (
        np.searchsorted(classes, y),
        float(np.finfo(np.float64).eps),
        np.arange(len(y)),
    )
    is_second = codes == 1

    def score(said: NDArray[Any]) -> float:
        if len(classes) == 2:
            own = np.where(is_second, said[:, 1], 1.0 - said[:, 1])
        else:
            own = said[rows, codes]
        return float(np.average(np.log(np.clip(own, eps, 1.0 - eps)), weights=weights))

    def score_of_raw(raw: NDArray[np.float64]) -> float:
        own_shares(raw, is_second, eps, shares)
        np.log(shares, out=shares)
        return float(shares.mean() if weights is None else np.average(shares, weights=weights))

    if len(classes) == 2 and says_log_odds(model):
        shares = np.empty(len(y))
        return Quick("decision_function", score_of_raw)
    return Quick("predict_proba", score)


def _squared(y: Floats, said: Floats, weights: Floats | None) -> float:
    own = None if weights is None else weights[:, 0]
    return float(np.average((y - said) ** 2, axis=0, weights=own)[0])


def _root(y: Floats, said: Floats, weights: Floats | None) -> float:
    return float(np.sqrt(_squared(y, said, weights)))


def _absolute(y: Floats, said: Floats, weights: Floats | None) -> float:
    own = None if weights is None else weights[:, 0]
    return float(np.average(np.abs(said - y), axis=0, weights=own)[0])


def _r2(y: Floats, said: Floats, weights: Floats | None) -> float:
    own: Any = 1.0 if weights is None else weights
    flat = None if weights is None else weights[:, 0]
    error = (own * (y - said) ** 2).sum(axis=0)
    spread = (own * (y - np.average(y, axis=0, weights=flat)) ** 2).sum(axis=0)
    if spread[0] == 0.0:
        return float(error[0] == 0.0)
    return float((1.0 - error / spread)[0])


_OF_NUMBERS: dict[Any, tuple[int, Callable[[Floats, Floats, Floats | None], float]]] = {
    r2_score: (1, _r2),
    mean_squared_error: (-1, _squared),
    root_mean_squared_error: (-1, _root),
    mean_absolute_error: (-1, _absolute),
}
