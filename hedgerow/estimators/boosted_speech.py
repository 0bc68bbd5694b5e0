"""What rounds of AdaBoost say: scores, probabilities, classes, after each round or all of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from hedgerow.ensembles.committee import Committee
from hedgerow.estimators.adaboost import BaseAdaBoost
from hedgerow.estimators.boosted_learners import Panel
from hedgerow.estimators.boosted_rounds import votes_of
from hedgerow.estimators.boosted_trees import Members, member
from hedgerow.estimators.lent_values import SharesOutIfTrees, SharesOutRounds
from hedgerow.estimators.lessons import indexable
from hedgerow.kernels.team import hired
from hedgerow.trees.importance import impurity_importances

Floats = NDArray[np.float64]


class SpeaksInRounds(SharesOutIfTrees, BaseAdaBoost):
    """A fitted classifier of rounds."""

    _model: Committee | Panel

    def _given(self, X: Any) -> Any:
        """Check a table for prediction, and return it as the model reads it."""
        table = self._read(X)
        if isinstance(self._model, Panel):
            return indexable(X)
        return self._schema.matrix(table, self.estimator_.unseen)

    def _sharing(self) -> SharesOutRounds | None:
        """Return what shares f out among features, if the learners are trees."""
        return None if isinstance(self._model, Panel) else SharesOutRounds(self)

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

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after each round."""
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _named(self, raw: Floats) -> NDArray[Any]:
        if self.n_classes_ == 1:
            return np.repeat(self.classes_, len(raw))
        return np.asarray(self.classes_[votes_of(raw)])

    def _probabilities(self, raw: Floats) -> Floats:
        K = self.n_classes_
        logs = np.column_stack([-raw, raw]) if K == 2 else raw / max(K - 1, 1)
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    @property
    def estimators_(self) -> Sequence[Any]:
        """The learners; a tree is made an estimator when it is asked for."""
        check_is_fitted(self)
        if isinstance(self._model, Panel):
            return [each.model for each in self._model.rounds]
        return Members(self)

    @property
    def feature_importances_(self) -> Floats:
        """Mean of the learners' importances, weighted by `estimator_weights_`."""
        check_is_fitted(self)
        if isinstance(self._model, Panel):
            each = [learner.feature_importances_ for learner in self.estimators_]
        else:
            n_features = self.n_features_in_
            trees = (member(self, number)._tree for number in range(self._model.n_trees))
            each = [impurity_importances(tree, n_features) for tree in trees]
        return np.asarray(self.estimator_weights_ @ np.array(each) / self.estimator_weights_.sum())

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the model: equal for the same weighted rows in any order, on any threads."""
        check_is_fitted(self)
        if isinstance(self._model, Panel):
            raise AttributeError(
                f"Models of {type(self.estimator_).__name__} have no fingerprint_: only the "
                "library's own trees do."
            )
        return self._model.fingerprint()


def _shown(raw: Floats) -> Floats:
    return raw[:, 0] if raw.shape[1] == 1 else raw
