"""Bags of models inside a bagging estimator: how rows and features are drawn for each of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import Table
from hedgerow.ensembles.bags import Bags, Bootstrap, Pasting
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.drawn import n_drawn_features, n_drawn_rows, n_pasted_rows
from hedgerow.estimators.forest import BaseForest, Floats

OF_THE_BAGGING = (
    "n_estimators",
    "max_samples",
    "bootstrap",
    "oob_score",
    "warm_start",
    "n_jobs",
    "random_state",
    "verbose",
    "time_limit",
)


class Bagged(BaseForest):
    """Models of one learner that each have rows and features of their own."""

    _learner: Any

    def take(self, bagging: Any, learner: Any, n_features: int) -> None:
        """Take over the parameters of a bagging estimator and of its learner."""
        for name in OF_THE_BAGGING:
            setattr(self, name, getattr(bagging, name))
        self.voting = getattr(bagging, "voting", "soft")
        self._learner, self._shown_as = learner, type(bagging).__name__
        n_own = n_drawn_features(bagging.max_features, n_features)
        self._repeats_features = bool(bagging.bootstrap_features)
        is_all = n_own == n_features and not self._repeats_features
        self._tree_features = None if is_all else n_own

    def _draws_lots(self, n_features: int) -> bool:  # noqa: ARG002  a forest's answer depends on it
        """A model is what its learner would make of the rows: there margins decide."""
        return False

    def learn(self, X: Any, table: Table, y: Any, sample_weight: Any, asked: Any) -> None:
        """Make the models; asked: the models to go on from, or None, and when the fit began."""
        raise NotImplementedError

    def means(self, X: Any, table: Table) -> Floats:
        """Return the mean of what the models say of each row, float64 [n_rows, n_values]."""
        raise NotImplementedError

    def staged_means(self, X: Any, table: Table) -> Iterator[Floats]:
        """Yield the mean of what the first 1, 2, ... models say."""
        raise NotImplementedError

    @property
    def features(self) -> list[NDArray[np.int64]]:
        """The features of each model, ascending; one that was drawn twice is there twice."""
        n_features = self.n_features_in_
        return [self._features_of(number, n_features) for number in range(self._model.n_trees)]

    @property
    def models(self) -> Sequence[Any]:
        """The models as estimators that take their own features only."""
        return self.estimators_

    def _drawn_rows(self, sample: Sample) -> Bootstrap | Pasting | None:
        n_rows = len(sample.targets)
        if self.bootstrap:
            way: Bootstrap | Pasting = Bootstrap(n_drawn_rows(self.max_samples, sample))
        else:
            way = Pasting(n_pasted_rows(self.max_samples, n_rows))
        self._n_drawn = way.n_draws
        return way if self.bootstrap or way.n_draws < n_rows else None

    def _drawn_bags(self, what: str) -> Bags:
        if self._bags is None:
            raise ValueError(
                f"{what} need models of samples of rows, but bootstrap=False with "
                f"max_samples={self.max_samples} gives each of them all. Pass bootstrap=True, or "
                "max_samples below 1.0, and fit again."
            )
        return self._bags
