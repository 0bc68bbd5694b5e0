"""The fast path of bagging: the library's own trees, grown and kept as those of a forest."""

from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.data.table import Schema, Table
from hedgerow.estimators.bagged import Bagged
from hedgerow.estimators.forest_classifier import ForestClassifier
from hedgerow.estimators.forest_regressor import ForestRegressor
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.fitted.forest import BagOfClassTrees, BagOfMeanTrees
from hedgerow.trees.rules import GrowthRules


def is_plain_tree(learner: Any) -> bool:
    """Tell whether a learner is a tree that forests know how to grow."""
    if type(learner) is DecisionTreeRegressor:
        return learner.criterion == "squared_error" and learner.ccp_alpha != "cv"
    if type(learner) is not DecisionTreeClassifier or learner.ccp_alpha == "cv":
        return False
    # Other class weights would change which rows a forest draws; a tree's do not.
    is_known = learner.class_weight is None or str(learner.class_weight) == "balanced"
    return is_known and learner.misclassification_cost is None


class BaggedTrees(Bagged):
    """Trees with the parameters of one tree, each of some rows and some features."""

    def take(self, bagging: Any, learner: Any, n_features: int) -> None:
        """Take over the parameters of both; those of the bagging go first."""
        for name, value in learner.get_params(deep=False).items():
            setattr(self, name, value)
        if getattr(self, "class_weight", None) is not None:
            self.class_weight = "balanced_subsample"  # a tree balances the rows that it is given
        super().take(bagging, learner, n_features)

    def learn(self, X: Any, table: Table, y: Any, sample_weight: Any, asked: Any) -> None:  # noqa: ARG002  the table is enough
        """Grow the trees."""
        self._learn(table, y, sample_weight, asked)

    @property
    def _cuts_at_random(self) -> bool:
        return bool(self.splitter == "random")

    def _growth_rules(
        self, n_rows: int, n_features: int, total_weight: float, seed: int
    ) -> GrowthRules:
        """Translate the tree's parameters; shares of rows are of those that it is given."""
        own = min(n_rows, self._n_drawn)
        return super()._growth_rules(own, n_features, total_weight, seed)

    def _n_candidates(self, n_features: int) -> int | None:
        """Return the number of the tree's features that a node tries, None for all."""
        return super()._n_candidates(self._tree_features or n_features)

    def _estimator(self, number: int) -> Any:
        """Return one tree as an estimator of its own features, with the parameters given."""
        tree: Any = super()._estimator(number)
        tree.set_params(**{**self._learner.get_params(deep=False), "n_jobs": self.n_jobs})
        if self._tree_features is None:
            return tree
        own = self._features_of(number, self.n_features_in_)
        place = np.full(self.n_features_in_ + 1, -1, np.int32)  # the last one is of leaves
        place[own[::-1]] = np.arange(len(own))[::-1]
        grown, schema = tree._tree, self._schema
        tree._tree = replace(
            grown, feature=place[grown.feature], n_categories=grown.n_categories[own]
        )
        tree.n_features_in_, tree._has_missing = (
            len(own),
            tuple(self._has_missing[feature] for feature in own),
        )
        if hasattr(self, "feature_names_in_"):
            tree.feature_names_in_ = self.feature_names_in_[own]
        names = None if schema.names is None else [schema.names[feature] for feature in own]
        tree._schema = Schema.of(names, (schema.categories[feature] for feature in own))
        return tree


class BaggedClassTrees(BagOfClassTrees, BaggedTrees, ForestClassifier):
    """Bagged trees of classes."""


class BaggedMeanTrees(BagOfMeanTrees, BaggedTrees, ForestRegressor):
    """Bagged trees of numbers."""
