"""Fixed-X, same-X and random-X prediction error, by simulation from a model of the data.

    fixed-X   (1/n) E sum L(y_i_new, yhat_i)     X is given; new targets at the same X
    same-X    E_X of it                          X is drawn, and shared by training and prediction
    random-X  E L(Y, fhat(X))                    new rows have an X of their own

(The notes print the last with a sum that is left over.) Notes 2, "Model evaluation and selection".
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from hedgerow.evaluation.arguments import Floats, demand_count, demand_regression, demand_targets
from hedgerow.evaluation.decomposition import Parts, decomposed
from hedgerow.evaluation.fitters import demand_fitter, is_estimator, predictions, refitted
from hedgerow.evaluation.repeats import generator, repeated
from hedgerow.evaluation.row_losses import row_loss

_TABLE, _NOISE, _NEW_NOISE, _NEW_TABLE = range(4)  # what a generator is for


@dataclass(frozen=True)
class DataModel:
    """Where data come from: y = f(X) + e.

    mean   function of X: f(X), float64 [n_rows]
    noise  deviation of normal noise; or a function of a numpy Generator and X that draws e, with
           mean 0, independent of one another, float64 [n_rows]
    draw   function of a numpy Generator and a number of rows that draws X; not needed if X is
           fixed

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.evaluation import DataModel
    >>> waves = DataModel(
    ...     mean=lambda X: np.sin(X[:, 0]),
    ...     noise=0.5,
    ...     draw=lambda rng, n_rows: rng.uniform(0, 6, (n_rows, 1)),
    ... )
    """

    mean: Callable[[Any], Any]
    noise: Any = 1.0
    draw: Callable[[np.random.Generator, int], Any] | None = None

    def errors(self, rng: np.random.Generator, X: Any) -> Floats:
        """Draw the noise of the rows of a table."""
        n_rows = _num_samples(X)
        if callable(self.noise):
            return demand_targets(self.noise(rng, X), n_rows, "noise")
        deviation = float(self.noise)
        if not 0.0 <= deviation < np.inf:
            raise ValueError(
                f"noise={self.noise!r} is not a deviation. Pass a finite number of 0 or more, or a "
                "function of a generator and X."
            )
        return np.asarray(deviation * rng.standard_normal(n_rows))


class PredictionError(NamedTuple):
    """A prediction error, found by simulation.

    error           its estimate: the mean loss of new targets
    training_error  the mean loss of the targets that models were fitted to
    optimism        error - training_error
    parts           of the squared error, or None of other losses: see Parts

    Each is a pair (value, standard_error); a standard error is over repeats if X is fixed, and over
    tables if not.
    """

    error: tuple[float, float]
    training_error: tuple[float, float]
    optimism: tuple[float, float]
    parts: Parts | None


@dataclass(frozen=True)
class Simulation:
    """Draws from a model of the data, fits, and compares with what is drawn anew.

    What is drawn is a function of the seed, the table and the repeat: models that are judged by the
    same simulation see the same data, and the number of workers does not matter. Errors of two of
    them differ by less than their standard errors suggest.

    Parameters
    ----------
    data : DataModel
    n_repeats : int
        Fits to each table, with new targets each time.
    n_tables : int
        Tables X that are drawn for same-X and random-X.
    loss : {"squared_error", "absolute_error"} or function (y, predictions) -> losses of rows
    seed : int
    n_jobs : int or None
        Workers; None is one, -1 is one for each core.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from hedgerow.evaluation import DataModel, Simulation
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> line = DataModel(mean=lambda X: X.sum(axis=1), noise=1.0)
    >>> found = Simulation(line, n_repeats=400).fixed_x(LinearRegression(), X)
    >>> op, se = found.optimism
    >>> abs(op - 2 * 4 / 40) < 4 * se  # 2 p sigma^2 / n
    True
    """

    data: DataModel
    n_repeats: int = 200
    n_tables: int = 20
    loss: Any = "squared_error"
    seed: int = 0
    n_jobs: int | None = field(default=None, compare=False)

    def fixed_x(self, model: Any, X: Any) -> PredictionError:
        """Return the error at the rows of a table.

        model : regressor, Smoother, or function of targets that returns predictions
        """
        demand_fitter(model)
        demand_regression(model)
        (drawn,) = self._simulated(model, [X], [None])
        rows = drawn.training.mean(axis=1), drawn.new.mean(axis=1)
        return self._found(*rows, decomposed(*drawn.pairs) if self._is_squared else None)

    def same_x(self, model: Any, n_rows: int) -> PredictionError:
        """Return the mean of the fixed-X error over tables of so many rows."""
        tables = self._tables(model, n_rows, _TABLE)
        return self._averaged(self._simulated(model, tables, [None] * len(tables)))

    def random_x(self, model: Any, n_rows: int, n_new: int | None = None) -> PredictionError:
        """Return the error at new rows of a model fitted to so many.

        n_new : new rows for each table, at which its models are judged; None: n_rows
        """
        tables = self._tables(model, n_rows, _TABLE)
        new = self._tables(model, n_rows if n_new is None else n_new, _NEW_TABLE)
        return self._averaged(self._simulated(model, tables, new))

    @property
    def _is_squared(self) -> bool:
        return isinstance(self.loss, str) and self.loss == "squared_error"

    def _tables(self, model: Any, n_rows: int, purpose: int) -> list[Any]:
        """Draw tables."""
        demand_fitter(model)
        demand_regression(model)
        if not is_estimator(model):
            raise TypeError(
                "A Smoother, or a function of targets, is of one table. Pass an estimator, or use "
                "fixed_x."
            )
        if self.data.draw is None:
            raise ValueError("The DataModel has no `draw`, so it has no tables. Pass one.")
        n_tables, n = demand_count("n_tables", self.n_tables, 2), demand_count("n_rows", n_rows, 2)
        seed = demand_count("seed", self.seed, 0)
        return [self.data.draw(generator(seed, purpose, table), n) for table in range(n_tables)]

    def _simulated(self, model: Any, tables: list[Any], new: list[Any]) -> list["_Drawn"]:
        """Fit to each table n_repeats times; return what was drawn and predicted."""
        n_repeats = demand_count("n_repeats", self.n_repeats, 2)
        demand_count("seed", self.seed, 0)
        means = [_mean_of(self.data, X) for X in tables]
        new_means = [
            mean if X is None else _mean_of(self.data, X)
            for X, mean in zip(new, means, strict=True)
        ]
        tasks = [
            (self, model, (X, mean), (X_new, new_mean), (table, repeat))
            for table, (X, mean, X_new, new_mean) in enumerate(
                zip(tables, means, new, new_means, strict=True)
            )
            for repeat in range(n_repeats)
        ]
        found, of_rows = repeated(_fitted_once, tasks, self.n_jobs), row_loss(self.loss)
        return [
            _Drawn.of(found[start : start + n_repeats], of_rows, X_new is None)
            for start, X_new in zip(range(0, len(found), n_repeats), new, strict=True)
        ]

    def _averaged(self, drawn: list["_Drawn"]) -> PredictionError:
        """Return means over tables, and their standard errors."""
        training = np.array([each.training.mean() for each in drawn])
        new = np.array([each.new.mean() for each in drawn])
        parts = None
        if self._is_squared:
            parts = Parts.over_tables([decomposed(*each.pairs) for each in drawn])
        return self._found(training, new, parts)

    def _found(self, training: Floats, new: Floats, parts: Parts | None) -> PredictionError:
        """Return means over repeats, or tables."""
        pairs = [
            (float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each))))
            for each in (new, training, new - training)
        ]
        return PredictionError(pairs[0], pairs[1], pairs[2], parts)


class _Drawn(NamedTuple):
    """What was drawn and predicted for a table.

    training, new  float64 [n_repeats, n_rows]  losses of the training targets, and of new ones
    pairs          targets and predictions [n_repeats, n_rows] whose error has parts: of training
                   if new targets are at the same X, or else those of new rows
    """

    training: Floats
    new: Floats
    pairs: tuple[Floats, Floats]

    @classmethod
    def of(cls, found: list[Any], of_rows: Any, same_x: bool) -> "_Drawn":
        y, said, y_new, said_new = (np.array(each) for each in zip(*found, strict=True))
        pairs = (y, said) if same_x else (y_new, said_new)
        return cls(of_rows(y, said), of_rows(y_new, said_new), pairs)


def _mean_of(data: DataModel, X: Any) -> Floats:
    return demand_targets(data.mean(X), _num_samples(X), "mean(X)")


def _fitted_once(
    simulation: Simulation,
    model: Any,
    old: tuple[Any, Floats],
    new: tuple[Any, Floats],
    place: tuple[int, int],
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return targets and predictions, of training and new, of one fit."""
    (X, mean), (X_new, new_mean) = old, new
    data, seed = simulation.data, simulation.seed
    y = mean + data.errors(generator(seed, _NOISE, *place), X)
    at = X if X_new is None else X_new
    y_new = new_mean + data.errors(generator(seed, _NEW_NOISE, *place), at)
    if X_new is None:
        said = predictions(model, X, y)
        return y, said, y_new, said
    fitted = refitted(model, X, y)
    said, said_new = (np.asarray(fitted.predict(each), np.float64).ravel() for each in (X, X_new))
    return y, said, y_new, said_new
