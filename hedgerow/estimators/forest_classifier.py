"""Forests of classification trees with scikit-learn's names."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from hedgerow.data.table import Table
from hedgerow.ensembles.curve import steady_sum
from hedgerow.ensembles.left_out import LeftOut
from hedgerow.ensembles.species import ClassTrees
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_class_weight, check_classes
from hedgerow.estimators.forest import FOREST_CONSTRAINTS, BaseForest
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.fitted.forest import ClassForest

_CRITERIA = StrOptions({"gini", "entropy", "log_loss", "misclassification"})


class ForestClassifier(ClassifierMixin, ClassForest, BaseForest):
    """What random forests and extra-trees of classes share."""

    _keeps_levels = True
    _halvings = 8  # see docs/decisions/0060

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = FOREST_CONSTRAINTS | {
        "criterion": [_CRITERIA],
        "class_weight": [dict, StrOptions({"balanced", "balanced_subsample"}), None],
        "voting": [StrOptions({"soft", "hard"})],
    }

    def _learn(self, table: Table, y: Any, sample_weight: Any, asked: Any) -> None:
        classes, codes, weights = check_classes(self, y, sample_weight, table.n_rows)
        before = asked[0]
        if before is not None and not np.array_equal(before.classes_, classes):
            raise ValueError(
                f"y has the classes {classes.tolist()}, but warm_start=True goes on from a forest "
                f"of {before.classes_.tolist()}. Pass the same classes, or warm_start=False."
            )
        by_tree = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        given = None if by_tree else self.class_weight
        factors = check_class_weight(given, classes, codes, weights)
        sample = Sample(codes, weights, factors=factors)
        self.classes_, self.n_classes_, self.n_outputs_ = classes, len(classes), 1
        species = ClassTrees(sample.targets, len(classes), self._impurity, by_tree)
        self._keep(table, sample, species, asked)

    def _score_out_of_bag(self, judged: LeftOut, sample: Sample) -> float:
        """Return the share of rows, by weight, that are called by their class."""
        known, weights = judged.n_trees > 0, sample.plain.weights
        shown = np.argmax(judged.sums, axis=1)
        if callable(self.oob_score):
            names, told = self.classes_[sample.targets[known]], self.classes_[shown[known]]
            return float(self.oob_score(names, told)) if known.any() else float("nan")
        right = known & (shown == sample.targets)
        total = steady_sum(weights * known)
        return steady_sum(weights * right) / total if total > 0 else float("nan")

    def _keep_out_of_bag(self, judged: LeftOut, sample: Sample, n_rows: int) -> None:
        shown = np.full((n_rows, self.n_classes_), np.nan)
        shown[slice(None) if sample.rows is None else sample.rows] = judged.means()
        self.oob_decision_function_ = shown

    def _estimator(self, number: int) -> DecisionTreeClassifier:
        """Return one tree as an estimator."""
        tree = DecisionTreeClassifier(
            criterion=self.criterion, n_jobs=self.n_jobs, unseen=self.unseen
        )
        self._lend(tree, number)
        tree.classes_, tree.n_classes_ = self.classes_, self.n_classes_
        tree._cost, tree._factors = None, np.ones(self.n_classes_)
        return tree


class RandomForestClassifier(ForestClassifier):
    """A random forest: trees of bootstrap samples that try some features at each node.

    For each tree n rows are drawn with replacement; the tree is grown to full depth, and each
    node takes the best split of `max_features` features drawn for it. Predictions are averaged.
    Notes 1, algorithm 1; Breiman (2001).

    Draws are a function of the seed, the tree, the node and the content of rows: the forest is
    the same for any number of threads and any order of the rows.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes,
    min_impurity_decrease, ccp_alpha :
        Of each tree, as in DecisionTreeClassifier.
    max_features : int, float, "sqrt", "log2" or None
        Features tried at each node, drawn for it.
    bootstrap : bool
        Draw rows with replacement for each tree, in proportion to their weights, or let each
        tree have all of them.
    max_samples : int, float or None
        Rows that are drawn: so many, a share of the total weight, or as many as there are. A row
        of weight 3 is three rows, to the bit.
    oob_score : bool or callable
        Predict each row by the trees that it was not drawn for: `oob_score_`,
        `oob_decision_function_`, and `oob_curve_`, the score of the first 1, 2, ... trees. The
        score is accuracy, or what metric(y, predicted) returns.
    class_weight : dict, "balanced", "balanced_subsample" or None
        Multiplies the weights of a class's rows. "balanced_subsample" gives all classes the
        same total in the rows of each tree.
    monotonic_cst : array [n_features] of 1, -1, 0, dict of names, or None
        1: the share of the second class must not fall as the feature rises, -1: it must not
        rise. Two classes only.
    voting : {"soft", "hard"}
        Average the class proportions of leaves, or count one vote of each tree.
    split_finding : {"auto", "exact", "histogram"}
        All distinct values, or at most `max_bins` bins; "auto" is exact up to 10,000 rows.
    max_bins, categorical_features, unseen : as in DecisionTreeClassifier
    time_limit : float or None
        Seconds after which no tree is begun.
    warm_start : bool
        Keep the trees that are there, and add those that are missing.
    verbose : bool
        Show progress on a terminal if the fit takes longer than a second.
    random_state : int, RandomState or None
        None is 0: the same forest each time.
    n_jobs : int or None
        Threads; None: all cores that the process may use.

    Attributes
    ----------
    classes_, n_classes_, n_features_in_, feature_names_in_, n_outputs_, max_features_
    estimators_ : sequence of DecisionTreeClassifier, unpacked when they are asked for
    estimators_samples_ : the rows of each tree
    feature_importances_ : float64 [n_features]
    fingerprint_ : str
    oob_score_, oob_decision_function_, oob_curve_ : only with oob_score

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=50, oob_score=True).fit(X, y)
    >>> round(forest.oob_score_, 2)
    0.95
    """

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = True,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        voting: str = "soft",
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        time_limit: float | None = None,
    ) -> None:
        keep_parameters(self, locals())


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees: one random cut for each feature that a node tries.

    Each tree has all rows (or a bootstrap sample); a node draws one cut for each of
    `max_features` features, uniformly between the smallest and the largest value there, and
    takes the best of them. Notes 1, algorithm 2; Geurts, Ernst and Wehenkel (2006).

    Parameters and attributes are those of RandomForestClassifier; bootstrap is False.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(n_estimators=20).fit(X, y).score(X, y)
    1.0
    """

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = True,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        voting: str = "soft",
        split_finding: str = "auto",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        time_limit: float | None = None,
    ) -> None:
        keep_parameters(self, locals())

    @property
    def _cuts_at_random(self) -> bool:
        return True
