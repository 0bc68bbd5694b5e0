"""What every fitted model does with tables: read them, and see that they are those of its fit."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import Schema, Table, read_table

Floats = NDArray[np.float64]


class Fitted:
    """A model that predicts."""

    n_jobs: int | None

    def _demand_fitted(self) -> None:
        """Raise unless the model is fitted: one that a file holds is, an estimator asks."""

    def _read(self, X: Any) -> Table:
        """Check a table for prediction, and return it."""
        self._demand_fitted()
        table = read_table(X)
        check_columns(self, table)
        return table


class ReadsNumbers(Fitted):
    """A model that reads a table as numbers, categories by the codes that they had at fit."""

    _schema: Schema
    unseen: str

    def _values(self, X: Any) -> Floats:
        """Check a table for prediction and return it as numbers."""
        self._demand_fitted()
        table = read_table(X)
        check_columns(self, table)
        return self._schema.matrix(table, self.unseen)

    def _averaged_rows(self, values: Floats, n_categories: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return rows with unseen categories, if both branches are to be averaged for them."""
        categorical = np.flatnonzero(n_categories > 0)
        if self.unseen != "average" or not len(categorical):
            return np.zeros(0, np.int64)
        return np.flatnonzero((values[:, categorical] < 0).any(axis=1))


def name_of(model: Any) -> str:
    """Return what users call a model; one inside another goes by the outer one's name."""
    return str(getattr(model, "_shown_as", type(model).__name__))


def check_columns(model: Any, table: Table) -> None:
    """Raise if a table's columns are not those of fit: their number, names and order."""
    name = name_of(model)
    expected = model.n_features_in_
    fitted = getattr(model, "feature_names_in_", None)
    if table.names is not None and fitted is not None and list(fitted) != table.names:
        raise ValueError(_names_message(list(fitted), table.names))
    if (table.names is None) != (fitted is None):
        has, fitted_with = ("has", "without") if fitted is None else ("does not have valid", "with")
        warnings.warn(
            f"X {has} feature names, but {name} was fitted {fitted_with} feature names: columns "
            "are taken in their order. Pass the same kind of table to fit and to predict.",
            UserWarning,
            stacklevel=5,  # predict, _answered, _values, here
        )
    if table.n_features != expected:
        raise ValueError(
            f"X has {table.n_features} features, but {name} is expecting {expected} features as "
            "input. Pass the columns that fit had."
        )


def _names_message(fitted: list[str], given: list[str]) -> str:
    """Say how column names differ, in scikit-learn's words."""
    unexpected, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    lines = ["The feature names should match those that were passed during fit."]
    for title, names in (
        ("Feature names unseen at fit time:", unexpected),
        ("Feature names seen at fit time, yet now missing:", missing),
    ):
        if names:
            lines += [title, *(f"- {name}" for name in names[:5])]
            lines += ["- ..."] * (len(names) > 5)
    if not missing and not unexpected:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(lines) + "\n"
