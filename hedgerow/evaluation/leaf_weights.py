"""Trees and forests as smoothers: with the splits held fixed, a prediction is a weighted mean.

    S_ij = (1/B) sum over trees b of  [j is in the leaf of i] N_bj / (sum of N_bk over that leaf)

N_bj is how often row j was drawn for tree b, times its weight. Meinshausen (2006); of
one tree it is the mean of the leaf, notes 1, "Building a regression tree".
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples

from hedgerow.evaluation.arguments import Floats, demand_regression, demand_targets, demand_weights
from hedgerow.evaluation.smoothers import Smoother

_ROUNDING = 1e-6  # of the targets' spread: leaves of some libraries are float32


def leaf_smoother(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Smoother:
    """Return the smoother of a fitted tree or forest whose splits are held fixed.

    Its degrees of freedom, tr(S), are the number of leaves of a tree. Splits that were chosen by
    looking at y make the true ones larger: S is then a function of y, and
    `degrees_of_freedom(model, X, y, Covariance(...))` counts the search too. They are equal if
    the splits come from other targets than those that S is used with.

    Parameters
    ----------
    model : fitted regression tree or forest, of this library or of scikit-learn
        With `apply` and, if trees have bags, `estimators_samples_`.
    X, y, sample_weight : as passed to fit, in the same order
        The matrix is compared with the predictions of the model: S y must be `predict(X)`.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import DecisionTreeRegressor
    >>> from hedgerow.evaluation import leaf_smoother
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 5]
    >>> tree = DecisionTreeRegressor(max_leaf_nodes=2, min_samples_leaf=2).fit(X, y)
    >>> leaf_smoother(tree, X, y).diagonal().round(3).tolist()  # leaves of 4 rows and of 2
    [0.25, 0.25, 0.25, 0.25, 0.5, 0.5]
    """
    demand_regression(model)
    if not hasattr(model, "apply"):
        raise TypeError(
            f"{type(model).__name__} has no `apply`, which tells the leaves of rows. Pass a fitted "
            "tree or forest; for other models, smoother_of."
        )
    n_rows = _num_samples(X)
    targets, weights = demand_targets(y, n_rows), demand_weights(sample_weight, n_rows)
    leaves = np.asarray(model.apply(X)).reshape(n_rows, -1)
    drawn = _drawn(model, leaves.shape)
    readings = [drawn]
    if weights is not None:
        # Some forests draw rows by weight, others let drawn rows count by it.
        readings = [drawn * weights[:, None], drawn]
    said = np.asarray(model.predict(X), np.float64).ravel()
    spread = max(float(np.ptp(targets)), np.finfo(np.float64).tiny)
    gaps = []
    for counts in readings:
        found = leaf_weights(leaves, counts)
        gaps.append(float(np.abs(found(targets) - said).max()) / spread)
        if gaps[-1] <= _ROUNDING:
            return found
    raise ValueError(
        f"Means of y over the leaves of {type(model).__name__} are off its predictions by "
        f"{min(gaps):.2g} of the range of y. Leaves must be means (not medians, not steps of "
        "boosting), and X, y and sample_weight those of fit, in the same order."
    )


def leaf_weights(leaves: Any, counts: Any = None) -> Smoother:
    """Return the smoother of leaves.

    Parameters
    ----------
    leaves : int [n_rows, n_trees]
        The leaf of each row in each tree.
    counts : array [n_rows, n_trees] or None
        What each row counts in each tree, for example how often it was drawn; None: 1. A row
        that counts 0 is predicted by the others of its leaf.

    Examples
    --------
    >>> from hedgerow.evaluation import leaf_weights
    >>> leaf_weights([[0], [0], [7]], [[2], [1], [1]]).matrix().round(3).tolist()
    [[0.667, 0.333, 0.0], [0.667, 0.333, 0.0], [0.0, 0.0, 1.0]]
    """
    places = np.asarray(leaves)
    n_rows, n_trees = places.shape
    much = np.ones(places.shape) if counts is None else np.asarray(counts, np.float64)
    columns, n_leaves = _numbered(places)
    rows = np.repeat(np.arange(n_rows), n_trees)
    totals = np.bincount(columns.ravel(), weights=much.ravel(), minlength=n_leaves)
    if not (totals > 0).all():
        raise ValueError(
            f"{np.count_nonzero(totals <= 0)} leaves have rows, but none that counts, so they have "
            "no mean. Pass the rows that the trees were grown from."
        )
    cells = np.full(places.size, 1.0 / n_trees), (rows, columns.ravel())
    left = sparse.csr_array(cells, shape=(n_rows, n_leaves))
    share = (much / totals[columns]).ravel(), (columns.ravel(), rows)
    return Smoother(left, sparse.csr_array(share, shape=(n_leaves, n_rows)))


def _numbered(leaves: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Return the number of each leaf among those of all trees, and how many there are."""
    numbers, n_before = np.empty(leaves.shape, np.int64), 0
    for tree, own in enumerate(leaves.T):
        found, place = np.unique(own, return_inverse=True)
        numbers[:, tree] = place.ravel() + n_before
        n_before += len(found)
    return numbers, n_before


def _drawn(model: Any, shape: tuple[int, ...]) -> Floats:
    """Return how often each row was drawn for each tree, float64 [n_rows, n_trees]."""
    n_rows, n_trees = shape
    samples = getattr(model, "estimators_samples_", None)
    if samples is None:
        return np.ones(shape)
    if len(samples) != n_trees:
        raise ValueError(
            f"{type(model).__name__} has {n_trees} columns of leaves and {len(samples)} bags. Pass "
            "a forest of regression trees of one output."
        )
    bags = [np.asarray(rows) for rows in samples]
    if max(int(rows.max(initial=0)) for rows in bags) >= n_rows:
        raise ValueError(f"X has {n_rows} rows, but more were drawn from. Pass the table of fit.")
    return np.column_stack([np.bincount(rows, minlength=n_rows) for rows in bags]).astype(float)
