"""A picture of one tree: boxes for nodes, lines for branches.

Leaves are evenly spaced and a split stands over the middle of its branches. The text decides
how much room the tree needs; then the figure is made that large, or all is made smaller.
Lengths are inches at the font size of `_POINTS`; `y` grows downwards until it is drawn.
"""

import itertools
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hedgerow.plot.needs import demand_matplotlib
from hedgerow.trees.labels import (
    HIDDEN_COLOUR,
    Line,
    Question,
    TreeNames,
    answer,
    colours,
    outline,
    question,
    rows,
)
from hedgerow.trees.tree import LEAF, Tree

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_POINTS = 9.0
_PADDING = 0.4  # of a box around its text, in font sizes
_GAP = 0.14  # between neighbours
_RISE = 0.62  # between the levels: room for the words on the branches
_LARGEST = 60.0  # side of a figure
_MAX_CATEGORIES = 4
_PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}  # a "$" in a name is a "$"


class _Box(NamedTuple):
    """A node: its words, the middle of its upper edge, its size."""

    line: Line
    words: str
    x: float
    y: float
    width: float
    height: float


class _Branch(NamedTuple):
    """A line between two boxes and the words on it."""

    parent: _Box
    child: _Box
    words: str

    @property
    def middle(self) -> tuple[float, float]:
        """Where the words are: nearer to the child, where branches are further apart."""
        bottom = self.parent.y + self.parent.height
        y = self.child.y - 0.42 * _RISE
        share = (self.child.y - y) / (self.child.y - bottom)
        return self.child.x + share * (self.parent.x - self.child.x), y


def draw_tree(
    tree: Tree,
    names: TreeNames,
    *,
    max_depth: int | None = 4,
    ax: "Axes | None" = None,
    decimals: int = 2,
    fontsize: float | None = None,
) -> "list[Artist]":
    """Draw a tree with matplotlib.

    Parameters
    ----------
    tree : Tree
    names : TreeNames
    max_depth : int or None, default=4
        Branches below this depth are drawn as one grey box; None draws all.
    ax : matplotlib Axes or None, default=None
        Where to draw. None makes a new figure of the size that the tree needs.
    decimals : int, default=2
        Digits behind the decimal point.
    fontsize : float or None, default=None
        Points. None takes 9 in a new figure, and in `ax` what it has room for.

    Returns
    -------
    list of Artist
        The boxes, a `Text` per node in preorder; then a `Line2D` and a `Text` per branch.
    """
    demand_matplotlib("a tree")
    boxes, branches = _laid_out(tree, names, max_depth, decimals)
    width = max(box.x + box.width / 2 for box in boxes) + _GAP
    height = max(box.y + box.height for box in boxes) + _GAP
    if ax is None:
        ax = _new_axes(width, height, fontsize)
    points, fill = _POINTS * _scaled(ax, width, height, fontsize), colours(tree, names)
    artists = [_drawn_box(ax, box, fill[box.line.node], points) for box in boxes]
    for branch in branches:
        artists += _drawn_branch(ax, branch, points)
    return artists


def _scaled(ax: "Axes", width: float, height: float, fontsize: float | None) -> float:
    """Give the axes our coordinates, with the tree in the middle; return the scale."""
    room = ax.get_window_extent()
    room_width, room_height = room.width / ax.figure.dpi, room.height / ax.figure.dpi
    fit = min(room_width / width, room_height / height, 1.4)
    scale = fit if fontsize is None else fontsize / _POINTS
    x_reach, y_reach = room_width / scale / 2, room_height / scale / 2
    ax.set_axis_off()
    ax.set_xlim(width / 2 - x_reach, width / 2 + x_reach)
    ax.set_ylim(height / 2 + y_reach, height / 2 - y_reach)
    return scale


def _new_axes(width: float, height: float, fontsize: float | None) -> "Axes":
    import matplotlib.pyplot as plt  # noqa: PLC0415  (optional)

    scale = (fontsize or _POINTS) / _POINTS
    scale = min(scale, _LARGEST / width, _LARGEST / height)
    return plt.figure(figsize=(scale * width, scale * height)).add_axes((0.0, 0.0, 1.0, 1.0))


# ---------------------------------------------------------------- words


def _box_words(tree: Tree, names: TreeNames, line: Line, decimals: int) -> str:
    said = [rows(tree, line.node), answer(tree, names, line.node, decimals)]
    if line.n_hidden_leaves:
        said.insert(0, f"… {line.n_hidden_leaves:,} leaves")
    elif tree.left[line.node] != LEAF:
        said.insert(0, _asked(question(tree, names, line.node, decimals, _MAX_CATEGORIES)))
        return _wrapped(said, 26)
    return _wrapped(said, 18)


def _wrapped(paragraphs: Sequence[str], width: int) -> str:
    """Break long paragraphs between words, or after an underscore."""
    wrapper = textwrap.TextWrapper(width)
    wrapper.wordsep_re = re.compile(r"( +|[^ _]*_+)")
    return "\n".join(line for text in paragraphs for line in wrapper.wrap(text))


