"""What the gradient boosting estimators share: parameters, growing, prediction."""

import copy
import time
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.binned import MAX_BINS, BinnedTable, Recipe
from hedgerow.data.pages import give_back
from hedgerow.data.table import Table, read_table
from hedgerow.ensembles.boosting import BoostingRules
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checkpoints import checkpoint_of, demand_resumable
from hedgerow.estimators.checks import check_parameters
from hedgerow.estimators.constraints import (
    check_vector_leaves,
    interaction_groups,
    monotone_signs,
    n_drawn_in_turn,
)
from hedgerow.estimators.control import Control
from hedgerow.estimators.explaining import Explains
from hedgerow.estimators.first_fits import first_boosting
from hedgerow.estimators.folds import Columns, content_folds
from hedgerow.estimators.ground import Ground
from hedgerow.estimators.losses import least_weight
from hedgerow.estimators.request import Request, check_going_on, given_rows
from hedgerow.estimators.rounds import Pace, grown, grown_by_cv, pace_of
from hedgerow.estimators.sampling import check_bag, round_dropout, row_sampling
from hedgerow.estimators.stopping import GivenRows
from hedgerow.estimators.tables import bin_for, categorical_columns
from hedgerow.fitted.boosting import AddsTrees, check_offset
from hedgerow.kernels.team import hired
from hedgerow.trees.rules import GrowthRules

_HALVINGS = 3  # of the bins at both ends of a feature: see docs/decisions/0053

_LEAST_GAIN = 1e-12  # of the total weight: rounding may make a useless split gain a little
# What some fits find out and others do not.
_FOUND = (
    "evals_result_",
    "validation_losses_",
    "cv_results_",
    "oof_predictions_",
    "oob_improvement_",
)

