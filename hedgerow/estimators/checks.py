"""Checks that every estimator makes before any work: what was given, what is accepted."""

import difflib
import reprlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import InvalidParameterError, StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, _num_samples, check_is_fitted, column_or_1d

from hedgerow.data.values import families, family, is_missing
from hedgerow.fitted.model import name_of

_LEAST_WEIGHT = 1e-100  # products of smaller weights leave the range of float64
_LOSS_VALUE = "a loss such as hedgerow.losses.Huber(2.0)"
_N_SMALL = 1000  # labels from 0 on that are counted
_LARGEST = 1e150  # squares of larger targets leave the range of float64


def check_parameters(estimator: Any) -> None:
    """Raise if a parameter is not accepted; a word that is almost right is suggested."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        message = str(error)
        if message.startswith("The 'loss'"):
            message = message.replace("an instance of 'tuple'", _LOSS_VALUE)
        raise InvalidParameterError(message + _meant(estimator, message)) from None


def _meant(estimator: Any, message: str) -> str:
    """Return a question after the accepted word that is most like the one that was given."""
    for name, options in estimator._parameter_constraints.items():
        given = getattr(estimator, name)
        if isinstance(given, str) and message.startswith(f"The {name!r} parameter"):
            accepted = [each.options for each in options if isinstance(each, StrOptions)]
            close = difflib.get_close_matches(given, sorted(set().union(*accepted)), n=1)
            return f" Did you mean {close[0]!r}?" if close else ""
    return ""


def demand_fitted(estimator: Any) -> None:
    """Raise unless an estimator is fitted; of one that is, that is seen at once."""
    if "n_features_in_" not in estimator.__dict__:
        check_is_fitted(estimator)


def check_labels(estimator: Any, y: Any) -> NDArray[Any]:
    """Return class labels as an array [n_rows]."""
    values = _present_targets(estimator, y)
    if values.dtype.kind == "O" and len(families(values.ravel().tolist())) > 1:
        first = family(type(values.flat[0]))
        row = next(i for i, label in enumerate(values.flat) if family(type(label)) != first)
        raise ValueError(
            f"y mixes labels of different types: {reprlib.repr(values.flat[0])} in row 0 and "
            f"{reprlib.repr(values.flat[row])} in row {row}, which have no order. Convert all "
            "labels to one type, for example with y.astype(str)."
        )
    if _is_plain(y, 1):
        return values
    return np.asarray(_check_y(y, multi_output=False, estimator=estimator))


def _is_plain(y: Any, most_dimensions: int) -> bool:
    """Tell whether y is an array of numbers that scikit-learn, which looks long, would return."""
    if type(y) is not np.ndarray or y.dtype.kind not in "biuf":
        return False
    return 1 <= y.ndim <= most_dimensions and y.size > 0


class Classes(NamedTuple):
    """The classes of rows that count, each row's number among them, and its weight."""

    names: NDArray[Any]
    codes: NDArray[np.int64]  # any class for rows of weight 0
    weights: NDArray[np.float64]


def check_classes(estimator: Any, y: Any, sample_weight: Any, n_rows: int) -> Classes:
    """Return the classes of a fit, or raise saying what is wrong with y or the weights."""
    labels = check_labels(estimator, y)
    check_length("y", labels, n_rows)
    is_counted = _are_small_numbers(labels)
    if not is_counted and not (_is_plain(labels, 1) and labels.dtype.kind != "f"):
        check_classification_targets(labels)
    weights = check_weights(sample_weight, n_rows)
    present = weights > 0
    if is_counted:
        counts = np.bincount(labels if present.all() else labels[present], minlength=_N_SMALL)
        places = np.maximum(np.cumsum(counts > 0) - 1, 0)
        return Classes(np.flatnonzero(counts).astype(labels.dtype), places[labels], weights)
    names = np.unique(labels[present])
    return Classes(names, np.searchsorted(names, np.where(present, labels, names[0])), weights)


def _are_small_numbers(labels: NDArray[Any]) -> bool:
    """Tell whether labels are so small, and so many, that they are sooner counted than sorted."""
    if labels.dtype.kind not in "iu" or len(labels) < 2 * _N_SMALL:
        return False
    return bool(labels.min() >= 0 and labels.max() < _N_SMALL)


def _present_targets(estimator: Any, y: Any) -> NDArray[Any]:
    """Return y as an array, or raise naming the first row that is missing or infinite."""
    if y is None:
        raise ValueError(
            f"{name_of(estimator)} requires y to be passed, but the target y is None. Pass one "
            "target for each row of X."
        )
    values = np.asarray(y)
    if values.dtype.kind == "f":
        bad = ~np.isfinite(values)
    elif values.dtype.kind == "O" and values.ndim and not _are_text(values):
        bad = np.array([is_missing(value) for value in values.flat]).reshape(values.shape)
    else:
        return values
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        value = values[place]
        kind = "infinity" if isinstance(value, np.floating) and np.isinf(value) else "NaN"
        raise ValueError(
            f"Input y contains {kind}: y[{', '.join(map(str, place))}] is {value}; "
            f"{np.count_nonzero(bad)} of {values.size} targets are missing or infinite. Drop "
            "these rows from X and y, or correct them."
        )
    return values


