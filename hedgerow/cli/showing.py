"""`hedgerow show`: what a model file holds."""

from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.cli.fitted import feature_names, kinds_of, loaded
from hedgerow.cli.problems import UsageError
from hedgerow.cli.training import n_trees
from hedgerow.trees.labels import TreeNames, outline, question
from hedgerow.trees.tree import Tree

_LOGS = ("validation_losses_", "validation_errors_", "oob_curve_", "train_losses_")
_SHOWN = 8  # entries of a log


def show(path: str, number: int, depth: int) -> dict[str, Any]:
    """Return what is known of a model, and one of its trees as text."""
    model = loaded(path)
    defaults = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    _, kinds = kinds_of(model)
    classes = getattr(model, "classes_", None)
    return {
        "command": "show",
        "file": path,
        "bytes": Path(path).stat().st_size,
        "class": type(model).__name__,
        "n_trees": n_trees(model),
        "fingerprint": getattr(model, "fingerprint_", None),
        "classes": None if classes is None else classes.tolist(),
        "features": [
            {"feature": name, "kind": kind}
            for name, kind in zip(feature_names(model), kinds, strict=True)
        ],
        "parameters": {name: plain(value) for name, value in given.items()},
        "changed": {
            name: plain(value)
            for name, value in given.items()
            if plain(value) != plain(defaults[name])
        },
        "log": _log(model),
        "tree": {"number": number, "text": drawn(model, number, depth)},
    }


def plain(value: Any) -> Any:
    """Return a parameter as JSON knows it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    return str(value)


def _log(model: Any) -> dict[str, list[float]]:
    return {
        name.rstrip("_"): np.asarray(getattr(model, name), float).ravel().tolist()
        for name in _LOGS
        if getattr(model, name, None) is not None
    }


def thinned(log: list[float]) -> list[tuple[int, float]]:
    """Return some entries of a log and their numbers, the first and the last among them."""
    places = np.unique(np.linspace(0, len(log) - 1, _SHOWN).round().astype(int))
    return [(int(place), log[place]) for place in places]


def drawn(model: Any, number: int, depth: int) -> str | None:
    """Return a tree as text; None if the model has no trees that can be drawn."""
    from hedgerow.estimators.base import BaseTree
    from hedgerow.estimators.drawing import export_text
    from hedgerow.estimators.explaining import Explains

    if isinstance(model, BaseTree):
        _demand_number(number, 1)
        return export_text(model, max_depth=depth)
    if isinstance(model, Explains):
        if not len(model._model.grove.output):  # it stopped before the first
            return None
        _demand_number(number, len(model._model.grove.output))
        tree, names = _boosted_tree(model, number)
        return _scores_text(tree, names, depth)
    members = getattr(model, "estimators_", None)
    if members is None:
        return None
    _demand_number(number, len(members))
    member = members[number]
    return export_text(member, max_depth=depth) if isinstance(member, BaseTree) else None


def _demand_number(number: int, n_trees: int) -> None:
    if not 0 <= number < n_trees:
        raise UsageError(f"--tree {number}: the model has trees 0 to {n_trees - 1}.")


def _boosted_tree(model: Any, number: int) -> tuple[Tree, TreeNames]:
    """Return a tree of a boosted model, and what its numbers are called."""
    grove, schema = model._model.grove, model._schema
    own = slice(int(grove.offset[number]), int(grove.offset[number + 1]))
    n_nodes = own.stop - own.start
    categories = schema.categories
    tree = Tree(
        left=grove.left[own].copy(),
        right=grove.right[own].copy(),
        feature=grove.feature[own].copy(),
        threshold=grove.threshold[own].copy(),
        missing_left=grove.missing_left[own].copy(),
        category_start=grove.category_start[own].copy(),
        category_words=grove.category_words.copy(),
        n_categories=np.array([len(each or ()) for each in categories], np.int32),
        value=grove.value[own].reshape(n_nodes, 1).copy(),
        impurity=np.zeros(n_nodes),
        n_rows=np.zeros(n_nodes, np.int64),
        weight=grove.weight[own].copy(),
    )
    names = TreeNames(tuple(feature_names(model)), categories, None, (), model._has_missing)
    return tree, names


def _scores_text(tree: Tree, names: TreeNames, depth: int) -> str:
    """Draw a tree whose leaves add to a score: a node a line."""
    text, guides = [], [""]
    for line in outline(tree, depth):
        node = line.node
        said = f"-> {tree.value[node, 0]:+.3f}" if tree.left[node] < 0 else ""
        if line.n_hidden_leaves:
            said = f"... {line.n_hidden_leaves:,} leaves"
        if line.depth:
            asked = question(tree, names, line.parent, 2, 8).side(line.is_left)
            guides[line.depth :] = [guides[line.depth - 1] + ("|   " if line.is_left else "    ")]
            fork = "|-- " if line.is_left else "`-- "
            text.append(f"{guides[line.depth - 1]}{fork}{asked} {said}".rstrip())
        else:
            text.append(f"all rows {said}".rstrip())
    return "\n".join(text)
