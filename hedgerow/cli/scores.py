"""How good predictions are, and how sure that is.

The standard error of a score on held-out rows is that of the jackknife over groups of rows,

    se^2 = (G - 1) / G * sum over g of (score without group g - mean of these)^2,

after Efron and Tibshirani (1993), chapter 11. That of folds is hedgerow.evaluation's.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.cli.targets import Problem

if TYPE_CHECKING:
    from hedgerow.evaluation.cross_validation import CrossValidated

_GROUPS = 20
_SMALLEST = 1e-15  # a probability, so that a logarithm is finite

Floats = NDArray[np.float64]


class Told(NamedTuple):
    """What is true of rows, and what a model says of them.

    Attributes
    ----------
    y : array [n_rows]
        Numbers of classes, or float64.
    said : float64 [n_rows, n_classes] or [n_rows]
        Probabilities, or predictions.
    """

    y: NDArray[Any]
    said: Floats

    def without(self, dropped: NDArray[np.bool_]) -> "Told":
        """Return the other rows."""
        return Told(self.y[~dropped], self.said[~dropped])


def told(model: Any, X: Any, y: NDArray[Any]) -> Told:
    """Ask a model about rows."""
    if not hasattr(model, "classes_"):
        return Told(y.astype(np.float64), np.asarray(model.predict(X), np.float64))
    return Told(class_numbers(model.classes_, y), np.asarray(model.predict_proba(X), np.float64))


def class_numbers(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of each label among the classes."""
    number = {value: place for place, value in enumerate(classes.tolist())}
    strange = next((value for value in y.tolist() if value not in number), None)
    if strange is not None:
        known = ", ".join(map(repr, classes[:8].tolist()))
        raise ValueError(
            f"{strange!r} is not one of the classes that the model knows: {known}. Leave such "
            "rows out, or train with rows that have it."
        )
    return np.array([number[value] for value in y.tolist()], np.int64)


def scored_with_errors(rows: Told) -> dict[str, dict[str, float | None]]:
    """Return each score with its standard error; None if there are too few rows for one."""
    order = np.random.default_rng(0).permutation(len(rows.y))
    n_groups = min(_GROUPS, len(order) // 2)
    found = {}
    for name, score in _scores(rows).items():
        left = [score(rows.without(order % n_groups == g)) for g in range(n_groups)]
        spread = float(np.sqrt((n_groups - 1) * np.var(left))) if n_groups > 1 else np.nan
        found[name] = {"score": finite(score(rows)), "standard_error": finite(spread)}
    return found


def cross_validated(
    model: Any, problem: Problem, folds: list[Any], verbose: bool = False
) -> "CrossValidated":
    """Judge a model by folds; of each score more is better, so that losses have a minus."""
    from hedgerow.evaluation.cross_validation import cross_validate

    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=False)  # folds go side by side, and have a bar together
    X = problem.X.to_native()
    return cross_validate(
        model, X, problem.y, scoring=_signed, cv=folds, curve=False, verbose=verbose
    )


def means(found: "CrossValidated") -> dict[str, dict[str, float | None]]:
    """Return the mean of each score over folds, and its standard error."""
    return {
        name: {"score": finite(sign(name) * mean), "standard_error": finite(error)}
        for name, (mean, error) in found.means().items()
    }


def _signed(model: Any, X: Any, y: NDArray[Any]) -> dict[str, float]:
    rows = told(model, X, y)
    return {name: sign(name) * score(rows) for name, score in _scores(rows).items()}


def finite(value: float) -> float | None:
    """Return a number that JSON knows, or None."""
    return float(value) if np.isfinite(value) else None


def sign(name: str) -> int:
    """Return 1 if more is better, -1 if less is."""
    return 1 if name in ("accuracy", "AUC", "R2") else -1


def _scores(rows: Told) -> dict[str, Callable[[Told], float]]:
    if rows.said.ndim == 2 and rows.y.dtype.kind == "i":
        return {"accuracy": _accuracy, "log-loss": _log_loss, "AUC": _auc}
    return {"R2": _r2, "RMSE": _rmse, "MAE": _mae}


def _accuracy(rows: Told) -> float:
    return float((rows.said.argmax(axis=1) == rows.y).mean())


def _log_loss(rows: Told) -> float:
    p = rows.said[np.arange(len(rows.y)), rows.y]
    return float(-np.log(np.maximum(p, _SMALLEST)).mean())


def _auc(rows: Told) -> float:
    """Return the area under the ROC curve: of more than two classes the mean of each to others."""
    from scipy.stats import rankdata

    n_classes = rows.said.shape[1]
    areas = []
    for number in [1] if n_classes == 2 else range(n_classes):
        own = rows.y == number
        n_own, n_others = int(own.sum()), int((~own).sum())
        if n_own and n_others:
            ranks = rankdata(rows.said[:, number])[own].sum()
            areas.append((ranks - n_own * (n_own + 1) / 2) / (n_own * n_others))
    return float(np.mean(areas)) if areas else float("nan")


def _r2(rows: Told) -> float:
    spread = ((rows.y - rows.y.mean()) ** 2).sum()
    return float(1 - ((rows.y - rows.said) ** 2).sum() / spread) if spread > 0 else float("nan")


def _rmse(rows: Told) -> float:
    return float(np.sqrt(((rows.y - rows.said) ** 2).mean()))


def _mae(rows: Told) -> float:
    return float(np.abs(rows.y - rows.said).mean())


def constant(classes: NDArray[Any] | None, y_train: NDArray[Any], rows: Told) -> Told:
    """Return what is said without looking at features: the shares of classes, or the mean."""
    if classes is None:
        return Told(rows.y, np.full(len(rows.y), float(np.mean(y_train))))
    shares = np.bincount(class_numbers(classes, y_train), minlength=len(classes)) / len(y_train)
    return Told(rows.y, np.tile(shares, (len(rows.y), 1)))
