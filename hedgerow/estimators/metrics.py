"""What is measured after each round: the loss, and any of scikit-learn's metrics."""

import copy
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hedgerow.ensembles.curve import Scored, mean_loss
from hedgerow.kernels.team import Team


class Metric(NamedTuple):
    """A name, what it measures, and 1 if smaller is better, else -1."""

    name: str
    measure: Callable[[Scored, Any, Team], float]  # rows, the current loss, team
    sign: float


def metrics_of(estimator: Any, steady: Any) -> list[Metric]:
    """Return the metric that rounds are chosen by, and then the others that are kept.

    steady is the loss that rounds are compared by.
    """

    def loss(scored: Scored, _: Any, team: Team) -> float:
        return mean_loss(steady, scored, team)

    given = estimator.eval_metric
    listed = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    scorers = [_scorer(estimator, each) for each in listed]
    if scorers and hasattr(steady, "derivatives"):
        return scorers  # the loss has no values
    return [*scorers, Metric("loss", loss, 1.0)]


def _scorer(estimator: Any, given: Any) -> Metric:
    """Return a scorer of scikit-learn, or of the user, as a metric of scores: larger is better."""
    from sklearn.metrics import get_scorer  # noqa: PLC0415  a plain fit needs none

    scorer = get_scorer(given) if isinstance(given, str) else given
    takes_weights = "sample_weight" in inspect.signature(scorer).parameters

    def measure(scored: Scored, loss: Any, _: Team) -> float:
        shown = copy.copy(estimator)
        shown._loss, shown._raw = loss, lambda *_, **__: np.ascontiguousarray(scored.raw.T)
        y = estimator.classes_[scored.y.astype(np.int64)] if len(_classes(estimator)) else scored.y
        uneven = takes_weights and np.ptp(scored.weights) > 0
        weights = {"sample_weight": scored.weights} if uneven else {}
        return float(scorer(shown, np.zeros((len(y), estimator.n_features_in_)), y, **weights))

    name = given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)
    return Metric(name, measure, -1.0)


def _classes(estimator: Any) -> Any:
    return getattr(estimator, "classes_", ())
