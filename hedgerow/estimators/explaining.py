"""Looking into a boosted model: leaves, importances, Shapley values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from hedgerow.ensembles.additive import AdditiveModel
from hedgerow.ensembles.shapley import Shapley
from hedgerow.estimators.checks import unknown_option
from hedgerow.estimators.permutation import Shuffling, permutation_importances
from hedgerow.estimators.shapley_values import SharesOut
from hedgerow.estimators.tables import ReadsTables
from hedgerow.kernels.predict import leaf_numbers
from hedgerow.kernels.team import hired

Floats = NDArray[np.float64]

_KINDS = ("gain", "split")


class Explains(SharesOut, ReadsTables):
    """An estimator with an additive model that shows why it predicts what it predicts."""

    _model: AdditiveModel

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row reaches in each tree, int64 [n_rows, n_trees].

        Nodes are numbered in preorder: 0 is a tree's root, a node's left child follows it.
        With K > 2 classes a round has K trees, one after another.
        """
        values = self._values(X)
        numbers = np.empty((len(values), len(self._model.grove.output)), np.int64)
        with hired(self.n_jobs, float(numbers.size)) as team:
            team.run(leaf_numbers, values, self._model.paths, self._model.grove.offset, numbers)
        return numbers

    def importances(self, kind: str = "gain") -> Floats:
        """Return how much each feature is used, float64 [n_features].

        Parameters
        ----------
        kind : {"gain", "split"}
            What the feature's splits gained, in units of the loss, or how many there are.
        """
        check_is_fitted(self)
        if kind not in _KINDS:
            raise unknown_option("kind", kind, _KINDS)
        grove = self._model.grove
        splits = np.flatnonzero(grove.left >= 0)
        weights = self._model.gain[splits] if kind == "gain" else None
        return np.bincount(grove.feature[splits], weights, self.n_features_in_).astype(np.float64)

    @property
    def feature_importances_(self) -> Floats:
        """Share of the loss's fall that each feature's splits brought; they add up to 1."""
        gains = self.importances("gain")
        return gains / gains.sum() if gains.sum() > 0 else gains

    def permutation_importances(
        self,
        X: Any,
        y: Any,
        *,
        scoring: Any = "loss",
        n_repeats: int = 5,
        sample_weight: Any = None,
        offset: Any = None,
        random_state: Any = None,
    ) -> Bunch:
        """Return how much worse predictions become if the values of a feature are shuffled.

        Parameters
        ----------
        X, y : table and targets
            Rows that the model was not fitted with tell more.
        scoring : "loss", a scorer or its name, or None
            What becomes worse: the mean of the model's loss rises, or a score of
            scikit-learn falls; None: the score of `score`.
        n_repeats : int
            How often each feature is shuffled.
        sample_weight : array [n_rows] or None
        offset : as in `predict`
        random_state : int, RandomState or None
            None: that of the model. Each shuffle is a function of the seed, the feature and
            the repeat, applied to the rows in an order that depends on their content only:
            rows may come in any order.

        Returns
        -------
        Bunch
            `importances`, float64 [n_features, n_repeats], `importances_mean` and
            `importances_std`. A feature without splits has exactly 0.
        """
        shuffling = Shuffling(scoring, n_repeats, sample_weight, offset, random_state)
        return permutation_importances(self, X, y, shuffling)

    def _explainer(self) -> Shapley:
        return Shapley.of_model(self._model)

    @property
    def _n_explained(self) -> int:
        return len(self._model.grove.left)

    def _scores(self, values: Floats) -> Floats:
        with hired(self.n_jobs, float(len(values)) * len(self._model.grove.output)) as team:
            return self._model.raw(values, team)
