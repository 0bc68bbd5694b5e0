"""First fits: how long they would take if their kernels were interpreted (kernels.meanwhile)."""

from typing import Any

from hedgerow.data.table import Table
from hedgerow.estimators.request import Request
from hedgerow.kernels.dials import grow_by
from hedgerow.kernels.grower import grow
from hedgerow.kernels.meanwhile import Little

_MOST_ROWS = 10_000  # more, and some are held out to be watched
_MOST_ROUNDS = 200  # of "auto" without a watch
# Seconds of Python: for a leaf; for a value in each tree; for the derivatives of a row in each, if
# a loss must be asked row by row.
_LEAF, _UPDATE, _ROW = 1e-3, 5e-8, 2e-5
# Seconds of Python for a value in a tree of full depth: of classes, of numbers, in a forest's tree.
_OF_CLASSES, _OF_NUMBERS, _IN_A_FOREST = 2e-4, 8e-4, 0.4
_ODD = 10.0  # times as long, if trees are grown as the kernel's text says (kernels.grown_in_bulk)


def first_boosting(
    estimator: Any, table: Table, n_rows: int, loss: Any, n_outputs: int, request: Request
) -> Little | None:
    """Return what is known of a fit of boosting, None if it waits for its kernels in any case."""
    others = request.eval_set, request.before, request.checkpoint
    if any(each is not None for each in others) or estimator.n_estimators == "cv":
        return None
    if n_rows > _MOST_ROWS or estimator.max_leaf_nodes is None:
        return None
    n_rounds = _MOST_ROUNDS if estimator.n_estimators == "auto" else int(estimator.n_estimators)
    is_plain = isinstance(estimator.loss, str) and estimator.loss in ("log_loss", "squared_error")
    tree = estimator.max_leaf_nodes * _LEAF + n_rows * table.n_features * _UPDATE
    tree += 0.0 if is_plain else n_rows * _ROW
    tree *= 1.0 if _is_usual(estimator, table, n_rows, loss) else _ODD
    return Little(n_rounds * n_outputs * tree, grow_by, step_of(estimator.loss, n_outputs))


def _is_usual(estimator: Any, table: Table, n_rows: int, loss: Any) -> bool:
    """Tell whether trees are grown from all rows and from numbers alone, without constraints."""
    asked = {
        "split_finding": "histogram",
        "multi_output": "trees",
        "prune": "pre",
        "monotonic_cst": None,
        "interaction_cst": None,
        "max_features_level": None,
        "min_samples_leaf": 1,
        "subsample": 1.0,
        "sampling": "uniform",
        "dropout": 0.0,
    }
    is_asked = all(getattr(estimator, name) == value for name, value in asked.items())
    has_way = hasattr(loss, "leaf") or hasattr(loss, "derive")
    no_search = estimator.learning_rate != "line_search"
    return (
        is_asked and no_search and not has_way and not estimator._recipe(table, n_rows).categorical
    )


def step_of(loss: Any, n_outputs: int) -> str:
    """Return the step of the warmup for a loss; for one of the user's own, that of the trees."""
    name = loss if isinstance(loss, str) else "squared_error"
    return (
        "boosting, several classes" if name == "log_loss" and n_outputs > 1 else f"boosting, {name}"
    )


def first_tree(criterion: str, n_values: float) -> Little:
    """Return what is known of the fit of a tree to so many values of a table."""
    of_numbers = criterion.endswith("_error")
    each = _OF_NUMBERS if of_numbers else _OF_CLASSES
    name = {"log_loss": "entropy"}.get(criterion, criterion).replace("_", " ")
    return Little(each * n_values, grow, name)


def first_forest(criterion: str, n_values: float) -> Little:
    """Return what is known of the fit of a forest, all of whose trees have so many values."""
    tree = first_tree(criterion, n_values)
    return tree._replace(seconds=_IN_A_FOREST * tree.seconds, step=f"forest, {tree.step}")
