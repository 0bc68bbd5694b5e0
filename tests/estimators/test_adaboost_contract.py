"""AdaBoost keeps scikit-learn's contract."""

import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier

pytestmark = pytest.mark.usefixtures("many_hands")

SETTINGS = [
    AdaBoostClassifier(n_estimators=10),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=5, algorithm="real"),
    AdaBoostClassifier(GaussianNB(), n_estimators=5),
    AdaBoostClassifier(KNeighborsClassifier(1), n_estimators=3, resample=True),
    AdaBoostRegressor(n_estimators=5),
    AdaBoostRegressor(n_estimators=5, resample=False, loss="square"),
    AdaBoostRegressor(Ridge(), n_estimators=3, loss="exponential"),
]


@pytest.mark.filterwarnings("ignore:AdaBoost.* stopped at round:UserWarning")
@parametrize_with_checks(SETTINGS)  # no failure is expected of any
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
