"""The variance of an average of models that are alike, and how much of it averaging cannot cure.

    Var(mean of B models) = rho sigma^2 + (1 - rho) sigma^2 / B

sigma^2 is the variance of one model over training sets (and its own randomness), rho the
correlation of two models of the same training set. More models take the second part away; the
first is a floor. Notes 1, random forests, motivation; Breiman (2001); Hastie, Tibshirani and
Friedman (2009), section 15.4, equation 15.1.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Decomposition(NamedTuple):
    """Parts of the variance of an average; each a number or an array of them.

    floor     rho sigma^2, what is left of the variance if there are ever more models
    between   (1 - rho) sigma^2, the variance of models of the same training set
    n_models  B
    """

    floor: Floats
    between: Floats
    n_models: int

    @property
    def model_variance(self) -> Floats:
        """sigma^2 of one model."""
        return self.floor + self.between

    @property
    def correlation(self) -> Floats:
        """Correlation rho = floor / sigma^2; 0 if models do not vary at all."""
        total = self.model_variance
        return np.divide(self.floor, total, out=np.zeros_like(total), where=total != 0)

    @property
    def mean_variance(self) -> Floats:
        """Variance of the average, rho sigma^2 + (1 - rho) sigma^2 / B."""
        return self.floor + self.between / self.n_models


def decomposed(predictions: Floats) -> Decomposition:
    """Take the variance of models apart that were fitted to many training sets.

        sigma^2     = mean over models of Var over sets of f_b
        rho sigma^2 = mean over pairs of models of Cov over sets of (f_b, f_c)

    With these the identity of this module is exact for the sample's own moments, as

        Var(mean) = (1 / B^2) (sum over b of Var f_b + sum over pairs b != c of Cov(f_b, f_c)).

    Parameters
    ----------
    predictions : float64 [n_sets, n_models], at least two of each
        What each model of each training set says of one row.
    """
    n_sets, n_models = predictions.shape
    centred = predictions - predictions.mean(axis=0)
    covariances = centred.T @ centred / (n_sets - 1)
    own = np.trace(covariances)
    floor = (covariances.sum() - own) / (n_models * (n_models - 1))
    return Decomposition(np.asarray(floor), np.asarray(own / n_models - floor), n_models)


def models_for(floor: float, between: float, share: float = 0.01) -> float:
    """Return how many models bring the variance of their average within a share of the floor.

        between / B <= share * floor

    An int; inf if the floor is 0 and models of a training set differ.
    """
    if not share > 0:
        raise ValueError(
            f"share={share!r}: pass a positive number, such as 0.01 for 1 % above the floor."
        )
    if between <= 0:
        return 1
    return max(1, math.ceil(between / (share * floor))) if floor > 0 else math.inf
