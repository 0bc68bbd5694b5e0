"""Stages: a fitted model after 1, 2, ... of its rounds or trees, as scorers see it.

A model of M rounds holds those of fewer. Whatever has `staged_predict` says in one walk through
its rounds what each of them would predict; nothing is fitted again.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline

from hedgerow.estimators.parts import is_own
from hedgerow.evaluation.folds import Side
from hedgerow.evaluation.scorers import Quick, Scorers, Scores, quick

RESPONSES = ("predict", "predict_proba", "decision_function")
_SIZES = ("n_estimators", "max_iter")


class NoStagesError(Exception):
    """A scorer asks for something that a model does not say round by round."""


class Seen:
    """A model at some stage as a scorer sees it: what it says of the rows at hand is known."""

    def __init__(self, model: Any, side: Side, voice: Any) -> None:
        self._model, self._side, self._voice = model, side, voice

    def _method(self, response: str) -> Any:
        def method(X: Any) -> Any:
            return self._said(response, X)

        method.__name__ = response  # scorers look at it
        return method

    def _said(self, response: str, X: Any) -> Any:
        if X is not self._side.X:
            raise ValueError(
                f"A scorer asked a stage of {type(self._model).__name__} for other rows than those "
                "it is to be judged by. Pass curve=False, which judges whole models."
            )
        return self._voice(response)

    def __getattr__(self, name: str) -> Any:
        if name in RESPONSES:
            getattr(self._model, name)  # as the model does, raise if it has none
            return self._method(name)
        if name == "score":
            return partial(_score_of(self._model), self)
        if name in _OF_ALL_STAGES or name in self._model.get_params(deep=False):
            return getattr(self._model, name)
        raise AttributeError(
            f"A stage of {type(self._model).__name__} has no {name!r}: it is known by what it "
            "predicts. Pass curve=False, which judges whole models."
        )

    def __sklearn_tags__(self) -> Any:
        return self._model.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _score_of(model: Any) -> Any:
    """Return the function that scores a model, if it looks at what is predicted only."""
    score = type(model).score
    if score not in (ClassifierMixin.score, RegressorMixin.score) and not is_own(model):
        raise NoStagesError("score")  # of the user's own: who knows what it asks for
    return score


class Whole(Seen):
    """A whole model as a scorer sees it, of a table that was read before."""

    def __init__(self, model: Any, side: Side) -> None:
        X, beside = side.table_for(model), side.said_with
        super().__init__(model, side, lambda response: getattr(model, response)(X, **beside))

    def _said(self, response: str, X: Any) -> Any:
        if X is not self._side.X:
            return getattr(self._model, response)(X)
        return self._voice(response)

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(name) if name in _ASKED else getattr(self._model, name)


_ASKED = (*RESPONSES, "score")
_OF_ALL_STAGES = (
    "classes_", "n_classes_", "n_features_in_", "feature_names_in_", "n_outputs_", "_loss",
    "_estimator_type", "get_params",
)  # fmt: skip


class Voices:
    """What a model says of some rows, stage by stage; each method is walked through once."""

    def __init__(self, model: Any, side: Side) -> None:
        self._speaker, self._X = _speaker(model, side)
        self._beside = side.said_with
        self._running: dict[str, tuple[int, Iterator[Any], Any]] = {}

    def at(self, stage: int, response: str) -> Any:
        """Return what the model says after a stage, counted from 1."""
        if response not in self._running:
            staged = getattr(self._speaker, f"staged_{response}", None)
            if staged is None:
                raise NoStagesError(f"staged_{response}")
            self._running[response] = (0, iter(staged(self._X, **self._beside)), None)
        done, voices, said = self._running[response]
        for _ in range(done, stage):
            said = next(voices)
        self._running[response] = (stage, voices, said)
        return said


def _speaker(model: Any, side: Side) -> tuple[Any, Any]:
    """Return what has stages, and the rows as it reads them: the last step of a pipeline."""
    if isinstance(model, Pipeline):
        return model[-1], model[:-1].transform(side.X) if len(model) > 1 else side.X
    return model, side.table_for(model)


def last_step(estimator: Any) -> Any:
    """Return the estimator, or the last step of a pipeline."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def has_stages(estimator: Any) -> bool:
    """Tell whether an estimator says what each of its rounds predicts.

    With dropout it does not: later rounds change the trees of earlier ones.
    """
    last = last_step(estimator)
    return hasattr(last, "staged_predict") and not getattr(last, "dropout", 0.0)


def size_name(estimator: Any) -> str | None:
    """Return the parameter that says how many stages there are; None if there is none."""
    if not has_stages(estimator):
        return None
    own = [name for name in _SIZES if name in last_step(estimator).get_params(deep=False)]
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    return prefix + own[0] if own else None


def n_stages(model: Any) -> int:
    """Return how many stages a fitted model has."""
    last = last_step(model)
    for name in ("n_estimators_", "n_iter_"):
        if hasattr(last, name):
            return int(getattr(last, name))
    return len(last.estimators_)


def staged_scores(model: Any, side: Side, scorers: Scorers, params: dict[str, Any]) -> Any:
    """Return the scores after each stage, by name: float64 [n_stages]."""
    voices, quickly = Voices(model, side), _quick_scorers(model, side, scorers)
    found: dict[str, list[float]] = {}
    for stage in range(1, n_stages(model) + 1):
        for name, value in _scores(model, side, scorers, params, (voices, stage, quickly)).items():
            found.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in found.items()}


def _scores(model: Any, side: Side, scorers: Scorers, params: dict[str, Any], stage: Any) -> Scores:
    voices, number, quickly = stage
    scores: Scores = {}
    slow = {name: own for name, own in scorers.by_name.items() if name not in quickly}
    for name, own in quickly.items():
        scores[name] = own.measure(voices.at(number, own.response))
    if slow:
        seen = Seen(model, side, partial(voices.at, number))
        scores |= Scorers(slow)(seen, side.X, side.y, params)
    return {name: scores[name] for name in (*scorers.by_name, *scores) if name in scores}


def _quick_scorers(model: Any, side: Side, scorers: Scorers) -> dict[str, Quick]:
    """Return the scorers of which there is a quick form."""
    found = {
        name: quick(scorer, last_step(model), side.y, side.weights)
        for name, scorer in scorers.by_name.items()
    }
    return {name: own for name, own in found.items() if own is not None}
