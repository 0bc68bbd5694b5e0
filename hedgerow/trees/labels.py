"""What a node says to a reader: its question, its rows, its answer and its colour.

Text, Graphviz, HTML and pictures share these words; escaping is left to them.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.trees.tree import LEAF, Tree

# Colour-blind readers can tell these apart; after Okabe and Ito (2008). Classes beyond repeat.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a100", "#7f7f7f")
HIDDEN_COLOUR = "#dddddd"


class TreeNames(NamedTuple):
    """The words behind a tree's numbers.

    Attributes
    ----------
    features : tuple of str
        One per feature.
    categories : tuple of (tuple or None)
        One per feature: the category of each code; None if the feature is numeric.
    classes : tuple or None
        One per column of `Tree.value`; None in a regression.
    outputs : tuple of str
        One per column of `Tree.value` in a regression; may be empty.
    has_missing : tuple of bool, or None
        One per feature: whether to say where missing values go. None: say it always.
    """

    features: tuple[str, ...]
    categories: tuple[tuple[object, ...] | None, ...]
    classes: tuple[object, ...] | None = None
    outputs: tuple[str, ...] = ()
    has_missing: tuple[bool, ...] | None = None


class Question(NamedTuple):
    """What a split asks, in words.

    Attributes
    ----------
    feature : str
    left, right : str
        What holds on that side, as "<= 2.5" or "in {a, b}".
    missing : bool or None
        Whether missing values go left; None where it need not be said.
    """

    feature: str
    left: str
    right: str
    missing: bool | None

    def __str__(self) -> str:
        return f"{self.feature} {self.left}"

    def side(self, is_left: bool) -> str:
        """Say what the rows of one side have in common."""
        words = f"{self.feature} {self.left if is_left else self.right}"
        return f"{words} or missing" if self.missing is is_left else words

    def edge(self, is_left: bool) -> str:
        """Say how the question was answered on one side."""
        words = "yes" if is_left else "no"
        return f"{words} or missing" if self.missing is is_left else words


class Line(NamedTuple):
    """A node that is shown, and what is not shown below it."""

    node: int
    parent: int
    depth: int
    is_left: bool
    n_hidden_leaves: int  # 0 unless a split is shown without its branches


def outline(tree: Tree, max_depth: int | None) -> list[Line]:
    """List the nodes down to a depth (None: all), in preorder."""
    n_leaves = np.where(tree.is_leaf, 1, 0).tolist()
    left, right = tree.left.tolist(), tree.right.tolist()
    for node in reversed(range(tree.n_nodes)):
        if left[node] != LEAF:
            n_leaves[node] = n_leaves[left[node]] + n_leaves[right[node]]
    lines: list[Line] = []
    waiting = [(0, LEAF, 0, False)]
    while waiting:
        node, parent, depth, is_left = waiting.pop()
        hides = left[node] != LEAF and depth == max_depth
        lines.append(Line(node, parent, depth, is_left, n_leaves[node] if hides else 0))
        if left[node] != LEAF and not hides:
            waiting.append((right[node], node, depth + 1, False))
            waiting.append((left[node], node, depth + 1, True))
    return lines


def question(
    tree: Tree, names: TreeNames, node: int, decimals: int, max_categories: int
) -> Question:
    """Put a split into words."""
    feature = int(tree.feature[node])
    missing_left = bool(tree.missing_left[node])
    says_missing = names.has_missing is None or names.has_missing[feature]
    name = one_line(names.features[feature])
    missing = missing_left if says_missing else None
    if tree.category_start[node] >= 0:
        words = _set_words(tree, names, node, max_categories)
        return Question(name, f"in {words}", f"not in {words}", missing)
    threshold = float(tree.threshold[node])
    if threshold == (-math.inf if missing_left else math.inf):  # apart from infinite values
        sides = ("is not missing", "is missing")
        return Question(name, sides[missing_left], sides[not missing_left], None)
    words = number(threshold, decimals)
    return Question(name, f"<= {words}", f"> {words}", missing)


def answer(tree: Tree, names: TreeNames, node: int, decimals: int) -> str:
    """Say what a node predicts: its commonest class and proportion, or its values."""
    value = tree.value[node]
    if names.classes is not None:
        best = int(np.argmax(value))
        return f"{one_line(names.classes[best])} {percent(value[best], decimals)}"
    values = [number(float(v), decimals) for v in value]
    if not names.outputs:
        return ", ".join(values)
    return ", ".join(f"{one_line(name)} {v}" for name, v in zip(names.outputs, values, strict=True))


def rows(tree: Tree, node: int) -> str:
    """Say how many training rows a node has."""
    n_rows = int(tree.n_rows[node])
    return "1 row" if n_rows == 1 else f"{n_rows:,} rows"


def colours(tree: Tree, names: TreeNames) -> list[str]:
    """Colour every node: hue by class and strength by purity, or strength by value."""
    value = tree.value
    if names.classes is not None:
        chance = 1.0 / max(value.shape[1], 2)
        strength = (value.max(axis=1) - chance) / (1.0 - chance)
        hues = value.argmax(axis=1)
    else:
        strength = shares(value[:, 0])
        hues = np.zeros(len(value), np.int64)
    return [
        _tint(PALETTE[hue % len(PALETTE)], 0.08 + 0.62 * min(max(s, 0.0), 1.0))
        for hue, s in zip(hues.tolist(), strength.tolist(), strict=True)
    ]


def shares(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where each value lies between the smallest (0) and the largest (1)."""
    low, high = float(value.min()), float(value.max())
    if not low < high:
        return np.full(len(value), 0.5)
    return np.asarray(value / (high - low) - low / (high - low))


def number(x: float, decimals: int) -> str:
    """Write a number shortly: fixed decimals, or scientific where these say nothing."""
    if x != 0 and not 10.0**-decimals <= abs(x) < 1e7:
        return f"{x:.{max(decimals, 1)}g}"
    text = f"{x:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float, decimals: int) -> str:
    """Write a proportion with the same relative precision as `number`; only all is 100%."""
    digits = max(decimals - 2, 0)
    most = 100 - 10**-digits
    if share < 1 and round(100 * share, digits) >= 100:
        return f">{most:.{digits}f}%"
    return f"{100 * share:.{digits}f}%"


def one_line(name: object) -> str:
    r"""Write a name on one line: what is not printable appears as an escape such as \n."""
    return "".join(c if c.isprintable() else _escape(c) for c in str(name))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _set_words(tree: Tree, names: TreeNames, node: int, max_categories: int) -> str:
    known = names.categories[tree.feature[node]]
    assert known is not None, f"feature {tree.feature[node]} is categorical: name its categories"
    members = [one_line(known[code]) for code in tree.left_categories(node)]
    if len(members) > max_categories:
        members[max_categories:] = [f"... {len(members) - max_categories} more"]
    return "{" + ", ".join(members) + "}"


def _tint(colour: str, strength: float) -> str:
    """Mix a colour with white: strength 0 is white, 1 the colour."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * strength):02x}" for part in parts)
