"""AdaBoost of classifiers with scikit-learn's names."""

import copy
import time
from numbers import Integral
from numbers import Real as Number
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import Interval, StrOptions

from hedgerow.data.table import Table, read_table
from hedgerow.estimators.adaboost import ADABOOST_CONSTRAINTS
from hedgerow.estimators.boosted_rounds import Asked, boosted
from hedgerow.estimators.boosted_speech import SpeaksInRounds
from hedgerow.estimators.certifying import boosted_certificate
from hedgerow.estimators.checks import check_classes, check_parameters
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.theory.certificate import Certificate

_FOUND = ("validation_errors_",)


class AdaBoostClassifier(ClassifierMixin, SpeaksInRounds):
    """AdaBoost: weak classifiers, each fitted to rows that weigh more if earlier ones missed them.

        w_i  = v_i                                         v: sample_weight, or 1
        for m = 1, ..., M:
            fit h_m to the rows with weights w
            e_m  = sum of w_i [h_m(x_i) != y_i] / sum of w_i
            alpha_m = learning_rate (log((1 - e_m) / e_m) + log(K - 1))
            w_i  = w_i exp(alpha_m [h_m(x_i) != y_i])
        f(x) = sum over m of alpha_m (K - 1)^2 / K (1 for the class h_m(x), -1 / (K - 1) for others)

    Of two classes the factor is 1/2 and f one number, half the log-odds of the second class:
    P(y | x) is the logistic function of 2 f, and of K classes softmax(f / (K - 1)); notes 0, pages
    8 to 23; Freund and Schapire (1997); Zhu and others (2009). With learning_rate=1 the training
    error after M rounds is at most the product of 2 sqrt(e_m (1 - e_m)): notes 0, page 15.

    Notes and libraries write alpha with and without 1/2 and renormalise weights or not: the
    classifier is the same. Here `estimator_weights_` are as above, without 1/2, as in
    scikit-learn, and f is as above, with it; scikit-learn divides f by the sum of alpha.

    Weights are kept as logarithms, so that none underflows, and trees sum whole steps of them: of
    the heaviest row 2^51, or fewer if there are many rows (2^44 of 100,000). A row that would weigh
    less than a step counts as one, until it is missed again and again. The model is a
    function of the multiset of weighted rows: their order and the number of threads make no
    difference, and a row of weight 3 is three rows.

    Parameters
    ----------
    estimator : classifier or None
        None is a stump, DecisionTreeClassifier(max_depth=1), which for algorithm="real" has
        criterion="exponential". With criterion="misclassification" a tree minimises e_m itself,
        as in the notes. The library's own trees share one binned table, in which
        split_finding="auto" is exact up to 10,000 rows; those with ccp_alpha, class_weight,
        misclassification_cost or unseen="average" are fitted as any other learner.
    n_estimators : int
        Rounds at most.
    learning_rate : float
        Multiplies each alpha, or what each leaf says.
    algorithm : {"samme", "discrete", "real"}
        "discrete": of two classes. "samme": of any number, the same for two. "real": learners say
        how likely classes are, and f is the sum of (K - 1) (log p_k - mean of log p_j), of two
        classes half the log-odds of a leaf (notes 0, pages 11a and 17). Shares p are smoothed
        by half the mean weight of a row, divided among the classes.
    resample : bool
        Fit learners to samples drawn in proportion to the weights, as many rows as there are
        (notes 1): for those that take no sample_weight.
    early_stopping, validation_fraction, n_iter_no_change, tol : bool, float, int, float
        Hold out `validation_fraction` of the rows, stop when their error has not fallen by more
        than `tol` for `n_iter_no_change` rounds, and keep the best round. Rows are dealt out by
        their content.
    warm_start : bool
        Go on from the rounds that are there; 50 rounds and 50 more are 100.
    random_state : int, RandomState or None
        Of learners and samples that draw; None is 0: the same model each time.
    n_jobs : int or None
        Threads; None: all cores that the process may use.
    time_limit : float or None
        Seconds after which no round is begun.
    verbose : bool
        Show progress on a terminal if the fit takes longer than a second.

    Attributes
    ----------
    classes_, n_classes_, n_features_in_, feature_names_in_
    estimator_ : the learner
    estimators_ : sequence of fitted learners
    estimator_errors_, estimator_weights_ : float64 [n_rounds]
        e_m and alpha_m; of algorithm="real" learning_rate takes the place of alpha_m.
    n_estimators_ : int
        Rounds that are kept.
    stopped_ : str
        Why there are fewer rounds than asked for: a learner was right about every row, which is
        kept and outvotes all others; one was no better than chance, which is left out, with a
        warning; or rows that are held out said so. Empty after `time_limit` or an interrupt.
    validation_errors_ : float64 [n_rounds], with early_stopping
    feature_importances_ : float64 [n_features]
        Mean of the learners', weighted by `estimator_weights_`.
    fingerprint_ : str, of the library's own trees

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=100).fit(X, y)
    >>> model.estimator_errors_[:3].round(3)
    array([0.077, 0.119, 0.156])
    >>> [round(float(score), 3) for score in model.staged_score(X, y)][::33]
    [0.923, 0.998, 1.0, 1.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = ADABOOST_CONSTRAINTS | {
        "algorithm": [StrOptions({"samme", "discrete", "real"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Number, 0.0, 1.0, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Number, 0.0, None, closed="left")],
        "warm_start": ["boolean"],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: str = "samme",
        resample: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool = True,
    ) -> None:
        keep_parameters(self, locals())

    def _default_tree(self) -> DecisionTreeClassifier:
        criterion = "exponential" if self.algorithm == "real" else "gini"
        return DecisionTreeClassifier(max_depth=1, criterion=criterion)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the rounds to a table and one class for each row.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
        y : array [n_rows]
        sample_weight : array [n_rows] or None
            What rows weigh before the first round. A row of weight 0 is as if it were not there.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before. An interrupt (Ctrl-C)
        keeps the rounds that are done; before the first, nothing changes.
        """
        check_parameters(self)
        begun, learner = time.monotonic(), clone(self._checked_learner())
        if isinstance(learner, DecisionTreeClassifier):
            check_parameters(learner)
        table, fitted = read_table(X), copy.copy(self)
        labels = check_classes(self, y, sample_weight, table.n_rows)
        before = self if self.warm_start and hasattr(self, "_model") else None
        if before is not None:
            self._check_same(table, labels.names)
        for name in _FOUND:
            fitted.__dict__.pop(name, None)
        kept = boosted(fitted, Asked(learner, X, table, labels, before, begun))
        fitted._remember(table, kept.pop("schema"))
        fitted.__dict__.update(kept)
        fitted.classes_, fitted.n_classes_ = labels.names, len(labels.names)
        fitted.estimator_ = learner
        self.__dict__ = fitted.__dict__
        return self

    def certificate(
        self, X: Any, y: Any, sample_weight: Any = None, delta: float = 0.05
    ) -> Certificate:
        """Return what theorems guarantee, of two classes, with their names and pages.

        Bounds of the training error, for discrete AdaBoost and SAMME; of stumps also bounds of the
        true error, of f divided by the sum of its alphas.

        Parameters
        ----------
        X, y, sample_weight : those of `fit`
        delta : float
            Chance that the bound of the true error may fail with.

        Examples
        --------
        >>> from hedgerow import AdaBoostClassifier
        >>> x, y = [[i] for i in range(10)], [1, 1, 1, 0, 0, 0, 1, 1, 1, 0]
        >>> model = AdaBoostClassifier(n_estimators=3).fit(x, y)
        >>> print(model.certificate(x, y).guarantees[0])
        training error <= 0.5802  (observed 0)
            if nothing: it is a product of what was measured
            Freund and Schapire (1997), theorem 6; notes 0, pages 13-15
        """
        return boosted_certificate(self, X, y, sample_weight, delta)

    def _check_same(self, table: Table, classes: NDArray[Any]) -> None:
        """Raise if rounds cannot go on from those that are there."""
        if self.n_features_in_ != table.n_features or not np.array_equal(self.classes_, classes):
            raise ValueError(
                f"warm_start=True goes on from rounds of {self.n_features_in_} features and the "
                f"classes {self.classes_.tolist()}, but X has {table.n_features} features and y "
                f"the classes {classes.tolist()}. Pass the same, or warm_start=False."
            )
        if self._model.n_trees > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {self._model.n_trees} rounds "
                "that warm_start=True goes on from. Pass more, or warm_start=False to begin anew."
            )
