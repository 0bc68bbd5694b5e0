"""What the gradient boosting estimators share: parameters, growing, prediction."""

import copy
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.binned import MAX_BINS, Recipe
from hedgerow.data.table import Schema, Table, read_table
from hedgerow.ensembles.additive import AdditiveModel
from hedgerow.ensembles.boosting import Boosting, BoostingRules
from hedgerow.ensembles.dropout import NO_DROPOUT, Dropout
from hedgerow.ensembles.sampling import EVERY_ROW, OneSided, Sampling, Subsample
from hedgerow.ensembles.stage import Stage
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.folds import content_folds
from hedgerow.estimators.stopping import Watch
from hedgerow.estimators.tables import ReadsTables, bin_for, categorical_columns
from hedgerow.kernels.team import hired
from hedgerow.trees.rules import GrowthRules

_AUTO_STOPPING_ROWS = 10_000  # up to here early_stopping="auto" is False
_LEAST_GAIN = 1e-12  # of the total weight: rounding may make a useless split gain a little

BOOSTING_CONSTRAINTS: dict[str, list[Any]] = {
    "method": [StrOptions({"newton", "gradient"})],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "learning_rate": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"line_search"})],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_child_weight": [Interval(Real, 0.0, None, closed="left")],
    "l1": [Interval(Real, 0.0, None, closed="left")],
    "l2": [Interval(Real, 0.0, None, closed="left")],
    "gamma": [Interval(Real, 0.0, None, closed="left")],
    "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    "subsample": [Interval(Real, 0.0, 1.0, closed="right")],
    "sampling": [StrOptions({"uniform", "goss"})],
    "top_rate": [Interval(Real, 0.0, 1.0, closed="left")],
    "other_rate": [Interval(Real, 0.0, 1.0, closed="right")],
    "oob_improvement": ["boolean"],
    "dropout": [Interval(Real, 0.0, 1.0, closed="both")],
    "max_dropped": [Interval(Integral, 1, None, closed="left")],
    "skip_dropout": [Interval(Real, 0.0, 1.0, closed="both")],
    "multi_output": [StrOptions({"trees", "vector"})],
    "early_stopping": ["boolean", StrOptions({"auto"})],
    "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0.0, None, closed="left")],
    "categorical_features": ["array-like", StrOptions({"auto"})],
    "unseen": [StrOptions({"missing", "error"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
}


class BaseGradientBoosting(ReadsTables):
    """Trees added one after another: everything that does not depend on what is predicted."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BOOSTING_CONSTRAINTS

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees from a table and one target for each row.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
        y : array [n_rows], or [n_rows, n_outputs] for a regression of several outputs
        sample_weight : array [n_rows] or None
            A row of weight 0 is as if it were not there; a row of weight 3 is three rows.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before. An interrupt
        (Ctrl-C) keeps the rounds that are done; before the first, nothing changes.
        """
        self._validate_params()
        fresh = copy.copy(self)
        fresh._learn(read_table(X), y, sample_weight)
        self.__dict__ = fresh.__dict__
        return self

    def _keep(self, table: Table, sample: Sample, loss: Any) -> None:
        """Boost, and keep the model."""
        # Up to a million cells a kernel is done before a second thread has woken up.
        work = float(len(sample.targets)) * table.n_features / 5
        with hired(self.n_jobs, work) as team:
            binned = bin_for(self, table, sample, team)
            schema = Schema.of(table.names, binned.categories)
            y = np.ascontiguousarray(sample.targets, np.float64)
            held_out, rows = self._held_out(table, schema, sample, y)
            stage = Stage(y, sample.plain, sample.factors, loss, rows)
            boosting = Boosting(binned, stage, self._rules(sample), team)
            if len(held_out):
                watch = Watch(held_out, int(self.n_iter_no_change), float(self.tol), team)
                watch.measure(stage)
                model = boosting.run(watch)
                model = model.first(watch.best_round)
                self.validation_losses_ = np.array(watch.losses)
            else:
                model = boosting.run(lambda _: True)
        if not len(held_out) and hasattr(self, "validation_losses_"):
            del self.validation_losses_
        self._keep_improvements(boosting.improvements[: model.n_rounds])
        self._remember(table, binned)
        self._model, self._loss = model, stage.loss
        self.n_estimators_ = self.n_iter_ = model.n_rounds

    def _keep_improvements(self, improvements: list[float]) -> None:
        """Keep what rounds did for the rows that they did not draw, if rows are sampled."""
        if improvements:
            self.oob_improvement_ = np.array(improvements)
        elif hasattr(self, "oob_improvement_"):
            del self.oob_improvement_

    def _held_out(
        self, table: Table, schema: Schema, sample: Sample, y: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows to be held out and the rows to grow from, both empty if none is.

        Rows are dealt out by their content, equal rows together: order does not matter.
        """
        none = np.zeros(0, np.int64)
        stops = self.early_stopping
        if stops == "auto":
            stops = sample.n_rows > _AUTO_STOPPING_ROWS and self.dropout == 0.0
        if not stops:
            return none, none
        values = schema.matrix(table, "missing")
        values = values if sample.rows is None else values[sample.rows]
        n_folds = max(2, round(1.0 / float(self.validation_fraction)))
        folds = content_folds(values, y.reshape(len(y), -1), n_folds)
        if folds.max() == 0:
            return none, none  # all rows are equal
        return np.flatnonzero(folds == 0), np.flatnonzero(folds != 0)

    def _rules(self, sample: Sample) -> BoostingRules:
        """Translate parameters into the rules of boosting."""
        total = float(sample.plain.counts.sum()) * sample.plain.unit
        growth = GrowthRules(
            max_leaves=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_leaf_weight=float(self.min_child_weight),
            min_gain=max(float(self.gamma), _LEAST_GAIN * total),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        return BoostingRules(
            n_rounds=int(self.n_estimators),
            rate=None if self.learning_rate == "line_search" else float(self.learning_rate),
            growth=growth,
            sampling=self._sampling(),
            watches_bag=bool(self.oob_improvement),
            dropout=self._dropout(),
            vector_leaves=self.multi_output == "vector",
            newton=self.method == "newton",
            l1=float(self.l1),
            l2=float(self.l2),
        )

    def _sampling(self) -> Sampling:
        """Translate parameters into the way in which rows are sampled."""
        if self.sampling == "uniform":
            return Subsample(float(self.subsample)) if self.subsample < 1.0 else EVERY_ROW
        if self.subsample < 1.0:
            raise ValueError(
                f"sampling='goss' draws rows by top_rate and other_rate, but subsample="
                f"{self.subsample} is given too. Leave subsample at 1.0, or use sampling='uniform'."
            )
        if self.top_rate + self.other_rate > 1.0:
            raise ValueError(
                f"top_rate={self.top_rate} and other_rate={self.other_rate} are shares of all "
                "rows, and add up to more than 1. Pass smaller ones, such as 0.2 and 0.1."
            )
        return OneSided(float(self.top_rate), float(self.other_rate))

    def _dropout(self) -> Dropout:
        """Translate parameters into the way in which rounds are dropped."""
        if self.dropout == 0.0:
            return NO_DROPOUT
        given = f"dropout={self.dropout}"
        if self.early_stopping is True:
            raise ValueError(
                f"early_stopping=True keeps the first rounds, but with {given} later rounds change "
                "the trees of earlier ones. Pass early_stopping=False and choose n_estimators."
            )
        if self.learning_rate == "line_search":
            raise ValueError(
                f"With {given} a round's step follows from the number of rounds dropped, so there "
                "is none to search for. Pass a number as learning_rate."
            )
        return Dropout(float(self.dropout), int(self.max_dropped), float(self.skip_dropout))

    def _recipe(self, table: Table, n_rows: int) -> Recipe:  # noqa: ARG002  same for any number
        return Recipe(int(self.max_bins), categorical_columns(self.categorical_features, table))

    def _raw(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows, float64 [n_rows, n_outputs]."""
        values = self._values(X)
        work = float(len(values)) * len(self._model.grove.output)
        with hired(self.n_jobs, work) as team:
            return self._model.raw(values, team)

    def _staged_raw(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the scores after each round."""
        values, model = self._values(X), self._model
        out = np.tile(model.start, (len(values), 1))
        for number in range(model.n_rounds):
            with hired(self.n_jobs, float(len(values))) as team:
                model.add(values, team, number, number + 1, out)
            yield out.copy()

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the loss's fall that each feature's splits brought; they add up to 1."""
        check_is_fitted(self)
        grove, gain = self._model.grove, self._model.gain
        splits = grove.left >= 0
        total = np.zeros(self.n_features_in_)
        np.add.at(total, grove.feature[splits], gain[splits])
        return total / total.sum() if total.sum() > 0 else total

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the model: equal for the same weighted rows in any order, on any threads."""
        check_is_fitted(self)
        return self._model.fingerprint()

    _model: AdditiveModel
