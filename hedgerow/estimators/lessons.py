"""Lessons: the rows and features that each learner of a bagging is given, in order of content."""

from collections.abc import Callable
from contextvars import copy_context
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from hedgerow.ensembles.bags import Bags
from hedgerow.estimators.cart import Sample
from hedgerow.kernels.random import mixed_bits

_LEARNERS = 0x6C6561726E  # names draws, among those that a seed is for
Rows = NDArray[np.int64]
Thing = TypeVar("Thing")


class Lesson(NamedTuple):
    """What one learner is taught; weights: None if all are equal."""

    X: Any
    y: NDArray[Any]
    weights: NDArray[np.float64] | None


class Lessons(NamedTuple):
    """What the learners are taught.

    X       the table, of the kind that was given
    y       [n, ..]        a target for each row that counts
    sample  Sample
    order   int64 [n]      rows that count, by their content
    bags    how often each is drawn for a model; None: all are there
    """

    X: Any
    y: NDArray[Any]
    sample: Sample
    order: Rows
    bags: Bags | None

    @property
    def keeps_weights(self) -> bool:
        """Whether rows count by their weights, and not as often as they are drawn."""
        return self.bags is None or self.bags.way.keeps_weights

    def of(self, number: int, features: Rows | None, weighted: bool) -> Lesson:
        """Return what the model of this number is taught: rows with weights, or repeated."""
        counts = np.ones_like(self.order) if self.bags is None else self.bags.counts(number)
        places = self.order[counts[self.order] > 0]
        if self.keeps_weights:
            weights = self.sample.plain.weights[places]
            counts_plainly = not weighted or bool((weights == 1.0).all())
            return self._lesson(places, features, None if counts_plainly else weights)
        if weighted:
            return self._lesson(places, features, counts[places].astype(np.float64))
        return self._lesson(np.repeat(places, counts[places]), features, None)

    def left_out(self, number: int) -> Rows:
        """Return the places of rows that were not drawn for a model, in order of content."""
        counts = np.ones_like(self.order) if self.bags is None else self.bags.counts(number)
        return np.asarray(self.order[counts[self.order] == 0])

    def _lesson(
        self, places: Rows, features: Rows | None, weights: NDArray[np.float64] | None
    ) -> Lesson:
        return Lesson(self.rows(places, features), self.y[places], weights)

    def rows(self, places: Rows, features: Rows | None) -> Any:
        """Return some rows and features of the table."""
        rows = places if self.sample.rows is None else self.sample.rows[places]
        return some_features(_safe_indexing(self.X, rows), features)


def some_features(X: Any, features: Rows | None) -> Any:
    """Return columns of a table, which keeps its kind; None: all of them."""
    return X if features is None else _safe_indexing(X, features, axis=1)


def indexable(X: Any) -> Any:
    """Return a table whose rows and columns can be taken: of its own kind, or as an array."""
    if issparse(X):
        return X.tocsr()
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)
    return np.array(X, dtype=object) if array.dtype.kind in "US" else array


def takes_weights(learner: Any) -> bool:
    """Tell whether rows may be given once, with a weight, instead of being repeated."""
    return bool(has_fit_parameter(learner, "sample_weight"))


def fresh(learner: Any, seed: int, number: int) -> Any:
    """Return an unfitted copy of a learner with random states named by (seed, number)."""
    copied, bits = clone(learner), mixed_bits(mixed_bits(seed, _LEARNERS), number)
    names = sorted(copied.get_params(deep=True))
    states = [name for name in names if name.split("__")[-1] == "random_state"]
    drawn = {name: mixed_bits(bits, k) & 0x7FFFFFFF for k, name in enumerate(states)}
    return copied.set_params(**drawn) if drawn else copied


def carried(work: Callable[[int], Thing]) -> Callable[[int], Thing]:
    """Return work that goes, on any thread, by the settings of the thread that asks for it."""
    context, settings = copy_context(), get_config()

    def carried_work(number: int) -> Thing:
        with config_context(**settings):
            return context.copy().run(work, number)

    return carried_work
