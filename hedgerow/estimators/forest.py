"""What the forests share: parameters, sampling, growing, prediction."""

import copy
import time
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.binned import BinnedTable
from hedgerow.data.table import Schema, Table, read_table
from hedgerow.ensembles.bags import Bags, Bootstrap, Pasting, Urn, drawn_features
from hedgerow.ensembles.forest import Plan, Planting, forest_of
from hedgerow.ensembles.left_out import LeftOut
from hedgerow.ensembles.species import Species
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checkpoints import checkpoint_of, demand_resumable, resumed
from hedgerow.estimators.checks import check_parameters
from hedgerow.estimators.control import Control
from hedgerow.estimators.drawn import n_drawn_rows
from hedgerow.estimators.first_fits import first_forest
from hedgerow.estimators.forest_left_out import ShufflesLeftOut
from hedgerow.estimators.forest_neighbours import ShowsNeighbours
from hedgerow.estimators.forest_spread import ShowsSpread
from hedgerow.estimators.growth import GROWTH_CONSTRAINTS, GrowsTrees
from hedgerow.estimators.shapley_values import SharesOutForest
from hedgerow.estimators.tables import bin_for
from hedgerow.estimators.unpacked import Unpacked
from hedgerow.fitted.forest import AveragesTrees
from hedgerow.kernels.meanwhile import is_interpreting
from hedgerow.kernels.random import mixed_bits
from hedgerow.kernels.team import hired
from hedgerow.trees.importance import impurity_importances
from hedgerow.trees.rules import GrowthRules

Floats = NDArray[np.float64]

_FOUND_OUT_OF_BAG = ("oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_")

FOREST_CONSTRAINTS: dict[str, list[Any]] = GROWTH_CONSTRAINTS | {
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "bootstrap": ["boolean"],
    "oob_score": ["boolean", callable],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, None, closed="neither"),
        None,
    ],
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
    "time_limit": [Interval(Real, 0.0, None, closed="neither"), None],
    "warm_start": ["boolean"],
    "verbose": ["boolean"],
}


