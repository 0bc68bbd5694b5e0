"""Gradient boosting for numbers."""

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from hedgerow.data.table import Table
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_targets, check_weights
from hedgerow.estimators.gradient_boosting import BOOSTING_CONSTRAINTS, BaseGradientBoosting
from hedgerow.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)

REGRESSION_LOSSES: dict[str, Any] = {
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
    "huber": Huber,
    "quantile": Quantile,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": Tweedie,
}


class GradientBoostingRegressor(RegressorMixin, BaseGradientBoosting):
    """Trees added one after another, each fitted to the derivatives of a loss.

        f_m = f_(m-1) + learning_rate * tree,    leaf value -G / (H + l2),
        gain of a split = 1/2 [G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2)]

    with G, H the sums of the loss's first and second derivatives: the notes' gain, with its
    1/2. Notes 0, part III; notes 3; notes 4; Friedman (2001); Chen and Guestrin (2016).

    The model is a function of the multiset of weighted rows and of the parameters: the
    order of rows and the number of threads make no difference, and a row of weight 3 is
    three rows (`fingerprint_` is equal).

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"}
        With "absolute_error", "quantile" and "huber" the leaves are set to what minimises
        the loss in them (Huber: Friedman's step), whatever the method.
    alpha : float
        The level of "quantile"; for "huber" the share of rows that are no outliers.
    power : float
        Of "tweedie", between 1 and 2.
    method : {"newton", "gradient"}
        Trees by second order, or by least squares to the gradients, with a step per leaf.
    n_estimators : int
        Rounds at most.
    learning_rate : float or "line_search"
        What each tree is multiplied by; "line_search": the step that minimises the loss along
        the trees of the round, over all rows that are trained on (an exact one, without
        shrinkage: good for few deep trees of a smooth loss, else a small number is better).
    max_leaf_nodes, max_depth : int or None
        With `max_leaf_nodes` the leaf of the highest gain is split next.
    min_child_weight : float
        Least sum of Hessians of a leaf; for "squared_error" that is its weight.
    l1, l2, gamma : float
        Penalties of a leaf's value, absolute and squared, and of a leaf.
    max_bins : int
    subsample : float
        The chance of a row to be drawn for a round, by its content: equal for any order of
        rows, and a row of weight 3 is three rows that are drawn one by one.
    sampling : {"uniform", "goss"}
        "goss": a round has the `top_rate` of rows with the largest |g h| (summed over classes)
        and, drawn from the rest, `other_rate` of all rows, whose derivatives are multiplied by
        (1 - top_rate) / other_rate, in the search for splits and in the values of leaves. Sizes
        within 1 % of each other are equal, and equal ones are parted by lot. Ke et al. (2017).
    top_rate, other_rate : float
    oob_improvement : bool
        Measure what each round does for the rows that it does not draw.
    dropout : float
        The chance of each earlier round to be left out while a round is fitted (DART, Vinayak
        and Gilad-Bachrach 2015), one at least. If k are, they are multiplied by
        k / (k + learning_rate) and the new trees by learning_rate / (k + learning_rate). As
        trees change after their round, there is no early stopping ("auto" is False), and
        `staged_predict` shows the first rounds of the final model.
    max_dropped : int
        Rounds left out at once, at most.
    skip_dropout : float
        The chance of a round to leave out none.
    multi_output : {"trees", "vector"}
        With several outputs, a tree for each in every round, or one tree for all, whose leaves
        are vectors: a smaller model of what outputs have in common. Its least leaf is a mean
        over outputs.
    early_stopping : "auto" or bool
        Hold out `validation_fraction` of the rows, stop when their loss has not fallen by
        more than `tol` for `n_iter_no_change` rounds, and keep the best round. "auto": if
        there are more than 10,000 rows.
    validation_fraction, n_iter_no_change, tol
    categorical_features : "auto", or names, numbers or a mask of columns
    unseen : {"missing", "error"}
        What a category that was not there at fit means at prediction.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads; None: all cores that the process may use.

    Attributes
    ----------
    n_estimators_, n_iter_ : int
        Rounds that were kept.
    validation_losses_ : float64 [n_rounds + 1], only with early stopping
        Loss of the rows held out, before the first round and after each.
    oob_improvement_ : float64 [n_estimators_], only if it is asked for and rows are sampled
        By how much each round lowered the mean loss of the rows that it did not draw.
    n_outputs_ : int
        Columns of y; the loss is summed over them.
    feature_importances_, fingerprint_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from hedgerow import GradientBoostingRegressor
    >>> model = GradientBoostingRegressor(learning_rate=1.0, l2=0.0, min_child_weight=1)
    >>> model.fit([[1], [2], [3], [4]], [1.0, 1.0, 3.0, 5.0]).predict([[0], [10]]).round(6)
    array([1., 5.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BOOSTING_CONSTRAINTS | {
        "loss": [StrOptions(set(REGRESSION_LOSSES))],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
        "power": [Interval(Real, 1.0, 2.0, closed="neither")],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        *,
        loss: str = "squared_error",
        alpha: float = 0.9,
        power: float = 1.5,
        method: str = "newton",
        n_estimators: int = 100,
        learning_rate: Any = 0.1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_child_weight: float = 20.0,
        l1: float = 0.0,
        l2: float = 1.0,
        gamma: float = 0.0,
        max_bins: int = 255,
        subsample: float = 1.0,
        sampling: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        oob_improvement: bool = False,
        dropout: float = 0.0,
        max_dropped: int = 50,
        skip_dropout: float = 0.0,
        multi_output: str = "trees",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.power = power
        self.method = method
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.l1 = l1
        self.l2 = l2
        self.gamma = gamma
        self.max_bins = max_bins
        self.subsample = subsample
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.oob_improvement = oob_improvement
        self.dropout = dropout
        self.max_dropped = max_dropped
        self.skip_dropout = skip_dropout
        self.multi_output = multi_output
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, table: Table, y: Any, sample_weight: Any) -> None:
        targets = check_targets(self, y, table.n_rows)
        weights = check_weights(sample_weight, table.n_rows)
        loss = self._loss_value()
        for output in targets.T:
            loss.check(output[weights > 0])
        self.n_outputs_ = targets.shape[1]
        if self.n_outputs_ > 1 and hasattr(loss, "adapted"):
            raise ValueError(
                f"y has {self.n_outputs_} columns, but loss={self.loss!r} sets itself by one. Fit "
                "one model for each column, or use another loss."
            )
        self._keep(table, Sample(targets if self.n_outputs_ > 1 else targets[:, 0], weights), loss)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.loss != "huber"
        return tags

    def _loss_value(self) -> Any:
        """Return the loss that the parameters name."""
        given = {"huber": {"alpha": self.alpha}, "quantile": {"level": self.alpha}}
        given["tweedie"] = {"power": self.power}
        numbers = {name: float(number) for name, number in given.get(self.loss, {}).items()}
        return REGRESSION_LOSSES[self.loss](**numbers)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted mean, or the median or quantile that the loss is about.

        [n_rows], or [n_rows, n_outputs] if there are several.
        """
        return self._linked(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the predictions after each round."""
        for raw in self._staged_raw(X):
            yield self._linked(raw)

    def _linked(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._loss.link(raw[:, 0] if self.n_outputs_ == 1 else raw))
