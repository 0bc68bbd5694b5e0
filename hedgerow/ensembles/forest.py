"""Forests: trees grown apart from each other and averaged.

    f(x) = (1 / B) sum over trees b of f_b(x)

Notes 1, bagging, random forests and extremely randomised trees; Breiman (1996, 2001); Geurts,
Ernst and Wehenkel (2006).
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.bags import Bags
from hedgerow.ensembles.following import followed, make_ready
from hedgerow.ensembles.gathering import gathered
from hedgerow.ensembles.scaling import Known
from hedgerow.ensembles.species import Counts, Floats, Species
from hedgerow.kernels.meeting import CANCELLED
from hedgerow.kernels.packed import PACKED, Thicket
from hedgerow.kernels.team import Team
from hedgerow.kernels.walks import add_leaves, find_leaves, walkers_of
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.quantise import Steps
from hedgerow.trees.rules import GrowthRules

_MOST_NODES = 1 << 21  # of trees that are put together, so that no large forest is copied whole
_KNOWN: WeakKeyDictionary["Forest", Known] = WeakKeyDictionary()  # thresholds, see scaling.py


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees, packed.

    Attributes
    ----------
    thickets : tuple of Thicket
        The trees in their order, some in each.
    units : float64 [n_trees]
        What one whole step of weight is worth, in each tree.
    n_categories : int32 [n_features]
    """

    thickets: tuple[Thicket, ...]
    units: Floats
    n_categories: NDArray[np.int32]

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.units)

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return sum(len(each.nodes) for each in self.thickets)

    @property
    def bytes_used(self) -> int:
        """Memory of all trees."""
        return sum(array.nbytes for each in self.thickets for array in each)

    def tree(self, number: int) -> Thicket:
        """Return one tree."""
        for thicket in self.thickets:
            n_trees = len(thicket.first) - 1
            if number < n_trees:
                return some_trees(thicket, number, number + 1)
            number -= n_trees
        raise IndexError(number)

    def first_trees(self, n_trees: int) -> "Forest":
        """Return the forest of the first trees."""
        kept, n_left = [], n_trees
        for thicket in self.thickets:
            n_own = min(n_left, len(thicket.first) - 1)
            if n_own > 0:
                kept.append(some_trees(thicket, 0, n_own))
            n_left -= n_own
        return Forest(tuple(kept), self.units[:n_trees], self.n_categories)

    def then(self, later: "Forest") -> "Forest":
        """Return the forest of these trees and later ones, as if all had been grown at once."""
        kept = len(self.thickets[-1].nodes) >= _MOST_NODES  # then no tree may be added to the last
        whole = self.thickets if kept else self.thickets[:-1]
        rest = self.thickets[len(whole) :] + later.thickets
        trees = [
            some_trees(each, tree, tree + 1) for each in rest for tree in range(len(each.first) - 1)
        ]
        units = np.concatenate([self.units, later.units])
        return Forest((*whole, *thickets_of(trees)), units, self.n_categories)

    def add(self, values: Floats, rows: Counts, way: Any, team: Team, out: Floats) -> None:
        """Add what all trees say of some rows to out, float64 [n_rows, n_values]."""
        known = _KNOWN.setdefault(self, Known())
        if followed((self.thickets, known), values, rows, way, team, out):
            return
        walkers = walkers_of(team.n_threads)
        for thicket in self.thickets:
            team.run(add_leaves, values, rows, thicket, way, walkers, out)

    def make_ready(self, table: BinnedTable, team: Team) -> None:
        """Do ahead what the first prediction of rows as those of a table would wait for."""
        make_ready((self.thickets, _KNOWN.setdefault(self, Known())), table.codes, team)

    def leaves(self, values: Floats, team: Team) -> NDArray[np.int32]:
        """Return the leaf that each row reaches in each tree, int32 [n_rows, n_trees]."""
        leaves = np.empty((len(values), self.n_trees), np.int32)
        walkers = walkers_of(team.n_threads)
        rows, first = np.arange(len(values)), 0
        for thicket in self.thickets:
            end = first + len(thicket.first) - 1
            team.run(find_leaves, values, rows, thicket, walkers, leaves[:, first:end])
            first = end
        return leaves

    def fingerprint(self) -> str:
        """SHA-256 of everything that prediction depends on, and of the leaves' weights."""
        digest = hashlib.sha256(np.ascontiguousarray(self.units).tobytes())
        for thicket in self.thickets:
            for number in range(len(thicket.first) - 1):
                tree = some_trees(thicket, number, number + 1)
                nodes = np.array(tree.nodes)
                nodes["feature"] = np.maximum(nodes["feature"], -1)  # not how many rows
                for array in (nodes.view(np.uint8), tree.words, tree.extra):
                    digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def some_trees(thicket: Thicket, first: int, end: int) -> Thicket:
    """Return some of the trees of a thicket."""
    bounds = thicket.first[first : end + 1]
    (node, word, row), (end_node, end_word, end_row) = bounds[0], bounds[-1]
    return Thicket(
        thicket.nodes[node:end_node],
        thicket.words[word:end_word],
        thicket.extra[row:end_row],
        bounds - bounds[0],
    )


