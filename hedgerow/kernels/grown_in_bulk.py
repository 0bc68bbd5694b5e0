"""A small tree of boosting by NumPy: the twin of `grower.grow_root`, see in_bulk.py.

For trees of limited leaves, best first or level by level, by one thread, of features of numbers
with a byte for a code. Leaves have the same names for random draws as the kernel's.
"""

import heapq

import numpy as np

from hedgerow.kernels.codes import MISSING, N_BINS
from hedgerow.kernels.desks import desk_of
from hedgerow.kernels.drawing import FURTHER, draw_features
from hedgerow.kernels.in_bulk import pairs_of
from hedgerow.kernels.menu import varies
from hedgerow.kernels.nodes import clear_node, part_no_bin
from hedgerow.kernels.random import mixed, uniform
from hedgerow.kernels.searched_in_bulk import MASS, ROW, is_narrow, is_usual, search_cells
from hedgerow.kernels.workspace import BY_GAIN, N_NODES, NEWEST


class _Leaf:
    """A leaf: its rows by their places among the records, and the split that was found."""

    def __init__(self, node, places, total, depth, bits):
        self.node, self.places, self.total = node, places, total
        self.depth, self.bits, self.cells = depth, bits, None
        self.gain, self.margin, self.feature, self.order = -np.inf, -1.0, -1, 0
        self.cut, self.threshold, self.missing_left, self.heavier_left = 0, np.nan, 0, 0


def grow_root(team, problem, space, view, desks, nodes, n_rows):
    """Grow a tree from the records of all its rows."""
    rules, codes = problem.rules, problem.codes
    is_grown = team.n_threads == 1 and view.told.shape[0] == 0 and n_rows > 0
    is_limited = rules.order != NEWEST and rules.fine_rows == 0 and not varies(rules.menu)
    if not (is_grown and is_limited and is_usual(problem)):
        return NotImplemented
    if not all(map(is_narrow, codes.features)):
        return NotImplemented
    records = space.records[2 if len(space.records) > 2 else 0, :n_rows]
    _Growth(problem, records, desk_of(desks, 0), nodes).grow()
    return None


