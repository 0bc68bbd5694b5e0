"""Sampling: the rows that a round's trees are grown from."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.draws import (
    N_SIZES,
    Lots,
    amplify,
    count_sizes,
    draw,
    measure_sizes,
    mix_contents,
    mix_repeats,
    set_chances,
)
from hedgerow.kernels.random import mixed_bits
from hedgerow.kernels.team import Team

_NAME = 0x726F7773  # of these draws, among those that a seed is for


class Drawn(NamedTuple):
    """The rows that a round's trees are grown from.

    rows          int64 [n_records], or [0] if they are all rows
    n_most        int                         rows that any round may have
    weights       int64 [n_rows], mask -1: repeats of a row; or the number 1 alone, mask 0
    factors       float64 [n_rows] or [1]     times the weights: the rest of what a row weighs
    total_weight  int                         sum of `weights` over the rows
    """

    rows: NDArray[np.int64]
    n_records: int
    n_most: int
    weights: NDArray[np.int64]
    mask: int
    factors: NDArray[np.float64]
    total_weight: int


class Sampler(Protocol):
    """Draws the rows of one round after another."""

    def drawn(self, number: int) -> Drawn:
        """Return the rows of a round; the stage has its derivatives."""


class Sampling(Protocol):
    """A way to sample rows, given as numbers."""

    def sampler(self, table: BinnedTable, stage: Stage, seed: int, team: Team) -> Sampler:
        """Return what draws from the rows of a stage."""


class EveryRow(NamedTuple):
    """All rows in every round."""

    def sampler(self, table: BinnedTable, stage: Stage, seed: int, team: Team) -> Sampler:  # noqa: ARG002
        """Return what draws all rows of a stage."""
        return _Everyone(stage)


EVERY_ROW = EveryRow()


class Subsample(NamedTuple):
    """Each row with the same chance, anew in each round. Friedman (2002)."""

    share: float

    def sampler(self, table: BinnedTable, stage: Stage, seed: int, team: Team) -> Sampler:
        """Return what draws some rows of a stage."""
        return _Evenly(self, _Urn(table, stage, seed, team))


class OneSided(NamedTuple):
    """The `top` share of rows by |g h|, and `other` of all rows from the rest.

    The derivatives of the rest are divided by their chance, other / (1 - top), so that sums
    over a node, and a leaf's value, are right on average. Ke et al. (2017), section 3.
    """

    top: float
    other: float

    def sampler(self, table: BinnedTable, stage: Stage, seed: int, team: Team) -> Sampler:
        """Return what draws rows of a stage by their derivatives."""
        return _ByDerivatives(self, _Urn(table, stage, seed, team))


class _Everyone:
    def __init__(self, stage: Stage) -> None:
        n_records = len(stage.rows) or len(stage.y)
        whole = stage.whole, stage.mask, stage.real, stage.total_weight
        self._drawn = Drawn(stage.rows, n_records, n_records, *whole)

    def drawn(self, number: int) -> Drawn:  # noqa: ARG002  the same for any round
        """Return all rows."""
        return self._drawn


class _Urn:
    """Rows by what they are, and buffers to draw them into."""

    def __init__(self, table: BinnedTable, stage: Stage, seed: int, team: Team) -> None:
        n_rows = len(stage.y)
        rows = stage.rows if len(stage.rows) else np.arange(n_rows)
        keys = np.zeros(n_rows, np.int64)
        factors = stage.real[None] if len(stage.real) > 1 else np.empty((0, n_rows))
        numbers = np.concatenate([stage.targets, factors, stage.offset]) + 0.0
        team.run(mix_contents, table.codes, numbers.view(np.int64), keys)
        first = _first_repeats(keys, rows, stage.whole, stage.mask)
        names = np.empty_like(keys)
        team.run(mix_repeats, keys, first, names)
        self.lots = Lots(keys, first, names, stage.whole, stage.mask, rows)
        self.stage, self.team = stage, team
        self._seed = mixed_bits(seed, _NAME)
        self._counts, self._rows = np.zeros(n_rows, np.int64), np.empty((2, len(rows)), np.int64)

    def name(self, number: int) -> int:
        """Return the name of a round."""
        return mixed_bits(self._seed, number)

    def drawn(self, number: int, chances: NDArray[np.float64]) -> Drawn:
        """Draw rows by their chances."""
        told = np.empty((self.team.n_threads, 2), np.int64)
        buffers = self._counts, self._rows, told
        self.team.run(draw, self.lots, self.name(number), chances, *buffers)
        n_records, total_weight = (int(n) for n in told.sum(axis=0))
        weights = self._counts if self.lots.mask else self.lots.weights
        rows, n_most = self._rows[0, :n_records], len(self.lots.rows)
        own = weights, self.lots.mask, self.stage.real
        return Drawn(rows, n_records, n_most, *own, total_weight)


class _Evenly:
    def __init__(self, sampling: Subsample, urn: _Urn) -> None:
        self._chances, self._urn = np.array([sampling.share]), urn

    def drawn(self, number: int) -> Drawn:
        """Draw with the same chance for every row."""
        return self._urn.drawn(number, self._chances)


class _ByDerivatives:
    def __init__(self, sampling: OneSided, urn: _Urn) -> None:
        self._top, self._chance = sampling.top, sampling.other / (1.0 - sampling.top)
        self._urn, n_rows = urn, len(urn.stage.y)
        self._sizes, self._chances = np.empty(n_rows, np.float32), np.ones(n_rows)

    def drawn(self, number: int) -> Drawn:
        """Draw by the size of derivatives, and amplify those that stand for others."""
        urn, team, chances = self._urn, self._urn.team, self._chances
        team.run(measure_sizes, urn.stage.pairs, self._sizes)
        sizes = self._sizes.view(np.int32)
        counts = np.zeros((team.n_threads, N_SIZES), np.int64)
        team.run(count_sizes, urn.lots, sizes, counts)
        edge, ties = _edge(counts.sum(axis=0), self._top)
        limits = edge, ties, self._chance
        team.run(set_chances, urn.lots, sizes, urn.name(number), *limits, chances)
        drawn = urn.drawn(number, chances)
        team.run(amplify, drawn.rows, chances, urn.stage.pairs)
        urn.stage.largest = None
        return drawn._replace(factors=drawn.factors / chances)


def _edge(counts: NDArray[np.int64], share: float) -> tuple[int, float]:
    """Return the size at which the largest `share` of rows ends, and its part that is within."""
    down = np.cumsum(counts[::-1])
    wanted = share * float(down[-1])
    place = min(int(np.searchsorted(down, wanted)), len(counts) - 1)
    edge = len(counts) - 1 - place
    above = float(down[place] - counts[edge])
    return edge, (wanted - above) / max(float(counts[edge]), 1.0)


def _first_repeats(
    keys: NDArray[np.int64], rows: NDArray[np.int64], weights: NDArray[np.int64], mask: int
) -> NDArray[np.int64]:
    """Number the repeats of equals, and return each row's first."""
    first = np.zeros(len(keys), np.int64)
    order = np.argsort(keys[rows], kind="stable")
    own, counts = keys[rows][order], weights[rows & mask][order]
    before = np.cumsum(counts) - counts
    is_new = np.append(True, own[1:] != own[:-1])
    first[rows[order]] = before - before[np.flatnonzero(is_new)][np.cumsum(is_new) - 1]
    return first