MAX_FEATURES: list[Any] = [
    Interval(Integral, 1, None, closed="left"),
    Interval(RealNotInt, 0.0, 1.0, closed="right"),
    StrOptions({"sqrt", "log2"}),
    None,
]
BOOSTING_CONSTRAINTS: dict[str, list[Any]] = {
    "method": [StrOptions({"newton", "gradient"})],
    "n_estimators": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto", "cv"})],
    "max_estimators": [Interval(Integral, 1, None, closed="left")],
    "cv": [
        Interval(Integral, 2, None, closed="left"),
        HasMethods(["split"]),
        "array-like",
        Iterable,
    ],
    "one_se": ["boolean"],
    "learning_rate": [
        Interval(Real, 0.0, None, closed="neither"),
        StrOptions({"auto", "line_search"}),
    ],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_child_weight": [Interval(Real, 0.0, None, closed="left")],
    "l1": [Interval(Real, 0.0, None, closed="left")],
    "l2": [Interval(Real, 0.0, None, closed="left")],
    "gamma": [Interval(Real, 0.0, None, closed="left")],
    "prune": [StrOptions({"pre", "post"})],
    "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
    "max_features": [*MAX_FEATURES, StrOptions({"auto"})],
    "max_features_level": MAX_FEATURES,
    "max_features_tree": MAX_FEATURES,
    "monotonic_cst": ["array-like", dict, None],
    "interaction_cst": [list, tuple, StrOptions({"pairwise", "no_interactions"}), None],
    "split_finding": [StrOptions({"histogram", "exact"})],
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
    "eval_metric": [str, callable, list, tuple, None],
    "time_limit": [Interval(Real, 0.0, None, closed="neither"), None],
    "callbacks": [list, tuple, None],
    "warm_start": ["boolean"],
    "verbose": ["boolean"],
    "categorical_features": ["array-like", StrOptions({"auto"})],
    "unseen": [StrOptions({"missing", "error"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
}


def keep_parameters(estimator: Any, given: dict[str, Any]) -> None:
    """Set an estimator's parameters, as they are, from the names that its __init__ knows."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


class BaseGradientBoosting(AddsTrees, Explains):
    """Trees added one after another: everything that does not depend on what is predicted."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BOOSTING_CONSTRAINTS

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        offset: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 20,
    ) -> Self:
        """Grow the trees from a table and one target for each row.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
        y : array [n_rows], or [n_rows, n_outputs] for a regression of several outputs
        sample_weight : array [n_rows] or None
            A row of weight 0 is as if it were not there; a row of weight 3 is three rows.
        eval_set : tuple, or list of tuples, or None
            Rows to be watched, (X, y), (X, y, weight) or (X, y, weight, offset); rounds are
            chosen by the last of several.
        offset : array [n_rows], or [n_rows, n_outputs], or None
            One for each raw score (more than two classes have several), added to it: for
            example the logarithm of exposure.
        checkpoint : str, path or None
            A file that rounds are written to. If it is there, the fit goes on from the rounds in
            it: a fit that was stopped, however roughly, ends with the same model, to the bit. It
            must be of the same data and parameters, and is left there at the end.
        checkpoint_every : int
            Rounds after which it is written; each round is written once.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before. An interrupt
        (Ctrl-C) keeps the rounds that are done; before the first, nothing changes.
        """
        check_parameters(self)
        fresh, before = copy.copy(self), self if self.warm_start else None
        before = before if hasattr(before, "_model") else None
        watched = None if isinstance(eval_set, list) and not eval_set else eval_set
        begun, table = time.monotonic(), read_table(X)
        asked = None
        if checkpoint is not None:
            demand_resumable(self, before)
            given = y, sample_weight, offset
            asked = checkpoint_of(checkpoint, checkpoint_every, table, given, watched)
        request = Request(watched, offset, before, begun, asked)
        fresh._learn(table, y, sample_weight, request)
        self.__dict__ = fresh.__dict__
        return self

    def _keep(self, table: Table, sample: Sample, loss: Any, request: Request) -> None:
        """Boost, and keep the model."""
        work = float(len(sample.targets)) * table.n_features
        offset, n_outputs = request.offset, loss.n_outputs * sample.targets[0].size
        if offset is not None:
            offset = check_offset(offset, table.n_rows, n_outputs).T
        check_vector_leaves(self, n_outputs)
        check_bag(self, loss)
        give_back(table.n_rows)
        first = first_boosting(self, table, len(sample.targets), loss, n_outputs, request)
        with hired(self.n_jobs, work, first) as team:
            binned = bin_for(self, table, sample, team)
            sample.thin()
            give_back(table.n_rows)
            pace = pace_of(self, sample, loss, request)
            if request.before is not None:
                check_going_on(self, request, table, binned, pace.n_rounds)
            self._remember(table, binned)
            self._has_offset = offset is not None
            if request.before is None:
                own = 0 if self.random_state is None else self.random_state
                self._seed = int(check_random_state(own).randint(2**31 - 1))
            rules = self._rules(loss, sample, table, binned, pace)
            ground = Ground(table, binned, sample, rules, offset, team)
            grow = grown_by_cv if self._by_cv else grown
            with Control(self, ground.rules.n_rounds, request.begun) as control:
                kept = grow(self, ground, loss, request, control)
        for name in _FOUND:
            self.__dict__.pop(name, None)
        self.__dict__.update(kept)
        self.n_estimators_ = self.n_iter_ = self._model.n_rounds

    @property
    def _by_cv(self) -> bool:
        return bool(self.n_estimators == "cv")

    def _folds(self, columns: Columns, sample: Any, n_folds: int) -> NDArray[np.int64]:
        """Deal rows out to folds."""
        targets = sample.targets
        return content_folds(columns, targets.reshape(len(targets), -1), n_folds)

    def _has_parts(self, sample: Any) -> bool:  # noqa: ARG002  rows can always be parted
        """Tell whether some of the sample can be held out."""
        return True

    def _watched(self, number: int, given: Any, request: Request, n_outputs: int) -> GivenRows:
        """Read an entry of eval_set."""
        return given_rows(self, number, given, request, n_outputs)

    def _rules(
        self, loss: Any, sample: Sample, table: Table, binned: BinnedTable, pace: Pace
    ) -> BoostingRules:
        """Translate parameters into the rules of boosting."""
        total = float(sample.plain.counts.sum()) * sample.plain.unit
        least = max(float(self.gamma), _LEAST_GAIN * total)
        drawn = n_drawn_in_turn(self, table.n_features)
        growth = GrowthRules(
            max_leaves=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_leaf_rows=int(self.min_samples_leaf),
            min_leaf_weight=least_weight(self.min_child_weight, loss),
            min_gain=least if self.prune == "pre" else -np.inf,
            keep_gain=least if self.prune == "post" else -np.inf,
            groups=interaction_groups(self.interaction_cst, table),
            seed=self._seed,
            n_tree_features=drawn[0],
            n_level_features=drawn[1],
            n_candidates=drawn[2],
        )
        return BoostingRules(
            n_rounds=pace.n_rounds,
            rate=pace.rate,
            growth=growth,
            sampling=row_sampling(self),
            watches_bag=bool(self.oob_improvement),
            dropout=round_dropout(self),
            vector_leaves=self.multi_output == "vector",
            newton=self.method == "newton",
            l1=float(self.l1),
            l2=float(self.l2),
            signs=monotone_signs(self.monotonic_cst, table, binned.categories),
        )

    def _recipe(self, table: Table, n_rows: int) -> Recipe:  # noqa: ARG002  same for any number
        exact = self.split_finding == "exact"
        categorical = categorical_columns(self.categorical_features, table)
        most = None if exact else int(self.max_bins)
        return Recipe(most, categorical, halvings=_HALVINGS, has_kinds=True)

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the model: equal for the same weighted rows in any order, on any threads."""
        check_is_fitted(self)
        return self._model.fingerprint()
