"""Trees that were fitted one by one, each to a sample: bagging and AdaBoost of such trees.

Each knows only the columns and categories that it was given. Here their sets of categories are
written in the codes of all: a category that a tree has not seen goes its way of missing values.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.values import order
from hedgerow.export.outline import Feature, Floats, Outline, Trees
from hedgerow.export.packed_trees import joined, trees_of_tree


class Member(NamedTuple):
    """A fitted tree, the columns that it was given (None: all), and what its leaves say."""

    tree: Any
    columns: NDArray[np.int64] | None
    values: Floats


def together(
    members: Sequence[Member], names: Sequence[str] | None, n_features: int
) -> tuple[tuple[Feature, ...], Trees]:
    """Return the columns of all trees, and the trees with their codes."""
    found: list[set[Any] | None] = [None] * n_features
    for member in members:
        for column, own in zip(_columns(member), member.tree._schema.categories, strict=True):
            if own is not None:
                found[column] = (found[column] or set()) | set(own)
    shown = names or [f"x{feature}" for feature in range(n_features)]
    features = tuple(
        Feature(name, None if own is None else tuple(sorted(own, key=order)))
        for name, own in zip(shown, found, strict=True)
    )
    return features, joined(_moved(member, features) for member in members)


def demand_no_errors(outline: Outline) -> None:
    """Raise if trees refuse categories that others may have seen."""
    if outline.unseen == "error" and outline.has_categories:
        raise ValueError(
            f"The trees of this {outline.kind} have unseen='error', and each has seen the "
            "categories of its own sample only. Fit with unseen='missing' in the estimator."
        )


def _columns(member: Member) -> NDArray[np.int64]:
    return np.arange(member.tree.n_features_in_) if member.columns is None else member.columns


def _moved(member: Member, features: tuple[Feature, ...]) -> Trees:
    """Return a tree with the columns and codes of all."""
    trees, columns = trees_of_tree(member.tree._tree, member.values), _columns(member)
    words: list[NDArray[np.uint64]] = []
    starts, n_words = np.full(len(trees.feature), -1), 0
    for node in np.flatnonzero(trees.category_start >= 0).tolist():
        own = member.tree._schema.categories[trees.feature[node]]
        left = {own[code] for code in trees.left_codes(node, len(own)).tolist()}
        every = features[columns[trees.feature[node]]].categories or ()
        if trees.missing_left[node]:
            left |= set(every) - set(own)
        words.append(_bits(np.array([name in left for name in every])))
        starts[node], n_words = n_words, n_words + len(words[-1])
    return trees._replace(
        feature=np.where(trees.is_leaf, -1, columns[trees.feature]),
        category_start=starts,
        category_words=np.concatenate([np.zeros(0, np.uint64), *words]),
    )


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return flags as words of 64 bits, the first flag the lowest bit."""
    padded = np.zeros(-(-len(flags) // 64) * 64, np.bool_)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)
