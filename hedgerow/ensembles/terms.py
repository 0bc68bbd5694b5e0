"""Trees whose values are added, side by side, as Shapley values read them."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import AdditiveModel
from hedgerow.kernels.predict import Paths
from hedgerow.trees.tree import Tree

Floats = NDArray[np.float64]

_MOST_NODES = 1 << 19  # of trees that are put together, so that no large forest is copied whole


class Terms(NamedTuple):
    """Some trees of a sum.

    paths   Paths                         of all trees; children are counted over all
    offset  int64 [n_trees + 1]           first node of each tree
    value   float64 [n_nodes, n_values]   what a leaf adds
    output  int32 [n_trees]               the column that its first value is added to
    """

    paths: Paths
    offset: NDArray[np.int64]
    value: Floats
    output: NDArray[np.int32]


def terms_of_model(model: AdditiveModel) -> Terms:
    """Return the trees of a boosted model; each adds to a column of its own."""
    grove = model.grove
    return Terms(model.paths, grove.offset, grove.value[:, None], grove.output)


def terms_of_trees(trees: Iterable[Tree], n_columns: int) -> Iterator[Terms]:
    """Yield trees, some put together at a time, that add the first values of their leaves."""
    some: list[Tree] = []
    n_nodes = 0
    for tree in trees:
        some.append(tree)
        n_nodes += tree.n_nodes
        if n_nodes >= _MOST_NODES:
            yield _joined(some, n_columns)
            some, n_nodes = [], 0
    if some:
        yield _joined(some, n_columns)


def _joined(trees: list[Tree], n_columns: int) -> Terms:
    """Put trees together."""
    offset = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in trees])]).astype(np.int64)
    words = np.cumsum([0, *(len(tree.category_words) for tree in trees)])

    def moved(name: str, by: NDArray[np.int64]) -> NDArray[np.int64]:
        each = [getattr(tree, name) for tree in trees]
        return np.concatenate(
            [np.where(own >= 0, own + first, own) for own, first in zip(each, by, strict=False)]
        )

    columns = {
        name: np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "threshold", "missing_left", "category_words", "weight")
    }
    paths = Paths(
        left=moved("left", offset).astype(np.int32),
        right=moved("right", offset).astype(np.int32),
        category_start=moved("category_start", words),
        **columns,
    )
    value = np.concatenate([tree.value[:, :n_columns] for tree in trees])
    return Terms(paths, offset, value, np.zeros(len(trees), np.int32))
