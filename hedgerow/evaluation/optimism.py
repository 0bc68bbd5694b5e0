"""Optimism: how much better a model looks on the rows it was made from than on new ones.

    op = E ||Y_new - Yhat||^2 / n - E ||Y - Yhat||^2 / n = (2/n) sum Cov(y_i, yhat_i)

at the same X; so RSS/n + op is an unbiased estimate of the fixed-X prediction error. (The notes
print the definition without the expectation of the second term.) Notes 2, "Optimism and degrees of
freedom"; Efron (1986).
"""

from typing import Any, NamedTuple

import numpy as np

from hedgerow.evaluation.arguments import demand_targets
from hedgerow.evaluation.fitters import predictions
from hedgerow.evaluation.freedom import Freedom, Way, degrees_of_freedom
from hedgerow.evaluation.noise import noise_variance


class Optimism(NamedTuple):
    """Optimism, and what follows from it; arrays [n_rounds] of a boosted model.

    value             op = 2 sigma^2 df / n
    standard_error    of the estimate of df
    training_error    RSS / n
    prediction_error  RSS / n + op: Mallows's Cp, an estimate of the fixed-X error
    freedom           Freedom
    """

    value: Any
    standard_error: Any
    training_error: Any
    freedom: Freedom

    @property
    def prediction_error(self) -> Any:
        """RSS / n + op. Notes 2; Mallows (1973)."""
        return self.training_error + self.value

    @property
    def best_round(self) -> int:
        """The number of rounds, from 1, with the least prediction error."""
        if np.ndim(self.value) != 1:
            raise ValueError("This model was judged as a whole. Pass staged=True for its rounds.")
        return int(np.argmin(self.prediction_error)) + 1


def optimism(
    model: Any,
    X: Any,
    y: Any,
    by: Way | None = None,
    *,
    staged: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Optimism:
    """Return the optimism of a model, and with it an estimate of its fixed-X prediction error.

        op = (2/n) sum Cov(y_i, yhat_i) = 2 sigma^2 df / n

    Parameters are those of `degrees_of_freedom`. If `by` has no sigma2, it is that of least
    squares on X (`noise_variance`): too large if the truth is far from linear, which makes small
    models look better than they are. Pass a better one if you can.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from hedgerow.evaluation import optimism
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = optimism(LinearRegression(), X, y)  # 2 p sigma^2 / n, with p = 11
    >>> round(found.training_error), round(found.value), round(found.prediction_error)
    (2860, 146, 3006)
    """
    freedom = degrees_of_freedom(model, X, y, by, staged=staged, seed=seed, n_jobs=n_jobs)
    targets = demand_targets(y)
    if freedom.sigma2 is None:
        freedom = freedom._replace(sigma2=noise_variance(X, targets))
    per_degree = 2.0 * float(freedom.sigma2 or 0.0) / len(targets)
    said = predictions(model, X, targets, staged)
    training_error = np.mean((targets - said) ** 2, axis=-1)
    if staged and np.shape(training_error) != np.shape(freedom.value):
        raise ValueError("The model has another number of rounds when it is fitted to y itself.")
    value, error = per_degree * freedom.value, per_degree * freedom.standard_error
    return Optimism(value, error, training_error if staged else float(training_error), freedom)
