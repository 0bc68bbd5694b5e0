"""Pictures of fitted boosting models: what arrays are drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.table import read_table
from hedgerow.estimators.certifying import votes_of
from hedgerow.plot import boosting as pictures
from hedgerow.theory.bounds import training_error_bounds
from hedgerow.theory.margins import margin_distribution, margin_error, margins
from hedgerow.theory.weights import row_weights

_MARGIN = 0.06  # of the range of a feature, around the rows
_MOST_PANELS = 8


def plot_training_error(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw the training error of a boosted classifier of two classes after each round.

    Beside it are AdaBoost's bounds, if learners say -1 or 1, by the exponential loss, from 0 and
    of all rows: the product of (1 - e) e^-a + e e^a, and, without a learning rate, exp(-2 sum (1/2
    - e)^2). Notes 0, pages 13-15.

    Parameters
    ----------
    model : fitted AdaBoostClassifier or StagewiseClassifier
    X, y : the rows of its fit
    ax : matplotlib Axes or None
        None makes a new figure.

    Returns
    -------
    matplotlib Axes
    """
    staged = _staged(model, X, y)
    errors, votes = [margin_error(own) for own in staged], votes_of(model)
    if votes is None:
        return pictures.draw_training_error(errors, ax=ax)
    bounds = training_error_bounds(votes.errors, votes.alphas)
    is_plain = model.learning_rate == 1.0 and getattr(model, "step", "exact") != "epsilon"
    exponential = bounds.exponential if is_plain else None
    return pictures.draw_training_error(errors, bounds.product, exponential, ax=ax)


def plot_margins(
    model: Any, X: Any, y: Any, *, rounds: Sequence[int] | None = None, ax: Any = None
) -> Any:
    """Draw the distribution of the margins of rows after some rounds.

    Margins are y f(x) divided by the sum of |alpha| of learners that say -1 or 1, or else by the
    largest |f(x)|: within [-1, 1], and right if above 0.
    Schapire, Freund, Bartlett and Lee (1998).

    Parameters
    ----------
    model : fitted AdaBoostClassifier, StagewiseClassifier or L1BoostClassifier
    X, y : rows
    rounds : list of int or None
        After which rounds, from 1 on; None: the first, a tenth of them, and all.
    ax : matplotlib Axes or None

    Returns
    -------
    matplotlib Axes
    """
    if not hasattr(model, "staged_decision_function"):
        check_is_fitted(model)
        scores = model.decision_function(X)
        own = margins(scores, y, classes=model.classes_, total=np.abs(model.coef_).sum() or 1.0)
        return pictures.draw_margins({type(model).__name__: margin_distribution(own)}, ax=ax)
    staged = _staged(model, X, y)
    totals = _totals(model, staged)
    chosen = _chosen(rounds, len(staged), 3)
    shown = {
        f"{number} round{'s' * (number > 1)}": margin_distribution(
            staged[number - 1] / totals[number - 1]
        )
        for number in chosen
    }
    return pictures.draw_margins(shown, ax=ax)


def plot_row_weights(
    model: Any, X: Any, y: Any, *, n_hardest: int = 8, sample_weight: Any = None, ax: Any = None
) -> Any:
    """Draw the weights that the hardest rows have in each round: w e^(-y f), divided by their sum.

    Parameters
    ----------
    model : fitted AdaBoostClassifier or StagewiseClassifier of two classes
    X, y, sample_weight : those of its fit
    n_hardest : int
        How many rows, those of the largest mean weight.
    ax : matplotlib Axes or None

    Returns
    -------
    matplotlib Axes
    """
    weights = row_weights(np.array(_staged(model, X, y)), sample_weight)
    return pictures.draw_row_weights(weights[:-1], n_hardest, ax=ax)


def plot_regions(
    model: Any, X: Any, y: Any, *, rounds: Sequence[int] | None = None, n_points: int = 200
) -> list[Any]:
    """Draw the decision regions of a classifier of two features after some rounds.

    Dots are rows; of two classes, they are the larger the larger their weight w e^(-y f) is after
    the round. Notes 3, the example of three rounds.

    Parameters
    ----------
    model : fitted classifier with `staged_predict`, of two numeric features
    X, y : rows
    rounds : list of int or None
        After which rounds, from 1 on; None: up to eight.
    n_points : int
        Of the grid, in each direction.

    Returns
    -------
    list of matplotlib Axes
    """
    check_is_fitted(model)
    points = np.asarray(X, np.float64)
    if points.shape[1:] != (2,):
        raise ValueError(
            f"Regions are drawn of two features, but X has {points.shape[1:]}. Fit a model of two."
        )
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, _MARGIN * (high - low), 1.0)
    (left, bottom), (right, top) = low - room, high + room
    across, down = np.linspace(left, right, n_points), np.linspace(bottom, top, n_points)
    mesh = np.column_stack([each.ravel() for each in np.meshgrid(across, down)])
    stages = [np.searchsorted(model.classes_, said) for said in model.staged_predict(_as(X, mesh))]
    weights = None
    if len(model.classes_) == 2:
        weights = row_weights(np.array(_staged(model, X, y)))
    chosen = _chosen(rounds, len(stages), _MOST_PANELS)
    panels = [
        pictures.Panel(
            f"round {number}",
            stages[number - 1].reshape(n_points, n_points),
            None if weights is None else weights[number],
        )
        for number in chosen
    ]
    names = read_table(X).names or ["x0", "x1"]
    codes = np.searchsorted(model.classes_, np.asarray(y))
    extent = float(left), float(right), float(bottom), float(top)
    plane = pictures.Plane(extent, (names[0], names[1]), points, codes, list(model.classes_))
    return pictures.draw_regions(panels, plane)


def _staged(model: Any, X: Any, y: Any) -> list[NDArray[np.float64]]:
    """Return the margins y f of rows after each round, of two classes."""
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise ValueError(
            f"The model has {len(model.classes_)} classes, and this picture is of two. Fit one "
            "class against the rest."
        )
    staged = [
        margins(scores, y, classes=model.classes_) for scores in model.staged_decision_function(X)
    ]
    if not staged:
        raise ValueError("The model has no rounds, so there is nothing to draw. Fit it again.")
    return staged


def _totals(model: Any, staged: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return what margins are divided by after each round: sum |alpha|, or the largest of them."""
    votes = votes_of(model)
    if votes is not None:
        return np.asarray(np.cumsum(votes.alphas))
    return np.array([np.abs(own).max() or 1.0 for own in staged])


def _chosen(rounds: Sequence[int] | None, n_rounds: int, n_most: int) -> list[int]:
    """Return the rounds to draw."""
    if rounds is None:
        spread = np.geomspace(1, n_rounds, min(n_most, n_rounds))
        return sorted({round(number) for number in spread})
    outside = [number for number in rounds if not 1 <= number <= n_rounds]
    if outside:
        raise ValueError(
            f"rounds has {outside[0]}, but the model has rounds 1 to {n_rounds}. Pass some of them."
        )
    return list(rounds)


def _as(X: Any, values: NDArray[np.float64]) -> Any:
    """Return numbers as a table of the kind of X, if that has columns with names."""
    return type(X)(dict(zip(X.columns, values.T, strict=True))) if hasattr(X, "columns") else values
