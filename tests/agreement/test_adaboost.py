"""AdaBoost is scikit-learn's, round by round, wherever the best stump is one.

Deeper trees are compared through scikit-learn's own as the weak learner: what differs then is
the boosting alone.
"""

import numpy as np
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import datasets, tree

from hedgerow import AdaBoostClassifier

pytestmark = pytest.mark.agreement

TABLES = ("iris", "wine", "breast_cancer")


def load(name):
    return getattr(datasets, f"load_{name}")(return_X_y=True)


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("name", TABLES)
def test_stumps_come_in_the_same_order_with_the_same_weights(name, rate):
    X, y = load(name)
    ours = AdaBoostClassifier(n_estimators=30, learning_rate=rate).fit(X, y)
    stump = tree.DecisionTreeClassifier(max_depth=1, random_state=0)
    theirs = sklearn.ensemble.AdaBoostClassifier(stump, n_estimators=30, learning_rate=rate)
    theirs.fit(X, y)
    assert len(ours.estimators_) == len(theirs.estimators_)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, atol=1e-9)
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, atol=1e-9)
    for one, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        # Two features may cut the rows alike: then they are compared by what they part.
        assert_array_equal(one.predict(X), other.predict(X))
        assert_allclose(np.sort(one.tree_.impurity), np.sort(other.tree_.impurity), atol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    scale = ours.estimator_weights_.sum()
    K = len(ours.classes_)
    # Theirs, of two classes, is the difference of both: twice the sum.
    factor = scale / 4 if K == 2 else scale * (K - 1) ** 2 / K
    assert_allclose(ours.decision_function(X), factor * theirs.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("name", TABLES)
def test_boosting_of_scikit_learns_trees_is_its_own(name, depth):
    X, y = load(name)
    # Columns that are no order of another, and no ties: rows come in another order here.
    learner = tree.DecisionTreeClassifier(max_depth=depth, min_samples_leaf=5, random_state=0)
    ours = AdaBoostClassifier(learner, n_estimators=10).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(learner, n_estimators=10).fit(X, y)
    n_same = min(3, len(theirs.estimators_))
    assert_allclose(ours.estimator_errors_[:n_same], theirs.estimator_errors_[:n_same], atol=1e-9)
    assert_allclose(ours.estimator_weights_[:n_same], theirs.estimator_weights_[:n_same], atol=1e-9)
