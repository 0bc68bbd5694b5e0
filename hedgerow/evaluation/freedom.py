"""Degrees of freedom: how much predictions move with the targets that they are made from.

    df = sum Cov(y_i, yhat_i) / sigma^2

Notes 2, "Optimism and degrees of freedom"; Efron (1986). Of a linear smoother it is tr(S). Of any
other it is the sum of the slopes of yhat_i on y_i, found by fits to targets that are moved,

    y* = c + d,     df ~ sum over rows of  Cov*(d_i, yhat*_i) / Var*(d_i)

over repeats *, which is the definition if c is the mean of the targets and d their noise. What the
three ways differ in is c and the size of d. One fit gives all rounds of a boosted model.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from hedgerow.evaluation.arguments import (
    Floats,
    demand_count,
    demand_positive,
    demand_regression,
    demand_targets,
)
from hedgerow.evaluation.fitters import demand_fitter, is_estimator, predictions
from hedgerow.evaluation.noise import demand_variance, noise_variance
from hedgerow.evaluation.repeats import generator, repeated
from hedgerow.evaluation.smoothers import Smoother, has_formula, smoother_of

_SMALL_STEP = 1e-3  # of a derivative, in deviations of y


class Probe(NamedTuple):
    """Around which targets a model is fitted, how far from them, and into which directions.

    signs: directions are of -1 and 1, else normal.
    """

    centre: Floats
    scale: float
    signs: bool = False

    def moves(self, seed: int, n_repeats: int) -> tuple[Floats, Floats]:
        """Return moves, and what predictions weigh in the sum of slopes, [n_repeats, n_rows].

        The slope of a row on its moves d_b is sum_b a_b yhat_b, with a_b = (d_b - mean) / sum of
        (d_b - mean)^2; moves of -1 and 1 need no mean.
        """
        n_rows, rngs = len(self.centre), (generator(seed, number) for number in range(n_repeats))
        if self.signs:
            moves = self.scale * np.array([rng.choice([-1.0, 1.0], n_rows) for rng in rngs])
            return moves, moves / (n_repeats * self.scale**2)
        moves = self.scale * np.array([rng.standard_normal(n_rows) for rng in rngs])
        apart = moves - moves.mean(axis=0)
        return moves, apart / (apart**2).sum(axis=0)


class Trace(NamedTuple):
    """tr(S) of a linear smoother: exact. sigma2 is for the optimism; None: estimated."""

    sigma2: float | None = None


class Covariance(NamedTuple):
    """The covariance bootstrap: new targets are drawn around the predictions.

        y* = yhat + sigma u,     df = sum Cov*(y*_i, yhat*_i) / sigma^2

    The definition itself, with the fitted model in the place of the true mean: the search for
    splits is counted. Efron (2004).

    sigma2     variance of the noise; None: that of least squares, see `noise_variance`
    n_repeats  fits
    centre     float64 [n_rows] or None   a better guess of the mean than the model's own
    """

    sigma2: float | None = None
    n_repeats: int = 100
    centre: Any = None

    def probe(self, y: Floats, sigma2: float, fitted: Callable[[], Floats]) -> Probe:
        """Return where to fit."""
        if self.centre is None:
            return Probe(fitted(), float(np.sqrt(sigma2)))
        return Probe(demand_targets(self.centre, len(y), "centre"), float(np.sqrt(sigma2)))


class Perturbation(NamedTuple):
    """Generalised degrees of freedom: the targets themselves are moved.

        y* = y + tau u,     df = sum over rows of the slope of yhat*_i on tau u_i

    Ye (1998).

    sigma2     as of Covariance
    n_repeats  fits
    scale      tau / sigma, of about 0.5 to 1
    """

    sigma2: float | None = None
    n_repeats: int = 100
    scale: float = 0.6

    def probe(self, y: Floats, sigma2: float, _: Any) -> Probe:
        """Return where to fit."""
        scale = demand_positive("scale", self.scale, "Pass a share of sigma, such as 0.6.")
        return Probe(y, scale * float(np.sqrt(sigma2)))


class Stein(NamedTuple):
    """Stein's lemma: the divergence, df = E sum d yhat_i / d y_i, of normal noise.

    By differences along random directions of -1 and 1. It holds if predictions are continuous
    functions of the targets. Those of trees jump when a split moves: the derivative
    does not see it, and counts the leaves only. Stein (1981); Ramani et al. (2008).

    sigma2     for the optimism only
    n_repeats  fits
    step       in deviations of y
    """

    sigma2: float | None = None
    n_repeats: int = 20
    step: float = _SMALL_STEP

    def probe(self, y: Floats, _: float, __: Any) -> Probe:
        """Return where to fit."""
        step = demand_positive("step", self.step, "Pass a small one, such as 0.001.")
        return Probe(y, step * (float(y.std()) or 1.0), signs=True)


Way = Trace | Covariance | Perturbation | Stein


class Freedom(NamedTuple):
    """Degrees of freedom.

    value           float, or float64 [n_rounds] of a boosted model after each round
    standard_error  of the random directions; 0 of a trace
    sigma2          the variance that was given or estimated; None: it was not needed
    """

    value: Any
    standard_error: Any
    sigma2: float | None = None


def degrees_of_freedom(
    model: Any,
    X: Any,
    y: Any,
    by: Way | None = None,
    *,
    staged: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Freedom:
    """Return the degrees of freedom of a model.

    Parameters
    ----------
    model : regressor, Smoother, or function of targets that returns predictions
        A model that draws numbers should be given a random_state, or its own chance is counted
        as noise.
    X, y : table and targets
    by : Trace, Covariance, Perturbation or Stein
        None: Trace() of a Smoother, LinearRegression and Ridge, and Covariance() of others.
    staged : bool
        After each round of a boosted model. All fits must have as many rounds: pass a number of
        rounds, and no early stopping.
    seed : int
        Directions are a function of the seed and the number of the repeat.
    n_jobs : int or None
        Workers; None is one, -1 is one for each core. The result is the same for any number.

    Returns
    -------
    Freedom

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import DecisionTreeRegressor
    >>> from hedgerow.evaluation import Covariance, degrees_of_freedom
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 5)), rng.normal(size=100)
    >>> stump = DecisionTreeRegressor(max_leaf_nodes=2)
    >>> df = degrees_of_freedom(stump, X, y, Covariance(sigma2=1.0, centre=np.zeros(100)))
    >>> round(df.value), round(df.standard_error, 1)  # two leaves, and the search for a split
    (9, 0.2)
    """
    targets, way = _checked(model, X, y, by)
    seed = demand_count("seed", seed, 0)
    if isinstance(way, Trace):
        if staged:
            raise ValueError("A trace is of one smoother. Pass by=Covariance(), or staged=False.")
        if not (isinstance(model, Smoother) or is_estimator(model)):
            raise TypeError("A trace is of a matrix. Pass a Smoother: see smoother_of.")
        value = smoother_of(model, X).trace()
        return Freedom(value, 0.0, None if way.sigma2 is None else demand_variance(way.sigma2))
    n_repeats = demand_count("n_repeats", way.n_repeats, 3)
    sigma2 = _variance(way, X, targets)

    def fitted() -> Floats:
        said = predictions(model, X, targets, staged)
        return said[-1] if staged else said

    probe = way.probe(targets, 0.0 if sigma2 is None else sigma2, fitted)
    moves, slopes = probe.moves(seed, n_repeats)
    still = predictions(model, X, probe.centre, staged)
    fit = model, X, staged, still
    tasks = ((fit, probe.centre + move, slope) for move, slope in zip(moves, slopes, strict=True))
    found = np.array(repeated(_share, tasks, n_jobs))
    value, error = _sum_and_error(found, (moves * slopes).mean(axis=1))
    if staged:
        return Freedom(value, error, sigma2)
    return Freedom(float(value), float(error), sigma2)


def _checked(model: Any, X: Any, y: Any, by: Way | None) -> tuple[Floats, Way]:
    """Return targets, and by what to estimate."""
    demand_fitter(model)
    demand_regression(model)
    if by is not None and not isinstance(by, (Trace, Covariance, Perturbation, Stein)):
        raise TypeError(
            f"by={by!r}: pass Trace(), Covariance(), Perturbation() or Stein(), or None to choose."
        )
    n_rows = _num_samples(X)
    if by is None:
        by = Trace() if isinstance(model, Smoother) or has_formula(model) else Covariance()
    return demand_targets(y, n_rows), by


def _variance(way: Way, X: Any, y: Floats) -> float | None:
    """Return sigma^2, given or estimated; None if nobody has given it and it is not needed."""
    if way.sigma2 is not None:
        return demand_variance(way.sigma2)
    return None if isinstance(way, Stein) else noise_variance(X, y)


def _share(fit: tuple[Any, Any, bool, Floats], y: Floats, slope: Floats) -> Floats:
    """Return what a repeat adds to the sum of slopes, float64 [] or [n_rounds]."""
    model, X, staged, still = fit
    said = predictions(model, X, y, staged)
    if said.shape != still.shape:
        raise ValueError(
            f"Fits to moved targets have {len(still)} rounds, and {len(said)}. Pass a model with a "
            "number of rounds and no early stopping, such as n_estimators=100."
        )
    # The weights of a row add up to 0, so `still` changes the shares only, and makes them alike.
    return np.asarray((said - still) @ slope)


def _sum_and_error(shares: Floats, own: Floats) -> tuple[Any, Any]:
    """Return the sum of shares of repeats, and its standard error.

    own : float64 [n_repeats], what a repeat would add if all slopes were 1, over n_rows. A repeat
    of large moves has a large share for that reason alone, which a slope does not mind.
    """
    n_repeats, total = len(shares), shares.sum(axis=0)
    rest = n_repeats * (shares - np.multiply.outer(own, total))
    return total, np.sqrt((rest**2).sum(axis=0) / (n_repeats - 2) / n_repeats)


def boosted_freedom(smoother: Smoother, learning_rate: float, n_rounds: int) -> Floats:
    """Return the degrees of freedom of L2-boosting a linear smoother, after each round.

        F_m = F_{m-1} + nu S (y - F_{m-1}),  F_0 = 0:     df_m = tr(I - (I - nu S)^m)

    Bühlmann and Yu (2003), proposition 1; float64 [n_rounds].

    Examples
    --------
    >>> from hedgerow.evaluation import boosted_freedom, ridge
    >>> S = ridge([[-1.0], [1.0]], alpha=2.0, intercept=False)  # eigenvalues 1/2 and 0
    >>> boosted_freedom(S, 1.0, 3).round(9).tolist()
    [0.5, 0.75, 0.875]
    """
    rate = demand_positive("learning_rate", learning_rate, "Pass a step such as 0.1.")
    rounds = np.arange(1, demand_count("n_rounds", n_rounds, 1) + 1)
    # The eigenvalues of S = left right are those of right left, a smaller matrix, and zeros.
    small = smoother.right @ smoother.left
    values = np.linalg.eigvals(small.toarray() if hasattr(small, "toarray") else small)
    return np.asarray((1.0 - (1.0 - rate * values) ** rounds[:, None]).sum(axis=1).real)
