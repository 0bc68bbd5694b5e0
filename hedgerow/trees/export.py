"""A tree for readers and programs: text, Graphviz, JSON and HTML."""

import html
import json
import math
from typing import Any

import numpy as np

from hedgerow.trees.labels import (
    HIDDEN_COLOUR,
    PALETTE,
    Line,
    TreeNames,
    answer,
    colours,
    one_line,
    outline,
    percent,
    question,
    rows,
    shares,
)
from hedgerow.trees.tree import LEAF, Tree

__all__ = ["TreeNames", "export_dot", "export_html", "export_json", "export_text"]

_DEEPEST_INDENT = 40  # deeper lines say their depth instead: indents add up to a square


def export_text(
    tree: Tree,
    names: TreeNames,
    *,
    max_depth: int | None = None,
    decimals: int = 3,
    max_categories: int = 8,
) -> str:
    """Draw a tree with characters, a node a line.

    Parameters
    ----------
    tree : Tree
    names : TreeNames
    max_depth : int or None, default=None
        Splits at this depth are shown without what is below them; None shows all.
    decimals : int, default=3
        Digits behind the decimal point.
    max_categories : int, default=8
        How many categories of a set are listed before "... 12 more".

    Returns
    -------
    str
        Each line has what holds in the node, its rows, and what it predicts: after an arrow
        in a leaf, in parentheses elsewhere.
    """
    guides: list[str] = []  # of the nodes above: is there another branch to come?
    text = []
    for line in outline(tree, max_depth):
        said = f"{rows(tree, line.node)}{_reply(tree, names, line, decimals)}"
        if line.depth > 0:
            asked = question(tree, names, line.parent, decimals, max_categories)
            said = f"{_indent(guides, line)}{asked.side(line.is_left)}: {said}"
            guides[line.depth - 1 :] = ["|   " if line.is_left else "    "]
        text.append(said)
    return "\n".join(text)


