"""Committees: trees of AdaBoost, grown from one table, and what their leaves add to f."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.adaboost import Algorithm, Told
from hedgerow.ensembles.forest import Forest, joined, some_trees
from hedgerow.ensembles.row_weights import Counts, Floats, RowWeights
from hedgerow.ensembles.species import ClassTrees, class_tree
from hedgerow.kernels.ballots import Means
from hedgerow.kernels.boosted_weights import BoostedWeights
from hedgerow.kernels.class_weights import ClassWeights
from hedgerow.kernels.packed import Thicket, unpack_classes
from hedgerow.kernels.team import Team
from hedgerow.kernels.walks import add_leaves, walkers_of
from hedgerow.kernels.workspace import N_NODES
from hedgerow.trees.classification import CRITERIA
from hedgerow.trees.grower import Grower, Judge
from hedgerow.trees.rules import GrowthRules
from hedgerow.trees.tree import Tree

_DEEP = 10  # levels beyond which nodes are small, and rows better counted


class Plan(NamedTuple):
    """How the trees are grown.

    criterion  as of a classification tree
    limits     (number of the round, total steps) -> rules of growth, in steps, with its seed
    signs      int64 [n_features] or None: see kernels.monotone
    """

    criterion: str
    limits: Callable[[int, float], GrowthRules]
    signs: NDArray[np.int64] | None


class Nursery:
    """Grows the tree of each round, from one table and in the same buffers."""

    def __init__(
        self, table: BinnedTable, labels: Counts, n_classes: int, plan: Plan, team: Team
    ) -> None:
        self._table, self._plan, self._team = table, plan, team
        self._species = ClassTrees(labels, n_classes, plan.criterion)
        self._records = np.arange(len(labels)) | (labels << 32)
        self._n_classes = n_classes
        self._grower: Grower | None = None
        self._judge: Judge | None = None

    def grow(self, number: int, weights: RowWeights) -> Told:
        """Grow the tree of a round."""
        rules = self._plan.limits(number, float(weights.total))
        if self._grower is None or self._judge is None:
            self._judge = self._judge_of(rules, weights)
            self._grower = Grower(self._table, self._judge, rules, self._team)
        nodes = self._grower.regrown(self._judge, self._fill, rules)
        tree = self._species.packed(self._table, nodes, self._judge, 0.0)
        n_nodes = int(nodes.counters[N_NODES])
        is_leaf = nodes.table.left[:n_nodes] < 0
        sums = nodes.sums[:n_nodes, : self._n_classes] * is_leaf[:, None]
        return Told(nodes.leaf_of_row, sums, np.argmax(sums, axis=1), None, tree)

    def _fill(self, records: Counts) -> None:
        records[:] = self._records

    def _judge_of(self, rules: GrowthRules, weights: RowWeights) -> Judge:
        """Judge by the weights as they are: their array is the moments'."""
        K, place = self._n_classes, np.arange(self._n_classes)
        criterion, steps = CRITERIA[self._plan.criterion](K), weights.steps
        is_shallow = rules.max_depth is not None and rules.max_depth <= _DEEP
        counts_rows = rules.min_leaf_rows > 1 or not (is_shallow or rules.max_leaves is not None)
        moments: ClassWeights | BoostedWeights = BoostedWeights(K, place, steps)
        if counts_rows:
            moments = ClassWeights(K, 0, place, steps)
        judge = Judge(moments, criterion, self._records, 1.0, 1.0)
        return judge.held_monotone(self._plan.signs)


@dataclass(frozen=True, eq=False)
class Committee:
    """Trees, as they were grown and as they speak.

    Attributes
    ----------
    forest : Forest
        The trees, with the steps of classes in their leaves.
    voices : Thicket
        The same trees, with what their leaves add to f: of two classes one number, of K all K.
    """

    forest: Forest
    voices: Thicket

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.forest.n_trees

    @property
    def n_outputs(self) -> int:
        """Numbers that f has."""
        return max(int(self.voices.extra.shape[1]) - 1, 1)

    def first_trees(self, n_trees: int) -> "Committee":
        """Return the first trees."""
        return Committee(self.forest.first_trees(n_trees), some_trees(self.voices, 0, n_trees))

    def then(self, later: "Committee") -> "Committee":
        """Return these trees and later ones."""
        return Committee(self.forest.then(later.forest), joined([self.voices, later.voices]))

    def add(self, values: Floats, team: Team, trees: tuple[int, int], out: Floats) -> None:
        """Add what trees trees[0]..trees[1]-1 say to out, float64 [n_rows, n_outputs]."""
        some, rows = some_trees(self.voices, *trees), np.arange(len(values))
        way, walkers = Means(self.n_outputs), walkers_of(team.n_threads)
        team.run(add_leaves, values, rows, some, way, walkers, out)

    def trees(self, criterion: str) -> Iterator[Tree]:
        """Yield the trees, with what their leaves add to f as values, float64 [n_nodes, n_outputs].

        criterion: of the impurities of their nodes.
        """
        forest = self.forest
        for number in range(forest.n_trees):
            voice, unit = some_trees(self.voices, number, number + 1), float(forest.units[number])
            tree = class_tree(forest.tree(number), unit, criterion, forest.n_categories)
            leaves, value = np.flatnonzero(tree.is_leaf), np.zeros((tree.n_nodes, self.n_outputs))
            value[leaves] = voice.extra[voice.nodes.link[leaves], 1:]
            yield replace(tree, value=value)

    def fingerprint(self) -> str:
        """SHA-256 of everything that prediction depends on, and of the leaves' weights."""
        digest = hashlib.sha256(self.forest.fingerprint().encode())
        digest.update(np.ascontiguousarray(self.voices.nodes["number"]).tobytes())
        digest.update(np.ascontiguousarray(self.voices.extra).tobytes())
        return digest.hexdigest()


def voiced(tree: Thicket, algorithm: Algorithm, alpha: float) -> Thicket:
    """Return a packed tree of classes with what its leaves add to f."""
    n_nodes, n_classes = len(tree.nodes), tree.extra.shape[1]
    sums, nodes = np.empty((n_nodes, n_classes), np.int64), tree.nodes.copy()
    unpack_classes(tree.nodes, tree.extra, sums)
    leaves = np.flatnonzero(nodes.feature < 0)
    own = sums[leaves]
    told = Told(np.zeros(0, np.int32), own, np.argmax(own, axis=1), None, None)
    scores = algorithm.scores(told, alpha)
    n_outputs = 1 if n_classes == 2 else n_classes
    scores = np.ascontiguousarray(scores[:, n_classes - n_outputs :])
    extra = np.zeros((len(leaves), 1 + n_outputs))
    extra[:, 1:] = scores
    nodes.number[leaves], nodes.link[leaves] = scores[:, 0], np.arange(len(leaves))
    first = np.array([[0, 0, 0], [n_nodes, len(tree.words), len(leaves)]])
    return Thicket(nodes, tree.words, extra, first)
