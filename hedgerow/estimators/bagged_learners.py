"""The general way of bagging: models of any learner that has scikit-learn's methods."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from hedgerow.data.binned import BinnedTable, Recipe, bin_table
from hedgerow.data.table import Table
from hedgerow.ensembles.bags import Urn
from hedgerow.ensembles.gathering import gathered, in_turn
from hedgerow.ensembles.left_out import Judged
from hedgerow.estimators.bagged import Bagged
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.control import Control
from hedgerow.estimators.forest import Floats
from hedgerow.estimators.forest_classifier import ForestClassifier
from hedgerow.estimators.forest_regressor import ForestRegressor
from hedgerow.estimators.lessons import (
    Lessons,
    carried,
    fresh,
    indexable,
    some_features,
    takes_weights,
)
from hedgerow.estimators.saving import Saves
from hedgerow.kernels.team import Team, hired

_LONG = 1e12  # cell updates: nobody knows how long a learner takes


class Crowd(NamedTuple):
    """Fitted learners."""

    models: tuple[Any, ...]

    @property
    def n_trees(self) -> int:
        """Number of models."""
        return len(self.models)

    def then(self, later: "Crowd") -> "Crowd":
        """Return these models and later ones."""
        return Crowd(self.models + later.models)


class BaggedLearners(Bagged):
    """Fitted copies of a learner, each of some rows and some features."""

    _noun = "models"
    class_weight = None  # of a forest
    criterion = "gini"
    _model: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = getattr(self._learner, "__sklearn_tags__", None)
        tags.target_tags.multi_output = own is None or own().target_tags.multi_output
        return tags

    def learn(self, X: Any, table: Table, y: Any, sample_weight: Any, asked: Any) -> None:
        """Fit the models."""
        self._learn(table, y, sample_weight, (*asked, indexable(X)))

    def _keep(self, table: Table, sample: Sample, species: Any, asked: Any) -> None:  # noqa: ARG002  a forest's
        """Fit models and keep them."""
        before, begun, _, X = asked
        n_before = self._begin(before)
        with hired(self.n_jobs, _LONG) as team:
            binned = bin_table(table, Recipe(None), team, sample.rows)
            self._remember(table, binned)
            lessons = self._lessons(X, binned, sample, team)
            with Control(self, self.n_estimators, begun, self._noun) as control:
                models = gathered(
                    team,
                    range(n_before, self.n_estimators),
                    carried(lambda number: self._taught(number, lessons)),
                    lambda n: control(n_before + n, dict, lambda: None),
                )
            own = Crowd(tuple(models))
            self._model = own if before is None else before._model.then(own)
            if self.oob_score:
                self._judge_left_out(lessons, table.n_rows, team)
        self._rows, self._n_rows = sample.rows, table.n_rows

    def _lessons(self, X: Any, binned: BinnedTable, sample: Sample, team: Team) -> Lessons:
        """Return what the models are taught, or raise if the learner would not hear of weights."""
        bags = self._bags = self._filled_bags(binned, sample, team)
        counts = sample.weights.counts
        if bags is None:
            order = Urn.of(binned.codes, sample.targets, counts, True, team).order
        else:
            order = bags.urn.order
        lessons = Lessons(X, self._taught_targets(sample.targets), sample, order, bags)
        is_even = counts.min() == counts.max()
        if lessons.keeps_weights and not is_even and not takes_weights(self._learner):
            raise ValueError(
                f"sample_weight was given, but {type(self._learner).__name__}.fit takes no "
                "weights, and bootstrap=False draws all rows with the same chance. Pass "
                "bootstrap=True, which draws rows in proportion to their weights."
            )
        return lessons

    def _taught(self, number: int, lessons: Lessons) -> Any:
        """Return one model, fitted."""
        model = fresh(self._learner, self._seed, number)
        lesson = lessons.of(number, self._own_features(number), takes_weights(model))
        model = self._fit_for(lesson.y, model)
        if lesson.weights is None:
            return model.fit(lesson.X, lesson.y)
        return model.fit(lesson.X, lesson.y, sample_weight=lesson.weights)

    def _fit_for(self, y: NDArray[Any], model: Any) -> Any:  # noqa: ARG002  classifiers ask
        """Return the model that can be taught these targets."""
        return model

    def _own_features(self, number: int) -> NDArray[np.int64] | None:
        """Return the features of a model; None: all of them."""
        if self._tree_features is None:
            return None
        return self._features_of(number, self.n_features_in_)

    def means(self, X: Any, table: Table) -> Floats:
        """Return the mean of what the models say of each row."""
        given, total = indexable(X), np.zeros((table.n_rows, self._n_values))
        with hired(self.n_jobs, _LONG) as team:
            for said in in_turn(team, self._model.n_trees, carried(self._sayer(given))):
                total += said
        return np.asarray(total / self._model.n_trees)

    def staged_means(self, X: Any, table: Table) -> Iterator[Floats]:
        """Yield the mean of what the first 1, 2, ... models say."""
        say, total = self._sayer(indexable(X)), np.zeros((table.n_rows, self._n_values))
        for number in range(self._model.n_trees):
            total += say(number)
            yield total / (number + 1)

    def _sayer(self, X: Any) -> Any:
        """Return a function from the number of a model to what it says of the rows."""
        return lambda number: self._said(
            self._model.models[number], some_features(X, self._own_features(number))
        )

    def _judge_left_out(self, lessons: Lessons, n_rows: int, team: Team) -> None:
        """Predict each row by the models that it was not drawn for; keep how good that is."""
        if lessons.bags is None:
            raise ValueError(
                "oob_score=True needs rows that a model has not seen, and bootstrap=False shows it "
                "all of them. Pass bootstrap=True, max_samples below 1.0, or oob_score=False."
            )

        def heard(number: int) -> Floats:
            places = lessons.left_out(number)
            if not len(places):
                return np.zeros((0, self._n_values))
            X = lessons.rows(places, self._own_features(number))
            return np.asarray(self._said(self._model.models[number], X))

        sample = lessons.sample
        judged, scores = Judged(len(sample.targets), self._n_values), []
        for number, said in enumerate(in_turn(team, self._model.n_trees, carried(heard))):
            places = lessons.left_out(number)
            judged.sums[places] += said
            judged.n_trees[places] += 1
            scores.append(self._score_out_of_bag(judged, sample))
        self.oob_curve_, self.oob_score_ = np.array(scores), scores[-1]
        self._keep_out_of_bag(judged, sample, n_rows)

    @property
    def models(self) -> Sequence[Any]:
        """The fitted learners, which take their own features only."""
        return list(self._model.models)


class ClassLearners(BaggedLearners, ForestClassifier):
    """Bagged classifiers."""

    def _taught_targets(self, targets: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(self.classes_[targets])

    def _keep(self, table: Table, sample: Sample, species: Any, asked: Any) -> None:
        super()._keep(table, sample, species, asked)
        constant = [model for model in self._model.models if self._is_constant(model)]
        if constant:
            warnings.warn(
                f"{len(constant)} of {self._model.n_trees} samples have rows of one class only, "
                f"of {self.n_classes_}: their models are constants. Pass a larger max_samples, or "
                "larger weights for the rows of rare classes.",
                UserWarning,
                stacklevel=5,
            )

    def _is_constant(self, model: Any) -> bool:
        return len(model.classes_) == 1 < self.n_classes_

    def _fit_for(self, y: NDArray[Any], model: Any) -> Any:
        """Return a constant for rows of one class, which many classifiers refuse; ours do not."""
        is_mixed = self.n_classes_ == 1 or (y != y[0]).any() or isinstance(model, Saves)
        return model if is_mixed else DummyClassifier(strategy="most_frequent")

    def _said(self, model: Any, X: Any) -> Floats:
        """Return the probabilities that a model gives the classes, or its votes."""
        if self.voting == "soft" and hasattr(model, "predict_proba"):
            shares = np.asarray(model.predict_proba(X), np.float64)
            said = np.zeros((len(shares), self.n_classes_))
            said[:, np.searchsorted(self.classes_, model.classes_)] = shares
            return said
        return np.asarray(np.eye(self.n_classes_)[np.searchsorted(self.classes_, model.predict(X))])

    def decisions(self, X: Any) -> Floats:
        """Return the mean of the decision functions of the models that know all classes."""
        given, models = indexable(X), self._model.models
        knowing = [n for n, model in enumerate(models) if len(model.classes_) == self.n_classes_]
        if not knowing:
            raise ValueError(
                f"None of {len(models)} models was given rows of all {self.n_classes_} classes, so "
                "there is no decision function of all. Use predict_proba, or fit with a larger "
                "max_samples."
            )

        def decided(which: int) -> Floats:
            own = some_features(given, self._own_features(knowing[which]))
            return np.asarray(models[knowing[which]].decision_function(own), np.float64)

        with hired(self.n_jobs, _LONG) as team:
            parts = list(in_turn(team, len(knowing), carried(decided)))
        total = np.zeros_like(parts[0])
        for part in parts:
            total += part
        return total / len(parts)


class MeanLearners(BaggedLearners, ForestRegressor):
    """Bagged regressors."""

    def _taught_targets(self, targets: Floats) -> Floats:
        return np.ascontiguousarray(targets[:, 0]) if targets.shape[1] == 1 else targets

    def _said(self, model: Any, X: Any) -> Floats:
        """Return what a model predicts, float64 [n_rows, n_outputs]."""
        predicted = np.asarray(model.predict(X), np.float64)
        return predicted.reshape(len(predicted), -1)
