"""Classification trees with scikit-learn's names."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier as _SklearnClassifier
from sklearn.utils._param_validation import StrOptions

from hedgerow.data.binned import BinnedTable
from hedgerow.data.table import Table
from hedgerow.estimators.base import CONSTRAINTS
from hedgerow.estimators.cart import CartTree, Sample
from hedgerow.estimators.checks import check_class_weight, check_classes, check_cost
from hedgerow.kernels.team import Team
from hedgerow.trees.classification import class_judge, classification_tree
from hedgerow.trees.tree import Tree


class DecisionTreeClassifier(ClassifierMixin, CartTree):
    """A classification tree.

    Grown greedily by the split (j, s) that most reduces the weighted impurity of the two
    sides, to full depth unless limited, and pruned by cost-complexity if asked. Notes 0,
    pages 9-11; notes 1, decision trees; Breiman, Friedman, Olshen and Stone (1984).

    The model is a function of the multiset of weighted rows and of the parameters: the
    order of rows, the number of threads and the kind of table make no difference, and a
    row of weight 3 is three rows (`fingerprint_` is equal; `min_samples_leaf` and
    `min_samples_split` count rows, not weights, as in scikit-learn).

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification", "exponential"}
        "log_loss" is another name of "entropy", which is measured in bits; "exponential" is
        sum_k sqrt(p_k (1 - p_k)), what Real AdaBoost minimises.
    splitter : {"best", "random"}
        The best cut of each feature, or one drawn at random between its smallest and
        largest value in the node.
    max_depth, max_leaf_nodes : int or None
        With `max_leaf_nodes` the leaf of the highest gain is split next.
    min_samples_split, min_samples_leaf : int, or float (a fraction of the rows)
    min_weight_fraction_leaf : float
    max_features : int, float, "sqrt", "log2" or None
        Features drawn for each node anew, whether they are constant in it or not. Only if all
        that were drawn are constant, further ones are drawn until one is not.
    random_state : int, RandomState or None
        Only used with max_features or splitter="random".
    min_impurity_decrease : float
    class_weight : dict, "balanced" or None
        Multiplies the weights of a class's rows. "balanced" gives all classes the same
        total; where sample_weight is given too, the totals are of weights, not of rows.
    misclassification_cost : array [n_classes, n_classes] or None
        cost[k, j] of calling class k (of `classes_`) by the name j. `predict` takes the
        cheapest class. With criterion="misclassification" splits minimise the cost itself;
        with others each class counts in proportion to the sum of its costs.
    ccp_alpha : float or "cv"
        Cost of a leaf in cost-complexity pruning; "cv" chooses it by cross-validation.
    ccp_rule : {"best", "one_standard_error"}
        With "cv": the smallest error, or the smallest tree within one standard error of it.
    ccp_folds : int
        Number of folds; rows are dealt out by their content, so their order does not matter.
    monotonic_cst : array [n_features] of 1, -1, 0, dict of names, or None
        1: the share of the second class must not fall as the feature rises, -1: it must not
        rise. Two classes only.
    split_finding : {"auto", "exact", "histogram"}
        All distinct values, or at most `max_bins` bins; "auto" is exact up to 100,000 rows.
    max_bins : int
    categorical_features : "auto", or names, numbers or a mask of columns
        Columns to be read as categories; strings and category types are in any case.
    unseen : {"missing", "error", "average"}
        What a category that was not there at fit means at prediction: the way of missing
        values, an error, or the mean of both branches by their weights.
    n_jobs : int or None
        Threads; None: all cores that the process may use.

    Attributes
    ----------
    classes_, n_classes_, n_features_in_, feature_names_in_, max_features_, n_outputs_
    tree_ : the tree's arrays under scikit-learn's names
    feature_importances_ : float64 [n_features]
    fingerprint_ : str
    ccp_path_ : Bunch with ccp_alphas, cv_scores, cv_errors, ccp_alpha (only with "cv")

    Examples
    --------
    >>> from hedgerow import DecisionTreeClassifier
    >>> X = [[4.0, "red"], [2.0, "blue"], [None, "blue"], [1.0, "red"]]
    >>> tree = DecisionTreeClassifier().fit(X, ["yes", "no", "no", "yes"])
    >>> tree.predict([[3.0, "red"], [1.0, "blue"]])
    array(['yes', 'no'], dtype='<U3')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS | {
        "criterion": [
            StrOptions({"gini", "entropy", "log_loss", "misclassification", "exponential"})
        ],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "misclassification_cost": ["array-like", None],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        misclassification_cost: Any = None,
        ccp_alpha: Any = 0.0,
        ccp_rule: str = "best",
        ccp_folds: int = 5,
        monotonic_cst: Any = None,
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.misclassification_cost = misclassification_cost
        self.ccp_alpha = ccp_alpha
        self.ccp_rule = ccp_rule
        self.ccp_folds = ccp_folds
        self.monotonic_cst = monotonic_cst
        self.split_finding = split_finding
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _learn(self, table: Table, y: Any, sample_weight: Any) -> None:
        classes, codes, weights = check_classes(self, y, sample_weight, table.n_rows)
        self._class_weights = check_class_weight(self.class_weight, classes, codes, weights)
        cost = check_cost(self.misclassification_cost, len(classes))
        factors = np.ones(len(classes)) if cost is None else _altered_priors(cost, self.criterion)
        self._cost, self._factors = cost, factors
        self._keep(table, Sample(codes, weights, factors=self._class_weights * factors))
        self.classes_, self.n_classes_, self.n_outputs_ = classes, len(classes), 1

    def _grow(
        self, table: BinnedTable, sample: Sample, places: NDArray[np.int64] | None, team: Team
    ) -> Tree:
        n_classes = len(self._factors)
        criterion = "entropy" if self.criterion == "log_loss" else self.criterion
        cost = self._cost if criterion == "misclassification" else None
        judge = class_judge(sample.targets, n_classes, sample.weights, criterion, cost)
        tree, _ = classification_tree(table, *self._limits(table, judge, sample, places), team)
        return tree

    @property
    def _keeps_means(self) -> bool:
        return self._cost is None

    def _labels_of(self, value: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class of each row of proportions: the most frequent, or the cheapest."""
        proportions = value / self._factors
        price = -proportions if self._cost is None else proportions @ self._cost
        return np.asarray(np.argmin(price, axis=1))

    def _fold_losses(
        self, value: NDArray[np.float64], targets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the loss of each row: 1 or its cost if the class is wrong, times its class's."""
        predicted = self._labels_of(value)
        wrong = predicted != targets if self._cost is None else self._cost[targets, predicted]
        return np.asarray(wrong * self._class_weights[targets])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class proportions of the leaf of each row, in the order of `classes_`."""
        return self._spoken(self._leaf_values(X))

    def _spoken(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the class proportions of rows, given those of the rows that the tree counted."""
        proportions = value / self._factors
        return np.asarray(proportions / proportions.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the class proportions; -inf for classes not in the leaf."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: the most frequent, or the cheapest if costs were given."""
        value = self._leaf_values(X)
        return self.classes_[self._labels_of(value)]

    def _shape_of_values(self) -> tuple[int, int]:
        return 1, self.n_classes_

    def _class_names(self) -> tuple[Any, ...]:
        return tuple(self.classes_.tolist())


def _altered_priors(cost: NDArray[np.float64], criterion: str) -> NDArray[np.float64]:
    """Return what each class's weight is multiplied by, so that impurity knows of costs.

    Breiman, Friedman, Olshen and Stone (1984), section 4.4: the sum of the class's costs,
    scaled to mean 1. The cost criterion needs none.
    """
    if criterion == "misclassification":
        return np.ones(len(cost))
    sums = cost.sum(axis=1)
    return np.asarray(sums / sums.mean()) if sums.any() else np.ones(len(cost))


# scikit-learn's own tools (export_text, plot_tree, partial dependence) ask for its class.
_SklearnClassifier.register(DecisionTreeClassifier)
