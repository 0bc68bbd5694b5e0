"""Dictionaries: finitely many functions of a row, fixed before any target is seen."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats

Whole = NDArray[np.int64]


class Dictionary(Protocol):
    """Functions h_1 .. h_q of a row."""

    def columns(self, X: Any, which: Whole | None = None) -> Floats:
        """Return what functions say of rows, float64 [n_rows, n_which]; None: all of them."""
        ...


class Functions(NamedTuple):
    """A list of functions, each from a table to a number for each of its rows."""

    functions: tuple[Callable[[Any], Any], ...]

    def columns(self, X: Any, which: Whole | None = None) -> Floats:
        """Return what functions say of rows."""
        own = range(len(self.functions)) if which is None else which.tolist()
        said = [_checked(self.functions[k](X), f"dictionary[{k}]") for k in own]
        n_rows = {len(each) for each in said}
        if len(n_rows) > 1:
            raise ValueError(
                f"Functions of the dictionary returned {sorted(n_rows)} numbers for the same rows. "
                "Return one number for each row of X."
            )
        return np.column_stack(said) if said else np.zeros((0, 0))


class FunctionMatrix(NamedTuple):
    """One function from a table to a matrix, a column for each element of the dictionary."""

    function: Callable[[Any], Any]

    def columns(self, X: Any, which: Whole | None = None) -> Floats:
        """Return what functions say of rows."""
        said = _checked(self.function(X), "dictionary")
        if said.ndim == 1:
            said = said[:, None]
        return said if which is None else np.asarray(said[:, which])


class Stumps(NamedTuple):
    """Stumps of a matrix of numbers: 1 above a threshold and -1 up to it; 0 where it is missing.

    feature    int64 [q]     -1: the constant 1
    threshold  float64 [q]   of a category: its code
    is_equal   bool [q]      1 for this category and -1 for others

    Notes 0, pages 9-11.
    """

    feature: Whole
    threshold: Floats
    is_equal: NDArray[np.bool_]

    def columns(self, X: Any, which: Whole | None = None) -> Floats:
        """Return what stumps say of rows; X is float64 [n_rows, n_features], NaN: missing."""
        own = np.arange(len(self.feature)) if which is None else which
        said = np.ones((len(X), len(own)))
        for place, k in enumerate(own.tolist()):
            if self.feature[k] >= 0:
                x = X[:, self.feature[k]]
                is_one = x == self.threshold[k] if self.is_equal[k] else x > self.threshold[k]
                said[:, place] = np.where(np.isnan(x), 0.0, np.where(is_one, 1.0, -1.0))
        return said


def stumps_of(X: Floats, is_category: Iterable[bool], max_thresholds: int) -> Stumps:
    """Return the constant, and the stumps of each feature at no more than so many thresholds.

    Thresholds are half-way between neighbouring values: all of them, or, if there are more than
    max_thresholds, those next to evenly spaced quantiles of the distinct values. Of a category each
    of its codes, up to max_thresholds, has a stump.

    X  float64 [n_rows, n_features], NaN: missing

    >>> stumps_of(np.array([[0.0], [1.0], [4.0]]), [False], 9).threshold.tolist()
    [0.0, 0.5, 2.5]
    """
    feature, threshold, is_equal = [-1], [0.0], [False]
    for column, equal in enumerate(is_category):
        x = X[:, column]
        values = np.unique(x[np.isfinite(x)])
        cuts = values if equal else values[:-1] + 0.5 * (values[1:] - values[:-1])
        if len(cuts) > max_thresholds:
            places = (np.arange(max_thresholds) + 0.5) * len(cuts) / max_thresholds
            cuts = cuts[places.astype(np.int64)]
        feature += [column] * len(cuts)
        threshold += cuts.tolist()
        is_equal += [bool(equal)] * len(cuts)
    return Stumps(np.array(feature), np.array(threshold), np.array(is_equal))


def given_dictionary(given: Any) -> Dictionary:
    """Return the dictionary that a user gave: a list of functions, or one that makes a matrix."""
    if callable(given):
        return FunctionMatrix(given)
    functions = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    if not functions or not all(callable(each) for each in functions):
        raise TypeError(
            f"dictionary={given!r} is not a dictionary. Pass a list of functions from X to a "
            "number for each row, or one function from X to a matrix [n_rows, n_functions]."
        )
    return Functions(functions)


def _checked(said: Any, name: str) -> Floats:
    """Return what a function said as numbers, or raise if it is not finite."""
    values = np.asarray(said, np.float64)
    if values.ndim not in (1, 2) or not np.isfinite(values).all():
        bad = np.count_nonzero(~np.isfinite(values))
        raise ValueError(
            f"{name} returned an array of shape {values.shape} with {bad} numbers that are not "
            "finite, and a finite number for each row is needed."
        )
    return values
