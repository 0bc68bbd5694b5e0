"""What both AdaBoost estimators share: parameters, the learner, messages."""

import inspect
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval

from hedgerow.data.table import Schema, Table
from hedgerow.estimators.learners import checked_learner
from hedgerow.estimators.saving import Saves

ADABOOST_CONSTRAINTS: dict[str, list[Any]] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
    "random_state": ["random_state"],
    "resample": ["boolean"],
    "n_jobs": [Integral, None],
    "time_limit": [Interval(Real, 0.0, None, closed="neither"), None],
    "verbose": ["boolean"],
}


class BaseAdaBoost(MetaEstimatorMixin, Saves):
    """Learners that are fitted one after another, each to other weights."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = ADABOOST_CONSTRAINTS
    callbacks = None  # of Control
    _schema: Schema

    def _checked_learner(self) -> Any:
        """Return the learner, or raise if it cannot be one of this ensemble."""
        return checked_learner(self, self._learner(), "boosts")

    def _learner(self) -> Any:
        """Return the learner that was given, or the tree that is meant by None."""
        return self._default_tree() if self.estimator is None else self.estimator

    def _seed_of(self) -> int:
        """Return the seed of random draws; None is 0: the same model each time."""
        own = 0 if self.random_state is None else self.random_state
        return int(check_random_state(own).randint(2**31 - 1))

    def _remember(self, table: Table, schema: Schema) -> None:
        """Keep what the model must know of its table."""
        self.n_features_in_, self._schema = table.n_features, schema
        self.__dict__.pop("feature_names_in_", None)
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = getattr(self._learner(), "__sklearn_tags__", None)
        if own is not None and not inspect.isclass(self.estimator):
            for name in ("sparse", "allow_nan", "string", "categorical", "positive_only"):
                setattr(tags.input_tags, name, getattr(own().input_tags, name))
        return tags
