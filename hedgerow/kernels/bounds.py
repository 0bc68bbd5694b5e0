"""Bounds: what monotone constraints make of a criterion, and of the values of leaves.

Where a split of a constrained feature parts two leaves, the middle of their values is
handed down as a bound: no leaf on the one side may go above it, none on the other below.
Two rows that differ in that feature only part at such a split, so their predictions are
in order whatever is grown further down.

A search asks any criterion for `within`, `toward`, `both` and `halved`. Those of a criterion
`without_bounds` cost nothing; `Bounded` has its own.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.cuts import best_along, best_cut
from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.screens import screen_sums
from hedgerow.kernels.steps import newton_step

Criterion = TypeVar("Criterion")


def without_bounds(criterion: type[Criterion]) -> type[Criterion]:
    """Give a criterion the methods of one that knows no constraints."""
    for name, method in [
        ("within", _anywhere),
        ("toward", _either_way),
        ("both", _apart),
        ("halved", _unbounded),
        ("screen", _screened),
        ("ceiling", _no_ceiling),
        ("best_cut", _best_of_all),
        ("best_along", _best_along),
        ("grow_few", _decline_few),
    ]:
        if not hasattr(criterion, name):
            setattr(criterion, name, method)
    return criterion


def _anywhere(self, low, high):
    """Return the criterion of a node whose values are within bounds: there are none."""
    return self


def _either_way(self, feature):
    """Return the criterion of a feature's cuts: either side may have the larger value."""
    return self


def _apart(self, left, right, first=0):
    """Return the score of two sides: that of the one and that of the other."""
    return self.score(left, first) + self.score(right, first)


def _unbounded(self, left, right):
    """Return the bounds, low and high, of the left child and of the right one."""
    return -np.inf, np.inf, -np.inf, np.inf


def _screened(self, moments, rules, total, n_cuts, width, scratch):
    """Estimate the scores of a feature's cuts by the sums that they part: see `screens`."""
    return screen_sums(self, moments, rules, total, n_cuts, width, scratch)


def _no_ceiling(self, problem, n_codes, total, scratch):
    """Return a gain that no parting of the codes exceeds: none is known."""
    return np.inf


def _best_of_all(self, problem, feature, n_codes, begin, end, start, node, scratch):
    """Return the best cut after positions begin..end-1, judged one by one: see `cuts`."""
    return best_cut(problem, feature, n_codes, begin, end, start, node, scratch)


def _best_along(self, problem, feature, n, first, node, scratch):
    """Return the best cut of a line: see `cuts`."""
    return best_along(problem, feature, n, first, node, scratch)


def _decline_few(self, team, problem, space, desk, nodes, origin, top):
    """Leave the one leaf from `top` on as it is: see `seedlings`."""
    return np.int64(1)


