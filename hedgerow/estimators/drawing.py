"""Seeing a fitted tree: text, Graphviz, JSON, pictures."""

from typing import Any

from hedgerow.estimators.base import BaseTree
from hedgerow.plot.tree import draw_tree
from hedgerow.trees import export


def export_text(model: BaseTree, *, max_depth: int | None = 10, decimals: int = 2) -> str:
    """Return a fitted tree as indented text.

    Examples
    --------
    >>> from hedgerow import DecisionTreeRegressor, export_text
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3]], [0.0, 0.0, 6.0])
    >>> print(export_text(tree))
    3 rows (2)
    |-- x0 <= 2.5: 2 rows -> 0
    `-- x0 > 2.5: 1 row -> 6
    """
    return export.export_text(*_tree_and_names(model), max_depth=max_depth, decimals=decimals)


def export_dot(model: BaseTree, *, max_depth: int | None = None, decimals: int = 2) -> str:
    """Return a fitted tree in the language of Graphviz."""
    return export.export_dot(*_tree_and_names(model), max_depth=max_depth, decimals=decimals)


def export_json(model: BaseTree, *, indent: int | None = None) -> str:
    """Return a fitted tree as JSON: a list of nodes, numbers to the last bit."""
    return export.export_json(*_tree_and_names(model), indent=indent)


def plot_tree(
    model: BaseTree,
    *,
    max_depth: int | None = 4,
    ax: Any = None,
    decimals: int = 2,
    fontsize: float | None = None,
) -> list[Any]:
    """Draw a fitted tree with matplotlib; returns what was drawn."""
    tree, names = _tree_and_names(model)
    return draw_tree(tree, names, max_depth=max_depth, ax=ax, decimals=decimals, fontsize=fontsize)


def _tree_and_names(model: BaseTree) -> tuple[Any, Any]:
    if not isinstance(model, BaseTree):
        raise TypeError(
            f"{type(model).__name__} is not a tree of hedgerow. Pass a fitted "
            "DecisionTreeClassifier or DecisionTreeRegressor."
        )
    names = model._names()
    return model._tree, names