class BaseForest(
    AveragesTrees, ShowsSpread, ShowsNeighbours, ShufflesLeftOut, SharesOutForest, GrowsTrees
):
    """Trees that are averaged: everything that does not depend on what is predicted."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = FOREST_CONSTRAINTS
    _exact_rows = 10_000
    _tree_features: int | None = None  # features of each tree, drawn for it; None: all
    _repeats_features = False
    _noun = "trees"
    callbacks = monotonic_cst = None  # of Control, and of those that have none

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        checkpoint_every: int = 20,
    ) -> Self:
        """Grow the trees from a table and one target for each row.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
        y : array [n_rows], or [n_rows, n_outputs] for a regression of several outputs
        sample_weight : array [n_rows] or None
            With bootstrap=True rows are drawn in proportion to their weights; or else rows
            count by them. A row of weight 0 is as if it were not there.
        checkpoint : str, path or None
            A file that trees are written to. If it is there, the fit goes on from the trees in it:
            a fit that was stopped, however roughly, ends with the same forest, to the bit. It must
            be of the same data and parameters, and is left there at the end.
        checkpoint_every : int
            Trees that are grown between two writings; each tree is written once.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before. An interrupt (Ctrl-C)
        keeps the trees that are grown; before the first, nothing changes.
        """
        check_parameters(self)
        fresh, begun = copy.copy(self), time.monotonic()
        before = self if self.warm_start and hasattr(self, "_model") else None
        table, asked = read_table(X), None
        if checkpoint is not None:
            demand_resumable(self, before)
            asked = checkpoint_of(checkpoint, checkpoint_every, table, (y, sample_weight))
        fresh._learn(table, y, sample_weight, (before, begun, asked))
        self.__dict__ = fresh.__dict__
        return self

    def _keep(self, table: Table, sample: Sample, species: Species, asked: Any) -> None:
        """Grow trees and keep them."""
        before, begun, checkpoint = asked
        n_before = self._begin(before)
        for name in _FOUND_OUT_OF_BAG:
            self.__dict__.pop(name, None)
        work = float(len(sample.targets)) * table.n_features * self.n_estimators
        with hired(self.n_jobs, work, first_forest(self.criterion, work)) as team:
            binned = bin_for(self, table, sample, team)
            self._remember(table, binned)
            self._bags = self._filled_bags(binned, sample, team)
            plan = Plan(self._bags, self._limits(sample, binned), float(self.ccp_alpha))
            signs = self._signs(table, binned, species.n_values, hasattr(self, "classes_"))
            grown_from = species.monotone(signs)
            planting = Planting(binned, grown_from, sample.weights, plan, team)
            n_categories = binned.codes.features.n_categories.astype(np.int32)
            with Control(self, self.n_estimators, begun, self._noun) as control:

                def told(n: int) -> bool:
                    return control(n, dict, lambda: None)

                planted = resumed(self, (n_before, n_categories), planting, told, checkpoint)
            del planting  # and what trees are grown in, before they are put together
            forest = forest_of(planted, n_categories)
            self._model = forest if before is None else before._model.then(forest)
            if not is_interpreting():
                self._model.make_ready(binned, team)
            if self.oob_score:
                self._judge_out_of_bag(table, binned, sample, team)
        self._rows, self._n_rows, self._n_meant = sample.rows, table.n_rows, sample.n_rows
        self.max_features_ = self._n_candidates(table.n_features) or table.n_features

    def _begin(self, before: Any) -> int:
        """Set the seed; return how many trees are there already."""
        n_before = 0 if before is None else int(before._model.n_trees)
        if n_before > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {n_before} {self._noun} that "
                "warm_start=True goes on from. Pass more, or warm_start=False to begin anew."
            )
        if before is None:
            own = 0 if self.random_state is None else self.random_state
            self._seed = int(check_random_state(own).randint(2**31 - 1))
        else:
            self._seed = before._seed
        return n_before

    def _filled_bags(self, table: BinnedTable, sample: Sample, team: Any) -> Bags | None:
        """Return the rows of each tree, None if all of them are there."""
        way, counts = self._drawn_rows(sample), sample.weights.counts
        if way is None:
            return None
        urn = Urn.of(table.codes, sample.targets, counts, way.keeps_weights, team)
        return Bags(way, urn, self._seed)

    def _drawn_rows(self, sample: Sample) -> Bootstrap | Pasting | None:
        """Return how the rows of a tree are drawn, None if all of them are there."""
        if not self.bootstrap:
            if self.max_samples is not None:
                raise ValueError(
                    f"max_samples={self.max_samples} says how many rows are drawn, but "
                    "bootstrap=False draws none. Pass bootstrap=True, or leave max_samples out."
                )
            return None
        return Bootstrap(n_drawn_rows(self.max_samples, sample))

    def _limits(self, sample: Sample, table: BinnedTable) -> Any:
        """Return the rules of each tree, given its number and the weight of its rows."""
        n_rows, n_features = len(sample.targets), len(table.codes.features)

        def limits(number: int, total: float) -> GrowthRules:
            seed = mixed_bits(self._seed, number)
            rules = self._growth_rules(n_rows, n_features, total, seed)
            if self._tree_features is None:
                return rules
            own = self._features_of(number, n_features)
            return replace(rules, features=tuple(np.unique(own).tolist()))

        return limits

    def _draws_lots(self, n_features: int) -> bool:
        """Whether lots decide between features of equal gain, not margins.

        Where every node tries all features, a margin would choose the same one in all trees.
        Trees that do not differ by their rows or cuts are the tree that would be grown alone.
        """
        differ = bool(self.bootstrap) or self._cuts_at_random
        return differ and self._n_candidates(n_features) is None

    def _features_of(self, number: int, n_features: int) -> NDArray[np.int64]:
        """Return the features of a tree."""
        if self._tree_features is None:
            return np.arange(n_features)
        drawn = self._tree_features, self._repeats_features
        return drawn_features(self._seed, number, n_features, *drawn)

    def _judge_out_of_bag(
        self, table: Table, binned: BinnedTable, sample: Sample, team: Any
    ) -> None:
        """Predict each row by the trees that it was not drawn for, and keep how good that is."""
        bags = self._bags
        if bags is None:
            raise ValueError(
                "oob_score=True needs rows that a tree has not seen, and bootstrap=False shows it "
                "all of them. Pass bootstrap=True, or oob_score=False."
            )
        values = Schema.of(table.names, binned.categories).matrix(table, "missing")
        values = values if sample.rows is None else values[sample.rows]
        judged = LeftOut(self._model, self._ballot(), self._n_values, values, team)
        scores = []
        for number in range(self._model.n_trees):
            judged.add(number, bags.counts(number))
            scores.append(self._score_out_of_bag(judged, sample))
        self.oob_curve_, self.oob_score_ = np.array(scores), scores[-1]
        self._keep_out_of_bag(judged, sample, table.n_rows)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row reaches in each tree, int64 [n_rows, n_trees]."""
        values = self._values(X)
        with hired(self.n_jobs, float(len(values)) * self._model.n_trees * 10) as team:
            return self._model.leaves(values, team).astype(np.int64)

    def _lend(self, tree: Any, number: int) -> None:
        """Let an estimator of one tree know what it would know if it had been fitted."""
        for name in ("n_features_in_", "feature_names_in_", "_schema", "_has_missing"):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree.n_outputs_, tree.max_features_ = self.n_outputs_, self.max_features_
        tree._tree = self._tree(number)

    @property
    def estimators_(self) -> Sequence[Any]:
        """The trees as estimators; each is unpacked when it is asked for."""
        check_is_fitted(self)
        return Unpacked(self)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows that each tree was grown from; one that was drawn twice is there twice."""
        check_is_fitted(self)
        rows, bags = np.arange(self._n_rows) if self._rows is None else self._rows, self._bags
        if bags is None:
            return [rows] * self._model.n_trees
        return [np.repeat(rows, bags.counts(number)) for number in range(self._model.n_trees)]

    @property
    def feature_importances_(self) -> Floats:
        """Mean over trees of each feature's share of the impurity decrease; they add up to 1."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for tree in self._trees():
            total += impurity_importances(tree, self.n_features_in_)
        return total / total.sum() if total.sum() > 0 else total

    @property
    def fingerprint_(self) -> str:
        """SHA-256 of the model: equal for the same weighted rows in any order, on any threads."""
        check_is_fitted(self)
        return self._model.fingerprint()