def _are_text(values: NDArray[Any]) -> bool:
    return set(map(type, values.ravel().tolist())) == {str}


def check_targets(estimator: Any, y: Any, n_rows: int) -> NDArray[np.float64]:
    """Return targets as float64 [n_rows, n_outputs], or raise naming the first bad row."""
    values = _present_targets(estimator, y)
    _demand_numbers(values)
    if not estimator.__sklearn_tags__().target_tags.multi_output and values.shape[1:] == (1,):
        y = column_or_1d(y, warn=True)
    if not _is_plain(y, 2):
        y = _check_y(y, multi_output=True, y_numeric=True, estimator=estimator)
    targets = np.asarray(y, dtype=np.float64)
    if targets.ndim == 1:
        targets = targets[:, None]
    check_length("y", targets, n_rows)
    bad = np.argwhere(np.abs(targets) > _LARGEST)
    if len(bad):
        raise ValueError(
            f"y[{bad[0][0]}] is {targets[tuple(bad[0])]:g}: squared errors of targets beyond "
            f"{_LARGEST:g} are infinite. Rescale y, for example divide it by its largest value."
        )
    return targets + 0.0  # -0.0 is 0.0


def _demand_numbers(values: NDArray[Any]) -> None:
    """Raise if targets are strings, dates or anything else that is no number."""
    if values.dtype.kind in "biufc" or not values.ndim:
        return
    objects = values.astype(object).ravel().tolist()
    strange = [i for i, v in enumerate(objects) if family(type(v)) not in ("number", "complex")]
    if strange or values.dtype.kind != "O":
        row = strange[0] if strange else 0
        raise ValueError(
            f"y[{row}] is {reprlib.repr(objects[row])} ({type(objects[row]).__name__}): a "
            "regressor needs numbers. Convert y, for example with y.astype(float), or use a "
            "classifier if these are classes."
        )


def check_length(name: str, values: Any, n_rows: int) -> None:
    """Raise if there is not one value per row."""
    if _num_samples(values) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"{name} has {_num_samples(values)}. Pass one value of {name} for each row of X."
        )


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one weight per row, finite, not negative, not all zero."""
    if sample_weight is None:
        return np.ones(n_rows)
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array of shape "
            f"{weights.shape}. Expected one weight per row, shape ({n_rows},)."
        )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected ({n_rows},)! Pass one weight for "
            "each row of X."
        )
    for bad, what in ((~np.isfinite(weights), "NaN or infinite"), (weights < 0, "negative")):
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"sample_weight[{row}] is {weights[row]}: weights must be finite and not negative; "
                f"{np.count_nonzero(bad)} of {n_rows} are {what}. Use 0 to leave a row out."
            )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every row, so there is nothing to learn from. Give at "
            "least one row a positive weight."
        )
    if not _LEAST_WEIGHT < weights.max() < 1 / _LEAST_WEIGHT:  # only ratios of weights matter
        weights = np.ldexp(weights, -np.frexp(weights.max())[1])
    return weights


def unknown_option(name: str, value: Any, accepted: tuple[str, ...]) -> ValueError:
    """Build the error for a misspelt option, with the nearest accepted one."""
    near = difflib.get_close_matches(str(value), accepted, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, accepted))}.{hint}")


def check_class_weight(
    class_weight: Any,
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return what the weights of each class are multiplied by."""
    if class_weight is None:
        return np.ones(len(classes))
    if class_weight == "balanced":
        totals = np.array([weights[codes == code].sum() for code in range(len(classes))])
        return np.asarray(totals.sum() / (len(classes) * totals))
    factors = compute_class_weight(class_weight, classes=classes, y=classes)
    if not (np.isfinite(factors).all() and (factors >= 0).all() and factors.any()):
        raise ValueError(
            f"class_weight={class_weight!r} has weights that are negative or not finite, or only "
            "zeros for the classes of y. Give each class a finite weight, 0 or more, and at least "
            "one class of y a positive one."
        )
    return np.asarray(factors)


def check_cost(cost: Any, n_classes: int) -> NDArray[np.float64] | None:
    """Return a matrix of costs, not negative, zero on its diagonal, or None."""
    if cost is None:
        return None
    matrix = np.asarray(cost, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"misclassification_cost has shape {matrix.shape}, but y has {n_classes} classes. Pass "
            f"one row for each true class and one column for each name it may be given, in the "
            f"order of the sorted classes: shape ({n_classes}, {n_classes})."
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any() or np.diagonal(matrix).any():
        raise ValueError(
            "misclassification_cost must be finite and not negative, with zeros on its diagonal: "
            f"the right name costs nothing. Got\n{matrix}"
        )
    if n_classes > 1 and not (matrix.sum(axis=1) > 0).all():
        row = int(np.argmin(matrix.sum(axis=1)))
        raise ValueError(
            f"misclassification_cost is zero for every name of class number {row}, so that class "
            "could never matter. Give each class at least one positive cost."
        )
    return matrix
