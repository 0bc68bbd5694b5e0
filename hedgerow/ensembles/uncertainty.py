"""How much the prediction of a forest would vary over training sets, from the forest alone.

Two estimates from how the trees' predictions t_b go together with how often a row i is drawn
for them, N_bi; d_b = t_b - mean of t, n rows, m draws, B trees:

    infinitesimal jackknife     V = sum over i of C_i^2,    C_i = (1/B) sum over b of N_bi d_b
    jackknife after bootstrap   V = (n - 1)/n sum over i of D_i^2,
                                D_i = mean of d_b over trees that have left row i out

Efron (1992, 2014); Wager, Hastie and Efron (2014), equations 5 and 6. B trees are not all
bootstrap samples: both are too large by what C_i and D_i vary for that, which is taken off
(their equations 7 and 8):

    (1/B) n s^2    and    (n - 1)/n sum over i of (1/O_i - 1/B) s^2,    s^2 = mean of d_b^2

O_i is how many trees have left row i out, about B/e; hence (e - 1) n s^2 / B in the paper. With
m draws n s^2 is m s^2. A row that stands for r equal rows counts 1/r: it has r times the
influence of one, whose square would stand for r^2 rows.

Drawn without replacement a row is there or not, and C_i = -(1 - m/n) D_i: leaving out says all.
The infinitesimal jackknife is then (Wager and Athey, 2018)

    V = n (n - 1) / (n - m)^2 (sum over i of C_i^2 - m (n - m) / n s^2 / B)

which is the jackknife, up to what O_i differ from (1 - m/n) B.

What they miss: let the variance be V_1 + V_2 + .., V_k of what k rows do together (Efron and
Stein, 1981). The jackknife says V_1 + 2 V_2 + 3 V_3 + .. on average, the infinitesimal one of
bootstrap samples about V_1; their mean is right up to V_2 (Wager, Hastie and Efron, 2014).
A tree's own V_k are multiplied by about (m/n)^k in the forest: with few draws V_1 is all.

Neither needs n numbers for each prediction: V = d' G d, and the matrix G, [B, B], is made once.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.bags import Bags, Bootstrap
from hedgerow.kernels.spread import quadratic_forms
from hedgerow.kernels.team import Team

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_MOST_CELLS = 1 << 23  # counts of draws, 8 bytes each, that are there at a time, twice


class Sensitivity(NamedTuple):
    """How the variance of a prediction follows from what the trees say.

    matrix  float64 [n_trees, n_trees]   V = d' matrix d
    noise   float                        times the mean of d_b^2, is taken off
    """

    matrix: Floats
    noise: float

    def variances(self, spoken: Floats, team: Team) -> Floats:
        """Return the variance of the mean over trees, right on average: some are below 0.

        spoken : float64 [..., n_trees], what each tree says.
        """
        n_trees = len(self.matrix)
        apart = (spoken - spoken.mean(axis=-1, keepdims=True)).reshape(-1, n_trees)
        found, room = np.empty(len(apart)), np.empty((team.n_threads, n_trees))
        team.run(quadratic_forms, np.ascontiguousarray(apart), self.matrix, room, found)
        found -= self.noise * (apart * apart).mean(axis=1)
        return found.reshape(spoken.shape[:-1])


def infinitesimal_jackknife(bags: Bags, n_trees: int, repeats: Counts) -> Sensitivity:
    """Return the matrix N N' / B^2 of bags; repeats: how many rows each row stands for.

    It is (N - E N)(N - E N)' / B^2 for all that matters: d adds up to 0 over trees.
    """
    products = _gram(_Drawn(bags, n_trees), _groups(repeats)) / n_trees**2
    noise = bags.way.n_draws * float((_chances(bags) / repeats).sum()) / n_trees
    if isinstance(bags.way, Bootstrap):
        return Sensitivity(products, noise)
    n_rows, n_left = len(repeats), len(repeats) - bags.way.n_draws
    factor = n_rows * (n_rows - 1) / n_left**2
    return Sensitivity(products * factor, noise * n_left / n_rows * factor)


def jackknife_after_bootstrap(bags: Bags, n_trees: int, repeats: Counts) -> Sensitivity:
    """Return the matrix of leaving out; rows that are in all bags, or in none, tell nothing."""
    n_out = np.zeros(len(repeats), np.int64)
    for number in range(n_trees):
        n_out += bags.counts(number) == 0
    known = (n_out > 0) & (n_out < n_trees)
    divisors = np.where(known, n_out**2 * repeats, 0)
    products = _gram(_Drawn(bags, n_trees, left_out=True), _groups(divisors))
    shrink = (len(repeats) - 1) / len(repeats)
    excess = (1.0 / n_out[known] - 1.0 / n_trees) / repeats[known]
    return Sensitivity(products * shrink, float(excess.sum()) * shrink)


def mean_jackknife(bags: Bags, n_trees: int, repeats: Counts) -> Sensitivity:
    """Return the mean of both: one says too little where the other says too much."""
    first = infinitesimal_jackknife(bags, n_trees, repeats)
    second = jackknife_after_bootstrap(bags, n_trees, repeats)
    return Sensitivity((first.matrix + second.matrix) / 2, (first.noise + second.noise) / 2)


def repeats_of(bags: Bags, n_meant: int) -> Counts:
    """Return how many rows each row stands for: its weight, if all weights add up to n_meant."""
    order, ends = bags.urn.order, bags.urn.ends
    repeats = np.ones(len(order), np.int64)
    if len(ends) and ends[-1] == n_meant:
        repeats[order] = np.diff(ends, prepend=0)
    return repeats


def _chances(bags: Bags) -> Floats:
    """Return the chance of each row in one draw."""
    order, ends = bags.urn.order, bags.urn.ends
    chances = np.full(len(order), 1.0 / len(order))
    if len(ends) and isinstance(bags.way, Bootstrap):
        chances[order] = np.diff(ends, prepend=0) / float(ends[-1])
    return chances


class _Drawn(NamedTuple):
    """Draws of some trees at a time: how often each row was drawn, or whether it was left out."""

    bags: Bags
    n_trees: int
    left_out: bool = False

    def block(self, first: int, end: int, order: Counts) -> Floats:
        """Return the draws of some trees, float64 [end - first, n], of rows in an order."""
        rows = (self.bags.counts(number)[order] for number in range(first, min(end, self.n_trees)))
        return np.stack([each == 0 if self.left_out else each for each in rows]).astype(np.float64)


class _Groups(NamedTuple):
    """Rows of the same divisor next to each other; those with a divisor of 0 are not there."""

    order: Counts
    ends: Counts
    divisors: Counts

    def parts(self) -> Iterator[tuple[slice, float]]:
        """Yield the places of each group and its divisor."""
        first = 0
        for end, divisor in zip(self.ends.tolist(), self.divisors.tolist(), strict=True):
            yield slice(first, end), float(divisor)
            first = end


def _groups(divisors: Counts) -> _Groups:
    order = np.argsort(divisors, kind="stable")
    order = order[divisors[order] > 0]
    found, sizes = np.unique(divisors[order], return_counts=True)
    return _Groups(order, np.cumsum(sizes), found)


def _gram(drawn: _Drawn, groups: _Groups) -> Floats:
    """Return the sum over rows of N_bi N_ci / divisor of i, for all pairs of trees b, c.

    Products of a group are whole numbers below 2^53, so they are exact in whatever order they
    are added up: the order of rows makes no difference, nor do threads.
    """
    n_trees = drawn.n_trees
    size = max(1, _MOST_CELLS // max(len(groups.order), 1))
    products = np.zeros((n_trees, n_trees))
    for first in range(0, n_trees, size):
        left = drawn.block(first, first + size, groups.order)
        for other in range(first, n_trees, size):
            same = other == first
            right = left if same else drawn.block(other, other + size, groups.order)
            part = products[first : first + size, other : other + size]
            for columns, divisor in groups.parts():
                part += (left[:, columns] @ right[:, columns].T) / divisor
            products[other : other + size, first : first + size] = part.T
    return products
