"""Bagging of regressors with scikit-learn's names."""

from typing import Any

from sklearn.base import RegressorMixin

from hedgerow.estimators.bagged_learners import MeanLearners
from hedgerow.estimators.bagged_trees import BaggedMeanTrees
from hedgerow.estimators.bagging import BaseBagging
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.fitted.bagging import MeanBagging


class BaggingRegressor(RegressorMixin, MeanBagging, BaseBagging):
    """Bagging of regressors: models of samples of rows and features, whose mean is taken.

        f(x) = (1 / B) sum over models b of f_b(x)

    Notes 1, bagging and its variations; Breiman (1996, 1999); Ho (1998); Louppe and Geurts
    (2012).

    Parameters
    ----------
    estimator : regressor or None
        Any regressor with scikit-learn's methods; None is a full-depth DecisionTreeRegressor.
        The library's own trees take a fast path, unless they have ccp_alpha="cv" or
        criterion="absolute_error".

    The other parameters are those of BaggingClassifier, without voting.

    Attributes
    ----------
    n_features_in_, feature_names_in_, n_outputs_
    estimator_ : the learner
    estimators_ : sequence of fitted models, which take their own features only
    estimators_samples_, estimators_features_ : the rows and the features of each model
    fingerprint_ : str, on the fast path
    oob_score_, oob_prediction_, oob_curve_ : only with oob_score

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from hedgerow import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> lines = BaggingRegressor(Ridge(), n_estimators=20, oob_score=True).fit(X, y)
    >>> 0.35 < lines.oob_score_ < 0.5
    True
    >>> len(lines.estimators_), lines.estimators_[0].coef_.shape
    (20, (10,))
    """

    _ways = (BaggedMeanTrees, MeanLearners)
    _default_tree = DecisionTreeRegressor

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: Any = None,
        max_features: Any = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = True,
        time_limit: float | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = getattr(self._learner(), "__sklearn_tags__", None)
        if own is not None and not isinstance(self.estimator, type):
            tags.target_tags.multi_output = own().target_tags.multi_output
        return tags