def export_dot(
    tree: Tree,
    names: TreeNames,
    *,
    max_depth: int | None = None,
    decimals: int = 3,
    max_categories: int = 8,
) -> str:
    """Write a tree in the language of Graphviz: `dot -Tsvg tree.dot -o tree.svg`.

    Parameters are those of `export_text`.
    """
    fill = colours(tree, names)
    text = [
        "digraph tree {",
        '  node [shape=box, style="filled,rounded", fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    for line in outline(tree, max_depth):
        node, colour = line.node, fill[line.node]
        said = [rows(tree, node), answer(tree, names, node, decimals)]
        if line.n_hidden_leaves:
            said.append(f"... {line.n_hidden_leaves:,} leaves")
            colour = HIDDEN_COLOUR
        elif tree.left[node] != LEAF:
            said.insert(0, str(question(tree, names, node, decimals, max_categories)))
        label = "\\n".join(map(_dot_escaped, said))
        text.append(f'  {node} [label="{label}", fillcolor="{colour}"];')
        if line.depth > 0:
            asked = question(tree, names, line.parent, decimals, max_categories)
            text.append(f'  {line.parent} -> {node} [label="{asked.edge(line.is_left)}"];')
    return "\n".join([*text, "}", ""])


def export_json(tree: Tree, names: TreeNames, *, indent: int | None = None) -> str:
    """Write everything that is known of a tree as strict JSON (RFC 8259).

    Parameters
    ----------
    tree : Tree
    names : TreeNames
    indent : int or None, default=None
        Spaces per level; None writes one line.

    Returns
    -------
    str
        An object with the names and a flat list `nodes`, in preorder. Numbers are written so
        that reading gives the same bits; an infinite one is the string "inf" or "-inf".
        What a node does not have (the children of a leaf, the threshold of a set) is null.
        `left_categories` are positions in `categories[feature]`.
    """
    document = {
        "features": list(map(str, names.features)),
        "categories": [known and [_plain(c) for c in known] for known in names.categories],
        "classes": names.classes and [_plain(c) for c in names.classes],
        "outputs": list(map(str, names.outputs)),
        "nodes": [_node_record(tree, node) for node in range(tree.n_nodes)],
    }
    return json.dumps(document, allow_nan=False, ensure_ascii=True, indent=indent)


def export_html(
    tree: Tree,
    names: TreeNames,
    *,
    max_depth: int | None = 4,
    decimals: int = 3,
    max_categories: int = 8,
) -> str:
    """Write a tree as a piece of HTML whose branches open and close.

    Parameters are those of `export_text`. The piece needs no script and no other file. A
    bar shows the class proportions, or where the value lies between the tree's extremes.
    """
    share = shares(tree.value[:, 0])
    text = [f'<div class="hedgerow-tree"><style>{_STYLE}</style>{_legend(names)}']
    open_depths: list[int] = []
    for line in outline(tree, max_depth):
        while open_depths and open_depths[-1] >= line.depth:
            open_depths.pop()
            text.append("</details>")
        said = f"{rows(tree, line.node)}{_reply(tree, names, line, decimals)}"
        if line.depth > 0:
            asked = question(tree, names, line.parent, decimals, max_categories)
            said = f"{asked.side(line.is_left)}: {said}"
        said = _bar(tree, names, line.node, float(share[line.node])) + html.escape(said)
        if tree.left[line.node] == LEAF or line.n_hidden_leaves:
            text.append(f"<div>{said}</div>")
        else:
            is_open = " open" if line.depth < 2 else ""
            text.append(f"<details{is_open}><summary>{said}</summary>")
            open_depths.append(line.depth)
    return "\n".join([*text, "</details>" * len(open_depths) + "</div>"])


_STYLE = """
.hedgerow-tree {font: 13px/1.7 system-ui, sans-serif}
.hedgerow-tree details, .hedgerow-tree details > div {margin-left: 1.2em}
.hedgerow-tree > details {margin-left: 0}
.hedgerow-tree details > div {padding-left: 1.1em}
.hedgerow-tree summary {cursor: pointer}
.hedgerow-tree .bar {display: inline-flex; width: 6em; height: .7em; margin-right: .7em;
  background: #8883; border-radius: 2px; overflow: hidden; vertical-align: middle}
.hedgerow-tree .key {display: inline-block; width: .8em; height: .8em; margin: 0 .4em 0 1em}
"""


def _indent(guides: list[str], line: Line) -> str:
    fork = "|-- " if line.is_left else "`-- "
    if line.depth > _DEEPEST_INDENT:
        return "".join(guides[:_DEEPEST_INDENT]) + f"{fork}[depth {line.depth}] "
    return "".join(guides[: line.depth - 1]) + fork


def _reply(tree: Tree, names: TreeNames, line: Line, decimals: int) -> str:
    said = answer(tree, names, line.node, decimals)
    if tree.left[line.node] == LEAF:
        return f" -> {said}"
    if line.n_hidden_leaves:
        return f" ({said}) ... {line.n_hidden_leaves:,} leaves"
    return f" ({said})"


def _dot_escaped(text: str) -> str:
    """Escape for a quoted label, where Graphviz also reads HTML entities."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def _node_record(tree: Tree, node: int) -> dict[str, Any]:
    is_leaf = tree.left[node] == LEAF
    is_set = tree.category_start[node] >= 0
    return {
        "node": node,
        "left": None if is_leaf else int(tree.left[node]),
        "right": None if is_leaf else int(tree.right[node]),
        "feature": None if is_leaf else int(tree.feature[node]),
        "threshold": None if is_leaf or is_set else _plain(tree.threshold[node]),
        "left_categories": tree.left_categories(node).tolist() if is_set else None,
        "missing_left": None if is_leaf else bool(tree.missing_left[node]),
        "value": [_plain(value) for value in tree.value[node]],
        "impurity": _plain(tree.impurity[node]),
        "n_rows": int(tree.n_rows[node]),
        "weight": _plain(tree.weight[node]),
    }


def _plain(value: object) -> str | int | float | bool | None:
    """Turn a number or a name into what JSON knows; text for what it does not."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _bar(tree: Tree, names: TreeNames, node: int, share: float) -> str:
    if names.classes is None:
        parts = [f'<span style="width:{100 * share:.1f}%;background:{PALETTE[0]}"></span>']
    else:
        parts = [
            f'<span style="width:{100 * value:.1f}%;background:{PALETTE[k % len(PALETTE)]}" '
            f'title="{html.escape(f"{one_line(name)} {percent(value, 3)}")}"></span>'
            for k, (name, value) in enumerate(zip(names.classes, tree.value[node], strict=True))
            if value > 0
        ]
    return f'<span class="bar">{"".join(parts)}</span>'


def _legend(names: TreeNames) -> str:
    if names.classes is None or len(names.classes) > len(PALETTE):
        return ""
    keys = [
        f'<span class="key" style="background:{colour}"></span>{html.escape(one_line(name))}'
        for name, colour in zip(names.classes, PALETTE, strict=False)
    ]
    return f"<div>{''.join(keys)}</div>"
