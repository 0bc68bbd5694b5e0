"""The two ways of AdaBoost: the library's own trees, grown from one table, or any learner."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing

from hedgerow.data.binned import BinnedTable, Recipe, bin_table
from hedgerow.data.table import Schema, Table
from hedgerow.ensembles.adaboost import Algorithm, Real, Round, Told
from hedgerow.ensembles.bags import Bags, Bootstrap, Urn
from hedgerow.ensembles.committee import Committee, Nursery, Plan, voiced
from hedgerow.ensembles.forest import Forest, joined
from hedgerow.ensembles.row_weights import RowWeights
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.lessons import fresh, indexable, takes_weights
from hedgerow.estimators.saving import Saves
from hedgerow.estimators.tables import bin_for
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.kernels.random import mixed_bits
from hedgerow.kernels.team import Team
from hedgerow.trees.rules import GrowthRules

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_FEW_LEVELS = 6
_DRAWS = 10  # samples that a round may draw until one teaches something
EXACT_ROWS = 10_000  # up to here split_finding="auto" looks at every distinct value, as forests do


def is_plain_tree(learner: Any) -> bool:
    """Tell whether a learner is a tree that is grown from one table in all rounds."""
    return (
        type(learner) is DecisionTreeClassifier
        and learner.ccp_alpha == 0.0
        and learner.class_weight is None
        and learner.misclassification_cost is None
        and learner.unseen != "average"
    )


class Course(NamedTuple):
    """What is learnt.

    X        the table, of the kind that was given
    table    the same, as it was read
    sample   Sample    the rows that are learnt, with their classes
    classes  their names
    seed     of random draws
    """

    X: Any
    table: Table
    sample: Sample
    classes: NDArray[Any]
    seed: int

    @property
    def rows(self) -> Rows:
        """The numbers of the rows that are learnt."""
        return np.arange(self.table.n_rows) if self.sample.rows is None else self.sample.rows


class TreeWay:
    """Trees of one table; see Nursery."""

    def __init__(self, learner: Any, course: Course, algorithm: Algorithm, team: Team) -> None:
        self._learner, self._algorithm = learner, algorithm
        learner._exact_rows = EXACT_ROWS
        self.binned = bin_for(learner, course.table, course.sample, team)
        self.schema = Schema.of(course.table.names, self.binned.categories)
        n_rows, n_classes = len(course.sample.targets), len(course.classes)
        n_features = len(self.binned.codes.features)

        def limits(number: int, total: float) -> GrowthRules:
            rules: GrowthRules = learner._growth_rules(
                n_rows, n_features, total, mixed_bits(course.seed, number)
            )
            return level_by_level(rules)

        signs = learner._signs(course.table, self.binned, n_classes, True)
        plan = Plan(criterion_of(learner), limits, signs)
        self._nursery = Nursery(self.binned, course.sample.targets, n_classes, plan, team)

    def teach(self, number: int, weights: RowWeights) -> Told:
        """Grow the tree of a round."""
        told = self._nursery.grow(number, weights)
        return told._replace(model=(told.model, 1.0 / float(told.sums.sum())))

    def given(self, X: Any, table: Table) -> Floats:  # noqa: ARG002  the table is enough
        """Return a table as prediction reads it."""
        return self.schema.matrix(table, "missing")

    def model(self, rounds: Sequence[Round]) -> Committee:
        """Return some rounds as a model."""
        trees = [each.model[0] for each in rounds]
        voices = [voiced(each.model[0], self._algorithm, each.alpha) for each in rounds]
        units = np.array([each.model[1] for each in rounds])
        return Committee(Forest((joined(trees),), units, self._n_categories), joined(voices))

    @property
    def _n_categories(self) -> NDArray[np.int32]:
        return np.asarray(self.binned.codes.features.n_categories, np.int32)


def level_by_level(rules: GrowthRules) -> GrowthRules:
    """Return rules of the same tree that say how many leaves it has at most, if these are few.

    Without such a limit leaves are divided in another order, for trees of any number of them.
    """
    if rules.max_leaves is not None or rules.max_depth is None or rules.max_depth > _FEW_LEVELS:
        return rules
    return replace(rules, max_leaves=1 << rules.max_depth, level_by_level=True)


def criterion_of(tree: Any) -> str:
    """Return the criterion of a tree by its own name."""
    return "entropy" if tree.criterion == "log_loss" else str(tree.criterion)


class Panel(NamedTuple):
    """Fitted learners and what they are worth."""

    rounds: tuple[Round, ...]
    algorithm: Algorithm
    classes: NDArray[Any]

    @property
    def n_trees(self) -> int:
        """Number of learners."""
        return len(self.rounds)

    @property
    def n_outputs(self) -> int:
        """Numbers that f has."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def first_trees(self, n_trees: int) -> "Panel":
        """Return the first learners."""
        return self._replace(rounds=self.rounds[:n_trees])

    def then(self, later: "Panel") -> "Panel":
        """Return these learners and later ones."""
        return self._replace(rounds=self.rounds + later.rounds)

    def add(self, X: Any, team: Team, some: tuple[int, int], out: Floats) -> None:  # noqa: ARG002
        """Add what learners some[0]..some[1]-1 say to out, float64 [n_rows, n_outputs]."""
        for each in self.rounds[slice(*some)]:
            told = told_by(each.model, X, self.classes, isinstance(self.algorithm, Real))
            out += self.algorithm.scores(told, each.alpha)[:, -out.shape[1] :]


