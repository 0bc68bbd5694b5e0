"""Convex combinations of a fixed dictionary that minimise a surrogate of the error."""

import copy
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import Table, read_table
from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.bags import Urn
from hedgerow.ensembles.curve import steady_sum
from hedgerow.ensembles.dictionary import Dictionary, Stumps, given_dictionary, stumps_of
from hedgerow.ensembles.l1_boost import Problem, minimised
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_classes, check_length, check_parameters
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.lessons import indexable
from hedgerow.estimators.tables import ReadsTables
from hedgerow.fitted.model import check_columns
from hedgerow.kernels.team import hired
from hedgerow.theory.bounds import risk_bound, stump_count
from hedgerow.theory.certificate import Certificate, Combination, certificate_of
from hedgerow.theory.margins import margins
from hedgerow.theory.surrogates import SURROGATES, surrogate

_MOST_EXPONENT = 700.0  # e^709 is the largest number


class L1BoostClassifier(ClassifierMixin, ReadsTables):
    """The best convex combination of a fixed dictionary: boosting as the theorem has it.

        f = sum_j b_j h_j,    |b|_1 <= radius,    h_j(x) in [-1, 1]
        b minimises (1 / n) sum phi(-y_i f(x_i)),    y in {-1, 1}

    AdaBoost goes towards this minimiser and relaxes the class; here it is computed, so that the
    risk bound for boosting applies as it is written (`risk_bound`, `certificate`). "exponential"
    and "logistic" are minimised by the fully corrective method of Frank and Wolfe with Newton
    steps, "hinge" by linear programs of more and more functions (HiGHS), both until the duality gap
    is at most tol. Notes 0, pages 1-7; Jaggi (2013); Demiriz, Bennett and Shawe-Taylor (2002).

    Parameters
    ----------
    dictionary : "stumps", list of functions, or function
        "stumps": the constant 1 and, of each feature, sign(x - t) at up to max_thresholds
        thresholds between its values, 0 where it is missing; of a category, 1 for it and -1 for
        others. Or your own: functions from X to a number in [-1, 1] for each row, or one from X to
        a matrix.
    loss : {"hinge", "exponential", "logistic"}
        phi(x) = max(1 + x, 0), e^x or log2(1 + e^x).
    radius : float
        Largest sum of |b_j|. Scores are within [-radius, radius].
    max_thresholds : int
        Of stumps, per feature.
    tol : float
        Largest duality gap: how far the risk may be above the least.
    max_iter : int
        Rounds after which the search ends with a warning; each adds up to 8 functions, or with
        "hinge" up to 32.

    Attributes
    ----------
    coef_ : float64 [n_functions], b
    dictionary_ : the functions; of stumps, arrays `feature`, `threshold` and `is_equal`
    duality_gap_ : float
    risk_ : float, the empirical phi-risk
    n_iter_ : int
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import L1BoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = L1BoostClassifier(loss="logistic", radius=5.0).fit(X, y)
    >>> model.duality_gap_ < 1e-6
    True
    >>> print(abs(model.coef_).sum().round(6), (model.coef_ != 0).sum(), "of", len(model.coef_))
    5.0 29 of 961
    >>> round(model.risk_bound(delta=0.05), 2)  # 569 rows are few
    12.61
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "dictionary": [StrOptions({"stumps"}), callable, list, tuple],
        "loss": [StrOptions(set(SURROGATES))],
        "radius": [Interval(Real, 0.0, None, closed="neither")],
        "max_thresholds": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    unseen = "missing"

    def __init__(
        self,
        dictionary: Any = "stumps",
        *,
        loss: str = "hinge",
        radius: float = 1.0,
        max_thresholds: int = 32,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        keep_parameters(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
        y : array [n_rows], of two classes
        sample_weight : array [n_rows] or None
            A row of weight 0 is as if it were not there. Bounds of the risk are for rows of equal
            weight.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before.
        """
        check_parameters(self)
        fresh = copy.copy(self)
        fresh._learn(X, read_table(X), y, sample_weight)
        self.__dict__ = fresh.__dict__
        return self

    def _learn(self, X: Any, table: Table, y: Any, sample_weight: Any) -> None:
        classes, codes, weights = check_classes(self, y, sample_weight, table.n_rows)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y "
                f"has {len(classes)} classes. Use OneVsRestClassifier of scikit-learn, or "
                "AdaBoostClassifier."
            )
        if self.loss == "exponential" and self.radius > _MOST_EXPONENT:
            raise ValueError(
                f"radius={self.radius} is beyond {_MOST_EXPONENT:g}, where exponentials are "
                "infinite. Pass a smaller radius, or loss='logistic'."
            )
        places = self._in_order(table, Sample(codes, weights))
        said = self._said(X)[places]
        own, w = np.where(codes[places] == 1, 1.0, -1.0), weights[places]
        problem = Problem(
            said * own[:, None], w / steady_sum(w), surrogate(self.loss), float(self.radius)
        )
        found = minimised(problem, float(self.tol), int(self.max_iter))
        if found.gap > self.tol:
            warnings.warn(
                f"The duality gap is {found.gap:.3g} after max_iter={self.max_iter} rounds, above "
                f"tol={self.tol:g}. Pass a larger max_iter, or a larger tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.classes_, self.coef_, self.risk_ = classes, found.coef, found.risk
        self.duality_gap_, self.n_iter_ = found.gap, found.n_iter
        self._n_rows, self._is_even = len(places), bool(w.min() == w.max())

    def _in_order(self, table: Table, sample: Sample) -> NDArray[np.int64]:
        """Return the rows that count in an order of their content; keep what the table is."""
        with hired(1, float(table.n_rows)) as team:
            binned = bin_table(table, Recipe(None), team, sample.rows)
            self._remember(table, binned)
            targets = np.asarray(sample.targets, np.float64)
            order = Urn.of(binned.codes, targets, sample.plain.counts, True, team).order
        places = order if sample.rows is None else sample.rows[order]
        self.dictionary_: Dictionary = self._functions(table, places)
        return np.asarray(places)

    def _functions(self, table: Table, places: NDArray[np.int64]) -> Dictionary:
        if not isinstance(self.dictionary, str):
            return given_dictionary(self.dictionary)
        values = self._schema.matrix(table, self.unseen)[places]
        is_category = [each is not None for each in self._schema.categories]
        return stumps_of(values, is_category, int(self.max_thresholds))

    def _said(self, X: Any, which: NDArray[np.int64] | None = None) -> Floats:
        """Return what functions say of rows, float64 [n_rows, n_which]."""
        if isinstance(self.dictionary_, Stumps):
            table = read_table(X)
            check_columns(self, table)
            return self.dictionary_.columns(self._schema.matrix(table, self.unseen), which)
        said = self.dictionary_.columns(indexable(X), which)
        if np.abs(said).max(initial=0.0) > 1.0:
            raise ValueError(
                f"A function of the dictionary says {said.flat[np.abs(said).argmax()]:g}, but they "
                "must be within [-1, 1]. Divide it by its largest value, or clip it."
            )
        return said

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each row, positive for the second of `classes_`."""
        check_is_fitted(self)
        check_columns(self, read_table(X))
        used = np.flatnonzero(self.coef_)
        if not len(used):
            return np.zeros(read_table(X).n_rows)
        said, coef = self._said(X, used), self.coef_[used]
        score = np.zeros(len(said))
        for place, each in enumerate(coef.tolist()):  # in order: the same bits everywhere
            score += said[:, place] * each
        return score

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; where the score is zero, the first of `classes_`."""
        is_second = self.decision_function(X) > 0.0
        return np.asarray(self.classes_[is_second.astype(np.int64) * (len(self.classes_) - 1)])

    @property
    def n_functions_(self) -> int:
        """Number M of functions that bounds count.

        Your own are as many as they are. Stumps are chosen by the rows that they are fitted to, so
        all that n rows could tell apart are counted: n_features (n + 1), and the constant.
        """
        check_is_fitted(self)
        if isinstance(self.dictionary_, Stumps):
            return stump_count(self.n_features_in_, self._n_rows) + 1
        return len(self.coef_)

    def risk_bound(self, delta: float = 0.05) -> float:
        """Return how far the true phi-risk is above the best of the class at most.

            R_phi(f) - min R_phi <= 8 L radius sqrt(2 log(2 M) / n)
                                    + 4 L radius sqrt(log(2 / delta) / (2 n)) + duality gap

        with probability 1 - delta, if rows were drawn independently; M is `n_functions_`. Notes 0,
        page 6. With "stumps" the best is that of the stumps there are.
        """
        check_is_fitted(self)
        about = self._n_rows, self.n_functions_, delta, self.loss, float(self.radius)
        return risk_bound(*about) + self.duality_gap_

    def certificate(self, X: Any, y: Any, delta: float = 0.05) -> Certificate:
        """Return what is guaranteed, with each theorem's name and page.

        Parameters
        ----------
        X, y : the rows of `fit`
            Bounds are of them; those of weight 0 are to be left out.
        delta : float
            Chance that a bound may fail with.

        Examples
        --------
        >>> import numpy as np
        >>> from hedgerow import L1BoostClassifier
        >>> x = np.arange(20_000.0)[:, None]
        >>> above = [lambda X: np.sign(X[:, 0] - 9999.5)]
        >>> model = L1BoostClassifier(above).fit(x, x[:, 0] > 9999.5)
        >>> print(model.certificate(x, x[:, 0] > 9999.5))
        L1BoostClassifier, fitted to 20,000 rows
        true error and hinge risk <= 0.05251  (observed 0)
            if rows are independent draws; f is of 1 functions in [-1, 1], |b|_1 <= 1; with ...
            Koltchinskii and Panchenko (2002); notes 0, pages 2-6
        hinge risk above the best of the class <= 0.105
            if rows are independent draws; f is of 1 functions in [-1, 1], |b|_1 <= 1; with ...
            risk bound for boosting; notes 0, pages 6-7
        """
        scores = self.decision_function(X)
        check_length("y", y, len(scores))
        if len(self.classes_) < 2:
            raise ValueError("There is one class, so there is no error to bound.")
        own = margins(scores, y, classes=self.classes_)
        broken = "" if self._is_even else "rows have different weights"
        combination = Combination(
            own, self.n_functions_, self.loss, float(self.radius), self.duality_gap_, broken
        )
        return certificate_of(
            type(self).__name__, n=self._n_rows, combination=combination, delta=delta
        )
