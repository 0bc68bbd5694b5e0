"""Margins: how far rows are on the right side, y f(x), and their distribution."""

from typing import Any, NamedTuple

import numpy as np

from hedgerow.theory.checks import Floats, demand_between

_SIGNS = ({-1}, {1}, {-1, 1}), ({0}, {0, 1})


def margins(decision: Any, y: Any, *, classes: Any = None, total: float = 1.0) -> Floats:
    """Return the margin of each row; at or below zero it is misclassified.

        m_i = y_i f(x_i) / total                          two classes, y in {-1, 1}
        m_i = (f_y(x_i) - max_{k != y} f_k(x_i)) / total      more

    With total = sum |alpha_t| of learners with values in [-1, 1] margins are within [-1, 1].
    Schapire, Freund, Bartlett and Lee (1998), section 1; notes 0, pages 1 and 14.

    Parameters
    ----------
    decision : array [n_rows], or [n_rows, n_classes]
        Scores, as `decision_function` returns them; of two classes those of the second.
    y : array [n_rows]
        Classes.
    classes : array or None
        Their names in the order of the scores, as `classes_`; None: -1 and 1, or 0, 1, 2, ...
    total : float
        What is divided by.

    Examples
    --------
    >>> margins([0.5, -2.0, 1.0], [1, 1, -1]).tolist()
    [0.5, -2.0, -1.0]
    >>> margins([[2.0, -1.0, 0.5]], ["a"], classes=["a", "b", "c"]).tolist()
    [1.5]
    """
    f, labels = np.asarray(decision, np.float64), np.asarray(y)
    total = demand_between("total", total, 0.0, np.inf, "Pass sum |alpha|, or 1 for y f itself.")
    if f.ndim not in (1, 2) or labels.shape != f.shape[:1]:
        raise ValueError(
            f"decision has shape {f.shape} and y {labels.shape}: scores [n_rows] or [n_rows, "
            "n_classes] and one class for each row are needed."
        )
    codes = _codes(labels, classes, 2 if f.ndim == 1 else f.shape[1])
    if f.ndim == 1:
        return np.asarray(np.where(codes == 1, f, -f) / total)
    rows = np.arange(len(f))
    others = f.copy()
    others[rows, codes] = -np.inf
    return np.asarray((f[rows, codes] - others.max(axis=1)) / total)


def _codes(labels: Any, classes: Any, n_classes: int) -> Any:
    """Return the number of each row's class."""
    if classes is None:
        present = set(labels.tolist())
        if n_classes == 2 and present in _SIGNS[0]:
            return (labels > 0).astype(np.int64)
        if not present <= set(range(n_classes)):
            raise ValueError(
                f"y has classes {sorted(present, key=str)[:8]}, and it is not known which of the "
                f"{n_classes} scores is whose. Pass classes=model.classes_."
            )
        return labels.astype(np.int64)
    names = np.asarray(classes)
    if len(names) != n_classes:
        raise ValueError(f"classes has {len(names)} names, but there are scores of {n_classes}.")
    found = labels[:, None] == names[None, :]
    if not found.any(axis=1).all():
        strange = labels[int(np.argmin(found.any(axis=1)))]
        raise ValueError(f"y has the class {strange!r}, which is not one of {names.tolist()}.")
    return np.argmax(found, axis=1)


class Distribution(NamedTuple):
    """A distribution function: the share of rows whose margin is at most `margin`."""

    margin: Floats
    share: Floats


def margin_distribution(values: Any, weights: Any = None) -> Distribution:
    """Return the distribution of margins: each value that occurs, and the share at or below it.

        F(t) = sum w_i 1(m_i <= t) / sum w_i

    Schapire et al. (1998), figure 1.

    >>> margin_distribution([0.5, -1.0, 0.5, 1.0])
    Distribution(margin=array([-1. ,  0.5,  1. ]), share=array([0.25, 0.75, 1.  ]))
    """
    m = np.asarray(values, np.float64)
    if m.ndim != 1 or not len(m) or np.isnan(m).any():
        raise ValueError(
            f"margins of shape {m.shape} have no distribution: a number for each row is needed, at "
            "least one, and none NaN."
        )
    w = np.ones(len(m)) if weights is None else np.asarray(weights, np.float64)
    found, place = np.unique(m, return_inverse=True)
    cumulated = np.cumsum(np.bincount(place, weights=w))
    return Distribution(found, cumulated / cumulated[-1])


def margin_error(values: Any, theta: float = 0.0, weights: Any = None) -> float:
    """Return the share of rows whose margin is at most theta; with theta = 0 the training error.

    >>> margin_error([0.5, -1.0, 0.0, 1.0])
    0.5
    """
    m = np.asarray(values, np.float64)
    return float(np.average(m <= theta, weights=weights))
