"""Gradient boosting for numbers."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from hedgerow.data.table import Table
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_targets, check_weights
from hedgerow.estimators.gradient_boosting import (
    BOOSTING_CONSTRAINTS,
    BaseGradientBoosting,
    keep_parameters,
)
from hedgerow.estimators.losses import REGRESSION_LOSSES, regression_loss
from hedgerow.estimators.request import Request
from hedgerow.estimators.scoring import ScoresNumbers
from hedgerow.fitted.boosting import MeanBoosting


class GradientBoostingRegressor(ScoresNumbers, MeanBoosting, BaseGradientBoosting):
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
        the loss in them (Huber: Friedman's step), whatever the method. Or a loss of your own
        (`hedgerow.losses.custom_loss` says how), or a value such as `hedgerow.losses.Tweedie(1.2)`.
    alpha : float, or increasing levels of "quantile"
        The level of "quantile"; for "huber" the share of rows that are no outliers. With
        several levels `predict` has a column for each, no row's quantiles cross, and `score` is
        the mean over levels of scikit-learn's `d2_pinball_score`.
    power : float
        Of "tweedie", between 1 and 2.
    method : {"newton", "gradient"}
        Trees by second order, or by least squares to the gradients, with a step per leaf.
    n_estimators, max_estimators : int, "auto" or "cv", int
        Rounds at most. "auto": 200 (100 of a given rate), 500 if rows are watched. "cv": the
        best number by cross-validation; the models of all folds grow together with the final
        one, up to `max_estimators` rounds, until the pooled loss has not fallen for
        `n_iter_no_change`.
    cv : int, splitter of scikit-learn, or iterable of (training rows, test rows)
        Folds of n_estimators="cv". An int deals rows out by their content, equal rows
        together: their order does not matter.
    one_se : bool
        Take the fewest rounds within one standard error of the best.
    learning_rate : float, "auto" or "line_search"
        What each tree is multiplied by. "auto": 0.06 if both rounds and rate are "auto" and no
        rows are watched, else 0.1. "line_search": the best step along the round's trees.
    max_leaf_nodes, max_depth : int or None
        With `max_leaf_nodes` the leaf of the highest gain is split next; without, all leaves
        are, down to `max_depth`.
    min_samples_leaf : int
        Least number of rows of a leaf. Above 1 rows are counted, whatever their weight: a row
        of weight 3 is then no longer three rows.
    min_child_weight : float or "auto"
        Least sum of Hessians of a leaf, most often its weight. "auto": 1; 2 / min(q, 1 - q) for
        the quantile of level q, 4 for "absolute_error".
    l1, l2, gamma : float
        Penalties of a leaf's value, absolute and squared, and of a leaf: the gain, with its
        1/2, that a split must have.
    prune : {"pre", "post"}
        Stop where no split gains `gamma`, or grow on whatever the gain and then take away
        bottom splits that gain less: a split stays if one below it does. Of an exclusive or
        "post" keeps four leaves, "pre" one.
    max_features, max_features_level, max_features_tree : int, float, "sqrt", "log2" or None
        Features that are drawn for each node ("auto": half, at least 4), each level of a tree and
        each tree: a number or a share, of those of the node's level, of the tree, of X. None: all.
    monotonic_cst : array [n_features] of 1, -1 and 0, dict from names of columns, or None
        Where it is 1 the model never falls when the feature rises, -1: never rises, if all
        else stays the same. Not for categories, nor for more than two classes.
    interaction_cst : "pairwise", "no_interactions", list of groups of columns, or None
        Features that may meet on the way to a leaf: two of a kind, no two, or those of one
        group, by number or name; columns in no group are one more group.
    split_finding, max_bins : {"histogram", "exact"}, int
        Cuts between at most `max_bins` bins, or between any two values.
    subsample : float
        The chance of a row to be drawn for a round, by its content: equal for any order of
        rows; of a row of weight 3 each third is drawn by itself.
    sampling, top_rate, other_rate : {"uniform", "goss"}, float, float
        "goss": a round has the `top_rate` of rows with the largest |g h| (summed over classes)
        and, drawn from the rest, `other_rate` of all rows, whose derivatives are multiplied by
        (1 - top_rate) / other_rate. Sizes within 1 % of each other are equal, and equal ones
        are parted by lot. Ke et al. (2017).
    oob_improvement : bool
        Measure what each round does for the rows that it does not draw.
    dropout : float
        The chance of each earlier round to be left out while a round is fitted (DART, Vinayak
        and Gilad-Bachrach 2015), one at least. If k are, they are multiplied by
        k / (k + learning_rate) and the new trees by learning_rate / (k + learning_rate). As
        trees change after their round, there is no early stopping ("auto" is False), `eval_set`,
        "cv" or warm start, and `staged_predict` shows the first rounds of the final model.
    max_dropped, skip_dropout : int, float
        Rounds left out at once, at most; the chance of a round to leave out none.
    multi_output : {"trees", "vector"}
        With several outputs, a tree for each in every round, or one tree for all, whose leaves
        are vectors: a smaller model of what outputs have in common. Its least leaf is a mean
        over outputs; it knows neither `monotonic_cst` nor `min_samples_leaf`.
    early_stopping, validation_fraction, n_iter_no_change, tol : "auto" or bool, float, int, float
        Hold out `validation_fraction` of the rows, stop when their loss has not fallen by
        more than `tol` for `n_iter_no_change` rounds, and keep the best round. "auto": if
        there are more than 10,000 rows and the loss has values. With `eval_set` in `fit` these
        rows are watched instead, if it is not False.
    eval_metric : str, callable, list of these, or None
        Scorers of scikit-learn, by name or as scorer(estimator, X, y), measured after each
        round beside the loss; the first one decides. None: the loss.
    time_limit : float or None
        Seconds after which no round begins; there is at least one.
    callbacks : list of callables or None
        Called after each round with a value that has `number`, `n_rounds`, `seconds`,
        `history` and `fitted()`, a fitted copy so far. False ends the fit with the rounds done.
    warm_start : bool
        Go on from the model of the last `fit` to a larger `n_estimators`: with the same rows
        and parameters the model is the one that a single fit would have given, to the bit.
    verbose : bool
        Show a bar with the time left, on a terminal, for fits of more than a second.
    categorical_features : "auto", or names, numbers or a mask of columns
    unseen : {"missing", "error"}
        What a category that was not there at fit means at prediction.
    random_state : int, RandomState or None (as 0: every fit gives the same model)
    n_jobs : int or None
        Threads; None: all cores that the process may use.

    Attributes
    ----------
    n_estimators_, n_iter_ : int
        Rounds that were kept.
    validation_losses_ : float64 [n_rounds + 1], only with early stopping
        Loss of the rows held out, before the first round and after each.
    evals_result_ : dict, only if rows are watched
        By rows ("validation"; "eval_0", ... of `eval_set`) and metric ("loss", ...): values
        before the first round and after each. Huber's delta is that before the first round.
    cv_results_ : Bunch, only with n_estimators="cv"
        `losses` [n_rounds + 1] pooled over rows, `standard_errors`, `fold_losses` [n_folds,
        n_rounds + 1] and `held_out`, rows of each fold among those with weight. If there is
        an `eval_metric`, negative scores instead of losses.
    oof_predictions_ : float64 [n_rows, ...], only with n_estimators="cv"
        Prediction for each row by the models that it was held out of (their mean raw score,
        if several); NaN if it never was.
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

    A loss of your own, the expectile: what is too low counts `share`, too high 1 - share.

    >>> from typing import NamedTuple
    >>> class Expectile(NamedTuple):
    ...     share: float = 0.5
    ...
    ...     def loss(self, y, f):
    ...         weight = self.share if f < y else 1.0 - self.share
    ...         return weight * (y - f) ** 2
    >>> model.set_params(loss=Expectile(0.9))
    GradientBoostingRegressor(l2=0.0, learning_rate=1.0, loss=Expectile(share=0.9),
                              min_child_weight=1)
    >>> model.fit([[1], [1], [1], [1]], [0.0, 0.0, 0.0, 1.0]).predict([[1]]).round(6)
    array([0.75])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BOOSTING_CONSTRAINTS | {
        "loss": [StrOptions(set(REGRESSION_LOSSES)), tuple, callable],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither"), "array-like"],
        "power": [Interval(Real, 1.0, 2.0, closed="neither")],
        "min_child_weight": [*BOOSTING_CONSTRAINTS["min_child_weight"], StrOptions({"auto"})],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        *,
        loss: Any = "squared_error",
        alpha: Any = 0.9,
        power: float = 1.5,
        method: str = "newton",
        n_estimators: Any = "auto",
        max_estimators: int = 1000,
        cv: Any = 5,
        one_se: bool = False,
        learning_rate: Any = "auto",
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_child_weight: Any = "auto",
        l1: float = 0.0,
        l2: float = 5.0,
        gamma: float = 0.0,
        prune: str = "pre",
        max_features: Any = "auto",
        max_features_level: Any = None,
        max_features_tree: Any = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        split_finding: str = "histogram",
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
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
        eval_metric: Any = None,
        time_limit: float | None = None,
        callbacks: Any = None,
        warm_start: bool = False,
        verbose: bool = True,
        categorical_features: Any = "auto",
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def _learn(self, table: Table, y: Any, sample_weight: Any, request: Request) -> None:
        targets = check_targets(self, y, table.n_rows)
        weights = check_weights(sample_weight, table.n_rows)
        loss = self._loss_value()
        for output in targets.T:
            loss.check(output[weights > 0])
        self.n_outputs_ = targets.shape[1]
        if self.n_outputs_ > 1 and (hasattr(loss, "adapted") or hasattr(loss, "of_output")):
            raise ValueError(
                f"y has {self.n_outputs_} columns, but loss={self.loss!r} (or several levels of "
                "alpha) sets itself by one. Fit one model for each column, or use another loss."
            )
        self._keep(table, Sample(self._columns(targets), weights), loss, request)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.loss != "huber" and np.ndim(self.alpha) == 0
        return tags

    def _loss_value(self) -> Any:
        """Return the loss that the parameters name, or are."""
        return regression_loss(self.loss, self.alpha, self.power)

    def _watched_targets(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        """Return the targets of rows that are watched."""
        targets = check_targets(self, y, n_rows)
        if targets.shape[1] != self.n_outputs_:
            raise ValueError(
                f"y of the rows that are watched has {targets.shape[1]} columns, but y of fit has "
                f"{self.n_outputs_}. Pass the same columns."
            )
        for output in targets.T:
            self._loss_value().check(output)
        return self._columns(targets)
