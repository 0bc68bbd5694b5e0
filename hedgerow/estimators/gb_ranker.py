"""Gradient boosting for rankings."""

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from hedgerow.data.table import Table
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.folds import Columns, query_folds
from hedgerow.estimators.gradient_boosting import (
    BOOSTING_CONSTRAINTS,
    BaseGradientBoosting,
    keep_parameters,
)
from hedgerow.estimators.ndcg import mean_ndcg
from hedgerow.estimators.queries import check_queries, check_query_weights, check_relevance
from hedgerow.estimators.request import Request
from hedgerow.estimators.watched_queries import GivenQueries, given_queries
from hedgerow.fitted.boosting import RankBoosting
from hedgerow.losses import LambdaRank, Pairwise, RankingLoss
from hedgerow.losses.lists import gains_of, listed

# Rounds are chosen by NDCG of queries, not by metrics of rows; the rows of a query are
# not drawn one by one, and have one score.
_ABSENT = (
    *("max_estimators", "cv", "one_se", "eval_metric", "multi_output"),
    *("subsample", "sampling", "top_rate", "other_rate", "oob_improvement"),
)
_CONSTRAINTS = {name: each for name, each in BOOSTING_CONSTRAINTS.items() if name not in _ABSENT}
RANKING_LOSSES: dict[str, Any] = {"lambdarank": LambdaRank, "pairwise": Pairwise}


class _Judged(NamedTuple):
    """Relevance of rows, with the queries that they were judged for, as a user gives them."""

    y: Any
    qid: Any
    group: Any


class _QuerySample(Sample):
    """Rows that count, with the numbers of their queries, int64 [n]."""

    def __init__(
        self, y: NDArray[np.float64], weights: NDArray[np.float64], query_of_row: NDArray[np.int64]
    ) -> None:
        super().__init__(y, weights)
        kept = query_of_row if self.rows is None else query_of_row[self.rows]
        self.query_of_row = np.unique(kept, return_inverse=True)[1]


