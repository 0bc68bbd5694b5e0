"""Rounds of AdaBoost: fitted until there are enough, or until rows that are held out say so."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from hedgerow.data.table import Table
from hedgerow.ensembles.adaboost import CHANCE, PERFECT, AdaBoost, Algorithm, Discrete, Real, Round
from hedgerow.ensembles.curve import Patience, best_round, steady_sum
from hedgerow.ensembles.row_weights import RowWeights
from hedgerow.estimators.boosted_learners import Course, LearnerWay, TreeWay, is_plain_tree
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import Classes
from hedgerow.estimators.control import Control
from hedgerow.estimators.folds import content_folds
from hedgerow.estimators.tables import categorical_columns
from hedgerow.fitted.adaboost import votes_of
from hedgerow.kernels.team import Team, hired

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_LONG = 1e12  # cell updates: nobody knows how long a learner takes


class Asked(NamedTuple):
    """What a fit is asked for.

    learner  a copy of the weak learner
    before   a fitted estimator to go on from, or None
    begun    when the fit began
    """

    learner: Any
    X: Any
    table: Table
    labels: Classes
    before: Any
    begun: float


def boosted(estimator: Any, asked: Asked) -> dict[str, Any]:
    """Fit rounds; return the attributes that the estimator is to have."""
    labels, table = asked.labels, asked.table
    held_out = _held_out(estimator, asked)
    weights = labels.weights.copy()
    weights[held_out] = 0.0
    sample = Sample(labels.codes, weights)
    seed = estimator._seed_of() if asked.before is None else asked.before._seed
    course = Course(asked.X, table, sample, labels.names, seed)
    algorithm = algorithm_of(estimator, len(labels.names), sample.n_rows)
    is_fast = is_plain_tree(asked.learner) and not estimator.resample
    work = float(len(sample.targets)) * table.n_features * estimator.n_estimators
    with hired(estimator.n_jobs, work if is_fast else _LONG) as team:
        way: TreeWay | LearnerWay
        if is_fast:
            way = TreeWay(asked.learner, course, algorithm, team)
        else:
            way = LearnerWay(asked.learner, course, algorithm, bool(estimator.resample), team)
        boosting = _begun(asked, course, algorithm, way, team)
        watch = _Watch(estimator, asked, way, held_out, team)
        with Control(estimator, estimator.n_estimators, asked.begun, "boosting") as control:

            def go_on(_: AdaBoost) -> bool:
                goes_on = watch(boosting)
                return control(len(boosting.rounds), dict, lambda: None) and goes_on

            if getattr(asked.before, "_is_final", False):
                boosting.stopped = PERFECT
            else:
                boosting.run(estimator.n_estimators, go_on)
    kept = watch.attributes() | _model(estimator, asked, way, boosting, watch.n_kept)
    has_missing = tuple(way.binned.has_missing.tolist())
    return kept | {"_seed": seed, "schema": way.schema, "_has_missing": has_missing}


def algorithm_of(estimator: Any, n_classes: int, n_rows: int) -> Algorithm:
    """Return the algorithm that is asked for."""
    rate = float(estimator.learning_rate)
    if estimator.algorithm == "real":
        return Real(n_classes, rate, n_rows)
    if estimator.algorithm == "discrete" and n_classes > 2:
        raise ValueError(
            f"algorithm='discrete' is for two classes, but y has {n_classes}. Pass "
            "algorithm='samme', which is the same for two classes and takes any number of them."
        )
    return Discrete(n_classes, rate)


def _begun(asked: Asked, course: Course, algorithm: Algorithm, way: Any, team: Team) -> AdaBoost:
    """Return the boosting with the rounds that are there already."""
    sample, before, n_classes = course.sample, asked.before, len(course.classes)
    weights = RowWeights(sample.targets, asked.labels.weights[course.rows], n_classes, team)
    earlier: list[Round] = []
    if before is not None:
        told = zip(before.estimator_errors_, before.estimator_weights_, strict=True)
        earlier = [Round(None, float(error), float(alpha)) for error, alpha in told]
        given = _safe_indexing(way.given(asked.X, asked.table), course.rows)
        out = np.zeros((len(course.rows), before._model.n_outputs))
        before._model.add(given, team, (0, before._model.n_trees), out)
        weights.resume(margins_of(out, sample.targets))
    return AdaBoost(algorithm, weights, lambda number: way.teach(number, weights), earlier)


def margins_of(out: Floats, labels: Rows) -> Floats:
    """Return the score of each row's own class; of two classes there is one, of the second."""
    if out.shape[1] == 1:
        return np.where(labels == 1, out[:, 0], -out[:, 0])
    return np.asarray(out[np.arange(len(out)), labels])


