"""What rounds of AdaBoost say: scores, probabilities, classes, after each round or all of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.ensembles.committee import Committee
from hedgerow.estimators.adaboost import BaseAdaBoost
from hedgerow.estimators.boosted_learners import Panel
from hedgerow.estimators.boosted_trees import Members, member
from hedgerow.estimators.lent_values import SharesOutIfTrees, SharesOutRounds
from hedgerow.estimators.lessons import indexable
from hedgerow.fitted.adaboost import ClassRounds
from hedgerow.trees.importance import impurity_importances

Floats = NDArray[np.float64]


class SpeaksInRounds(ClassRounds, SharesOutIfTrees, BaseAdaBoost):
    """A fitted classifier of rounds."""

    _model: Committee | Panel

    def _given(self, X: Any) -> Any:
        if not isinstance(getattr(self, "_model", None), Panel):
            return super()._given(X)
        self._read(X)
        return indexable(X)

    def _sharing(self) -> SharesOutRounds | None:
        """Return what shares f out among features, if the learners are trees."""
        return None if isinstance(self._model, Panel) else SharesOutRounds(self)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after each round."""
        from sklearn.metrics import accuracy_score  # noqa: PLC0415  a plain fit needs none

        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

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