class GradientBoostingRanker(RankBoosting, BaseGradientBoosting):
    """Trees added one after another, so that their sum puts the rows of each query in order.

    The rows of a query are documents, y is how relevant each is. Both losses are of pairs of
    documents of a query,

        l = sum over pairs with y_i > y_j of worth_ij log(1 + e^(-sigma (f_i - f_j))),

    and differ in what a pair is worth. "lambdarank" (LambdaMART): what NDCG@truncation would
    change by if the two changed places; "pairwise" (RankNet): 1. A query of n rows costs up to
    n^2 / 2 pairs a round, with "lambdarank" some truncation * n after the first.
    `GradientBoostingRegressor` explains the method and the parameters that are not listed here.

    The model is a function of the multiset of queries, each a multiset of rows: the order of
    rows, the names of queries and the number of threads make no difference, and a query of
    weight 3 is three queries (`fingerprint_` is equal). Rows of equal scores have no order:
    what depends on ranks is the mean over all their orders, so that already the first tree is
    fitted to all pairs alike.

    Burges (2010); Wu, Burges, Svore and Gao (2010).

    Parameters
    ----------
    loss : {"lambdarank", "pairwise"}
    truncation : int or None
        Ranks that count in NDCG, k of NDCG@k; None: all. For "pairwise" it matters only to
        early stopping and `score`.
    sigma : float
        How steep the logistic function is.
    n_estimators : int or "auto"
        Rounds at most. "auto": 100, or up to 500 if queries are watched to stop early.
    gain : {"exponential", "linear"}
        What a label is worth: 2^y - 1 (y up to 31) or y. Labels are numbers >= 0, not
        necessarily whole.
    min_child_weight : float
        Least sum of Hessians of a leaf. With "lambdarank" those of a whole query add up to about
        sigma^2, with "pairwise" to sigma^2 / 2 for each of its pairs at most.
    l2 : float
        Small, as the Hessians are.
    dropout, max_dropped, skip_dropout : float, int, float
        Of earlier rounds. Rows are not sampled: those of a query belong together.
    early_stopping : "auto" or bool
        Hold out `validation_fraction` of the queries, stop when their NDCG@truncation has not
        risen by more than `tol` for `n_iter_no_change` rounds, and keep the best round. "auto":
        if there are more than 10,000 rows and two queries or more.
        With `eval_set` in `fit` these queries are watched instead, if it is not False.

    Attributes
    ----------
    n_estimators_, n_iter_ : int
        Rounds that were kept.
    validation_losses_ : float64 [n_rounds + 1], only with early stopping
        1 - mean NDCG@truncation of the queries held out, before the first round and after each.
    evals_result_ : dict, only if queries are watched
        By queries ("validation"; "eval_0", ... of `eval_set`) and metric ("loss", as above):
        values before the first round and after each.
    feature_importances_, fingerprint_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from hedgerow import GradientBoostingRanker
    >>> X = [[0.1], [0.7], [0.4], [0.9], [0.3], [0.8]]
    >>> y, qid = [0, 2, 1, 2, 0, 1], ["a", "a", "a", "b", "b", "b"]
    >>> model = GradientBoostingRanker(min_child_weight=0.0).fit(X, y, qid=qid)
    >>> model.predict([[0.2], [0.5], [0.95]]).argsort()
    array([0, 1, 2])
    >>> model.score(X, y, qid=qid)
    1.0
    >>> model.fit(X, y, qid=qid, eval_set=([[0.3], [0.6]], [0, 1], ["c", "c"])).n_estimators_
    1
    >>> model.evals_result_["eval_0"]["loss"][:2].round(3)
    array([0.185, 0.   ])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _CONSTRAINTS | {
        "loss": [StrOptions(set(RANKING_LOSSES))],
        "n_estimators": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "truncation": [Interval(Integral, 1, None, closed="left"), None],
        "sigma": [Interval(Real, 0.0, None, closed="neither")],
        "gain": [StrOptions({"exponential", "linear"})],
    }

    eval_metric, multi_output = None, "trees"
    subsample, sampling, top_rate, other_rate, oob_improvement = 1.0, "uniform", 0.2, 0.1, False

    def __init__(  # noqa: PLR0913  scikit-learn's parameters
        self,
        *,
        loss: str = "lambdarank",
        truncation: int | None = 30,
        sigma: float = 1.0,
        gain: str = "exponential",
        method: str = "newton",
        n_estimators: Any = "auto",
        learning_rate: float = 0.1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_child_weight: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.01,
        gamma: float = 0.0,
        prune: str = "pre",
        max_features: Any = None,
        max_features_level: Any = None,
        max_features_tree: Any = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        split_finding: str = "histogram",
        max_bins: int = 255,
        dropout: float = 0.0,
        max_dropped: int = 50,
        skip_dropout: float = 0.0,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 1e-7,
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    def fit(  # type: ignore[override]  # noqa: PLR0913  queries instead of offsets
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        eval_set: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 20,
    ) -> Self:
        """Grow the trees from a table, the relevance of each row, and the rows' queries.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
        y : array [n_rows]
            Relevance, 0 or more.
        sample_weight : array [n_rows] or None
            Of queries: all rows of a query have the same one. A query of weight 3 is three
            queries. A row of weight 0 is as if it were not there.
        qid : array [n_rows]
            The query of each row: numbers or names. Rows may be in any order.
        group : array [n_queries]
            Instead of qid: numbers of rows, if the rows of each query follow one another.
        eval_set : tuple, or list of tuples, or None
            Queries to be watched, (X, y, qid) or (X, y, qid, weight); rounds are chosen by the
            last of several. qid is np.repeat(np.arange(len(group)), group) if sizes are known.
        checkpoint, checkpoint_every :
            A file to go on from and to write rounds to, as of GradientBoostingRegressor.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before. An interrupt
        (Ctrl-C) keeps the rounds that are done; before the first, nothing changes.
        """
        return super().fit(
            X,
            _Judged(y, qid, group),
            sample_weight,
            eval_set=eval_set,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )

    def _learn(self, table: Table, y: Any, sample_weight: Any, request: Request) -> None:
        targets = check_relevance(self, y.y, table.n_rows)
        query_of_row = check_queries(y.qid, y.group, table.n_rows)
        weights = check_query_weights(sample_weight, query_of_row)
        sample = _QuerySample(targets, weights, query_of_row)
        gains = gains_of(sample.targets, self.gain)
        formula = self._loss_value()
        lists = listed(sample.query_of_row, gains, self.truncation)
        self._keep(table, sample, RankingLoss(formula, lists), request)
        self._loss = formula  # without the lists, which are as large as the table

    def _loss_value(self) -> Any:
        """Return the loss of a pair that the parameters name."""
        return RANKING_LOSSES[self.loss](float(self.sigma))

    def _folds(self, columns: Columns, sample: Any, n_folds: int) -> NDArray[np.int64]:
        folds = query_folds(columns, sample.targets, sample.query_of_row, n_folds)
        if folds.max() == 0 and self.early_stopping != "auto":
            raise ValueError(
                "early_stopping=True holds out whole queries, but all rows are of one query (or "
                "all queries are equal). Pass early_stopping=False, or more queries."
            )
        return folds

    def _has_parts(self, sample: Any) -> bool:
        return bool(sample.query_of_row.max() > 0)

    def _watched(self, number: int, given: Any, *_: Any) -> GivenQueries:
        return given_queries(self, number, given)

    def permutation_importances(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: a ranking is of whole queries, and this method of other models is of rows."""
        raise TypeError(
            "permutation_importances measures a loss of rows, but rankings are of queries. Use "
            "sklearn.inspection.permutation_importance(model, X, y, scoring=lambda model, X, y: "
            "model.score(X, y, qid=qid))."
        )

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None, group: Any = None
    ) -> float:
        """Return the mean NDCG@truncation of queries; see `mean_ndcg`."""
        return mean_ndcg(
            y,
            self.predict(X),
            qid=qid,
            group=group,
            k=self.truncation,
            gain=self.gain,
            sample_weight=sample_weight,
        )
