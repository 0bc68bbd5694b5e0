"""AdaBoost, stagewise boosting and the theorems agree with each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_classification

from hedgerow import AdaBoostClassifier, DecisionTreeClassifier, StagewiseClassifier
from hedgerow.theory import training_error_bounds


def problem(seed):
    """Two classes that no few stumps tell apart, and weights of rows."""
    X, y = make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=seed)
    return X, y, np.random.default_rng(seed).integers(1, 4, 300).astype(float)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("depth", [1, 2])
def test_adaboost_is_stagewise_boosting_of_the_exponential_loss(seed, depth):
    X, y, weights = problem(seed)
    tree = DecisionTreeClassifier(max_depth=depth, split_finding="exact")
    boosted = AdaBoostClassifier(tree, n_estimators=15).fit(X, y, weights)
    stagewise = StagewiseClassifier(
        tree, loss="exponential", init="zero", step="exact", learning_rate=1.0, n_estimators=15
    ).fit(X, y, weights)
    assert_allclose(stagewise.estimator_errors_, boosted.estimator_errors_, atol=1e-9)
    assert_allclose(2.0 * stagewise.estimator_weights_, boosted.estimator_weights_, rtol=1e-9)
    assert_allclose(stagewise.decision_function(X), boosted.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_a_certificate_has_the_bound_of_the_rounds_and_it_holds(learning_rate):
    X, y, weights = problem(7)
    model = AdaBoostClassifier(n_estimators=40, learning_rate=learning_rate).fit(X, y, weights)
    product, exponential = model.certificate(X, y, weights).guarantees[:2]
    expected = training_error_bounds(model.estimator_errors_, model.estimator_weights_ / 2)
    assert product.bound == expected.product[-1]
    error = weights @ (model.predict(X) != y) / weights.sum()
    assert_allclose(product.observed, error, atol=1e-12)
    assert error <= product.bound
    # The second bound is of AdaBoost's own alphas.
    assert bool(exponential.broken) == (learning_rate != 1.0)
    staged = [weights @ (said != y) / weights.sum() for said in model.staged_predict(X)]
    assert (np.array(staged) <= expected.product + 1e-12).all()


def test_a_certificate_is_of_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="two classes, but there are 3"):
        AdaBoostClassifier(n_estimators=3).fit(X, y).certificate(X, y)
