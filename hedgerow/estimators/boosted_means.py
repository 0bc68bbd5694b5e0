"""The two ways of AdaBoost.R2: the library's own trees, grown from one table, or any regressor."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import Schema, Table
from hedgerow.ensembles.adaboost import Round
from hedgerow.ensembles.adaboost_r2 import Heard
from hedgerow.ensembles.bags import Bags, Bootstrap, Urn
from hedgerow.ensembles.forest import Forest, joined
from hedgerow.ensembles.mean_committee import MeanCommittee
from hedgerow.ensembles.row_weights import RowWeights
from hedgerow.ensembles.species import MeanTrees
from hedgerow.estimators.boosted_learners import EXACT_ROWS, level_by_level
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.lessons import fresh, indexable, takes_weights
from hedgerow.estimators.tables import bin_for
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.kernels.ballots import Means
from hedgerow.kernels.random import mixed_bits
from hedgerow.kernels.team import Team
from hedgerow.kernels.walks import add_leaves, walkers_of
from hedgerow.trees.grower import Grower
from hedgerow.trees.quantise import Steps

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_BITS = 30  # of a weight beside targets, see trees.quantise


def is_plain_regression_tree(learner: Any) -> bool:
    """Tell whether a learner is a tree that is grown from one table in all rounds."""
    return (
        type(learner) is DecisionTreeRegressor
        and learner.criterion == "squared_error"
        and learner.ccp_alpha == 0.0
        and learner.unseen != "average"
    )


class Exercise(NamedTuple):
    """What is learnt: a table, its rows with their targets, a seed, and whether rows are drawn."""

    X: Any
    table: Table
    sample: Sample
    seed: int
    resample: bool

    @property
    def rows(self) -> Rows:
        """The numbers of the rows that are learnt."""
        return np.arange(self.table.n_rows) if self.sample.rows is None else self.sample.rows

    def drawn(self, order: Rows, weights: RowWeights, number: int) -> Rows:
        """Return how often each row is drawn for a round, in proportion to its weight."""
        urn = Urn.in_order(order, np.cumsum(weights.steps[order]))
        return Bags(Bootstrap(self.sample.n_rows), urn, self.seed).counts(number)


class MeanTreeWay:
    """Trees of one table."""

    def __init__(self, learner: Any, exercise: Exercise, team: Team) -> None:
        learner._exact_rows = EXACT_ROWS
        self._learner, self._exercise, self._team = learner, exercise, team
        table, sample = exercise.table, exercise.sample
        self.binned = bin_for(learner, table, sample, team)
        self.schema = Schema.of(table.names, self.binned.categories)
        self._values = self.schema.matrix(table, "missing")[exercise.rows]
        signs = learner._signs(table, self.binned, 1, False)
        self._species = MeanTrees(sample.targets).monotone(signs)
        codes, counts = self.binned.codes, sample.weights.counts
        self._order = Urn.of(codes, sample.targets, counts, False, team).order
        self._grower: Grower | None = None

    def teach(self, number: int, weights: RowWeights) -> Heard:
        """Grow the tree of a round."""
        steps, repeats = self._sampled(number, weights)
        judge = self._species.judge(steps, repeats)
        n_rows, n_features = len(repeats), len(self.binned.codes.features)
        total = float((steps.counts * repeats).sum()) * steps.unit
        seed = mixed_bits(self._exercise.seed, number)
        given = self._learner._growth_rules(n_rows, n_features, total, seed)
        rules = level_by_level(given)
        if self._grower is None:
            room = judge._replace(records=np.empty(n_rows, np.int64))
            self._grower = Grower(self.binned, room, rules, self._team)

        def fill(records: Rows) -> None:
            records[:] = judge.records

        nodes = self._grower.regrown(judge, fill, rules)
        tree = self._species.packed(self.binned, nodes, judge, 0.0)
        out, rows = np.zeros((n_rows, 1)), np.arange(n_rows)
        walkers = walkers_of(self._team.n_threads)
        self._team.run(add_leaves, self._values, rows, tree, Means(1), walkers, out)
        return Heard((tree, judge.weight_unit), out[:, 0])

    def _sampled(self, number: int, weights: RowWeights) -> tuple[Steps, Rows]:
        """Return what rows weigh and how often they count: as they are drawn, or by weight."""
        if self._exercise.resample:
            repeats = self._exercise.drawn(self._order, weights, number)
            return Steps(np.ones_like(repeats), 1.0, exact=True), repeats
        shift = max(int(weights.steps.max()).bit_length() - _BITS, 0)
        counts = weights.steps >> shift
        unit = float(2**shift) / float(weights.total)
        return Steps(np.maximum(counts, 1), unit, exact=False), np.asarray(counts > 0, np.int64)

    def model(self, rounds: Sequence[Round]) -> MeanCommittee:
        """Return rounds as a model."""
        trees, units = zip(*(each.model for each in rounds), strict=True)
        n_categories = np.asarray(self.binned.codes.features.n_categories, np.int32)
        return MeanCommittee(Forest((joined(list(trees)),), np.array(units), n_categories))


class MeanPanel(NamedTuple):
    """Fitted regressors, one for each round."""

    models: tuple[Any, ...]

    def says(self, X: Any, team: Team) -> Floats:  # noqa: ARG002  learners go by themselves
        """Return what each learner says of rows, float64 [n_rows, n_rounds]."""
        return np.column_stack([np.asarray(model.predict(X), float) for model in self.models])


class MeanLearnerWay:
    """Any regressor, of samples drawn by weight or, if it takes weights, of these."""

    def __init__(self, learner: Any, exercise: Exercise, team: Team) -> None:
        if not exercise.resample and not takes_weights(learner):
            raise ValueError(
                f"estimator={learner!r} cannot be boosted by weights: its fit takes no "
                "sample_weight. Pass resample=True, which fits it to samples drawn by weight."
            )
        self._learner, self._exercise = learner, exercise
        table, sample = exercise.table, exercise.sample
        self.binned = bin_table(table, Recipe(None), team, sample.rows)
        self.schema = Schema.of(table.names, self.binned.categories)
        counts, by_weight = sample.weights.counts, not exercise.resample
        order = Urn.of(self.binned.codes, sample.targets, counts, by_weight, team).order
        self._order, self._y = order, sample.targets[order, 0]
        self._X = _safe_indexing(indexable(exercise.X), exercise.rows[order])

    def teach(self, number: int, weights: RowWeights) -> Heard:
        """Fit the learner of a round to rows in order of content."""
        model = fresh(self._learner, self._exercise.seed, number)
        if self._exercise.resample:
            drawn = self._exercise.drawn(self._order, weights, number)[self._order]
            repeated = np.repeat(np.arange(len(drawn)), drawn)
            model.fit(_safe_indexing(self._X, repeated), self._y[repeated])
        else:
            model.fit(self._X, self._y, sample_weight=weights.shares[self._order])
        predicted = np.empty(len(self._y))
        predicted[self._order] = model.predict(self._X)
        return Heard(model, predicted)

    def model(self, rounds: Sequence[Round]) -> MeanPanel:
        """Return rounds as a model."""
        return MeanPanel(tuple(each.model for each in rounds))
