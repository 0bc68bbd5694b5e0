"""Trees of the library's three layouts (single, grown together, packed) as those of an outline."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import Schema
from hedgerow.ensembles.forest import some_trees
from hedgerow.export.outline import Feature, Floats, Trees
from hedgerow.kernels.grove import Grove
from hedgerow.kernels.packed import BY_CATEGORY, FEATURE, MISSING_LEFT, Thicket
from hedgerow.trees.tree import Tree


def features_of(schema: Schema) -> tuple[Feature, ...]:
    """Return the columns of a schema; those without names are x0, x1, ..."""
    names = schema.names or [f"x{feature}" for feature in range(len(schema.categories))]
    return tuple(Feature(*each) for each in zip(names, schema.categories, strict=True))


def joined(parts: Iterable[Trees]) -> Trees:
    """Put trees together in their order."""
    listed = list(parts)
    firsts = np.cumsum([0] + [len(each.feature) for each in listed])
    words = np.cumsum([0] + [len(each.category_words) for each in listed])
    moved = [
        each._replace(
            offset=each.offset[1:] + first,
            right=each.right + first,
            category_start=np.where(each.category_start < 0, -1, each.category_start + word),
        )
        for each, first, word in zip(listed, firsts, words, strict=False)
    ]
    columns: Any = [np.concatenate(column) for column in zip(*moved, strict=True)]
    whole = Trees(*columns)
    return whole._replace(offset=np.append(0, whole.offset))


def trees_of_grove(grove: Grove) -> Trees:
    """Return trees that were grown one after another; each says one number."""
    root = np.repeat(grove.offset[:-1], np.diff(grove.offset))
    is_leaf = grove.left < 0
    return Trees(
        grove.offset.astype(np.int64),
        np.where(is_leaf, 0, grove.right + root),
        np.where(is_leaf, -1, grove.feature).astype(np.int64),
        np.asarray(grove.threshold),
        np.asarray(grove.missing_left),
        np.where(is_leaf, -1, grove.category_start),
        np.asarray(grove.category_words),
        np.asarray(grove.value)[is_leaf, None],
    )


def trees_of_tree(tree: Tree, values: Floats) -> Trees:
    """Return a single tree; values, float64 [n_leaves, width], are what its leaves say."""
    is_leaf = tree.is_leaf
    return Trees(
        np.array([0, tree.n_nodes]),
        np.where(is_leaf, 0, tree.right).astype(np.int64),
        tree.feature.astype(np.int64),
        tree.threshold,
        tree.missing_left,
        tree.category_start,
        tree.category_words,
        values,
    )


def constants(n_trees: int) -> Trees:
    """Return trees of one leaf that say 0: a model of no trees needs some."""
    none, nothing = np.zeros(n_trees, np.int64), np.full(n_trees, np.nan)
    said, words = np.zeros((n_trees, 1)), np.zeros(0, np.uint64)
    return Trees(np.arange(n_trees + 1), none, none - 1, nothing, none > 0, none - 1, words, said)


def proportions(thicket: Thicket) -> Floats:
    """Return the share of each class in each leaf, as kernels.ballots.Proportions has it."""
    leaves = thicket.nodes[thicket.nodes.feature < 0]
    is_mixed = leaves.link < 0
    values = np.zeros((len(leaves), thicket.extra.shape[1]))
    pure = np.flatnonzero(~is_mixed)
    values[pure, leaves.link[pure]] = 1.0
    rows = thicket.extra[-1 - leaves.link[is_mixed]]
    values[is_mixed] = rows / leaves.steps[is_mixed][:, None]
    return values


def votes(thicket: Thicket) -> Floats:
    """Return 1 for the most frequent class of each leaf, of equals the first."""
    leaves = thicket.nodes[thicket.nodes.feature < 0]
    is_mixed, chosen = leaves.link < 0, leaves.link.astype(np.int64)
    chosen[is_mixed] = np.argmax(thicket.extra[-1 - leaves.link[is_mixed]], axis=1)
    return np.asarray(np.eye(thicket.extra.shape[1])[chosen])


def means(thicket: Thicket, n_outputs: int) -> Floats:
    """Return the numbers that each leaf says."""
    leaves = thicket.nodes[thicket.nodes.feature < 0]
    return np.asarray(thicket.extra[leaves.link, 1 : 1 + n_outputs], np.float64)


def singles(thickets: Sequence[Thicket]) -> Iterable[Thicket]:
    """Yield packed trees one by one."""
    for thicket in thickets:
        for number in range(len(thicket.first) - 1):
            yield some_trees(thicket, number, number + 1)


def trees_of_packed(thicket: Thicket, values: Floats) -> Trees:
    """Return one packed tree; values, float64 [n_leaves, width], are what its leaves say."""
    nodes, about = thicket.nodes, np.asarray(thicket.nodes.feature).astype(np.int64)
    is_leaf = about < 0
    by_category = ~is_leaf & ((about & BY_CATEGORY) != 0)
    flags: NDArray[np.bool_] = ~is_leaf & ((about & MISSING_LEFT) != 0)
    return Trees(
        np.array([0, len(nodes)]),
        np.where(is_leaf, 0, nodes.link).astype(np.int64),
        np.where(is_leaf, -1, about & FEATURE),
        np.where(is_leaf | by_category, np.nan, nodes.number),
        flags,
        np.where(by_category, nodes.steps, -1),
        np.asarray(thicket.words),
        values,
    )
