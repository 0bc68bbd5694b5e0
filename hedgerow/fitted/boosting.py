"""Fitted gradient boosting: raw scores that trees add up to, and predictions made of them."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import AdditiveModel
from hedgerow.fitted.model import Floats, ReadsNumbers, name_of
from hedgerow.kernels.meanwhile import Little
from hedgerow.kernels.scorer import add_trees
from hedgerow.kernels.team import hired
from hedgerow.losses import Quantiles

_TOGETHER, _NUMBERS = 128, 1 << 20  # rounds, and scores of rows, that are predicted at once
_SLICE = 8192  # rows whose probabilities a thread finds at once: some classes' fit its cache


class AddsTrees(ReadsNumbers):
    """Trees added one after another: everything that does not depend on what is predicted."""

    _model: AdditiveModel
    _loss: Any
    _has_offset: bool

    def _raw(self, X: Any, n_trees: int | None = None, offset: Any = None) -> Floats:
        """Return the scores of rows, float64 [n_rows, n_outputs], after some rounds or all."""
        values = self._values(X)
        n_rounds = check_n_trees(n_trees, self._model.n_rounds)
        beside = self._offset(offset, len(values))
        if len(values) == 1 and n_rounds == self._model.n_rounds:
            raw = self._model.raw_of_one(values, beside)
            if raw is not None:
                return raw
        work = float(len(values)) * len(self._model.grove.output)
        with hired(self.n_jobs, work, Little(1e-6 * work, add_trees)) as team:
            return self._model.raw(values, team, n_rounds, offset=beside)

    def _staged_raw(self, X: Any, offset: Any = None) -> Iterator[Floats]:
        """Yield the scores after each round."""
        values, model = self._values(X), self._model
        out = np.tile(model.start, (len(values), 1)) + self._offset(offset, len(values))
        n_together = max(1, min(_TOGETHER, _NUMBERS // max(out.size, 1)))
        for first in range(0, model.n_rounds, n_together):
            end = min(first + n_together, model.n_rounds)
            with hired(self.n_jobs, float(len(values)) * (end - first)) as team:
                stages = model.stages(values, team, first, end, out)
            yield from stages

    def _offset(self, offset: Any, n_rows: int) -> Floats | float:
        """Return what prediction adds to the start; raise if fit had an offset and this has not."""
        if offset is not None:
            return check_offset(offset, n_rows, self._model.n_outputs)
        if self._has_offset:
            raise ValueError(
                f"This {name_of(self)} was fitted with an offset, and prediction has none. "
                "Pass offset=..., one number for each row; 0.0 predicts for an exposure of 1."
            )
        return 0.0


class ClassBoosting(AddsTrees):
    """Boosting of classes: two have one score, the log-odds of the second, K > 2 have K."""

    classes_: NDArray[Any]
    n_classes_: int

    def _predicted(self, raw: Floats) -> Floats:
        if self.n_classes_ > 2:
            return np.asarray(self._loss.link(raw))
        if self.n_classes_ == 1:
            return np.ones((len(raw), 1))
        shares = np.empty((len(raw), 2))
        shares[:, 1] = self._loss.link(raw[:, 0])
        np.subtract(1.0, shares[:, 1], out=shares[:, 0])
        return shares

    def decision_function(self, X: Any, n_trees: int | None = None, offset: Any = None) -> Floats:
        """Return the scores: [n_rows] log-odds of two classes, or [n_rows, n_classes].

        n_trees: use the first rounds only, 0 (the start) to `n_estimators_`. With K > 2
        classes a round has K trees.
        """
        raw = self._raw(X, n_trees, offset)
        return raw if self.n_classes_ > 2 else raw[:, 0]

    def predict_proba(self, X: Any, n_trees: int | None = None, offset: Any = None) -> Floats:
        """Return the probability of each class, in the order of `classes_`.

        n_trees: as in `decision_function`.
        """
        raw = self._raw(X, n_trees, offset)
        if len(raw) <= _SLICE:
            return self._predicted(raw)
        shares = raw if self.n_classes_ > 2 else np.empty((len(raw), self.n_classes_))

        def fill(_: Any, first: int) -> None:
            rows = slice(first, first + _SLICE)
            shares[rows] = self._predicted(raw[rows])

        with hired(self.n_jobs, float(shares.size)) as team:
            team.run_each(fill, range(0, len(raw), _SLICE))
        return shares

    def predict(self, X: Any, n_trees: int | None = None, offset: Any = None) -> NDArray[Any]:
        """Return the most probable class of each row; n_trees: as in `decision_function`."""
        best = np.argmax(self.predict_proba(X, n_trees, offset), axis=1)
        return np.asarray(self.classes_[best])

    def staged_decision_function(self, X: Any, offset: Any = None) -> Iterator[Floats]:
        """Yield the scores after each round."""
        for raw in self._staged_raw(X, offset):
            yield raw if self.n_classes_ > 2 else raw[:, 0]

    def staged_predict_proba(self, X: Any, offset: Any = None) -> Iterator[Floats]:
        """Yield the probabilities after each round."""
        for raw in self._staged_raw(X, offset):
            yield self._predicted(raw)

    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round."""
        for probabilities in self.staged_predict_proba(X, offset):
            yield self.classes_[np.argmax(probabilities, axis=1)]