def told_by(model: Any, X: Any, classes: NDArray[Any], is_real: bool) -> Told:
    """Return what a learner says of rows, each of which is a place of its own."""
    shares = None
    if is_real:
        said = np.asarray(model.predict_proba(X), np.float64)
        shares = np.zeros((len(said), len(classes)))
        shares[:, np.searchsorted(classes, model.classes_)] = said
        votes = np.argmax(shares, axis=1)
    else:
        votes = np.searchsorted(classes, model.predict(X))
    return Told(np.arange(len(votes), dtype=np.int32), np.zeros((0, 0), int), votes, shares, model)


class LearnerWay:
    """Any classifier that takes weights, or samples drawn by them: notes 1, AdaBoost.

    Learners are given rows in the order of their content, so that the order in which rows came is
    of no account.
    """

    def __init__(
        self, learner: Any, course: Course, algorithm: Algorithm, resample: bool, team: Team
    ) -> None:
        self._learner, self._course, self._algorithm = learner, course, algorithm
        self._resamples = resample
        _check_learner(learner, algorithm, resample)
        sample = course.sample
        self.binned: BinnedTable = bin_table(course.table, Recipe(None), team, sample.rows)
        self.schema = Schema.of(course.table.names, self.binned.categories)
        counts = sample.weights.counts
        # Draws are of weights: rows of equal content, whatever they weigh, lie side by side.
        order = Urn.of(self.binned.codes, sample.targets, counts, not resample, team).order
        self._order, self._X = order, _safe_indexing(indexable(course.X), course.rows[order])
        self._y = sample.targets[order]

    def teach(self, number: int, weights: RowWeights) -> Told:
        """Fit the learner of a round; of samples that teach nothing, some more are drawn."""
        steps = weights.steps[self._order]
        told = self._taught(number, 0, steps)
        for attempt in range(1, _DRAWS if self._resamples else 1):
            right = int(told.sums[np.arange(len(told.sums)), told.votes].sum())
            if not self._algorithm.stops(told, right, int(steps.sum()) - right):
                break
            told = self._taught(number, attempt, steps)
        return told

    def _taught(self, number: int, attempt: int, steps: Rows) -> Told:
        """Fit a learner to rows in order of content, and ask it about them."""
        names, n_classes = self._course.classes, len(self._course.classes)
        model = fresh(self._learner, self._course.seed, number)
        if self._resamples:
            model = self._fitted_to_sample(model, steps, (number, attempt))
        else:
            model.fit(self._X, names[self._y], sample_weight=steps / float(steps.sum()))
        told = told_by(model, self._X, names, isinstance(self._algorithm, Real))
        votes = np.empty_like(told.votes)
        votes[self._order] = told.votes
        if told.shares is None:
            sums = np.zeros((n_classes, n_classes), np.int64)
            np.add.at(sums, (told.votes, self._y), steps)
            return Told(votes.astype(np.int32), sums, np.arange(n_classes), None, model)
        sums, shares = np.zeros((len(votes), n_classes), np.int64), np.empty_like(told.shares)
        shares[self._order] = told.shares
        sums[self._order, self._y] = steps
        return Told(told.places, sums, votes, shares, model)

    def _fitted_to_sample(self, model: Any, steps: Rows, name: tuple[int, int]) -> Any:
        """Fit a learner to as many rows as there are, drawn in proportion to their weights."""
        urn = Urn.in_order(np.arange(len(steps)), np.cumsum(steps))
        seed = mixed_bits(self._course.seed, name[1])
        drawn = Bags(Bootstrap(self._course.sample.n_rows), urn, seed).counts(name[0])
        chosen = np.flatnonzero(drawn)
        y = self._course.classes[self._y]
        is_single = (self._y[chosen] == self._y[chosen[0]]).all()
        if is_single and not isinstance(model, Saves):  # ours take a single class
            model = DummyClassifier(strategy="most_frequent")
        if takes_weights(model):
            X = _safe_indexing(self._X, chosen)
            return model.fit(X, y[chosen], sample_weight=drawn[chosen].astype(np.float64))
        repeated = np.repeat(chosen, drawn[chosen])
        return model.fit(_safe_indexing(self._X, repeated), y[repeated])

    def given(self, X: Any, table: Table) -> Any:  # noqa: ARG002  learners read it themselves
        """Return a table as prediction reads it."""
        return indexable(X)

    def model(self, rounds: Sequence[Round]) -> Panel:
        """Return some rounds as a model."""
        return Panel(tuple(rounds), self._algorithm, self._course.classes)


def _check_learner(learner: Any, algorithm: Algorithm, resample: bool) -> None:
    """Raise if a learner does not do what is asked of it."""
    name = type(learner).__name__
    if not resample and not takes_weights(learner):
        raise ValueError(
            f"estimator={learner!r} cannot be boosted by weights: {name}.fit takes no "
            "sample_weight. Pass resample=True, which fits it to samples that are drawn by weight."
        )
    if isinstance(algorithm, Real) and not hasattr(learner, "predict_proba"):
        raise TypeError(
            f"algorithm='real' adds up what learners say of probabilities, but {name} has no "
            "predict_proba. Pass algorithm='samme', or another estimator."
        )
