"""Shapley values of fitted models whose scores are sums of trees."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.shapley import Shapley
from hedgerow.ensembles.terms import terms_of_trees
from hedgerow.estimators.checks import demand_fitted
from hedgerow.kernels.team import Team, hired
from hedgerow.trees.tree import Tree

Floats = NDArray[np.float64]

_EACH, _EACH_PAIR = 4, 20  # cell updates of a row at a node


class SharesOut:
    """An estimator whose score is a sum of trees: what a row's score owes to each feature.

    One that is made a SharesOut has `_values(X)`, the numbers of a table; `_explainer()`; `_scores`
    of such numbers, what is explained; and `_n_explained`, the number of nodes.
    """

    def shap_values(self: Any, X: Any, background: Any = None) -> Floats:
        """Share each row's score out among its features: exact Shapley values.

            score = expected_value(background) + sum of the row's values (+ offset, if any)

        The score is the raw score of gradient boosting, in its unit: log-odds of two classes,
        logarithms of means for "poisson", "gamma" and "tweedie"; of AdaBoost it is f, the
        `decision_function`; of trees, forests and bagging, what `predict` or `predict_proba` says.

        Parameters
        ----------
        X : table
        background : table or None
            What an unknown feature is replaced by. None: a row goes both ways at its splits,
            by the weights of the training rows, in boosting by their Hessians (shap's
            "tree_path_dependent"). A table: its rows in turn ("interventional"); time is in
            proportion to their number.

        Returns
        -------
        float64 [n_rows, n_features], or [n_rows, n_features, n_outputs]: with an axis of classes
        if probabilities are explained or there are more than two, and of outputs if y has several
        columns. The number of threads changes no bit.

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
        values = self._explainable(X)
        if background is None:
            return np.asarray(self._shared_out(Shapley.values, values, _EACH))
        others = self._explainable(background)

        def contrasts(shapley: Shapley, values: Floats, team: Team) -> Floats:
            return shapley.contrasts(values, others, team)

        return np.asarray(self._shared_out(contrasts, values, len(others)))

    def shap_interaction_values(self: Any, X: Any) -> Floats:
        """Share each row's values out among pairs: phi_ij = phi_ji, phi_ii is i's own effect.

        Returns
        -------
        float64 [n_rows, n_features, n_features], or with an axis of classes or outputs behind, as
        `shap_values(X)`, which is the sum over an axis of features.
        """
        return np.asarray(self._shared_out(Shapley.interactions, self._explainable(X), _EACH_PAIR))

    def expected_value(self: Any, background: Any = None) -> Any:
        """Return the score if no feature is known: what `shap_values` starts from.

        A float, or float64 [n_outputs] where `shap_values` has an axis for them. The background is
        that of `shap_values`: of a table, the mean of its scores.
        """
        self._demand_fitted()
        if background is None:
            expected = self._explainer().expected()
        else:
            expected = self._scores(self._explainable(background)).mean(axis=0)
        return self._as_shown(expected, total=1.0)

    def _explainable(self: Any, X: Any) -> Floats:
        """Return the numbers of a table, or raise if there is no exact explanation of a row."""
        return np.asarray(self._values(X))

    def _demand_fitted(self) -> None:
        demand_fitted(self)

    def _shared_out(
        self: Any, explain: Callable[[Shapley, Floats, Team], Floats], values: Floats, each: int
    ) -> Any:
        """Explain rows; each: cell updates of a row at a node."""
        with hired(self.n_jobs, float(len(values)) * self._n_explained * each) as team:
            found = explain(self._explainer(), values, team)
        return self._as_shown(found, total=0.0)

    def _as_shown(self, found: Floats, total: float) -> Any:  # noqa: ARG002  that of shares
        """Return what was found for the outputs, without their axis if there is only one."""
        return found if found.shape[-1] > 1 else found[..., 0]


class SharesOutTrees(SharesOut):
    """An estimator whose score is a mean of trees: means of numbers, or shares of classes.

    Shares of classes add up to 1, so what is found for the last class is what is left over.
    """

    def _explained_trees(self) -> Iterable[Tree]:
        """Return the trees, with values that add up to the score."""
        raise NotImplementedError

    def _explainer(self: Any) -> Shapley:
        n_columns = self._n_columns
        return Shapley(terms_of_trees(self._explained_trees(), n_columns), np.zeros(n_columns))

    @property
    def _n_columns(self: Any) -> int:
        return int(self.n_classes_) - 1 if hasattr(self, "classes_") else int(self.n_outputs_)

    def _scores(self: Any, values: Floats) -> Floats:
        return np.asarray(self._told(values)[:, : self._n_columns])

    def _as_shown(self: Any, found: Floats, total: float) -> Any:
        if not hasattr(self, "classes_"):
            return found if self.n_outputs_ > 1 else found[..., 0]
        rest = total - found.sum(axis=-1, keepdims=True)
        return np.concatenate([found, rest], axis=-1)

    def _explainable(self: Any, X: Any) -> Floats:
        values: Floats = super()._explainable(X)
        known = np.array([each is not None for each in self._schema.categories], np.bool_)
        if self.unseen == "average" and (values[:, known] < 0).any():
            raise ValueError(
                "X has categories that were not there at fit, and unseen='average' lets such rows "
                "go both ways at a split: they have no Shapley values. Fit with unseen='missing', "
                "or leave these rows out."
            )
        return values


class SharesOutForest(SharesOutTrees):
    """A forest: a mean of what its trees show."""

    @property
    def _n_explained(self: Any) -> int:
        return int(self._model.n_nodes)

    def _explained_trees(self: Any) -> Iterator[Tree]:
        n_trees = self._model.n_trees
        return (replace(tree, value=self._shown(tree.value) / n_trees) for tree in self._trees())

    def _told(self: Any, values: Floats) -> Floats:
        return np.asarray(self._mean_of(values))


class SharesOutTree(SharesOutTrees):
    """A tree: a mean of one."""

    @property
    def _n_explained(self: Any) -> int:
        return int(self._tree.n_nodes)

    def _explained_trees(self: Any) -> list[Tree]:
        return [replace(self._tree, value=self._spoken(self._tree.value))]

    def _told(self: Any, values: Floats) -> Floats:
        with hired(self.n_jobs, values.shape[0] * 10.0) as team:
            return np.asarray(self._spoken(self._tree.value)[self._leaves(values, team)])

    def _spoken(self, value: Floats) -> Floats:
        """Return what a tree says, given the values of its nodes."""
        return value
