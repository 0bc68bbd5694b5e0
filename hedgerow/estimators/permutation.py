"""Permutation importance: how much worse predictions become without a feature's order.

    importance(j) = loss with column j shuffled - loss

Breiman (2001), section 10; Fisher, Rudin and Dominici (2019).
"""

import copy
from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from hedgerow.ensembles.curve import Scored, mean_loss, steady_sum
from hedgerow.estimators.checks import check_labels, check_length, check_targets, check_weights
from hedgerow.kernels.team import hired

Floats = NDArray[np.float64]


class Shuffling(NamedTuple):
    """How importance is measured: see Explains.permutation_importances."""

    scoring: Any
    n_repeats: int
    sample_weight: Any
    offset: Any
    random_state: Any


class _Rows(NamedTuple):
    """Rows in an order that depends on their content only.

    values   float64 [n_rows, n_features]
    targets  float64 [n_rows, n_targets]    numbers of classes, or what y is
    labels   any [n_rows]                   as they were given
    weights  float64 [n_rows]
    offset   float64 [n_rows, n_outputs]
    """

    values: Floats
    targets: Floats
    labels: NDArray[Any]
    weights: Floats
    offset: Floats


def permutation_importances(model: Any, X: Any, y: Any, shuffling: Shuffling) -> Bunch:
    """Return importances, float64 [n_features, n_repeats], their means and deviations."""
    check_is_fitted(model)
    n_repeats = shuffling.n_repeats
    if isinstance(n_repeats, bool) or not isinstance(n_repeats, Integral) or n_repeats < 1:
        raise ValueError(f"n_repeats={n_repeats!r}: pass a whole number from 1 up.")
    rows = _rows(model, X, y, shuffling)
    given = model.random_state if shuffling.random_state is None else shuffling.random_state
    seed = int(check_random_state(given).randint(2**31 - 1))
    shown = copy.copy(model)
    shown._values = np.asarray  # tables that come are numbers already
    shown._offset = lambda *_: rows.offset
    harm = _loss(shown, rows) if shuffling.scoring == "loss" else _cost(shown, rows, shuffling)
    found = np.zeros((model.n_features_in_, n_repeats))
    before, values = harm(rows.values), rows.values.copy()
    for feature in np.flatnonzero(model.importances("split")):
        for repeat in range(n_repeats):
            order = np.random.default_rng([seed, int(feature), repeat]).permutation(len(values))
            values[:, feature] = rows.values[order, feature]
            found[feature, repeat] = harm(values) - before
        values[:, feature] = rows.values[:, feature]
    mean, deviation = found.mean(axis=1), found.std(axis=1)
    return Bunch(importances=found, importances_mean=mean, importances_std=deviation)


def _rows(model: Any, X: Any, y: Any, shuffling: Shuffling) -> _Rows:
    values = model._values(X)
    weights = check_weights(shuffling.sample_weight, len(values))
    offset = model._offset(shuffling.offset, len(values))
    offset = np.broadcast_to(offset, (len(values), model._model.n_outputs))
    labels: NDArray[Any]
    if hasattr(model, "classes_"):
        labels = check_labels(model, y)
        check_length("y", labels, len(values))
        targets = class_codes(model.classes_, labels)[:, None]
    else:
        targets = fitted_targets(model, y, len(values))
        labels = targets if targets.shape[1] > 1 else targets[:, 0]
    order = np.lexsort([*offset.T, weights, *targets.T, *values.T])
    order = order[weights[order] > 0]
    return _Rows(*(each[order] for each in (values, targets, labels, weights, offset)))


def fitted_targets(model: Any, y: Any, n_rows: int) -> Floats:
    """Return targets as float64 [n_rows, n_outputs], as many as the model was fitted with."""
    targets, n_outputs = check_targets(model, y, n_rows), getattr(model, "n_outputs_", 1)
    if targets.shape[1] != n_outputs:
        raise ValueError(
            f"y has {targets.shape[1]} columns, but the model was fitted with {n_outputs}. "
            "Pass the same columns."
        )
    return targets


def class_codes(classes: NDArray[Any], labels: NDArray[Any]) -> Floats:
    """Return the number of each label among the model's classes."""
    new = np.flatnonzero(~np.isin(labels, classes))
    if len(new):
        raise ValueError(
            f"y[{new[0]}] is {labels[new[0]]!r}, which is not one of the model's classes "
            f"({', '.join(map(repr, classes[:8].tolist()))}). Leave rows of other classes out."
        )
    return np.searchsorted(classes, labels).astype(np.float64)


def _loss(model: Any, rows: _Rows) -> Callable[[Floats], float]:
    """Return the mean loss as a function of values."""
    loss, n_rows = model._loss, len(rows.values)
    if hasattr(loss, "derivatives"):
        raise ValueError(
            f"{loss} only knows derivatives: there is no loss to rise. Pass scoring=..., such as "
            "'r2' or 'accuracy', or fit with a class that has the method `loss(self, y, f)`."
        )
    y = rows.targets if rows.targets.shape[1] > 1 else np.ascontiguousarray(rows.targets[:, 0])
    total = steady_sum(rows.weights)

    def harm(values: Floats) -> float:
        raw = np.ascontiguousarray(model._raw(values).T)
        with hired(model.n_jobs, float(n_rows) * len(raw)) as team:
            return mean_loss(loss, Scored(y, raw, rows.weights, total), team)

    return harm


def _cost(model: Any, rows: _Rows, shuffling: Shuffling) -> Callable[[Floats], float]:
    """Return minus a score of scikit-learn as a function of values."""
    from sklearn.metrics import check_scoring  # noqa: PLC0415  a plain fit needs none

    scorer = check_scoring(model, shuffling.scoring)
    weights = {} if shuffling.sample_weight is None else {"sample_weight": rows.weights}

    def harm(values: Floats) -> float:
        return -float(scorer(model, values, rows.labels, **weights))

    return harm
