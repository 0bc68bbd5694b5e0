"""Growing a tree by its definition, one leaf after another."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.oracle.random import mixed, uniform
from tests.oracle.split import Data, Limits, Split, best_split, sums_of, whole_bins


class Rules(NamedTuple):
    """When to stop; None is no limit. Weights and gains are in whole steps."""

    max_leaves: int | None = None
    max_depth: int | None = None
    min_split_rows: int = 2
    min_rows: int = 1
    min_weight: int = 1
    min_gain: float = float("-inf")
    keep_gain: float = float("-inf")
    n_tree_features: int | None = None
    n_level_features: int | None = None
    n_candidates: int | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    random_cut: bool = False
    by_lot: bool = False
    seed: int = 0
    level_by_level: bool = False


@dataclass
class Node:
    """A node of the growing tree: its rows, and its split once it has one."""

    rows: list[int]
    depth: int
    bits: int
    above: frozenset[int] = frozenset()  # features on the way to it
    bounds: tuple[float, float] = (float("-inf"), float("inf"))
    split: Split | None = None
    children: list[int] = field(default_factory=list)
    finer: Data | None = None  # with the codes of small nodes, once it is below one


class Grown(NamedTuple):
    """A tree in preorder, as lists; `left` and `right` are -1 in a leaf."""

    left: list[int]
    right: list[int]
    splits: list[Split | None]
    rows: list[list[int]]
    sums: list[tuple[int, ...]]


def grow(
    data: Data,
    labels: Sequence[Hashable],
    rules: Rules,
    rows: Sequence[int] | None = None,
    refined: Callable[[Sequence[int]], Data | None] = lambda _: None,
) -> Grown:
    """Grow a tree from all rows, or from some. Rows of equal `labels` need no further split.

    refined: returns the data of a small node with finer bins, None of a large one.

    With a limit on leaves the leaf of the highest gain (or the oldest) is split next, of
    equal gains the one that was made first; a left child is made before its sibling.
    """
    everyone = list(range(len(labels))) if rows is None else list(rows)
    nodes = [Node(everyone, 0, mixed(rules.seed, 0), finer=refined(everyone))]
    found = {0: _split_of(nodes[0].finer or data, labels, rules, nodes[0])}
    n_leaves = 1
    while rules.max_leaves is None or n_leaves < rules.max_leaves:
        ready = {number: split for number, split in found.items() if split is not None}
        if not ready:
            break
        if rules.level_by_level or rules.max_leaves is None:
            number = min(ready)
        else:
            number = min(ready, key=lambda number: (-ready[number].gain, number))
        node, split = nodes[number], found.pop(number)
        node.split = whole_bins(node.finer or data, split)
        for side in (0, 1):
            part = [row for row in node.rows if (row in split.left) == (side == 0)]
            child = Node(part, node.depth + 1, mixed(node.bits, 1 + side))
            child.above = node.above | {split.feature}
            child.bounds = _bounds(data, node, split, side)
            child.finer = node.finer or refined(part)
            node.children.append(len(nodes))
            found[len(nodes)] = _split_of(child.finer or data, labels, rules, child)
            nodes.append(child)
        n_leaves += 1
    _trim(nodes, 0, rules.keep_gain)
    return _in_preorder(data, nodes)


def _bounds(data: Data, node: Node, split: Split, side: int) -> tuple[float, float]:
    """Return between what the values of a child must be, if some features are monotone."""
    if not hasattr(data.criterion, "middle"):
        return node.bounds
    right = [row for row in node.rows if row not in split.left]
    sums = sums_of(data, split.left), sums_of(data, right)
    middle, sign = data.criterion.middle(node.bounds, *sums), data.criterion.signs[split.feature]
    if sign == 0:
        return node.bounds
    below = (side == 0) == (sign > 0)
    return (node.bounds[0], middle) if below else (middle, node.bounds[1])


def _trim(nodes: Sequence[Node], number: int, least: float) -> None:
    """Take away the splits below a node, and then its own, that gain too little."""
    node = nodes[number]
    for child in node.children:
        _trim(nodes, child, least)
    if node.split and node.split.gain < least and not any(nodes[n].split for n in node.children):
        node.split, node.children = None, []


def _split_of(data: Data, labels: Sequence[Hashable], rules: Rules, node: Node) -> Split | None:
    """Return the split that a leaf would have, None if it must stay a leaf."""
    too_small = (
        len(node.rows) < max(rules.min_split_rows, 2, 2 * rules.min_rows)
        or data.criterion.mass(sums_of(data, node.rows)) < 2 * rules.min_weight
    )
    too_deep = rules.max_depth is not None and node.depth >= rules.max_depth
    if too_small or too_deep or len({labels[row] for row in node.rows}) < 2:
        return None
    limits = Limits(rules.min_rows, rules.min_weight, rules.random_cut, rules.by_lot)
    candidates = _candidates(data, rules, node)
    if hasattr(data.criterion, "within"):
        data = data._replace(criterion=data.criterion.within(*node.bounds))
    split = best_split(data, node.rows, candidates, limits, node.bits)
    return None if split is None or split.gain < rules.min_gain else split


def _candidates(data: Data, rules: Rules, node: Node) -> list[int]:
    """Return the features that the node may try: all, or some, that are not constant in it.

    Some are drawn from all on offer, constant or not. Only if all of these are constant,
    others follow in the order of further draws, until one is not.
    """
    features = list(range(len(data.features)))
    own = _drawn(features, rules.n_tree_features, mixed(rules.seed, -1))
    level = _drawn(own, rules.n_level_features, mixed(rules.seed, -2 - node.depth))
    offered = [
        number
        for number in sorted(level)
        if not rules.groups or any(node.above | {number} <= set(g) for g in rules.groups)
    ]
    varying = [
        number
        for number in offered
        if len({data.features[number].codes[row] for row in node.rows}) > 1
    ]
    if rules.n_candidates is None or rules.n_candidates >= len(offered):
        return varying
    drawn = _sample(offered, rules.n_candidates, mixed(node.bits, -1))
    others = [number for number in varying if number not in drawn]
    found = [number for number in varying if number in drawn]
    return found or _drawn(others, 1, mixed(node.bits, -2))


def _sample(offered: list[int], n_wanted: int, bits: int) -> set[int]:
    """Draw a set of features, each set as likely as any other: Bentley and Floyd (1987)."""
    drawn: set[int] = set()
    for last in range(len(offered) - n_wanted, len(offered)):
        number = offered[int(uniform(mixed(bits, last)) * (last + 1))]
        drawn.add(offered[last] if number in drawn else number)
    return drawn


def _drawn(features: list[int], n_wanted: int | None, bits: int) -> list[int]:
    """Return the features of the highest draws."""
    ranked = sorted(features, key=lambda number: (-uniform(mixed(bits, number)), -number))
    return ranked[:n_wanted]


def _in_preorder(data: Data, nodes: Sequence[Node]) -> Grown:
    order, waiting = [], [0]
    while waiting:
        number = waiting.pop()
        order.append(number)
        waiting += reversed(nodes[number].children)
    place = {number: position for position, number in enumerate(order)}
    listed = [nodes[number] for number in order]
    return Grown(
        left=[place[node.children[0]] if node.children else -1 for node in listed],
        right=[place[node.children[1]] if node.children else -1 for node in listed],
        splits=[node.split for node in listed],
        rows=[node.rows for node in listed],
        sums=[sums_of(data, node.rows) for node in listed],
    )
