"""Any scikit-learn estimator as a space to descend in: a fitted copy of it in each round."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.stagewise import Direction
from hedgerow.estimators.lessons import fresh, takes_weights
from hedgerow.estimators.saving import Saves


class LearnerSpace:
    """Copies of a regressor, or of a classifier whose classes are -1 and 1.

    A regressor is fitted to the negative gradient r by least squares. A classifier is fitted to the
    signs of r with weights w |r|: all functions of -1 and 1 have the same length, so one of least
    weighted error is nearest to r, by least squares as by the angle. Notes 0, pages 9 and 27; notes
    1, "Application to the exponential loss".
    """

    def __init__(self, X: Any, learner: Any, seed: int) -> None:
        """Take rows in an order of their content."""
        self._X, self._learner, self._seed = X, learner, seed
        self._classifies, self._weighted = is_classifier(learner), takes_weights(learner)
        if self._classifies and not self._weighted:
            raise ValueError(
                f"{type(learner).__name__}.fit takes no sample_weight, and a classifier is fitted "
                "to weighted rows here. Pass another, a regressor, or use "
                "AdaBoostClassifier(resample=True), which draws rows by their weights."
            )

    def nearest(self, target: Floats, weights: Floats, number: int) -> Direction:
        """Return a fitted learner for each output."""
        learners = []
        for output, r in enumerate(target):
            own = fresh(self._learner, self._seed, (number - 1) * len(target) + output)
            teach = self._taught_signs if self._classifies else self._taught_numbers
            learners.append(teach(own, r, weights))
        said = np.array([said_by(learner, self._X) for learner in learners])
        return Direction(tuple(learners), np.ones(len(target)), said)

    def _taught_signs(self, learner: Any, r: Floats, weights: Floats) -> Any:
        size = weights * np.abs(r)
        rows = np.flatnonzero(size > 0.0)
        signs, size = np.where(r[rows] > 0.0, 1, -1), size[rows] / size.sum()
        # Not every classifier takes a single class; ours do.
        if (signs == signs[0]).all() and not isinstance(learner, Saves):
            learner = DummyClassifier(strategy="most_frequent")
        return learner.fit(_safe_indexing(self._X, rows), signs, sample_weight=size)

    def _taught_numbers(self, learner: Any, r: Floats, weights: Floats) -> Any:
        rows = np.flatnonzero(weights > 0.0)
        X = self._X if len(rows) == len(weights) else _safe_indexing(self._X, rows)
        own = weights[rows]
        if (own == 1.0).all() or (not self._weighted and own.min() == own.max()):
            return learner.fit(X, r[rows])
        if not self._weighted:
            raise ValueError(
                f"sample_weight was given, but {type(self._learner).__name__}.fit takes no "
                "weights. Pass another estimator, or repeat rows instead."
            )
        return learner.fit(X, r[rows], sample_weight=own)


def said_by(learner: Any, X: Any) -> Floats:
    """Return what a fitted learner says of rows, float64 [n_rows]."""
    said = np.asarray(learner.predict(X), np.float64)
    if said.shape != (len(said),) or not np.isfinite(said).all():
        raise ValueError(
            f"{type(learner).__name__}.predict returned shape {said.shape}, with "
            f"{np.count_nonzero(~np.isfinite(said))} numbers that are not finite, and one finite "
            "number for each row is needed."
        )
    return said