class _Growth:
    """A tree that is being grown."""

    def __init__(self, problem, records, desk, nodes):
        self.problem, self.desk, self.nodes = problem, desk, nodes
        self.rows, self.pairs = records & ROW, pairs_of(problem.moments, records)
        columns = problem.codes.columns[[about.place for about in problem.codes.features]]
        self.codes = columns[:, self.rows]
        self.joint = self.codes.T + N_BINS * np.arange(len(columns))
        nodes.sums[: nodes.counters[N_NODES]] = 0
        nodes.counters[:] = 0

    def grow(self):
        """Divide the best leaf, or the oldest, until there are enough."""
        rules, nodes, n_leaves = self.problem.rules, self.nodes, 1
        nodes.counters[N_NODES] = 1
        root = _Leaf(0, np.arange(len(self.rows)), self.pairs.sum(), 0, mixed(rules.seed, 0))
        self._write(root, -1)
        root.cells = self._summed(root)
        queue: list[tuple[float, int, _Leaf]] = []
        self._settle(queue, [root])
        while queue and n_leaves < rules.max_leaves:
            leaf = heapq.heappop(queue)[2]
            n_leaves += 1
            self._settle(queue, self._divided(leaf), n_leaves < rules.max_leaves)
        for _, _, leaf in queue:
            self._close(leaf)

    def _write(self, leaf, parent):
        """Write a leaf into the tree."""
        node = self.nodes.table[leaf.node]
        clear_node(node)
        node.n_rows, node.parent = len(leaf.places), parent
        self.nodes.sums[leaf.node, 0] = leaf.total

    def _summed(self, leaf):
        """Return the sums of a leaf's rows by features and codes."""
        n_features = len(self.codes)
        cells = np.zeros((n_features, N_BINS), np.int64)
        pairs = np.repeat(self.pairs[leaf.places], n_features)
        np.add.at(cells.reshape(-1), self.joint[leaf.places].ravel(), pairs)
        return cells

    def _settle(self, queue, leaves, goes_on=True):
        """Search new leaves, if they may be divided; queue or close them."""
        rules = self.problem.rules
        is_open = [self._may_be_divided(leaf) for leaf in leaves]
        if goes_on:
            self._search([leaf for leaf, opened in zip(leaves, is_open, strict=True) if opened])
        for leaf in leaves:
            if leaf.feature >= 0 and leaf.gain >= rules.min_gain:
                key = -leaf.gain if rules.order == BY_GAIN else leaf.node
                heapq.heappush(queue, (key, leaf.node, leaf))
            else:
                self._close(leaf)

    def _may_be_divided(self, leaf):
        rules, n_rows = self.problem.rules, len(leaf.places)
        is_large = n_rows >= max(rules.min_split_rows, 2 * rules.min_rows)
        heavy = (int(leaf.total) & MASS) >= 2 * rules.min_weight
        return is_large and leaf.depth < rules.max_depth and heavy

    def _search(self, leaves):
        """Find the splits of leaves."""
        asked = [(self._drawn(leaf), leaf.total, leaf) for leaf in leaves]
        if asked:
            cells = [leaf.cells[features] for features, _, leaf in asked]
            search_cells(self.problem, asked, np.concatenate(cells))
        for features, total, leaf in asked:
            if leaf.feature < 0 and self._are_constant(leaf, features):
                self._search_further(leaf, features, total)

    def _drawn(self, leaf):
        """Return the features that a leaf tries."""
        offered, n_wanted = self.problem.rules.menu.own, self.problem.rules.n_candidates
        if n_wanted >= len(offered):
            return offered
        draw_features(self.desk, leaf.bits, offered, n_wanted)
        drawn = self.desk.drawn[:n_wanted].copy()
        self.desk.marks[drawn] = 0
        return drawn

    def _are_constant(self, leaf, features):
        return bool((np.count_nonzero(leaf.cells[features], axis=1) < 2).all())

    def _search_further(self, leaf, tried, total):
        """Try one feature after another, in the order of further draws, until one varies."""
        state = mixed(leaf.bits, FURTHER)
        others = np.setdiff1d(self.problem.rules.menu.own, tried).tolist()
        for feature in sorted(others, key=lambda each: (-uniform(mixed(state, each)), -each)):
            own = np.array([feature])
            search_cells(self.problem, [(own, total, leaf)], leaf.cells[own])
            if not self._are_constant(leaf, own):
                return

    def _divided(self, leaf):
        """Return the children of a leaf, after it was written as a split."""
        nodes, codes = self.nodes, self.codes[leaf.feature][leaf.places]
        goes_left = (codes <= leaf.cut) & (codes != MISSING)
        if leaf.missing_left:
            goes_left |= codes == MISSING
        left, split = int(nodes.counters[N_NODES]), nodes.table[leaf.node]
        nodes.counters[N_NODES] = left + 2
        split.left, split.feature, split.gain = left, leaf.feature, leaf.gain
        split.threshold, split.cut, split.missing_left = leaf.threshold, leaf.cut, leaf.missing_left
        part_no_bin(self.problem.codes, split)
        children = []
        for side, is_own in enumerate((goes_left, ~goes_left)):
            places = leaf.places[is_own]
            given = self.pairs[places].sum(), leaf.depth + 1, mixed(leaf.bits, 1 + side)
            children.append(_Leaf(left + side, places, *given))
            self._write(children[side], leaf.node)
        less, rest = sorted(children, key=lambda child: len(child.places))
        less.cells = self._summed(less)
        rest.cells = leaf.cells - less.cells
        leaf.cells = None
        return children

    def _close(self, leaf):
        """Note for each row of a leaf that it ends there."""
        if self.nodes.leaf_of_row.shape[0] > 0:
            self.nodes.leaf_of_row[self.rows[leaf.places]] = leaf.node
