"""What both stagewise estimators share: the space, the direction, the step, the rounds."""

import copy
import inspect
from collections.abc import Iterator
from itertools import islice
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import Schema, Table, read_table
from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.bags import Urn
from hedgerow.ensembles.curve import Patience, best_round
from hedgerow.ensembles.dictionary import Dictionary, given_dictionary
from hedgerow.ensembles.dictionary_space import DIRECTIONS, DictionarySpace
from hedgerow.ensembles.stagewise import (
    Descent,
    Round,
    Scores,
    Space,
    descended,
    exact_step,
    searched_step,
)
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_parameters
from hedgerow.estimators.folds import content_folds
from hedgerow.estimators.learner_space import LearnerSpace, said_by
from hedgerow.estimators.lessons import indexable
from hedgerow.estimators.saving import Saves
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.fitted.model import check_columns
from hedgerow.kernels.team import Team, hired

_STEPPING = {"line_search": searched_step, "exact": exact_step, "epsilon": None}
STAGEWISE_CONSTRAINTS: dict[str, list[Any]] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "dictionary": [callable, list, tuple, None],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "direction": [StrOptions(set(DIRECTIONS))],
    "step": [StrOptions(set(_STEPPING))],
    "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
    "init": [StrOptions({"constant", "zero"})],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0.0, None, closed="left")],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
}


class Rows(NamedTuple):
    """Rows that count, in an order of their content.

    places  int64 [n]    their numbers in the user's table
    X       the table, of its own kind
    values  float64 [n, n_features] or None    as numbers, if rows are to be held out
    """

    places: NDArray[np.int64]
    X: Any
    values: Floats | None


