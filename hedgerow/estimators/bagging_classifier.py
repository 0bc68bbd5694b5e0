"""Bagging of classifiers with scikit-learn's names."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from hedgerow.estimators.bagged_learners import ClassLearners
from hedgerow.estimators.bagged_trees import BaggedClassTrees
from hedgerow.estimators.bagging import BAGGING_CONSTRAINTS, BaseBagging
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.fitted.bagging import ClassBagging


def _has_decisions(bagging: Any) -> bool:
    return hasattr(bagging._learner(), "decision_function")


class BaggingClassifier(ClassifierMixin, ClassBagging, BaseBagging):
    """Bagging of classifiers: models of samples of rows and features, that vote or are averaged.

        f(x) = argmax over classes k of (1 / B) sum over models b of p_b(k | x)      soft
        f(x) = argmax over classes k of #{b : model b says k}                        hard

    ============================  =============================================
    bagging                       bootstrap=True
    pasting                       bootstrap=False, max_samples below all rows
    random subspaces              bootstrap=False, max_features below 1.0
    random patches                max_samples and max_features
    weighted bootstrap            bootstrap=True, with sample_weight in fit
    ============================  =============================================

    Notes 1, bagging and its variations; Breiman (1996, 1999); Ho (1998); Louppe and Geurts
    (2012). Draws are a function of the seed, the model and the content of rows, and a learner is
    given its rows in an order of their content: the ensemble is the same for any number of
    threads and any order of the rows, if the learner is a function of what it is given.

    Parameters
    ----------
    estimator : classifier or None
        Any classifier with scikit-learn's methods; None is a full-depth DecisionTreeClassifier.
        The library's own trees take a fast path, unless they have ccp_alpha="cv",
        misclassification_cost, or a dict of class weights: they share one binned table, and
        split_finding="auto" is exact up to 10,000 rows, as in forests. A learner that takes
        sample_weight is given the rows that are drawn once, with the number of draws as their
        weights; another is given them as often as they are drawn. If a sample has rows of one
        class only, its model is a constant.
    n_estimators : int
        Number of models.
    max_samples : int, float or None
        Rows that are drawn: so many, a share of the total weight (of the rows, without
        replacement), or as many as there are.
    max_features : int or float
        Features that are drawn for each model: so many, or a share.
    bootstrap, bootstrap_features : bool
        Draw rows with replacement, and features.
    oob_score : bool
        Predict each row by the models that it was not drawn for: `oob_score_`,
        `oob_decision_function_`, and `oob_curve_`, the score of the first 1, 2, ... models.
    warm_start : bool
        Keep the models that are there, and add those that are missing.
    n_jobs : int or None
        Threads; None: all cores that the process may use. Each fits a model by itself.
    random_state : int, RandomState or None
        None is 0: the same ensemble each time. Random states of learners are drawn from it.
    verbose : bool
        Show progress on a terminal if the fit takes longer than a second.
    voting : {"soft", "hard"}
        Average the class proportions, or count one vote of each model. Learners without
        predict_proba vote in any case.
    time_limit : float or None
        Seconds after which no model is begun.

    Attributes
    ----------
    classes_, n_classes_, n_features_in_, feature_names_in_, n_outputs_
    estimator_ : the learner
    estimators_ : sequence of fitted models, which take their own features only
    estimators_samples_, estimators_features_ : the rows and the features of each model
    fingerprint_ : str, on the fast path
    oob_score_, oob_decision_function_, oob_curve_ : only with oob_score

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from hedgerow import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> patches = BaggingClassifier(KNeighborsClassifier(), max_samples=0.5, max_features=2)
    >>> [features.tolist() for features in patches.fit(X, y).estimators_features_[:3]]
    [[0, 3], [0, 2], [0, 1]]
    >>> round(BaggingClassifier(n_estimators=50, oob_score=True).fit(X, y).oob_score_, 2)
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BAGGING_CONSTRAINTS | {
        "voting": [StrOptions({"soft", "hard"})],
    }
    _ways = (BaggedClassTrees, ClassLearners)
    _default_tree = DecisionTreeClassifier

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
        voting: str = "soft",
        time_limit: float | None = None,
    ) -> None:
        keep_parameters(self, locals())

    @available_if(_has_decisions)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the decision functions of the models that know all classes."""
        self._read(X)
        ensemble: Any = self._ensemble
        return np.asarray(ensemble.decisions(X))