def joined(trees: Sequence[Thicket]) -> Thicket:
    """Put trees together."""
    return taken_together(list(trees))


def taken_together(trees: list[Thicket]) -> Thicket:
    """Put trees together, which are taken from the list one by one: no two copies of all."""
    sizes = np.concatenate([np.diff(each.first, axis=0) for each in trees])
    first = np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(sizes, axis=0)])
    (n_nodes, n_words, n_rows), extra = first[-1], trees[0].extra
    whole = Thicket(
        np.empty(n_nodes, PACKED).view(np.recarray),
        np.empty(n_words, np.uint64),
        np.empty((n_rows, *extra.shape[1:]), extra.dtype),
        first,
    )
    begin = np.zeros(3, np.int64)
    for _ in range(len(trees)):
        tree = trees.pop(0)
        end = begin + tree.first[-1]
        # As bytes: two fields of a node have the same place.
        whole.nodes[begin[0] : end[0]].view(np.uint8)[:] = tree.nodes.view(np.uint8)
        whole.words[begin[1] : end[1]] = tree.words
        whole.extra[begin[2] : end[2]] = tree.extra
        begin = end
    return whole


class Planted(NamedTuple):
    """A tree, packed, and what one step of its weights is worth."""

    tree: Thicket
    unit: float


class Plan(NamedTuple):
    """How the trees of a forest differ.

    bags     the rows of each tree; None: all of them are there
    limits   (number of the tree, total weight of its rows) -> rules of growth, with its seed
    alpha    the cost of a leaf in pruning
    """

    bags: Bags | None
    limits: Callable[[int, float], GrowthRules]
    alpha: float


class Planting:
    """Grows the trees of a forest, one by each thread; the table is shared, never copied."""

    def __init__(
        self, table: BinnedTable, species: Species, weights: Steps, plan: Plan, team: Team
    ) -> None:
        self._table, self._species, self._plan, self._team = table, species, plan, team
        self._weights, self._growers = weights, SimpleQueue[Grower]()

    def grow(self, numbers: Iterable[int], told: Callable[[int], bool]) -> list[Planted]:
        """Grow trees; told(n) is called when so many are there, and says whether to go on.

        An interrupt keeps the trees that are there, up to the first that is missing; if there
        is none, it goes on to the caller.
        """
        wanted = list(numbers)
        apart = len(wanted) >= self._team.n_threads
        team = self._team.alone() if apart else self._team

        def plant(number: int) -> Planted | None:
            tree = self._tree(number, team)
            return None if self._team.meeting[CANCELLED] else tree

        return gathered(self._team, wanted, plant, told, apart)

    def _tree(self, number: int, team: Team) -> Planted:
        """Grow, prune and pack one tree."""
        counts, weights, plan = None, self._weights, self._plan
        if plan.bags is not None:
            counts = plan.bags.counts(number)
            if not plan.bags.way.keeps_weights:
                weights = Steps(np.broadcast_to(np.int64(1), counts.shape), 1.0, exact=True)
        judge = self._species.judge(weights, counts)
        n_steps = weights.counts.sum() if counts is None else weights.counts @ counts
        limits = self._plan.limits(number, float(n_steps) * weights.unit)
        grower = self._grower(judge, limits, team)

        def fill(records: NDArray[np.int64]) -> None:
            records[:] = judge.records

        nodes = grower.regrown(judge, fill, limits)
        tree = self._species.packed(self._table, nodes, judge, self._plan.alpha)
        self._growers.put(grower)
        return Planted(tree, judge.weight_unit)

    def _grower(self, judge: Judge, limits: GrowthRules, team: Team) -> Grower:
        """Return a grower that is free, or a new one that has room for all rows."""
        try:
            return self._growers.get_nowait()
        except Empty:
            room = np.empty(self._table.n_rows, np.int64)
            keeps = self._species.asks_for_leaves
            return Grower(self._table, judge._replace(records=room), limits, team, keeps)


def forest_of(planted: list[Planted], n_categories: NDArray[np.int32]) -> Forest:
    """Make a forest of trees, which are taken from the list; large ones are not copied at once."""
    units, trees = np.array([each.unit for each in planted]), [each.tree for each in planted]
    planted.clear()
    return Forest(tuple(thickets_of(trees)), units, n_categories)


def thickets_of(trees: list[Thicket]) -> list[Thicket]:
    """Put trees together, as many as make a large number of nodes; they are taken from the list."""
    thickets: list[Thicket] = []
    while trees:
        n_taken, n_nodes = 0, 0
        while n_taken < len(trees) and (n_taken == 0 or n_nodes < _MOST_NODES):
            n_nodes += len(trees[n_taken].nodes)
            n_taken += 1
        some, trees[:n_taken] = trees[:n_taken], []
        thickets.append(taken_together(some))
    return thickets