class BaseStagewise(MetaEstimatorMixin, Saves):
    """Descent along functional gradients: everything that does not depend on the target."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = STAGEWISE_CONSTRAINTS
    _rounds: list[Round]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add functions one after another.

        Parameters
        ----------
        X : table of any kind, [n_rows, n_features]
            Learners and functions are given rows of the same kind of table.
        y : array [n_rows]
        sample_weight : array [n_rows] or None
            A row of weight 0 is as if it were not there.

        Returns
        -------
        The estimator itself. If fitting fails it is as it was before.
        """
        check_parameters(self)
        fresh = copy.copy(self)
        for name in [name for name in vars(fresh) if name.endswith("_")]:
            delattr(fresh, name)
        table = read_table(X)
        fresh.n_features_in_ = table.n_features
        if table.names is not None:
            fresh.feature_names_in_ = np.array(table.names, dtype=object)
        with hired(self.n_jobs, float(table.n_rows) * table.n_features) as team:
            fresh._learn(indexable(X), table, (y, sample_weight), team)
        self.__dict__ = fresh.__dict__
        return self

    def _rows_of(self, X: Any, table: Table, sample: Sample, team: Team) -> Rows:
        """Return the rows that count, in an order of their content."""
        binned = bin_table(table, Recipe(None), team, sample.rows)
        targets = np.asarray(sample.targets, np.float64)
        order = Urn.of(binned.codes, targets, sample.plain.counts, True, team).order
        places = order if sample.rows is None else sample.rows[order]
        values = None
        if self.early_stopping:
            values = Schema.of(table.names, binned.categories).matrix(table, "missing")[places]
        return Rows(places, _safe_indexing(X, places), values)

    def _descend(self, rows: Rows, y: Floats, weights: Floats, loss: Any, team: Team) -> None:
        """Add rounds, and keep them; y and weights in the order of the rows."""
        held_out = self._held_out(rows, y)
        own = np.where(held_out, 0.0, weights)
        taught = own > 0.0
        loss.check(y[taught])
        start = np.atleast_1d(np.asarray(loss.start(y[taught], own[taught]), np.float64))
        if self.init == "zero":
            start = np.zeros_like(start)
        scores = Scores(y, own, loss, start, team)
        scores.adapt(relative=False)
        watches, watched = bool(held_out.any()), np.where(held_out, weights, 0.0)
        curve = [scores.mean_loss(watched, 0)] if watches else []
        patience = Patience(int(self.n_iter_no_change), float(self.tol))

        def go_on(rounds: list[Round]) -> bool:
            if watches:
                curve.append(scores.mean_loss(watched, len(rounds)))
            return not watches or not patience.is_over(curve)

        n_rounds = int(self.n_estimators) if self._has_rounds(y[taught]) else 0
        descent = self._descent(rows.X, len(start))
        rounds, self.stop_reason_ = descended(scores, descent, n_rounds, go_on)
        if watches:
            rounds = rounds[: best_round(curve)]
            self.validation_losses_ = np.array(curve)
        self._keep(rounds, start, scores.loss)

    def _has_rounds(self, y: Floats) -> bool:  # noqa: ARG002  classifiers look at them
        return True

    def _keep(self, rounds: list[Round], start: Floats, loss: Any) -> None:
        self._rounds, self._start, self._loss = rounds, start, loss
        self.n_estimators_ = self.n_iter_ = len(rounds)
        coefficients = np.array([each.coefficients for each in rounds]).reshape(-1, len(start))
        elements = [each.elements for each in rounds]
        is_single = len(start) == 1
        self.estimator_weights_ = coefficients[:, 0] if is_single else coefficients
        self.estimator_errors_ = np.array([each.error for each in rounds])
        self.train_losses_ = np.array([each.loss for each in rounds])
        if self.dictionary is None:
            return
        chosen = np.array(elements, np.int64).reshape(-1, len(start))
        self.elements_ = chosen[:, 0] if is_single else chosen
        coef = np.zeros((len(start), self._n_functions))
        for output, own in enumerate(chosen.T):
            np.add.at(coef[output], own, coefficients[:, output])
        self.coef_ = coef[0] if is_single else coef

    @property
    def estimators_(self) -> list[Any]:
        """The fitted learners; of several outputs a list of them for each round."""
        check_is_fitted(self)
        if self.dictionary is not None:
            raise AttributeError("There are no estimators_: functions are those of the dictionary.")
        elements = [each.elements for each in self._rounds]
        return [own[0] if len(self._start) == 1 else list(own) for own in elements]

    def _descent(self, X: Any, n_outputs: int) -> Descent:
        """Return how to descend."""
        stepping, rate = _STEPPING[self.step], float(self.learning_rate)
        if stepping is exact_step and n_outputs > 1:
            raise ValueError(
                f"step='exact' has no formula for {n_outputs} classes. Pass step='line_search'."
            )
        space, scale_free = self._space(X, n_outputs > 1 and stepping is not None)
        return Descent(space, stepping, rate, scale_free)

    def _space(self, X: Any, project: bool) -> tuple[Space, bool]:
        """Return the space, and whether directions and steps are the same at any scale."""
        if self.dictionary is None:
            learner = self._checked_learner()
            seed = int(
                check_random_state(0 if self.random_state is None else self.random_state).randint(
                    2**31 - 1
                )
            )
            is_free = is_classifier(learner) or self.step != "epsilon"
            return LearnerSpace(X, learner, seed), is_free
        if self.estimator is not None:
            raise ValueError(
                "estimator and dictionary are both given, and functions come from one of them. "
                "Leave one out."
            )
        said = self._dictionary().columns(X)
        self._n_functions = said.shape[1]
        return DictionarySpace(said, self.direction, project), self.direction != "least_squares"

    def _dictionary(self) -> Dictionary:
        return given_dictionary(self.dictionary)

    def _learner(self) -> Any:
        """Return the learner that was given, or a tree of six leaves. Notes 0, page 11."""
        return DecisionTreeRegressor(max_leaf_nodes=6) if self.estimator is None else self.estimator

    def _checked_learner(self) -> Any:
        learner, name = self._learner(), type(self).__name__
        if inspect.isclass(learner):
            raise TypeError(
                f"estimator={learner.__name__} is a class, but {name} needs one of its instances, "
                f"whose parameters it copies. Pass estimator={learner.__name__}()."
            )
        return learner

    def _held_out(self, rows: Rows, y: Floats) -> NDArray[np.bool_]:
        """Tell which rows are held out: by their content, equal rows together."""
        if rows.values is None:
            return np.zeros(len(y), bool)
        n_folds = max(2, round(1.0 / float(self.validation_fraction)))
        folds = content_folds(rows.values.T, y[:, None], n_folds)
        return np.asarray((folds == 0) & (folds.max() > 0))  # none, if all rows are equal

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        """Yield the scores, float64 [n_outputs, n_rows], after 0, 1, 2, ... rounds."""
        check_is_fitted(self)
        table = read_table(X)
        check_columns(self, table)
        X, raw = indexable(X), np.tile(self._start[:, None], (1, table.n_rows))
        yield raw
        chosen = np.array([each.elements for each in self._rounds])
        if self.dictionary is not None and len(chosen):
            used, places = np.unique(chosen, return_inverse=True)
            columns = self._dictionary().columns(X, used)
            places = places.reshape(chosen.shape)
        for number, own in enumerate(self._rounds):
            if self.dictionary is None:
                said = np.array([said_by(learner, X) for learner in own.elements])
            else:
                said = columns[:, places[number]].T
            raw = raw + own.coefficients[:, None] * said
            yield raw

    def _staged_rounds(self, X: Any) -> Iterator[Floats]:
        """Yield the scores after each round, without the start."""
        return islice(self._staged_raw(X), 1, None)

    def _raw(self, X: Any) -> Floats:
        """Return the scores after the last round, float64 [n_outputs, n_rows]."""
        *_, raw = self._staged_raw(X)
        return raw

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = getattr(self._learner(), "__sklearn_tags__", None)
        if self.dictionary is None and own is not None and not inspect.isclass(self.estimator):
            for name in ("sparse", "allow_nan", "string", "categorical", "positive_only"):
                setattr(tags.input_tags, name, getattr(own().input_tags, name))
        return tags
