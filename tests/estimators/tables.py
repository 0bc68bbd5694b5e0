"""Tables that tests are run on: like a census, with numbers, categories and holes."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray


class Problem(NamedTuple):
    """Columns by name (objects with None for missing where they are text), and two targets."""

    columns: dict[str, NDArray]
    classes: NDArray
    numbers: NDArray

    @property
    def X(self):
        """The table as an array of objects."""
        return np.column_stack([column.astype(object) for column in self.columns.values()])

    def target(self, model):
        return self.classes if hasattr(model, "predict_proba") else self.numbers

    def rows(self, places):
        return Problem(
            {name: column[places] for name, column in self.columns.items()},
            self.classes[places],
            self.numbers[places],
        )


def census(n_rows, seed=0):
    """Numbers of few and of many values, categories of few and of many, a tenth of them missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(17, 90, n_rows).astype(float)
    income = np.round(np.exp(rng.normal(7, 1, n_rows)), 2)
    hours = rng.integers(1, 99, n_rows).astype(float)
    work = rng.choice(["state", "private", "own", "none"], n_rows).astype(object)
    town = np.array([f"town {k}" for k in rng.zipf(1.4, n_rows) % 300], object)
    score = 0.02 * age + (work == "own") + np.log(income) - 7 + rng.normal(size=n_rows)
    for column in (age, income):
        column[rng.random(n_rows) < 0.1] = np.nan
    for column in (work, town):
        column[rng.random(n_rows) < 0.1] = None
    columns = {"age": age, "income": income, "work": work, "hours": hours, "town": town}
    classes = np.array(["low", "middle", "high"])[np.digitize(score, [0.5, 2.0])]
    return Problem(columns, classes, np.round(score, 3))


def numeric(n_rows, n_features=4, n_values=20, seed=0):
    """Return numbers with many ties, classes and targets."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_rows, n_features)).astype(float)
    return X, rng.integers(0, 3, n_rows), rng.normal(size=n_rows)


def message(call, *arguments, error=ValueError, **named):
    """Return what an error says."""
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    return str(caught.value)
