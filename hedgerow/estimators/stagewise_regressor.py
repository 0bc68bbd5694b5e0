"""Stagewise boosting of numbers, in any space of functions."""

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, is_classifier
from sklearn.utils._param_validation import Interval, StrOptions

from hedgerow.data.table import Table
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checks import check_targets, check_weights
from hedgerow.estimators.gradient_boosting import keep_parameters
from hedgerow.estimators.losses import REGRESSION_LOSSES, regression_loss
from hedgerow.estimators.stagewise import STAGEWISE_CONSTRAINTS, BaseStagewise
from hedgerow.kernels.team import Team


class StagewiseRegressor(RegressorMixin, BaseStagewise):
    """Boosting as descent along functional gradients, in any space of functions.

        f_0 = argmin_c sum w l(y, c), or 0
        r   = -dl/df at f_(t-1)
        h_t = the function of the space that is nearest to r
        f_t = f_(t-1) + rho_t h_t

    Friedman (2001), algorithm 1; Mason, Baxter, Bartlett and Frean (1999); notes 0, page 28; notes
    1, "Restricted functional gradient descent"; notes 2, "Formal gradient boosting description".
    For trees alone `GradientBoostingRegressor` is much faster.

    Parameters
    ----------
    estimator : regressor or None
        The space: any regressor with scikit-learn's methods, fitted to r by least squares in each
        round. None is a DecisionTreeRegressor of six leaves.
    dictionary : list of functions, function, or None
        The space instead: functions from X to a number for each row, or one function from X to a
        matrix with a column for each. They count with either sign.
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"}
        Or a loss of your own, as `GradientBoostingRegressor` takes it.
    n_estimators : int
        Number of rounds.
    direction : {"collinear", "least_squares", "inner_product"}
        What is nearest in a dictionary: argmax <r, h> / ||h||, argmin ||r - h||^2, or argmax
        <r, h>. Only the first is the same for functions of any length. A learner whose
        predictions can be scaled is nearest by least squares and by the angle at once, so it
        makes no difference there.
    step : {"line_search", "exact", "epsilon"}
        rho_t: what minimises the loss along h_t, found numerically, or by the formula that squared
        and absolute error and quantiles have; or always learning_rate.
    learning_rate : float
        What steps are multiplied by; with step="epsilon", the step.
    init : {"constant", "zero"}
        Begin with the best constant, or with 0.
    alpha : float
        Level of "quantile", or share of rows that "huber" takes for no outliers.
    power : float
        Of "tweedie".
    early_stopping : bool
        Hold out `validation_fraction` of the rows, chosen by their content; stop when
        `n_iter_no_change` rounds do not lower their loss by more than `tol`, and keep the best.
    random_state : int, RandomState or None
        None is 0. Random states of learners are drawn from it.
    n_jobs : int or None
        Threads of our own work; learners have theirs.

    Attributes
    ----------
    estimators_ : list of fitted learners, one a round
    elements_ : int64 [n_estimators_], with a dictionary: the function of each round
    estimator_weights_ : float64 [n_estimators_], rho_t
    coef_ : float64 [n_functions], with a dictionary: sum of rho_t of each function
    train_losses_ : float64 [n_estimators_], mean loss after each round
    validation_losses_ : float64, with early_stopping: of held-out rows, from 0 rounds on
    n_estimators_, n_features_in_, feature_names_in_
    stop_reason_ : str, why there are fewer rounds than n_estimators; empty if there are not

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import StagewiseRegressor
    >>> x = np.linspace(0.0, 1.0, 50)[:, None]
    >>> waves = [lambda X, k=k: np.sin(k * np.pi * X[:, 0]) for k in range(1, 6)]
    >>> model = StagewiseRegressor(dictionary=waves, init="zero", learning_rate=1.0)
    >>> model.fit(x, 2.0 * waves[1](x) - waves[4](x)).coef_.round(6).tolist()
    [0.0, 2.0, 0.0, 0.0, -1.0]

    Lines as weak learners of absolute errors, with the weighted median as step:

    >>> from sklearn.linear_model import LinearRegression
    >>> lines = StagewiseRegressor(LinearRegression(), loss="absolute_error", step="exact")
    >>> lines.fit(x, 3.0 * x[:, 0] + 1.0).predict([[0.5]]).round(2)
    array([2.5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = STAGEWISE_CONSTRAINTS | {
        "loss": [StrOptions(set(REGRESSION_LOSSES)), tuple, callable],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
        "power": [Interval(Real, 1.0, 2.0, closed="neither")],
    }

    def __init__(  # noqa: PLR0913  scikit-learn's way
        self,
        estimator: Any = None,
        *,
        dictionary: Any = None,
        loss: Any = "squared_error",
        n_estimators: int = 100,
        direction: str = "collinear",
        step: str = "line_search",
        learning_rate: float = 0.1,
        init: str = "constant",
        alpha: float = 0.9,
        power: float = 1.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        keep_parameters(self, locals())

    def _learn(self, X: Any, table: Table, given: Any, team: Team) -> None:
        y, sample_weight = given
        targets = check_targets(self, y, table.n_rows)
        weights = check_weights(sample_weight, table.n_rows)
        sample = Sample(targets, weights)
        rows = self._rows_of(X, table, sample, team)
        own = np.ascontiguousarray(targets[rows.places, 0]), weights[rows.places]
        self._descend(rows, *own, regression_loss(self.loss, self.alpha, self.power), team)

    def _checked_learner(self) -> Any:
        learner = super()._checked_learner()
        if is_classifier(learner):
            raise TypeError(
                f"estimator={learner!r} is a classifier, but StagewiseRegressor fits numbers. Pass "
                "a regressor, or use StagewiseClassifier."
            )
        return learner

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the prediction for each row."""
        return self._shown(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the predictions after each round."""
        for raw in self._staged_rounds(X):
            yield self._shown(raw)

    def _shown(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._loss.link(raw[0]))
