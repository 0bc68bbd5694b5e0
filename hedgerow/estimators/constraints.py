"""What the user says of features: how many are drawn, which way they work, which may meet."""

from collections.abc import Mapping
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import Table

_AUTO_FEATURES = 4  # max_features="auto" draws no fewer


def n_drawn(wanted: Any, n_features: int) -> int | None:
    """Return how many features to draw: a number, a share, "sqrt", "log2"; None for all.

    "auto": half of them, but no fewer than four.
    """
    if wanted is None:
        return None
    if wanted == "auto":
        number = max((n_features + 1) // 2, min(_AUTO_FEATURES, n_features))
    elif wanted == "sqrt":
        number = int(np.sqrt(n_features))
    elif wanted == "log2":
        number = int(np.log2(n_features))
    elif isinstance(wanted, Integral):
        number = min(int(wanted), n_features)
    else:
        number = int(wanted * n_features)
    number = max(1, number)
    return None if number == n_features else number


def monotone_signs(
    given: Any, table: Table, categories: tuple[tuple[Any, ...] | None, ...]
) -> NDArray[np.int64] | None:
    """Return 1, -1 or 0 for each feature, from an array or from names; None if all are 0."""
    listed = _listed(given, table)
    strange = [sign for sign in listed if sign not in (-1, 0, 1)]
    if strange:
        raise ValueError(
            f"monotonic_cst has {strange[0]!r}, but takes 1 (increasing), -1 (decreasing) or 0 "
            "for each feature."
        )
    signs = np.array(listed, np.int64)
    for feature in np.flatnonzero(signs).tolist():
        if categories[feature] is not None:
            raise ValueError(
                f"monotonic_cst asks for {signs[feature]} in {table.place(feature)}, which has "
                "categories, and they have no order. Use 0 there, or make numbers of them."
            )
    return signs if signs.any() else None


def _listed(given: Any, table: Table) -> list[Any]:
    """Return a constraint for each feature."""
    if given is None:
        return [0] * table.n_features
    if isinstance(given, Mapping):
        names = table.names or []
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(
                f"monotonic_cst names {unknown[0]!r}, which is not a column of X "
                f"({', '.join(map(repr, names[:8])) or 'X has no column names'}). Pass names of "
                "columns of a DataFrame, or an array with 1, -1 or 0 for each column."
            )
        return [given.get(name, 0) for name in names]
    listed = np.asarray(given)
    if listed.shape != (table.n_features,):
        raise ValueError(
            f"monotonic_cst has shape {listed.shape}, but X has {table.n_features} features. Pass "
            "1, -1 or 0 for each, or a dict from names of columns."
        )
    return list(listed.tolist())


def interaction_groups(given: Any, table: Table) -> tuple[tuple[int, ...], ...]:
    """Return the groups of features that may meet; none if any may.

    Features that are in no group are a group of their own, as in scikit-learn.
    """
    n_features = table.n_features
    if given is None:
        return ()
    if isinstance(given, str):
        size = {"no_interactions": 1, "pairwise": 2}[given]
        return tuple(combinations(range(n_features), min(size, n_features)))
    groups = [tuple(sorted({_column(item, table) for item in group})) for group in given]
    groups = [group for group in groups if group]
    rest = set(range(n_features)).difference(*groups)
    return tuple(groups) + ((tuple(sorted(rest)),) if rest else ())


def _column(item: Any, table: Table) -> int:
    """Return the number of a column."""
    names = table.names or []
    if isinstance(item, str) and item in names:
        return names.index(item)
    if isinstance(item, Integral) and int(item) in range(table.n_features):
        return int(item)
    raise ValueError(
        f"interaction_cst has {item!r}, which is not a column of X. Pass numbers from 0 to "
        f"{table.n_features - 1}{' or names of columns' if names else ''}."
    )


def check_vector_leaves(estimator: Any, n_outputs: int) -> None:
    """Raise if rules are asked for that trees with vectors in their leaves do not know."""
    if estimator.multi_output != "vector" or n_outputs == 1:
        return
    if estimator.monotonic_cst is not None:
        raise ValueError(
            "monotonic_cst holds the values of one output in order, but with multi_output="
            f"'vector' a leaf has {n_outputs}. Use multi_output='trees', or monotonic_cst=None."
        )
    if estimator.min_samples_leaf > 1:
        raise ValueError(
            f"min_samples_leaf={estimator.min_samples_leaf} counts rows, which trees of "
            "multi_output='vector' do not. Use min_child_weight, or multi_output='trees'."
        )


def n_drawn_in_turn(estimator: Any, n_features: int) -> tuple[int | None, int | None, int | None]:
    """Return how many features trees, levels and nodes have, each of what it is drawn from."""
    tree = n_drawn(estimator.max_features_tree, n_features)
    level = n_drawn(estimator.max_features_level, tree or n_features)
    node = n_drawn(estimator.max_features, level or tree or n_features)
    return tree, level, node
