"""Cost-complexity pruning by its definition: try every subtree.

A tree is (left, right, risk): lists, -1 for the children of a leaf, and the risk of every
node made a leaf, as exact fractions. A subtree is the frozenset of its leaves.
"""

from collections.abc import Iterator
from fractions import Fraction


def subtrees(left: list[int], right: list[int], node: int = 0) -> Iterator[frozenset[int]]:
    """Every way to cut the branch below a node."""
    yield frozenset([node])
    if left[node] != -1:
        for one in subtrees(left, right, left[node]):
            for other in subtrees(left, right, right[node]):
                yield one | other


def smallest_minimiser(
    left: list[int], right: list[int], risk: list[Fraction], alpha: Fraction
) -> frozenset[int]:
    """Of the subtrees of least cost, the one with the fewest leaves."""
    return min(
        subtrees(left, right),
        key=lambda leaves: (sum(risk[leaf] for leaf in leaves) + alpha * len(leaves), len(leaves)),
    )


def below(left: list[int], right: list[int], node: int) -> set[int]:
    """Collect the node and all nodes under it."""
    if left[node] == -1:
        return {node}
    return {node} | below(left, right, left[node]) | below(left, right, right[node])


def path(
    left: list[int], right: list[int], risk: list[Fraction]
) -> list[tuple[Fraction, Fraction, int]]:
    """Collapse the weakest link, the first of equals, until the root is left.

    Returns (alpha, total risk of the leaves, number of leaves) before and after every step.
    """
    leaves = {node for node in range(len(left)) if left[node] == -1}
    steps = [(Fraction(0), sum((risk[leaf] for leaf in leaves), Fraction(0)), len(leaves))]
    while leaves != {0}:
        weakest: tuple[Fraction, int] | None = None
        for node in range(len(left)):
            lost = below(left, right, node) & leaves
            if len(lost) < 2:  # a leaf, or a node that is gone
                continue
            alpha = (risk[node] - sum(risk[leaf] for leaf in lost)) / (len(lost) - 1)
            if weakest is None or alpha < weakest[0]:
                weakest = alpha, node
        assert weakest is not None
        alpha, node = weakest
        leaves = leaves - below(left, right, node) | {node}
        steps.append((alpha, sum((risk[leaf] for leaf in leaves), Fraction(0)), len(leaves)))
    return steps