class Bounded(NamedTuple):
    """Second-order fall of a loss if the value of a leaf must be within bounds.

        score = -(G v + (H + l2) v^2 / 2 + l1 |v|),     v = clip(-T(G) / (H + l2), low, high)

    Without bounds in the way it is Newton's score. A cut whose values are not in the order
    that signs[feature] asks for, 1 up, -1 down, 0 any, scores -inf. The middle of a split's
    two values is a bound of its children: Chen and Guestrin's XGBoost does the same.

    newton  Newton or CountedNewton
    signs   int64 [n_features]
    """

    newton: Any
    signs: NDArray[np.int64]
    sign: int = 0
    low: float = -np.inf
    high: float = np.inf

    def turned(self, dial):
        return Bounded(self.newton.turned(dial), self.signs, self.sign, self.low, self.high)

    def at(self, moments, sums):
        return self

    def mass(self, sums, first=0):
        return self.newton.mass(sums, first)

    def score(self, sums, first=0):
        G, H = self.newton.pair(sums, first)
        value = _value(G, H, self)
        return _fall(G, H, value, self.newton)

    def scores_rows(self, codes, feature, n_codes, start, node, width, scratch):
        return False

    def screen(self, moments, rules, total, n_cuts, width, scratch):
        return screen_sums(self, moments, rules, total, n_cuts, width, scratch)

    def ceiling(self, problem, n_codes, total, scratch):
        return np.inf

    def best_cut(self, problem, feature, n_codes, begin, end, start, node, scratch):
        return best_cut(problem, feature, n_codes, begin, end, start, node, scratch)

    def best_along(self, problem, feature, n, first, node, scratch):
        return best_along(problem, feature, n, first, node, scratch)

    def within(self, low, high):
        return Bounded(self.newton, self.signs, self.sign, low, high)

    def toward(self, feature):
        return Bounded(self.newton, self.signs, self.signs[feature], self.low, self.high)

    def both(self, left, right, first=0):
        G_left, H_left = self.newton.pair(left, first)
        G_right, H_right = self.newton.pair(right, first)
        below, above = _value(G_left, H_left, self), _value(G_right, H_right, self)
        if self.sign * (above - below) < 0.0:
            return -np.inf
        fall_left = _fall(G_left, H_left, below, self.newton)
        return fall_left + _fall(G_right, H_right, above, self.newton)

    def halved(self, left, right):
        G_left, H_left = self.newton.pair(left)
        G_right, H_right = self.newton.pair(right)
        middle = 0.5 * (_value(G_left, H_left, self) + _value(G_right, H_right, self))
        return halves(self.sign, self.low, middle, self.high)


@part
def _value(G, H, bounded):
    """Return the value within bounds that falls furthest."""
    value = newton_step(G, H, bounded.newton.l1, bounded.newton.l2)
    return min(max(value, bounded.low), bounded.high)


@part
def _fall(G, H, value, newton):
    return -(G * value + 0.5 * (H + newton.l2) * value * value + newton.l1 * abs(value))


@part
def halves(sign, low, middle, high):
    """Return the bounds, low and high, of the left child and of the right one."""
    if sign > 0:
        return low, middle, middle, high
    if sign < 0:
        return middle, high, low, middle
    return low, high, low, high


@part
def hand_down(criterion, nodes, less, rest):
    """Give both children the bounds of their values; `rest` still has the parent's split."""
    view = criterion.within(rest.low, rest.high).toward(rest.feature)
    left = min(less.node, rest.node)
    both = view.halved(nodes.sums[left], nodes.sums[left + 1])
    if less.node == left:
        less.low, less.high, rest.low, rest.high = both
    else:
        rest.low, rest.high, less.low, less.high = both


@kernel
def hold_values(table, signs, values, bounds):
    """Bring the values of nodes within the bounds that the splits above them hand down.

    table   NODE [n_nodes]        read    children come after their parents
    signs   int64 [n_features]    read
    values  float64 [n_nodes]     both    of splits too: their middles are the bounds
    bounds  float64 [n_nodes, 2]  write   garbage on entry
    """
    bounds[0, 0], bounds[0, 1] = -np.inf, np.inf
    for node in range(values.shape[0]):
        low, high = bounds[node, 0], bounds[node, 1]
        values[node] = min(max(values[node], low), high)
        left = table[node].left
        if left >= 0:
            below = min(max(values[left], low), high)
            above = min(max(values[left + 1], low), high)
            sign = signs[table[node].feature]
            both = halves(sign, low, 0.5 * (below + above), high)
            bounds[left, 0], bounds[left, 1] = both[0], both[1]
            bounds[left + 1, 0], bounds[left + 1, 1] = both[2], both[3]


@kernel
def fill_splits(table, weights, values):
    """Set the value of each split to the mean of its children's, by their weights.

    table    NODE [n_nodes]       read    children come after their parents
    weights  float64 [n_nodes]    read
    values   float64 [n_nodes]    both    leaves have theirs
    """
    for node in range(values.shape[0] - 1, -1, -1):
        left = table[node].left
        if left >= 0:
            total = weights[left] + weights[left + 1]
            share = weights[left] / total if total > 0.0 else 0.5
            values[node] = share * values[left] + (1.0 - share) * values[left + 1]
