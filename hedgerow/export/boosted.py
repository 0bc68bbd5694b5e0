"""Outlines of gradient boosting: scores, and the link of each loss."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.estimators.gb_classifier import GradientBoostingClassifier
from hedgerow.estimators.gb_ranker import GradientBoostingRanker
from hedgerow.export.outline import Floats, Outline, Speech
from hedgerow.export.packed_trees import constants, features_of, trees_of_grove
from hedgerow.losses import (
    AbsoluteError,
    Bernoulli,
    Exponential,
    Gamma,
    Huber,
    Multinomial,
    Poisson,
    Quantile,
    Quantiles,
    SquaredError,
    Tweedie,
)

_LINKS = {
    SquaredError: Speech(),
    AbsoluteError: Speech(),
    Huber: Speech(),
    Quantile: Speech(),
    Quantiles: Speech(link="sorted"),
    Poisson: Speech(link="exp"),
    Gamma: Speech(link="exp"),
    Tweedie: Speech(link="exp"),
    Bernoulli: Speech(link="logistic", label="boundary"),
    Exponential: Speech(0.5, link="logistic", label="boundary"),
    Multinomial: Speech(link="softmax"),
}


def boosted_outline(model: Any) -> Outline:
    """Return the outline of a fitted gradient boosting model."""
    if model._has_offset:
        raise ValueError(
            f"This {type(model).__name__} was fitted with an offset, and predicts nothing without "
            "one; exported models have none. Fit without offset, for example with the exposure as "
            "a feature or a weight, or keep the model with `model.save`."
        )
    boosted, classes = model._model, None
    trees = trees_of_grove(boosted.grove)
    if not trees.n_trees:
        trees = constants(boosted.n_outputs)
    start, speech = np.asarray(boosted.start, np.float64), Speech()
    if not isinstance(model, GradientBoostingRanker):
        speech = speech_of(model, model._predicted)
    if isinstance(model, GradientBoostingClassifier):
        classes = tuple(model.classes_.tolist())
        if len(classes) == 1:  # whatever the score
            trees = trees._replace(values=np.zeros_like(trees.values))
            start, speech = np.ones(1), Speech()
    features = features_of(model._schema)
    return Outline(type(model).__name__, features, trees, start, speech, classes, model.unseen)


def speech_of(model: Any, shown: Callable[[Floats], Floats]) -> Speech:
    """Return what is made of a model's scores; shown: a score as probabilities of two classes."""
    speech = _LINKS.get(type(model._loss))
    is_binary = getattr(model, "n_classes_", 0) == 2
    if speech is None:  # a loss of the user's own
        if hasattr(type(model.loss), "link"):
            raise ValueError(
                f"loss={model.loss!r} has a link of your own, which cannot be written into a file "
                "of another language. Without `link` in the loss the raw scores can be exported."
            )
        speech = _LINKS[Bernoulli if is_binary else SquaredError]
    return speech._replace(boundary=_boundary(shown)) if is_binary else speech


def _boundary(shown: Callable[[Floats], Floats]) -> float:
    """Return the highest score that is still of the first class, as `predict` has it.

    Near 0 probabilities are rounded to 1/2 each; scores at or above 0 are searched by halving.
    """

    def is_second(score: float) -> bool:
        ((first, second),) = shown(np.array([[score]])).tolist()
        return bool(second > first)

    low, high = (int(np.float64(score).view(np.int64)) for score in (0.0, 1.0))
    while high - low > 1:
        middle = (low + high) // 2
        if is_second(float(np.int64(middle).view(np.float64))):
            high = middle
        else:
            low = middle
    return float(np.int64(low).view(np.float64))
