"""CV(lambda): scores of the rows held out, for every size of a model, with standard errors.

    CV(m) = sum over folds k of n_k S_k(m) / sum of n_k

with S_k(m) the score of fold k by the first m rounds or trees, and n_k its rows or their weight:
notes 2, "Validation and cross validation". Scores are scikit-learn's, the larger the better.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.plot.evaluation import draw_curve

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores by size: rounds of a boosted model, trees of a forest.

    Attributes
    ----------
    name : str
        Of the score.
    folds : float64 [n_folds, n_sizes]
        The score of each fold by the first 1, 2, ... rounds. A model that has fewer rounds than
        another has its last score from there on: it is the same model.
    weights : float64 [n_folds]
        What each fold counts in the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.evaluation import Curve
    >>> curve = Curve("r2", np.array([[0.1, 0.6, 0.7], [0.3, 0.6, 0.5]]), np.ones(2))
    >>> curve.mean.round(3), curve.best, curve.one_se
    (array([0.2, 0.6, 0.6]), 2, 2)
    >>> curve
    r2: best 0.6 +/- 0 after 2 of 3; within one standard error after 2
    """

    name: str
    folds: Floats
    weights: Floats

    @property
    def sizes(self) -> NDArray[np.int64]:
        """1, 2, ..., as many as there are."""
        return np.arange(1, self.folds.shape[1] + 1)

    @property
    def mean(self) -> Floats:
        """CV(m), float64 [n_sizes]."""
        return np.asarray(np.average(self.folds, axis=0, weights=self.weights))

    @property
    def standard_errors(self) -> Floats:
        """Deviation of the folds' scores, divided by the root of their number; NaN of one fold."""
        return standard_errors(self.folds)

    @property
    def best(self) -> int:
        """The size of the highest mean; of equals the smallest."""
        return int(np.nanargmax(self.mean)) + 1

    @property
    def one_se(self) -> int:
        """The smallest size whose mean is within one standard error of the best.

        Breiman and others (1984), section 3.4.3.
        """
        place = self.best - 1
        return self.smallest(float(self.mean[place] - np.nan_to_num(self.standard_errors[place])))

    def smallest(self, least: float) -> int:
        """Return the smallest size whose mean is at least `least`, of those up to the best."""
        return int(np.flatnonzero(self.mean[: self.best] >= least)[0]) + 1

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with its standard errors (extra `plot`); return matplotlib's Axes."""
        chosen = {"best": self.best, "one standard error": self.one_se}
        return draw_curve(self.name, self.mean, self.standard_errors, chosen, ax=ax)

    def __repr__(self) -> str:
        place = self.best - 1
        return (
            f"{self.name}: best {self.mean[place]:.4g} +/- {self.standard_errors[place]:.2g} after "
            f"{self.best} of {len(self.sizes)}; within one standard error after {self.one_se}"
        )


def standard_errors(folds: Floats) -> Floats:
    """Return sd / sqrt(n_folds) over the first axis, with n_folds - 1 degrees of freedom."""
    if len(folds) < 2:
        return np.full(folds.shape[1:], np.nan)
    return np.asarray(folds.std(axis=0, ddof=1) / np.sqrt(len(folds)))