def _asked(asked: Question) -> str:
    """Write a question with spaces that do not break where a line should not end."""
    if asked.left.startswith("<= "):
        return f"{asked.feature} ≤\N{NO-BREAK SPACE}{asked.left[3:]}"
    few = re.sub(r"\.\.\. (\d+) more", "...\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}more", asked.left)
    return f"{asked.feature} {few}"


# ---------------------------------------------------------------- layout


def _laid_out(
    tree: Tree, names: TreeNames, max_depth: int | None, decimals: int
) -> tuple[list[_Box], list[_Branch]]:
    """Place the boxes as close as their words, and those on the branches, allow."""
    lines = outline(tree, max_depth)
    words = [_box_words(tree, names, line, decimals) for line in lines]
    sizes = _sizes(words, padding=_PADDING)
    tops = _tops(lines, [height for _, height in sizes])
    boxes = [
        _Box(line, text, slot, tops[line.depth], *size)
        for line, text, slot, size in zip(lines, words, _slots(lines), sizes, strict=True)
    ]
    branches = _branches(tree, names, boxes)
    written = _sizes([branch.words for branch in branches], padding=0.0)
    column = _column(
        [(2 * box.line.depth, box.x, box.width) for box in boxes]
        + [
            (2 * branch.child.line.depth - 1, branch.middle[0], width)
            for branch, (width, _) in zip(branches, written, strict=True)
        ]
    )
    margin = max(box.width / 2 - column * box.x for box in boxes) + _GAP
    boxes = [box._replace(x=margin + column * box.x) for box in boxes]
    return boxes, _branches(tree, names, boxes)


def _branches(tree: Tree, names: TreeNames, boxes: Sequence[_Box]) -> list[_Branch]:
    of_node = {box.line.node: box for box in boxes}
    branches = []
    for box in boxes[1:]:
        asked = question(tree, names, box.line.parent, 0, 0)
        words = asked.edge(box.line.is_left).replace(" or ", "\nor ")
        branches.append(_Branch(of_node[box.line.parent], box, words))
    return branches


def _slots(lines: Sequence[Line]) -> list[float]:
    """Count the boxes without branches from left to right; put a split amid its branches."""
    splits = {line.parent for line in lines}
    slot = {line.node: 0.0 for line in lines}
    for number, line in enumerate(line for line in lines if line.node not in splits):
        slot[line.node] = float(number)
    for line in reversed(lines[1:]):  # children before their parents
        slot[line.parent] += slot[line.node] / 2
    return list(slot.values())


def _column(things: Sequence[tuple[int, float, float]]) -> float:
    """Find the least width of a slot such that things (level, slot, width) have a gap."""
    column = 0.0
    for one, other in itertools.pairwise(sorted(things)):
        if one[0] == other[0]:
            column = max(column, ((one[2] + other[2]) / 2 + _GAP) / (other[1] - one[1]))
    return column


def _tops(lines: Sequence[Line], heights: Sequence[float]) -> list[float]:
    """Where each level starts: below the highest box of the one before."""
    highest = [0.0] * (1 + max(line.depth for line in lines))
    for line, height in zip(lines, heights, strict=True):
        highest[line.depth] = max(highest[line.depth], height)
    tops = [_GAP]
    for height in highest[:-1]:
        tops.append(tops[-1] + height + _RISE)
    return tops


# ---------------------------------------------------------------- matplotlib


def _sizes(texts: Sequence[str], padding: float) -> list[tuple[float, float]]:
    """Measure texts with a padding of so many font sizes: width and height."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  (optional)
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(dpi=100)
    FigureCanvasAgg(figure)  # lends the figure its renderer
    sizes = []
    for text in texts:
        artist = figure.text(0, 0, text, fontsize=_POINTS, **_PLAIN)
        extent = artist.get_window_extent()
        frame = 2 * padding * _POINTS / 72
        sizes.append((extent.width / figure.dpi + frame, extent.height / figure.dpi + frame))
    return sizes


def _drawn_box(ax: "Axes", box: _Box, colour: str, fontsize: float) -> "Artist":
    style = {
        "boxstyle": f"round,pad={_PADDING},rounding_size=0.3",
        "facecolor": HIDDEN_COLOUR if box.line.n_hidden_leaves else colour,
        "edgecolor": "#555555",
        "linewidth": 0.08 * fontsize,
    }
    place: dict[str, Any] = {"ha": "center", "va": "top", "bbox": style, "zorder": 3}
    top = box.y + _PADDING * _POINTS / 72
    return ax.text(box.x, top, box.words, fontsize=fontsize, color="black", **place, **_PLAIN)


def _drawn_branch(ax: "Axes", branch: _Branch, fontsize: float) -> "list[Artist]":
    parent, child, words = branch
    ends = (parent.x, child.x), (parent.y + parent.height, child.y)
    line = ax.plot(*ends, color="#888888", linewidth=0.12 * fontsize, zorder=1)
    style = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    place: dict[str, Any] = {"ha": "center", "va": "center", "bbox": style, "zorder": 2}
    place |= {"fontsize": 0.9 * fontsize, "color": "#444444"}
    x, y = branch.middle
    return [*line, ax.text(x, y, words, **place, **_PLAIN)]
