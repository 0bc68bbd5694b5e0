"""Which estimators are ours, and which may be given a part of a table that was read before."""

from typing import Any

from sklearn.base import BaseEstimator

from hedgerow.estimators import bagged_trees, boosted_learners
from hedgerow.estimators.adaboost import BaseAdaBoost
from hedgerow.estimators.adaboost_classifier import AdaBoostClassifier
from hedgerow.estimators.bagging import BaseBagging
from hedgerow.estimators.boosted_means import is_plain_regression_tree
from hedgerow.estimators.l1_boost import L1BoostClassifier
from hedgerow.estimators.tables import ReadsTables


def is_own(estimator: Any) -> bool:
    """Tell whether an estimator, and every estimator in it, is of this library."""
    if not type(estimator).__module__.startswith("hedgerow."):
        return False
    inside = estimator.get_params(deep=True).values()
    return all(is_own(each) for each in inside if isinstance(each, BaseEstimator))


def takes_parts(estimator: Any) -> bool:
    """Tell whether an estimator's X may be a `hedgerow.data.parts.Part`.

    It may if the estimator looks at X as a table only: learners and functions of the user's own
    are given rows of X as it is.
    """
    if not is_own(estimator):
        return False  # a class of the user's own may look at X in its own way
    if isinstance(estimator, L1BoostClassifier):
        return isinstance(estimator.dictionary, str)
    if isinstance(estimator, BaseBagging):
        return bagged_trees.is_plain_tree(estimator._learner())
    if isinstance(estimator, AdaBoostClassifier):
        return boosted_learners.is_plain_tree(estimator._learner()) and not estimator.resample
    if isinstance(estimator, BaseAdaBoost):
        return is_plain_regression_tree(estimator._learner())
    return isinstance(estimator, ReadsTables)
