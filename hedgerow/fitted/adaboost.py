"""Fitted AdaBoost: what rounds say, after each of them or all."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import Schema
from hedgerow.ensembles.adaboost_r2 import weighted_medians
from hedgerow.fitted.model import Fitted, Floats
from hedgerow.kernels.team import hired

_PORTION = 1 << 22  # numbers that rounds say of rows at once


class Rounds(Fitted):
    """Rounds of trees: everything that does not depend on what is predicted."""

    _model: Any
    _schema: Schema
    estimator_: Any
    n_estimators_: int

    def _given(self, X: Any) -> Any:
        """Check a table for prediction, and return it as the rounds read it."""
        table = self._read(X)
        return self._schema.matrix(table, self.estimator_.unseen)


class ClassRounds(Rounds):
    """AdaBoost of classes."""

    classes_: NDArray[Any]
    n_classes_: int

    def _staged(self, X: Any) -> Iterator[Floats]:
        """Yield f after each round, float64 [n_rows, 1 or n_classes]."""
        given, model = self._given(X), self._model
        out = np.zeros((given.shape[0], model.n_outputs))
        for number in range(model.n_trees):
            with hired(self.n_jobs, float(len(out))) as team:
                model.add(given, team, (number, number + 1), out)
            yield out

    def _raw(self, X: Any) -> Floats:
        """Return f, float64 [n_rows, 1 or n_classes]."""
        given, model = self._given(X), self._model
        out = np.zeros((given.shape[0], model.n_outputs))
        with hired(self.n_jobs, float(len(out)) * model.n_trees) as team:
            model.add(given, team, (0, model.n_trees), out)
        return out

    def decision_function(self, X: Any) -> Floats:
        """Return f: [n_rows], above 0 for the second of two classes, or [n_rows, n_classes]."""
        return _shown(self._raw(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return P(y | x): the logistic function of 2 f, or softmax(f / (K - 1)).

        Notes 0, page 19.
        """
        return self._probabilities(self._raw(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probabilities; -inf where they are 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest f; of equals the first of `classes_`."""
        return self._named(self._raw(X))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield f after each round."""
        for raw in self._staged(X):
            yield _shown(raw.copy())

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities after each round."""
        for raw in self._staged(X):
            yield self._probabilities(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predicted classes after each round."""
        for raw in self._staged(X):
            yield self._named(raw)

    def _named(self, raw: Floats) -> NDArray[Any]:
        if self.n_classes_ == 1:
            return np.repeat(self.classes_, len(raw))
        return np.asarray(self.classes_[votes_of(raw)])

    def _probabilities(self, raw: Floats) -> Floats:
        K = self.n_classes_
        logs = np.column_stack([-raw, raw]) if K == 2 else raw / max(K - 1, 1)
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


class MeanRounds(Rounds):
    """AdaBoost of numbers."""

    estimator_weights_: Floats

    def _said(self, X: Any) -> Iterator[Floats]:
        """Yield what the rounds say of some rows after others, float64 [n, n_rounds]."""
        values = self._given(X)
        portion = max(_PORTION // self.n_estimators_, 1)
        for first in range(0, len(values), portion):
            some = values[first : first + portion]
            with hired(self.n_jobs, float(len(some)) * self.n_estimators_) as team:
                yield self._model.says(some, team)

    def predict(self, X: Any) -> Floats:
        """Return the weighted median of what the rounds say."""
        alpha = self._alphas()
        return np.concatenate([weighted_medians(said, alpha) for said in self._said(X)])

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the prediction after each round."""
        alpha, said = self._alphas(), np.concatenate(list(self._said(X)))
        for number in range(1, self.n_estimators_ + 1):
            yield weighted_medians(said[:, :number], alpha[:number])

    def _alphas(self) -> Floats:
        self._demand_fitted()
        return np.asarray(self.estimator_weights_)


def votes_of(out: Floats) -> NDArray[np.int64]:
    """Return the class of the highest score; of equals the first."""
    if out.shape[1] == 1:
        return np.asarray(out[:, 0] > 0, np.int64)
    return np.asarray(np.argmax(out, axis=1))


def _shown(raw: Floats) -> Floats:
    return raw[:, 0] if raw.shape[1] == 1 else raw
