"""Looking into a boosted model: leaves, importances, Shapley values."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from hedgerow.ensembles.additive import AdditiveModel
from hedgerow.ensembles.shapley import Shapley
from hedgerow.estimators.checks import unknown_option
from hedgerow.estimators.permutation import Shuffling, permutation_importances
from hedgerow.estimators.tables import ReadsTables
from hedgerow.kernels.predict import leaf_numbers
from hedgerow.kernels.team import Team, hired

Floats = NDArray[np.float64]

_KINDS = ("gain", "split")


class Explains(ReadsTables):
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

    def shap_values(self, X: Any, background: Any = None) -> Floats:
        """Share each row's raw score out among its features: exact Shapley values.

            raw score = expected_value(background) + sum of the row's values (+ offset, if any)

        Parameters
        ----------
        X : table
        background : table or None
            What an unknown feature is replaced by. None: a row goes both ways at its splits,
            by the sums of Hessians of the training rows (shap's "tree_path_dependent";
            XGBoost too has Hessians for cover). A table: its rows in turn
            ("interventional"); time is in proportion to their number.

        Returns
        -------
        float64 [n_rows, n_features], or [n_rows, n_features, n_outputs] if there are more than
        two classes or several columns of y. They have the unit of raw scores: log-odds of two
        classes, logarithms of means for "poisson", "gamma" and "tweedie". The number of threads
        changes no bit.

        Notes
        -----
        Lundberg et al. (2020). The shap package draws them:
        `shap.Explanation(values, model.expected_value(), data)`.

        Examples
        --------
        >>> from hedgerow import GradientBoostingRegressor
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [1.0, 1.0, 3.0, 5.0]
        >>> model = GradientBoostingRegressor(learning_rate=1.0, l2=0.0, min_child_weight=1)
        >>> model.fit(X, y).shap_values([[1, 1], [0, 0]]).round(6)
        array([[ 1.75,  0.75],
               [-1.25, -0.25]])
        >>> model.expected_value().round(6)
        np.float64(2.5)
        """
        values = self._values(X)
        if background is None:
            return self._explained(Shapley.values, values)
        others = self._values(background)

        def contrasts(shapley: Shapley, values: Floats, team: Team) -> Floats:
            return shapley.contrasts(values, others, team)

        return self._explained(contrasts, values, len(others))

    def shap_interaction_values(self, X: Any) -> Floats:
        """Share each row's values out among pairs: phi_ij = phi_ji, phi_ii is i's own effect.

        Returns
        -------
        float64 [n_rows, n_features, n_features], or with an axis of classes behind if there
        are more than two. The sum over an axis of features is `shap_values(X)`.
        """
        return self._explained(Shapley.interactions, self._values(X), each=20)

    def expected_value(self, background: Any = None) -> Any:
        """Return the raw score if no feature is known: what `shap_values` starts from.

        A float, or float64 [n_classes] if there are more than two. The background is that of
        `shap_values`: of a table, the mean of its raw scores.
        """
        check_is_fitted(self)
        if background is None:
            expected = Shapley(self._model).expected()
        else:
            others = self._values(background)
            with hired(self.n_jobs, float(len(others)) * len(self._model.grove.output)) as team:
                expected = self._model.raw(others, team).mean(axis=0)
        return expected if len(expected) > 1 else expected[0]

    def _explained(
        self, explain: Callable[[Shapley, Floats, Team], Floats], values: Floats, each: int = 4
    ) -> Floats:
        """Explain rows; each: cell updates of a row at a node."""
        with hired(self.n_jobs, float(len(values)) * len(self._model.grove.left) * each) as team:
            found = explain(Shapley(self._model), values, team)
        return found if found.shape[-1] > 1 else found[..., 0]
