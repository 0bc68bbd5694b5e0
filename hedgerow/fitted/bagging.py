"""Fitted bagging: the mean of what models of samples of rows and features say."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import read_table
from hedgerow.fitted.forest import BagOfClassTrees, BagOfMeanTrees
from hedgerow.fitted.model import Fitted, Floats, check_columns


class AveragesModels(Fitted):
    """Models whose mean is taken: everything that does not depend on what is predicted."""

    _ensemble: Any
    _ways: ClassVar[tuple[type, ...]]  # what the ensemble may be

    def _means(self, X: Any) -> Floats:
        """Return the mean of what the models say of each row, float64 [n_rows, n_values]."""
        self._demand_fitted()
        table = read_table(X)
        check_columns(self, table)
        return np.asarray(self._ensemble.means(X, table))

    def _staged_means(self, X: Any) -> Iterator[Floats]:
        """Yield the mean of what the first 1, 2, ... models say."""
        self._demand_fitted()
        table = read_table(X)
        check_columns(self, table)
        staged: Iterator[Floats] = self._ensemble.staged_means(X, table)
        return staged


class ClassBagging(AveragesModels):
    """Bagging of classifiers."""

    classes_: NDArray[Any]
    _ways: ClassVar[tuple[type, ...]] = (BagOfClassTrees,)

    def predict_proba(self, X: Any) -> Floats:
        """Return the mean of the models' probabilities, or the share of their votes."""
        return self._means(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probabilities; -inf where they are 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; of equals the first of `classes_`."""
        chosen = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[chosen])

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities by the first 1, 2, ... models."""
        yield from self._staged_means(X)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the classes by the first 1, 2, ... models."""
        for shares in self._staged_means(X):
            yield self.classes_[np.argmax(shares, axis=1)]


class MeanBagging(AveragesModels):
    """Bagging of regressors."""

    n_outputs_: int
    _ways: ClassVar[tuple[type, ...]] = (BagOfMeanTrees,)

    def predict(self, X: Any) -> Floats:
        """Return the mean of what the models predict for each row."""
        means = self._means(X)
        return np.ascontiguousarray(means[:, 0]) if self.n_outputs_ == 1 else means

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the predictions by the first 1, 2, ... models."""
        for means in self._staged_means(X):
            yield np.ascontiguousarray(means[:, 0]) if self.n_outputs_ == 1 else means
