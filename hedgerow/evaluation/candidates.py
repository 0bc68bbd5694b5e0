"""Candidates: the parameters that a selection tries, with every number of rounds in one."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline

from hedgerow.estimators.gradient_boosting import BaseGradientBoosting
from hedgerow.estimators.rounds import settled_pace
from hedgerow.evaluation.stages import last_step, size_name

Parameters = dict[str, Any]


class Candidate(NamedTuple):
    """Parameters that are tried.

    parameters  as they were given, without the number of rounds if that is read from a curve
    size_name   the parameter that is the number of rounds, None if there is none
    sizes       the numbers of rounds to choose among; None: every one, or there is no curve
    pinned      what "auto" stands for: with another number of rounds it would be something else
    """

    parameters: Parameters
    size_name: str | None
    sizes: tuple[int, ...] | None
    pinned: Parameters

    def applied(self, base: Any) -> Any:
        """Return a copy with these parameters, and as many rounds as it may have."""
        most = {} if self.sizes is None else {str(self.size_name): max(self.sizes)}
        values = clone(self.parameters, safe=False)
        return clone(base).set_params(**(self.pinned | values | most))

    def named(self, size: int | None) -> Parameters:
        """Return the parameters with a number of rounds."""
        if size is None and self.sizes is not None:
            size = self.sizes[0]
        pinned = {name: own for name, own in self.pinned.items() if name != self.size_name}
        chosen = {} if size is None or self.size_name is None else {self.size_name: size}
        return self.parameters | pinned | chosen


def without_stopping(estimator: Any) -> Any:
    """Return a copy whose rounds are for the folds to choose."""
    copied = clone(estimator)
    last, size = last_step(copied), size_name(copied)
    if size is None:
        return copied
    if "early_stopping" in last.get_params(deep=False):
        last.set_params(early_stopping=False)
    if str(copied.get_params(deep=True)[size]) == "cv":
        raise ValueError(
            f"{size}='cv' chooses rounds by folds of its own, and `select` does so by its folds. "
            "Pass the most rounds there may be, a number."
        )
    return copied


def candidates_of(
    base: Any, parameters: Any, n_iter: int | None, random_state: Any
) -> list[Candidate]:
    """Return what is to be tried; numbers of rounds are taken out and put together."""
    grids = _checked(base, parameters)
    size, found = size_name(base), []
    for grid in grids:
        sizes = _sizes(size, grid[size]) if size is not None and size in grid else None
        others = {name: _values(value) for name, value in grid.items() if name != size}
        for each in _tried(others, n_iter, random_state):
            own = Candidate(dict(each), size, sizes, {})
            found.append(own._replace(pinned=_pinned(own.applied(base))))
    return found


def _tried(values: Parameters, n_iter: int | None, random_state: Any) -> Iterable[Parameters]:
    drawn = [name for name, own in values.items() if hasattr(own, "rvs")]
    if n_iter is None and drawn:
        raise ValueError(
            f"{drawn[0]} is a distribution, of which values are drawn. Pass n_iter, how many."
        )
    if n_iter is None or not values:
        return ParameterGrid(values)  # type: ignore[no-any-return]  # scikit-learn has no types
    return ParameterSampler(values, n_iter, random_state=random_state)  # type: ignore[no-any-return]


def _checked(base: Any, parameters: Any) -> list[Mapping[str, Any]]:
    grids = [parameters] if isinstance(parameters, Mapping) else list(parameters)
    if not grids or not all(isinstance(grid, Mapping) for grid in grids):
        raise TypeError(
            f"parameters={parameters!r} are not a dict from names to lists of values, nor a list "
            "of such dicts. Pass for example {'learning_rate': [0.05, 0.1]}."
        )
    known = base.get_params(deep=True)
    unknown = [name for grid in grids for name in grid if name not in known]
    if unknown:
        raise ValueError(
            f"parameters has {unknown[0]!r}, which {type(base).__name__} does not have. It has: "
            f"{', '.join(sorted(known))}."
        )
    return grids


def _values(given: Any) -> Any:
    """Return a list of values, or a distribution; a single value is a list of one."""
    if hasattr(given, "rvs") or isinstance(given, (list, tuple, np.ndarray, range)):
        return given
    return [given]


def _sizes(name: str, given: Any) -> tuple[int, ...]:
    values = [given] if isinstance(given, (int, np.integer, str)) else list(given)
    if not values or not all(isinstance(each, (int, np.integer)) and each > 0 for each in values):
        raise ValueError(
            f"parameters has {name}={given!r}, but rounds are read from one curve: pass whole "
            f"numbers from 1 up, or leave {name} out to choose among all."
        )
    return tuple(sorted({int(each) for each in values}))


def _pinned(copied: Any) -> Parameters:
    """Return what "auto" stands for in a boosted model, by the names of its parameters."""
    last = last_step(copied)
    if not isinstance(last, BaseGradientBoosting) or last.early_stopping is not False:
        return {}
    pace, pinned = settled_pace(last), Parameters()
    if last.n_estimators == "auto":
        pinned["n_estimators"] = pace.n_rounds
    if last.learning_rate == "auto":
        pinned["learning_rate"] = pace.rate
    prefix = f"{copied.steps[-1][0]}__" if isinstance(copied, Pipeline) else ""
    return {prefix + name: value for name, value in pinned.items()}