def _held_out(estimator: Any, asked: Asked) -> Rows:
    """Return the rows that are held out, dealt out by their content; none if that is not asked."""
    if not estimator.early_stopping:
        return np.zeros(0, np.int64)
    if estimator.warm_start:
        raise ValueError(
            "early_stopping=True leaves out rounds that warm_start=True would go on from. Pass one "
            "of them only."
        )
    table, given = asked.table, getattr(asked.learner, "categorical_features", "auto")
    columns = table.columns(range(table.n_features), categorical_columns(given, table))
    values = np.column_stack([column.values.astype(np.float64) for column in columns])
    present = np.flatnonzero(asked.labels.weights > 0)
    n_folds = max(2, round(1.0 / float(estimator.validation_fraction)))
    folds = content_folds(values[present].T, asked.labels.codes[present], n_folds)
    return present[folds == 0] if folds.max() > 0 else np.zeros(0, np.int64)


class _Watch:
    """The error of rows that are held out, after each round."""

    def __init__(self, estimator: Any, asked: Asked, way: Any, rows: Rows, team: Team) -> None:
        self._way, self._team, self._curve = way, team, list[float]()
        self._patience: Patience | None = None
        if len(rows):
            self._patience = Patience(int(estimator.n_iter_no_change), float(estimator.tol))
            self._given = _safe_indexing(way.given(asked.X, asked.table), rows)
            self._labels, self._weights = asked.labels.codes[rows], asked.labels.weights[rows]
            n_classes = len(asked.labels.names)
            self._out = np.zeros((len(rows), 1 if n_classes == 2 else n_classes))

    def __call__(self, boosting: AdaBoost) -> bool:
        """Measure the newest round, and tell whether to go on."""
        if self._patience is None:
            return True
        self._way.model(boosting.rounds[-1:]).add(self._given, self._team, (0, 1), self._out)
        wrong = self._weights * (votes_of(self._out) != self._labels)
        self._curve.append(steady_sum(wrong) / steady_sum(self._weights))
        return not self._patience.is_over(self._curve)

    @property
    def n_kept(self) -> int | None:
        """The rounds that are best for the rows held out; None: all."""
        return best_round(self._curve) + 1 if self._curve else None

    def attributes(self) -> dict[str, Any]:
        return {"validation_errors_": np.array(self._curve)} if self._curve else {}


def _model(
    estimator: Any, asked: Asked, way: Any, boosting: AdaBoost, n_kept: int | None
) -> dict[str, Any]:
    """Return the model of the rounds that are kept, and why there are no more."""
    before, rounds = asked.before, boosting.rounds[:n_kept]
    n_before = 0 if before is None else before._model.n_trees
    if not rounds:
        raise ValueError(_no_better(estimator, 1, len(asked.labels.names)) + _REMEDY)
    model = before._model if before is not None else way.model(rounds)
    if before is not None and len(rounds) > n_before:
        model = model.then(way.model(rounds[n_before:]))
    stopped = ""
    if len(rounds) < len(boosting.rounds):
        stopped = (
            f"Rows that are held out are known best after round {len(rounds)}, of "
            f"{len(boosting.rounds)} that were fitted."
        )
    elif boosting.stopped == PERFECT:
        stopped = f"Round {len(boosting.rounds)} is right about every row: no round can add to it."
    elif boosting.stopped == CHANCE:
        stopped = _no_better(estimator, len(boosting.rounds) + 1, len(asked.labels.names))
        warnings.warn(stopped + _REMEDY, UserWarning, stacklevel=4)
    return {
        "_model": model,
        "_is_final": boosting.stopped == PERFECT,
        "stopped_": stopped,
        "estimator_errors_": np.array([each.error for each in rounds]),
        "estimator_weights_": np.array([each.alpha for each in rounds]),
        "n_estimators_": len(rounds),
    }


_REMEDY = " Use deeper trees or another estimator, or fewer rounds."


def _no_better(estimator: Any, number: int, n_classes: int) -> str:
    """Say that a learner is no better than chance."""
    return (
        f"{type(estimator).__name__} stopped at round {number} of {estimator.n_estimators}: the "
        f"weak learner's weighted error is not below that of chance, {1 - 1 / n_classes:.3f}."
    )