class MeanBoosting(AddsTrees):
    """Boosting of numbers."""

    n_outputs_: int

    def _columns(self, numbers: Floats) -> Floats:
        """Return numbers [n_rows, n_outputs] as users know them: [n_rows] if there is one."""
        return numbers[:, 0] if self.n_outputs_ == 1 else numbers

    def _predicted(self, raw: Floats) -> Floats:
        has_levels = isinstance(self._loss, Quantiles)
        return np.asarray(self._loss.link(raw if has_levels else self._columns(raw)))

    def predict(self, X: Any, n_trees: int | None = None, offset: Any = None) -> Floats:
        """Return the predicted mean, or the median or quantile that the loss is about.

        [n_rows], or [n_rows, n_outputs] if there are several; several quantiles are [n_rows,
        n_levels], nondecreasing in each row.
        n_trees: predict by the first rounds only, 0 (the start) to `n_estimators_`.
        """
        return self._predicted(self._raw(X, n_trees, offset))

    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[Floats]:
        """Yield the predictions after each round."""
        for raw in self._staged_raw(X, offset):
            yield self._predicted(raw)


class RankBoosting(AddsTrees):
    """Boosting of rankings."""

    def predict(self, X: Any, n_trees: int | None = None) -> Floats:
        """Return the scores to rank by, the highest first; only rows of a query compare.

        n_trees: predict by the first rounds only, 0 (all scores are 0) to `n_estimators_`.
        """
        return np.ascontiguousarray(self._raw(X, n_trees)[:, 0])

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the scores after each round."""
        for raw in self._staged_raw(X):
            yield np.ascontiguousarray(raw[:, 0])


def check_n_trees(n_trees: Any, n_rounds: int) -> int:
    """Return the number of rounds to predict by: all if it is None."""
    if n_trees is None:
        return n_rounds
    if isinstance(n_trees, bool) or not isinstance(n_trees, Integral):
        raise TypeError(
            f"n_trees={n_trees!r} is no whole number. Pass a number of rounds, or None for all."
        )
    if not 0 <= int(n_trees) <= n_rounds:
        raise ValueError(
            f"n_trees={n_trees} is outside 0..{n_rounds}, the rounds of this model "
            "(n_estimators_). Pass a number in this range, or None for all."
        )
    return int(n_trees)


def check_offset(offset: Any, n_rows: int, n_outputs: int) -> Floats:
    """Return offsets as float64 [n_rows, n_outputs]; a number is that of every row."""
    values = np.asarray(offset, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(n_rows, values)
    if len(values) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"offset has {len(values)}. Pass one value of offset for each row of X."
        )
    if values.ndim == 1 and n_outputs == 1:
        values = values[:, None]
    if values.shape != (n_rows, n_outputs):
        wanted = f"({n_rows},)" if n_outputs == 1 else f"({n_rows}, {n_outputs})"
        raise ValueError(
            f"offset has shape {values.shape}, expected {wanted}: one number for each row and "
            "raw score. Use the scale of raw scores, for example the logarithm of exposure."
        )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"offset[{bad[0][0]}] is {values[tuple(bad[0])]}: offsets must be finite. For an "
            "exposure pass its logarithm, and leave out rows that have none."
        )
    return values
